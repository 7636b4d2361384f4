// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job_tables.h"

#include <fmt/format.h>

#include <cmath>

#include "export.h"
#include "trace/error.h"

namespace streamscope::report {
namespace {

using job::Job;
using trace::MemoryTables;
using trace::Ns;

constexpr char kJobSchema[] = R"sql(
CREATE TABLE job (name TEXT, iteration_ns INTEGER, replayed_ns INTEGER, waiting_share REAL);
CREATE TABLE rank (rank INTEGER PRIMARY KEY, host TEXT, local_rank INTEGER, device TEXT, trace TEXT,
  iterations INTEGER, iteration_ns INTEGER, makes_each_wait_ns INTEGER, waits_ns INTEGER,
  communication_ns INTEGER, exposed_ns INTEGER, incomplete TEXT);
CREATE TABLE job_iteration (number INTEGER, rank INTEGER, start_ns INTEGER, end_ns INTEGER,
  caused_ns INTEGER);
CREATE TABLE collective (communicator TEXT, sequence INTEGER, kind TEXT, iteration INTEGER,
  ranks INTEGER, bytes INTEGER, late_rank INTEGER, own_ns INTEGER, waits_ns INTEGER);
CREATE TABLE delay (place_in_list INTEGER, ranks TEXT, cause TEXT, place TEXT, not_hidden INTEGER,
  excess_ns INTEGER, cost_ns INTEGER, text TEXT);
CREATE TABLE clock (rank INTEGER, at_ns INTEGER, offset_ns INTEGER, lower_ns INTEGER,
  upper_ns INTEGER, refused TEXT);
CREATE TABLE mismatch (rank INTEGER, communicator TEXT, sequence INTEGER, count INTEGER, text TEXT);
CREATE TABLE problem (text TEXT);
)sql";

int64_t whole_ns(double ns) { return std::llround(ns); }
// NULL where it is not known.
MemoryTables::Value known(int64_t number, int64_t unknown) {
  return number == unknown ? MemoryTables::Value() : MemoryTables::Value(number);
}

void add_ranks(const JobReport& report, MemoryTables& tables) {
  const Job& job = report.job;
  const JobFacts facts = facts_of(job);
  tables.append("job", {report.name, whole_ns(job.iteration_ns), whole_ns(job.replayed_ns),
                        facts.waiting_share});
  for (size_t row = 0; row < job.steps.ranks.size(); ++row) {
    const job::RankRow& rank = job.steps.ranks[row];
    const job::Overlap& overlap = job.overlap[row];
    tables.append(
        "rank",
        {int64_t{rank.identity.rank}, rank.identity.host, known(rank.identity.local_rank, -1),
         rank.identity.gpu, rank.identity.trace, int64_t{rank.row_count},
         whole_ns(facts.ranks[row].iteration_ns), whole_ns(facts.ranks[row].makes_wait_ns),
         whole_ns(overlap.waited_ns), whole_ns(overlap.communication_ns),
         whole_ns(overlap.exposed_ns), rank.incomplete});
  }
  for (size_t row = 0; row < job.steps.iterations.size(); ++row) {
    const job::IterationRow& iteration = job.steps.iterations[row];
    tables.append(
        "job_iteration",
        {int64_t{iteration.number}, int64_t{job.steps.ranks[iteration.rank].identity.rank},
         iteration.start_ns, iteration.end_ns, whole_ns(job.waiting.caused_ns[row])});
  }
}

// Those of which at least one rank has a call; ends of iterations are groups, too.
void add_collectives(const Job& job, MemoryTables& tables) {
  const job::Steps& steps = job.steps;
  for (uint32_t group = 0; group < job.matching.group_count(); ++group) {
    const std::span<const uint32_t> members = job.matching.of(group);
    if (members.empty() || steps.ends_iteration(members[0])) continue;
    const uint32_t step = members[0];
    const job::Wait& wait = job.waiting.waits[group];
    const bool has_ended = wait.late != job::kNone;
    const auto if_ended = [&](int64_t value) {
      return has_ended ? MemoryTables::Value(value) : MemoryTables::Value();
    };
    tables.append(
        "collective",
        {steps.communicators[steps.communicator[step]].name, int64_t{steps.sequence[step]},
         std::string(name_of(kCollectiveKinds, steps.kind[step])),
         int64_t{steps.iterations[steps.row[step]].number}, static_cast<int64_t>(members.size()),
         static_cast<int64_t>(steps.bytes[step]),
         if_ended(has_ended ? steps.rank_number(wait.late) : 0), if_ended(wait.own_ns),
         if_ended(wait.total_ns)});
  }
}

void add_findings(const JobReport& report, MemoryTables& tables) {
  const Job& job = report.job;
  for (size_t i = 0; i < job.delays.size(); ++i) {
    const job::Delay& delay = job.delays[i];
    tables.append(
        "delay",
        {static_cast<int64_t>(i + 1), fmt::format("{}", fmt::join(delay.ranks, ",")),
         std::string(analysis::names_of(delay.share).id), delay.place, int64_t{delay.exposed},
         whole_ns(delay.excess_ns), whole_ns(delay.cost_ns), job.delay_sentences[i]});
  }
  for (size_t row = 0; row < job.clocks.size(); ++row) {
    const int64_t rank = job.steps.ranks[row].identity.rank;
    const job::RankClock& clock = job.clocks[row];
    if (!clock.known()) tables.append("clock", {rank, {}, {}, {}, {}, clock.refused});
    for (const job::ClockKnot& knot : clock.knots)
      tables.append("clock", {rank,
                              knot.at_ns,
                              whole_ns(knot.offset_ns),
                              whole_ns(knot.lower_ns),
                              whole_ns(knot.upper_ns),
                              {}});
  }
  for (const job::Mismatch& mismatch : job.matching.mismatches)
    tables.append("mismatch",
                  {int64_t{mismatch.rank}, job.steps.communicators[mismatch.communicator].name,
                   int64_t{mismatch.sequence}, int64_t{mismatch.count}, mismatch.text});
  for (const Notice& notice : notices_of(report)) tables.append("problem", {notice.text});
}

}  // namespace

std::string_view job_schema() { return kJobSchema; }

std::vector<std::string> job_table_names() {
  constexpr std::string_view kCreate = "CREATE TABLE ";
  std::vector<std::string> names;
  const std::string_view schema = kJobSchema;
  for (size_t at = 0; (at = schema.find(kCreate, at)) != schema.npos;) {
    at += kCreate.size();
    names.emplace_back(schema.substr(at, schema.find(' ', at) - at));
  }
  return names;
}

MemoryTables job_tables(const JobReport& report) {
  MemoryTables tables(kJobSchema);
  add_ranks(report, tables);
  add_collectives(report.job, tables);
  add_findings(report, tables);
  return tables;
}

std::string export_job_tables(const JobReport& report) { return job_tables(report).bytes(); }

std::string export_sqlite(const trace::Trace& trace, const ExportOptions&) {
  throw Error(trace.file, "is a SQLite file already", "streamscope query asks it");
}

}  // namespace streamscope::report
