// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/run_summaries.h"

#include <algorithm>

#include "analysis/analyses.h"
#include "files/summary_file.h"
#include "summarize.h"
#include "trace/error.h"
#include "trace/loss.h"

namespace streamscope::job {
namespace {

namespace fs = std::filesystem;

fs::path summary_file_of(const fs::path& trace) {
  return fs::path(trace).replace_extension(".summary");
}

RankSummary summary_from(const trace::Trace& trace, const RankIdentity& identity,
                         const analysis::IterationRequest& request) {
  analysis::Analyses analyses(trace, request);
  return summarize(analyses, identity);
}

// A folder that is not ours to write to is read as well.
void store(const RankSummary& summary, const fs::path& trace) {
  try {
    write_summary(summary, summary_file_of(trace));
  } catch (const Error&) {
  }
}

}  // namespace

bool read_stored(const fs::path& trace, RankSummary& summary) {
  const fs::path file = summary_file_of(trace);
  std::error_code error;
  if (!fs::exists(file, error) ||
      fs::last_write_time(file, error) < fs::last_write_time(trace, error))
    return false;
  try {
    summary = read_summary(file);
    return true;
  } catch (const Error&) {
    return false;  // of another version, or damaged
  }
}

std::vector<RankIdentity> first_traces(const RunFolder& run, const fs::path& folder) {
  std::vector<RankIdentity> ranks = run.ranks;
  const auto doubled = std::ranges::unique(ranks, {}, &RankIdentity::rank);
  ranks.erase(doubled.begin(), doubled.end());
  if (ranks.empty()) {
    throw Error(folder, "has no trace of a rank",
                "record with streamscope record --run; streamscope report TRACE explains a single "
                "trace");
  }
  return ranks;
}

bool make_summary(const fs::path& folder, const RankIdentity& identity, const ReadTrace& read) {
  const fs::path trace = folder / identity.trace;
  RankSummary summary;
  if (read_stored(trace, summary)) return false;
  write_summary(summary_from(read(trace), identity, {}), summary_file_of(trace));
  return true;
}

Steps read_steps(const fs::path& folder, const std::vector<RankIdentity>& ranks,
                 const analysis::IterationRequest& request, const ReadTrace& read,
                 const std::function<bool(double)>& progress) {
  const bool usual = request == analysis::IterationRequest{};
  Steps steps = steps_of([&](StepReader& reader) {
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (progress && !progress(static_cast<double>(i) / static_cast<double>(ranks.size())))
        throw Error(folder, "cancelled", "read it again");
      const fs::path file = folder / ranks[i].trace;
      RankSummary summary;
      if (!usual || !read_stored(file, summary)) {
        const trace::Trace trace = read(file);
        summary = summary_from(trace, ranks[i], request);
        // A trace that grows has no summary yet.
        if (usual && !trace::is_unfinished(trace)) store(summary, file);
      }
      summary.identity = ranks[i];
      reader.add(summary);
    }
  });
  steps.clock_offsets = read_clock_offsets(folder);
  return steps;
}

Steps steps_of(const std::function<void(StepReader&)>& add_all) {
  StepReader reader;
  add_all(reader);
  Steps steps = reader.take();
  const std::optional<IterationRange> range = range_in_common(steps);
  if (!range) return steps;
  StepReader again(range);
  add_all(again);
  return again.take();
}

}  // namespace streamscope::job
