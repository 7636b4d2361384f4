// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Ranks that were made by a test, as the folder of a run: of each its summary, and a trace with one
// kernel for each iteration.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "job/files/summary_file.h"
#include "support/trace_builder.h"

namespace streamscope::job {

inline void write_run(const std::filesystem::path& folder,
                      const std::vector<RankSummary>& summaries) {
  std::filesystem::create_directories(folder);
  for (RankSummary summary : summaries) {
    RankIdentity& identity = summary.identity;
    const std::string name = fmt::format("rank-{:05}", identity.rank);
    identity.trace = name + ".sqlite";
    test::TraceBuilder builder;
    test::StreamBuilder stream = builder.stream("work");
    for (const RankIteration& iteration : summary.iterations)
      stream.kernel("step", iteration.start_ns, iteration.end_ns);
    const trace::Id host = builder.intern(identity.host), source = builder.intern("RANK");
    trace::Trace trace = builder.trace();
    trace.process.rank[0] = identity.rank;
    trace.process.world_size[0] = identity.world_size;
    trace.process.local_rank[0] = identity.local_rank;
    trace.process.host_id[0] = host;
    trace.process.rank_source_id[0] = source;
    test::write_trace(trace, folder / identity.trace);
    write_summary(summary, folder / (name + ".summary"));
  }
}

}  // namespace streamscope::job
