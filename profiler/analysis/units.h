// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Formats numbers for readers: a suitable unit, three digits, grouped thousands.
#pragma once

#include <cstdint>
#include <string>

namespace streamscope::analysis {

std::string format_duration(int64_t ns);   ///< "850 ns", "12.3 µs", "4.21 s", "3 min 12 s"
std::string format_count(uint64_t count);  ///< "61,672"
std::string format_mean(double count);     ///< "342", "7.5", "0.12"
/// "1 launch", "2.5 launches"
std::string format_mean(double count, const char* one, const char* many);
std::string format_bytes(int64_t bytes);   ///< "512 B", "4 MiB", "1.50 GiB"
std::string format_percent(double share);  ///< 0.61 gives "61 %"; also "0.4 %", "<0.1 %"
std::string format_percent(int64_t part, int64_t whole);  ///< "–" if `whole` is 0
std::string format_change(double share);                  ///< -0.177 gives "−17.7 %"; "+3.1 %"
std::string format_duration_change(int64_t ns);           ///< "−100 µs", "+3.20 ms", "0 ns"
std::string format_range(double low_percent, double high_percent);  ///< "−0.3 to 0.6 %"
/// "3 → 4"; "4" if both are
std::string format_step(const std::string& before, const std::string& after);
/// What a repair brings: "8.50 ms → 1.52 ms (−82 %)"; "+" if it takes longer.
std::string format_gain(int64_t before_ns, int64_t after_ns);
/// "1 stream", "3 streams"; the plural adds an s.
std::string format_count(uint64_t count, const char* noun);

}  // namespace streamscope::analysis
