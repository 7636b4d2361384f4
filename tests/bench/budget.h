// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How a benchmark reports its results: one line per budget, then one per baseline measured beside
// it in the same run.
//
//   budget NAME VALUE UNIT LIMIT ok|miss
//   rival NAME VALUE UNIT
//
// `./dev bench` collects these lines into a table and build/bench.json. ctest runs each benchmark
// with STREAMSCOPE_BENCH_SMOKE=1, to keep it working: every loop is then short and no figure means
// anything.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace streamscope::bench {

enum class Better { kLess, kMore };

/// True if it only matters that the benchmark runs.
inline bool smoke() { return std::getenv("STREAMSCOPE_BENCH_SMOKE") != nullptr; }

/// `count`, or about a thousandth of it in a smoke run.
inline size_t scaled(size_t count) { return smoke() ? std::max<size_t>(count / 1000, 1) : count; }

inline void budget(const char* name, double value, const char* unit, double limit, Better better) {
  bool ok = better == Better::kLess ? value <= limit : value >= limit;
  std::printf("budget %s %.6g %s %.6g %s\n", name, value, unit, limit, ok ? "ok" : "miss");
  std::fflush(stdout);
}

/// Another way to do the same, measured in this run; belongs to the budget before it.
inline void rival(const char* name, double value, const char* unit) {
  std::printf("rival %s %.6g %s\n", name, value, unit);
  std::fflush(stdout);
}

/// The median of at least one measurement; of an even number the upper of the two.
inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace streamscope::bench
