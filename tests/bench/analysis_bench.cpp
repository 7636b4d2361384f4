// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cost of the analyses on a large trace, on one core: 10⁷ ops and 3·10⁶ waits, on 16 and on 512
// streams. Happens-before with redundancy, edges, why-late and critical path; the trace is already
// in memory. Memory is what they need besides the trace.
#include <malloc.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <random>
#include <string>

#include "analysis/analyses.h"
#include "analysis/iterations/host_pace.h"
#include "analysis/iterations/iteration_model.h"
#include "analysis/iterations/iteration_sums.h"
#include "analysis/usage/host_syncs.h"
#include "bench/big_trace.h"
#include "bench/budget.h"

namespace {

using namespace streamscope;
using namespace streamscope::trace;

// What a reader waits for: some analyses run on several threads.
double now_s() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Highest resident memory since the last call of reset_peak(), in bytes.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      double kib = 0;
      status >> kib;
      return kib * 1024;
    }
  }
  return 0;
}
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// Every op writes a part of its stream's own memory and reads one of the shared memory.
void add_accesses(Trace& t) {
  constexpr Int kPiece = 4096, kPieces = 64;
  std::mt19937_64 random(11);
  const size_t ops = t.op.size(), rows = 2 * ops;
  auto& access = t.access;
  for (auto* column : {&access.process_id, &access.thread_id}) column->assign(rows, 0);
  access.operation_id.assign(rows, kNoId);
  for (auto* column : {&access.pitch_bytes, &access.rows, &access.start_ns})
    column->assign(rows, kNoInt);
  for (auto* column : {&access.source, &access.writes}) column->assign(rows, 0);
  access.parameter.assign(rows, kNoSmall);
  access.bytes.assign(rows, kPiece);
  access.address.assign(rows, 0);
  access.call_number.assign(rows, 0);
  access.row_count = rows;
  for (size_t i = 0; i < ops; ++i) {
    const auto piece = static_cast<Int>(random() % kPieces),
               other = static_cast<Int>(random() % kPieces);
    access.call_number[2 * i] = access.call_number[2 * i + 1] = t.op.call_number[i];
    access.address[2 * i] = (piece + 1) * kPiece;
    access.address[2 * i + 1] = ((Int{t.op.stream_id[i]} + 2) * kPieces + other) * kPiece;
    access.writes[2 * i + 1] = 1;
  }
  t.pack();
}

struct Cost {
  double seconds, bytes;
};

Cost find_conflicts(const Trace& trace) {
  malloc_trim(0);
  reset_peak();
  const double before = peak_bytes(), begin = now_s();
  const analysis::IssueOrder order(trace);
  const analysis::HappensBefore observed(order, {.relation = analysis::Relation::kObserved});
  const size_t found = analysis::find_memory_conflicts(order, observed).found.size();
  const Cost cost{now_s() - begin, peak_bytes() - before};
  if (found > 0) std::printf("# %zu conflicts in a trace that has none\n", found);
  return cost;
}

Cost analyze(const Trace& trace, bool verbose) {
  malloc_trim(0);
  reset_peak();
  const double before = peak_bytes();
  const double begin = now_s();
  double last = begin;
  const auto lap = [&](const char* what) {
    if (verbose) std::printf("# %-16s %.2f s\n", what, now_s() - last);
    last = now_s();
  };
  size_t redundant = 0;
  analysis::Analyses analyses(trace);
  analyses.order();
  lap("issue order");
  {
    const analysis::HappensBefore order(analyses.order());
    for (Id wait = 0; wait < trace.event_wait.size(); ++wait)
      redundant += order.is_redundant_wait(wait);
    lap("happens-before");
  }
  analyses.stream_ops();
  lap("timeline");
  analyses.edges();
  lap("edges");
  analyses.contention();
  lap("contention");
  analyses.host_time();
  lap("host time");
  const size_t parts = analyses.waits().size();
  lap("why late");
  const size_t steps = analyses.path().size();
  lap("critical path");
  const Cost cost{now_s() - begin, peak_bytes() - before};
  if (verbose) {
    std::printf("# %zu redundant waits, %zu edges, %zu parts, %zu steps\n", redundant,
                analyses.edges().size(), parts, steps);
  }
  return cost;
}

// A range "step" around every thousand calls.
void add_iterations(Trace& trace) {
  auto& range = trace.range;
  const size_t count = trace.api_call.size() / 1000;
  for (size_t i = 0; i < count; ++i) {
    trace::Range row;
    row.thread_id = 0;
    row.kind = trace::kPushPop;
    row.name_id = 0;
    row.start_ns = trace.api_call.start_ns[1000 * i];
    row.end_ns = trace.api_call.end_ns[1000 * i + 999];
    range.append(row);
  }
  range.pack();
  trace.strings.assign(1, "step");
}

// What a report computes of iterations when the other analyses are there; without iterations, its
// sums of the whole run.
Cost sum_up(const Trace& trace, const analysis::IterationRequest& request) {
  analysis::Analyses analyses(trace, request);
  analyses.waits();
  analyses.path();
  analyses.replay();
  malloc_trim(0);
  reset_peak();
  const double before = peak_bytes();
  const double begin = now_s();
  const analysis::Iterations& iterations = analyses.iteration_model().iterations();
  const size_t found = iterations.all.size();
  if (iterations.found())
    analysis::host_pace(analyses, iterations, analyses.iteration_model().shares().threads);
  const auto host = analysis::IterationSlots::of_host(iterations);
  const auto sums = analysis::iteration_sums(analyses, iterations);
  const auto syncs = analysis::host_syncs_by_cost(trace, host);
  const Cost cost{now_s() - begin, peak_bytes() - before};
  if (found != (request.off ? 0 : trace.range.size()))
    std::printf("# %zu iterations found\n", found);
  return cost;
}

// What the iterations add: finding them, their shares, and their sums beside those of the run.
void bench_iterations(const Trace& trace) {
  const Cost whole = sum_up(trace, {}), without = sum_up(trace, {.off = true});
  std::printf("# %.2f s with iterations, %.2f s without\n", whole.seconds, without.seconds);
  bench::budget("iterations_10m_ops_s", whole.seconds - without.seconds, "s", 3,
                bench::Better::kLess);
  bench::budget("iterations_10m_ops_gib", (whole.bytes - without.bytes) / (1u << 30), "GiB", 0.5,
                bench::Better::kLess);
}

}  // namespace

int main() {
  const size_t ops = bench::scaled(10'000'000), waits = bench::scaled(3'000'000);
  for (size_t streams : {16, 512}) {
    const Cost half = analyze(bench::big_trace(ops / 2, waits / 2, streams), false);
    const Cost whole = analyze(bench::big_trace(ops, waits, streams), !bench::smoke());
    const std::string suffix = streams == 16 ? "" : "_512_streams";
    bench::budget(("analysis_10m_ops_s" + suffix).c_str(), whole.seconds, "s", 8,
                  bench::Better::kLess);
    bench::budget(("analysis_10m_ops_gib" + suffix).c_str(), whole.bytes / (1u << 30), "GiB", 2,
                  bench::Better::kLess);
    bench::budget(("analysis_doubling" + suffix).c_str(), whole.seconds / half.seconds, "x", 2.3,
                  bench::Better::kLess);
  }
  {
    Trace trace = bench::big_trace(ops, waits, 16);
    add_iterations(trace);
    bench_iterations(trace);
  }
  for (size_t streams : {16, 512}) {
    Trace half = bench::big_trace(ops / 2, waits / 2, streams),
          whole = bench::big_trace(ops, waits, streams);
    add_accesses(half);
    add_accesses(whole);
    const double first = find_conflicts(half).seconds;
    const Cost cost = find_conflicts(whole);
    const std::string suffix = streams == 16 ? "" : "_512_streams";
    bench::budget(("conflicts_10m_ops_s" + suffix).c_str(), cost.seconds, "s", 30,
                  bench::Better::kLess);
    bench::budget(("conflicts_10m_ops_gib" + suffix).c_str(), cost.bytes / (1u << 30), "GiB", 4,
                  bench::Better::kLess);
    bench::budget(("conflicts_doubling" + suffix).c_str(), cost.seconds / first, "x", 2.3,
                  bench::Better::kLess);
  }
}
