// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Prints the summary of a recording of `rank`: a line for each collective of an iteration in the
// middle, with what comes before it.
#include <cstdio>

#include "analysis/analyses.h"
#include "job/summarize.h"
#include "trace/read/reader.h"

using namespace streamscope;

int main(int, char** arguments) {
  const trace::Trace trace = trace::read(arguments[1]);
  analysis::Analyses analyses(trace);
  const job::RankSummary summary = job::summarize(analyses, {});
  std::printf("%zu iterations\n", summary.iterations.size());
  if (summary.iterations.empty()) return 1;
  const job::RankIteration& middle = summary.iterations[summary.iterations.size() / 2];
  for (size_t i = 0; i < middle.segments.size(); ++i) {
    const job::Segment& segment = middle.segments[i];
    std::printf("after %d: %lld us of kernels\n", segment.after,
                static_cast<long long>(segment.shares[0] / 1000));
    if (i == middle.collectives.size()) break;
    const job::Collective& one = middle.collectives[i];
    std::printf("%s of %s, %llu bytes, %lld us\n",
                std::string(name_of(kCollectiveKinds, one.kind)).c_str(),
                summary.communicators[one.communicator].name.c_str(),
                static_cast<unsigned long long>(one.bytes),
                static_cast<long long>((one.end_ns - one.start_ns) / 1000));
  }
}
