// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Summaries of ranks as bytes: in a file beside the trace, and between processes of the analysis.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rank_summary.h"

namespace streamscope::job {

/// Version of the bytes; another one is refused.
inline constexpr uint32_t kSummaryVersion = 4;

/// `summary` obeys what rank_summary.h says.
std::string pack(const RankSummary& summary);

/// `origin` names the bytes in errors. Throws Error if they are damaged or of another version:
/// every index of the result is valid, every time is unknown or less than 2^61 ns from 0, and
/// Segment::after refers to an earlier collective.
RankSummary unpack(std::string_view bytes, const std::filesystem::path& origin);

/// Replaces the file at once. Throws Error.
void write_summary(const RankSummary& summary, const std::filesystem::path& file);
RankSummary read_summary(const std::filesystem::path& file);

}  // namespace streamscope::job
