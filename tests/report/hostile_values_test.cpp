// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Values that no recording would store, one column at a time, through every report. Under the
// sanitizers this also tests the arithmetic of the reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "analysis/compare/diff.h"
#include "analysis/hang/hang.h"
#include "report/check/check.h"
#include "report/export/export.h"
#include "report/formats/exporter.h"
#include "support/trace_builder.h"
#include "trace/checks.h"
#include "trace/error.h"
#include "trace/loss.h"

namespace streamscope {
namespace {

using trace::Int;
using trace::Small;
using trace::Trace;

// Two streams that share memory, events, synchronizations, ranges, libcoord's objects and a hang.
Trace busy_trace() {
  test::TraceBuilder builder;
  auto copies = builder.stream("copies"), math = builder.stream("math");
  for (trace::Ns step = 0; step < 12; ++step) {
    const trace::Ns at = step * 1'000;
    copies.at(at).memcpy(test::kHtoD, at + 100, at + 200).writes(0x10000, 4096).record("loaded");
    math.wait("loaded").kernel("gemm", at + 250, at + 500).reads(0x10000, 4096).record("done");
    if (step % 3 == 0) copies.wait("done");
    math.kernel("norm", at + 520, at + 600).writes(0x10800, 64);
    math.query(step % 2 == 0);
    builder.range("step", at, at + 900);
  }
  builder.synchronize_device(11'700, 12'000);
  math.synchronize(12'100, 12'300);
  builder.add(trace::Barrier{.process_id = 0, .first_arrival_ns = 100, .release_ns = 200});
  builder.add(trace::Overhead{.process_id = 0, .start_ns = 5, .end_ns = 9});
  builder.add(trace::Operation{.process_id = 0,
                               .native_id = 1,
                               .thread_id = 0,
                               .type = 0,
                               .priority = 2,
                               .stream_id = 0,
                               .state = trace::kOperationCompleted,
                               .registered_ns = 1,
                               .begun_ns = 2,
                               .submitted_ns = 3,
                               .completed_ns = 400});
  builder.add(trace::Pool{.process_id = 0, .kind = trace::kEventPool, .capacity = 4});
  for (trace::Ns at : {100, 200, 300})
    builder.add(trace::PoolSample{
        .pool_id = 0, .start_ns = at, .available = 1, .in_use = 3, .high_water = 3, .wait_ns = 7});
  builder.add(trace::Allocation{.process_id = 0,
                                .kind = trace::kDeviceAllocation,
                                .address = 0x10000,
                                .bytes = 8192,
                                .allocated_ns = 1,
                                .freed_ns = 11'000});
  builder.add(trace::TaskQueue{.process_id = 0, .native_id = 0, .on_device = 0, .workers = 2});
  builder.add(trace::Task{.task_queue_id = 0,
                          .number = 0,
                          .worker = 0,
                          .thread_id = 0,
                          .start_ns = 10,
                          .duration_ns = 20});
  return builder.trace();
}

// One of each kind.
std::vector<analysis::Assertion> all_assertions() {
  std::vector<analysis::Assertion> assertions;
  for (const char* text :
       {"may_overlap('*', '*')", "may_overlap_across('*', '*')", "ordered('*', '*')",
        "no_sync_in('iteration')", "no_sync_in('nvtx:step')", "launches_per_iteration < 1",
        "syncs_per_iteration < 1", "allocations_per_iteration < 1", "max_bound('host') <= 0 %"})
    assertions.push_back(analysis::parse_assertion(text, "test"));
  return assertions;
}

void use(const Trace& trace) {
  const report::Summary summary = report::summarize(trace);
  for (const report::Exporter& exporter : report::exporters())
    EXPECT_FALSE(exporter.write(trace, summary, {}).empty());
  const report::Check check = report::check(trace, {.assertions = all_assertions()});
  EXPECT_FALSE(report::write_check_json(check, {}).empty());
  for (const auto write : {report::export_chrome, report::export_perfetto, report::export_dot,
                           report::export_chakra}) {
    try {
      write(trace, {});
    } catch (const Error&) {  // nothing left to export
    }
  }
  analysis::Analyses analyses(trace), again(trace);
  analysis::diff(analyses, again);
  analysis::explain_hang(analyses, 0);
}

template <class Column>
void try_column(const Trace& good, const std::string& name, Column column) {
  using Value = typename std::decay_t<decltype(column(std::declval<Trace&>()))>::value_type;
  if constexpr (!std::is_same_v<Value, trace::Id>) {
    constexpr Value kMost = std::numeric_limits<Value>::max();
    const Value values[] = {trace::detail::none<Value>(),
                            0,
                            -1,
                            kMost,
                            -kMost,
                            static_cast<Value>(std::min<Int>(kMost, trace::kMostNs)),
                            static_cast<Value>(std::max<Int>(-kMost, -trace::kMostNs))};
    size_t step = 1;  // all rows, or every third
    for (const Value value : values) {
      SCOPED_TRACE(name + " = " + std::to_string(value));
      Trace hostile = good;
      auto& cells = column(hostile);
      for (size_t row = 0; row < cells.size(); row += step) cells[row] = value;
      step = 4 - step;
      trace::Damage damage;
      trace::check(hostile, damage);
      trace::add_losses(damage, hostile);
      use(hostile);
    }
  }
}

TEST(HostileValues, AreReportedWithoutHarm) {
  const Trace good = busy_trace();
#define STREAMSCOPE_TRY(type, name) \
  try_column(                       \
      good, table + "." #name, [](Trace & trace) -> auto& { return columns(trace).name; });
#define STREAMSCOPE_TRY_TABLE(sql_name, Row, COLUMNS)                                      \
  if (!good.sql_name.empty()) {                                                            \
    const std::string table = #sql_name;                                                   \
    static constexpr auto columns = [](Trace & trace) -> auto& { return trace.sql_name; }; \
    COLUMNS(STREAMSCOPE_TRY)                                                               \
  }
  STREAMSCOPE_TABLES(STREAMSCOPE_TRY_TABLE)
#undef STREAMSCOPE_TRY_TABLE
#undef STREAMSCOPE_TRY
}

TEST(HostileValues, MemoryBeyondTheLastAddressLeavesTheCheckWithoutVerdict) {
  Trace trace = busy_trace();
  for (size_t row = 0; row < trace.access.size(); row += 3) trace.access.address[row] = -1;
  trace::Damage damage;
  trace::check(trace, damage);
  trace::add_losses(damage, trace);
  const report::Check check = report::check(trace, {});
  EXPECT_EQ(check.result, report::CheckResult::kNotEvaluable);
  const std::string text = report::write_check_text(check, {});
  EXPECT_THAT(text, testing::HasSubstr("address = -1")) << text;
  EXPECT_THAT(report::info_text(trace, check.info), testing::HasSubstr("damaged-values"));
}

}  // namespace
}  // namespace streamscope
