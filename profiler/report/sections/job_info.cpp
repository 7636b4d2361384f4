// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/labels.h"
#include "analysis/units.h"
#include "job_document.h"
#include "lists.h"
#include "report/formats/json.h"

namespace streamscope::report {
namespace {

using analysis::format_bytes;
using analysis::format_count;
using analysis::printable;

// What the ranks with a summary call in one communicator.
struct CommunicatorFacts {
  const job::Communicator* communicator = nullptr;
  std::set<uint32_t> ranks;  // that use it, by row
  uint64_t calls = 0, bytes = 0;
};

std::vector<CommunicatorFacts> communicators_of(const job::Steps& steps) {
  std::vector<CommunicatorFacts> facts(steps.communicators.size());
  for (size_t i = 0; i < facts.size(); ++i) facts[i].communicator = &steps.communicators[i];
  for (uint32_t step = 0; step < steps.count(); ++step) {
    if (steps.ends_iteration(step)) continue;
    CommunicatorFacts& one = facts[steps.communicator[step]];
    one.ranks.insert(steps.rank_of(step));
    ++one.calls;
    one.bytes += steps.bytes[step];
  }
  return facts;
}

// Of each rank that uses it.
double per_iteration(const job::Job& job, const CommunicatorFacts& facts, uint64_t total) {
  size_t iterations = 0;
  for (const uint32_t row : facts.ranks) iterations += job.steps.ranks[row].row_count;
  return iterations == 0 ? 0 : static_cast<double>(total) / static_cast<double>(iterations);
}

uint64_t total_bytes(const JobInfo& info) {
  uint64_t total = 0;
  for (const RankFile& rank : info.ranks) total += rank.bytes;
  return total;
}

size_t summary_count(const JobInfo& info) {
  return static_cast<size_t>(std::ranges::count_if(
      info.ranks, [](const RankFile& rank) { return rank.iteration_count.has_value(); }));
}

std::string number_or(int32_t number, const char* otherwise = "") {
  return number < 0 ? otherwise : fmt::format("{}", number);
}

Section rank_files_section(const JobInfo& info) {
  Section section{
      .title = "Ranks",
      .columns = {right("rank"), left("host"), right("local rank"), left("device"),
                  left("rank known from"), left("trace"), right("size"), left("summary")}};
  for (const RankFile& rank : first_of(info.ranks, kStreamsShown, "other ranks", section)) {
    const job::RankIdentity& identity = rank.identity;
    section.rows.push_back(
        {number_or(identity.rank), printable(identity.host), number_or(identity.local_rank),
         printable(identity.gpu), printable(identity.told_by), printable(identity.trace),
         format_bytes(static_cast<int64_t>(rank.bytes)),
         rank.iteration_count ? format_count(*rank.iteration_count, "iteration") : "none"});
  }
  if (summary_count(info) < info.ranks.size())
    section.footnotes.push_back(
        "what follows is of the ranks with a summary; streamscope analyze makes the others");
  return section;
}

Section communicator_section(const job::Job& job) {
  Section section{
      .title = "Communicators",
      .columns = {left("name"), right("ranks"), right("seen"), right("calls"), right("bytes")}};
  const std::vector<CommunicatorFacts> all = communicators_of(job.steps);
  for (const CommunicatorFacts& one : first_of(all, kStreamsShown, "communicators", section)) {
    section.rows.push_back(
        {printable(one.communicator->name), number_or(one.communicator->size, "not known"),
         format_count(one.ranks.size()), analysis::format_mean(per_iteration(job, one, one.calls)),
         format_bytes(static_cast<int64_t>(per_iteration(job, one, one.bytes)))});
  }
  section.footnotes.emplace_back(
      "seen: ranks with a summary that use it; calls and bytes: means per iteration and rank");
  return section;
}

}  // namespace

Document job_info_document(const JobInfo& info) {
  std::set<std::string> hosts;
  for (const RankFile& rank : info.ranks) hosts.insert(rank.identity.host);
  Document document;
  document.headline = fmt::format(
      "{}{} on {}, {}", format_count(info.ranks.size(), "rank"),
      info.run.world_size > 0 ? fmt::format(" of {}", info.run.world_size) : "",
      format_count(hosts.size(), "host"), format_bytes(static_cast<int64_t>(total_bytes(info))));
  document.notices = notices_of(
      JobReport{.job = {}, .problems = info.run.problems, .unfinished = info.run.unfinished});
  document.sections.push_back(rank_files_section(info));
  if (!info.run.others.empty()) {
    Section others{.title = "Traces without a rank"};
    for (const job::RankIdentity& other :
         first_of(info.run.others, kRowsShown, "other traces", others))
      others.remarks.push_back(printable(other.trace));
    document.sections.push_back(std::move(others));
  }
  const job::Job& job = info.job;
  if (job.steps.ranks.empty()) return document;
  document.sections.push_back({.title = "Iterations", .remarks = {headline(job) + "."}});
  if (Section communicators = communicator_section(job); !communicators.rows.empty())
    document.sections.push_back(std::move(communicators));
  if (Section clocks = clock_section(job); !clocks.rows.empty())
    document.sections.push_back(std::move(clocks));
  return document;
}

std::string job_info_json(const JobInfo& info) {
  const auto known = [](int32_t number) { return number < 0 ? Json() : Json(number); };
  const auto rank_json = [&](const RankFile& rank) {
    const job::RankIdentity& identity = rank.identity;
    return Json{
        {"rank", identity.rank},
        {"local_rank", known(identity.local_rank)},
        {"host", identity.host},
        {"device", identity.gpu},
        {"source", identity.told_by},
        {"trace", identity.trace},
        {"bytes", rank.bytes},
        {"summary_iterations", rank.iteration_count ? Json(*rank.iteration_count) : Json()}};
  };
  const auto communicator_json = [&](const CommunicatorFacts& one) {
    return Json{{"name", one.communicator->name},
                {"size", known(one.communicator->size)},
                {"ranks_seen", one.ranks.size()},
                {"calls_per_iteration", per_iteration(info.job, one, one.calls)},
                {"bytes_per_iteration", per_iteration(info.job, one, one.bytes)}};
  };
  const auto trace_of = [](const job::RankIdentity& other) { return other.trace; };
  Json clocks = Json::array();
  for (size_t row = 0; row < info.job.clocks.size(); ++row) {
    Json clock = clock_json(info.job.clocks[row]);
    clock["rank"] = info.job.steps.ranks[row].identity.rank;
    clocks.push_back(std::move(clock));
  }
  return dump(Json{{"schema", 1},
                   {"world_size", known(info.run.world_size)},
                   {"ranks", array_of(info.ranks, rank_json)},
                   {"without_rank", array_of(info.run.others, trace_of)},
                   {"problems", info.run.problems},
                   {"unfinished", info.run.unfinished},
                   {"bytes", total_bytes(info)},
                   {"iterations", info.job.durations_ns.size()},
                   {"communicators", array_of(communicators_of(info.job.steps), communicator_json)},
                   {"clocks", std::move(clocks)}});
}

}  // namespace streamscope::report
