// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "jobs.h"

#include <fmt/format.h>

#include "analysis/analyses.h"
#include "analysis/labels.h"
#include "command.h"
#include "job/hang_state.h"
#include "job/job_hang.h"
#include "job/run_folder.h"
#include "job/steps.h"
#include "job/summarize.h"
#include "job/summary_file.h"
#include "record/run/rank_traces.h"
#include "terminal.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

namespace fs = std::filesystem;

fs::path summary_of(const fs::path& trace) { return fs::path(trace).replace_extension(".summary"); }

// The summary that lies beside the trace, if it is of this trace and this reader.
bool read_stored(const fs::path& trace, job::RankSummary& summary) {
  const fs::path file = summary_of(trace);
  std::error_code error;
  if (!fs::exists(file, error) ||
      fs::last_write_time(file, error) < fs::last_write_time(trace, error))
    return false;
  try {
    summary = job::read_summary(file);
    return true;
  } catch (const Error&) {
    return false;  // of another version, or damaged
  }
}

job::RankSummary summary_from(const trace::Trace& trace, const job::RankIdentity& identity,
                              const analysis::IterationRequest& request) {
  analysis::Analyses analyses(trace, request);
  return job::summarize(analyses, identity);
}

// A folder that is not ours to write to is read as well.
void store(const job::RankSummary& summary, const fs::path& trace) {
  try {
    job::write_summary(summary, summary_of(trace));
  } catch (const Error&) {
  }
}

// The first trace of each rank, in the order of ranks.
std::vector<job::RankIdentity> ranks_of(job::RunFolder& run, const fs::path& folder) {
  std::vector<job::RankIdentity> ranks = std::move(run.ranks);
  const auto doubled = std::ranges::unique(ranks, {}, &job::RankIdentity::rank);
  ranks.erase(doubled.begin(), doubled.end());
  if (ranks.empty()) {
    throw Error(folder, "has no trace of a rank",
                "record with streamscope record --run; streamscope report TRACE explains a single "
                "trace");
  }
  return ranks;
}

}  // namespace

size_t summarize_run(const fs::path& folder, bool quiet) {
  job::RunFolder run = job::read_run_folder(folder);
  const std::vector<job::RankIdentity> ranks = ranks_of(run, folder);
  const RankClaim own = record::own_rank();
  const bool shared = own.is_known() && own.world_size > own.rank;
  const size_t first = shared ? static_cast<size_t>(own.rank) : 0,
               step = shared ? static_cast<size_t>(own.world_size) : 1;
  size_t made = 0;
  for (size_t i = first; i < ranks.size(); i += step) {
    job::RankSummary summary;
    if (read_stored(folder / ranks[i].trace, summary)) continue;
    const trace::Trace trace = load_to_analyze(folder / ranks[i].trace, quiet);
    job::write_summary(summary_from(trace, ranks[i], {}), summary_of(folder / ranks[i].trace));
    ++made;
  }
  return made;
}

report::JobReport load_job(const fs::path& folder, const std::string& iteration, bool quiet) {
  job::RunFolder run = job::read_run_folder(folder);
  report::JobReport report{.problems = run.problems};
  const analysis::IterationRequest request = iteration_request(iteration);
  const bool usual = request == analysis::IterationRequest{};
  job::StepReader reader;
  for (const job::RankIdentity& identity : ranks_of(run, folder)) {
    const fs::path file = folder / identity.trace;
    job::RankSummary summary;
    if (!usual || !read_stored(file, summary)) {
      const trace::Trace trace = load_to_analyze(file, quiet);
      summary = summary_from(trace, identity, request);
      // A trace that grows has no summary yet.
      if (usual && !trace::is_unfinished(trace)) store(summary, file);
    }
    reader.add(summary);
  }
  report.job = job::analyze(reader.take());
  return report;
}

int report_job_hang(const fs::path& folder, bool quiet) {
  job::RunFolder run = job::read_run_folder(folder);
  std::vector<job::RankHang> ranks;
  for (const job::RankIdentity& identity : ranks_of(run, folder)) {
    const trace::Trace trace = load(folder / identity.trace, quiet);
    analysis::Analyses analyses(trace);
    ranks.push_back(job::hang_state(analyses, identity));
  }
  const job::JobHang hang = job::explain(ranks);
  if (hang.kind == job::JobHangKind::kNone) {
    fmt::print("no rank of the job was hung when its trace ended\n");
    return kDone;
  }
  fmt::print("{}\n", analysis::printable(hang.headline));
  for (const std::string& line : hang.lines) fmt::print("  {}\n", analysis::printable(line));
  return kFound;
}

}  // namespace streamscope::cli
