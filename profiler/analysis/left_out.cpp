// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "left_out.h"

#include <fmt/format.h>

#include <string_view>

namespace streamscope::analysis {
namespace {

// By the beginning of meta.imported_from; the first is a recording.
struct Origin {
  std::string_view name;
  std::string_view samples;
  std::string_view stacks;
  bool has_elapsed_times = true;
};
constexpr Origin kOrigins[] = {
    {"", "record --samples", ""},
    {"nsys", "nsys profile --sample=process-tree --cpuctxsw=process-tree",
     "nsys profile --cudabacktrace=sync", false},
    {"kineto", "profile with ProfilerActivity.CPU, too", "profile with with_stack=True"},
    {"otf2", "use streamscope record",
     "with Score-P, mark or instrument the functions of the program"},
    {"chrome", "use streamscope record", ""},
};

const Origin& origin_of(const trace::Trace& trace) {
  const auto from = trace.meta.find("imported_from");
  if (from != trace.meta.end()) {
    for (const Origin& origin : kOrigins) {
      if (!origin.name.empty() && from->second.starts_with(origin.name)) return origin;
    }
  }
  return kOrigins[0];
}

}  // namespace

std::string not_sampled(const trace::Trace& trace) {
  return fmt::format("the host was not sampled ({})", origin_of(trace).samples);
}

std::string without_stacks(const trace::Trace& trace) {
  const std::string_view remedy = origin_of(trace).stacks;
  return remedy.empty() || !trace.stack.empty()
             ? ""
             : fmt::format("where calls were made is not known ({})", remedy);
}

bool lacks_elapsed_times(const trace::Trace& trace) { return !origin_of(trace).has_elapsed_times; }

}  // namespace streamscope::analysis
