// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "analysis/analyses.h"
#include "analysis/labels.h"
#include "command.h"
#include "job/files/run_folder.h"
#include "job/rank_words.h"
#include "job/run_summaries.h"
#include "job/steps.h"
#include "record/run/rank_traces.h"
#include "terminal.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

namespace fs = std::filesystem;

// Also of "run/".
std::string folder_name(const fs::path& folder) {
  return fs::absolute(folder / "").lexically_normal().parent_path().filename().string();
}

job::ReadTrace reading(bool quiet) {
  return [quiet](const fs::path& file) { return load_to_analyze(file, quiet); };
}

}  // namespace

job::RunFolder read_run(const fs::path& folder) {
  job::RunFolder run = job::read_run_folder(folder);
  run.ranks = job::first_traces(run, folder);
  return run;
}

bool is_run(const fs::path& argument) {
  std::error_code ignored;
  return fs::is_directory(argument, ignored);
}

void wait_for_run(const fs::path& folder, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (const std::string& name : job::traces_in(folder)) {
    const std::chrono::duration<double> waited = Clock::now() - begin;
    wait_for_end(folder / name, std::max(0.0, seconds - waited.count()));
  }
}

std::vector<analysis::AssertionResult> evaluate_on_ranks(
    const fs::path& folder, const job::RunFolder& run,
    const std::vector<analysis::Assertion>& assertions, const analysis::IterationRequest& iteration,
    bool quiet) {
  std::vector<analysis::AssertionResult> answers;
  if (assertions.empty()) return answers;
  for (const job::RankIdentity& rank : run.ranks) {
    const trace::Trace trace = load_to_analyze(folder / rank.trace, quiet);
    analysis::Analyses analyses(trace, iteration);
    report::join(answers, rank.rank, analysis::evaluate(analyses, assertions));
  }
  return answers;
}

size_t summarize_run(const fs::path& folder, bool quiet) {
  const std::vector<job::RankIdentity> ranks = read_run(folder).ranks;
  const RankClaim own = record::own_rank();
  const bool shared = own.is_known() && own.world_size > own.rank;
  const size_t first = shared ? static_cast<size_t>(own.rank) : 0,
               step = shared ? static_cast<size_t>(own.world_size) : 1;
  size_t made = 0;
  for (size_t i = first; i < ranks.size(); i += step)
    made += job::make_summary(folder, ranks[i], reading(quiet)) ? 1 : 0;
  return made;
}

report::JobReport load_job(const fs::path& folder, const std::string& iteration, bool quiet) {
  return load_job(folder, read_run(folder), iteration, quiet);
}

report::JobReport load_job(const fs::path& folder, const job::RunFolder& run,
                           const std::string& iteration, bool quiet) {
  report::JobReport report{
      .problems = run.problems, .unfinished = run.unfinished, .name = folder_name(folder)};
  report.job = job::analyze(
      job::read_steps(folder, run.ranks, iteration_request(iteration), reading(quiet)));
  return report;
}

void report_refused_clocks(const job::Job& job) {
  std::map<std::string, std::vector<int32_t>> refused;  // ranks by reason
  for (uint32_t row = 0; row < job.steps.ranks.size(); ++row) {
    if (const std::string& reason = job.clocks[row].refused; !reason.empty())
      refused[reason].push_back(job.steps.ranks[row].identity.rank);
  }
  for (const auto& [reason, ranks] : refused)
    message("{}: on the clock of their host, as it is not known against that of the first: {}",
            job::ranks_text(ranks), reason);
}

report::JobInfo read_job_info(const fs::path& folder) {
  report::JobInfo info{.name = folder_name(folder), .run = read_run(folder)};
  for (const job::RankIdentity& identity : info.run.ranks) {
    report::RankFile& rank = info.ranks.emplace_back();
    rank.identity = identity;
    std::error_code error;
    const auto bytes = fs::file_size(folder / identity.trace, error);
    if (!error) rank.bytes = bytes;
  }
  job::Steps steps = job::steps_of([&](job::StepReader& reader) {
    for (report::RankFile& rank : info.ranks) {
      job::RankSummary summary;
      if (!job::read_stored(folder / rank.identity.trace, summary)) continue;
      rank.iteration_count = summary.iterations.size();
      summary.identity = rank.identity;
      reader.add(summary);
    }
  });
  steps.clock_offsets = job::read_clock_offsets(folder);
  if (!steps.ranks.empty()) info.job = job::analyze(std::move(steps));
  return info;
}

}  // namespace streamscope::cli
