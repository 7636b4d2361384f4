// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derive.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/iterations/iteration_model.h"
#include "support/mistakes.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

TEST(Derive, StoresTheEdgesAndTheirVersionAndKeepsTheRest) {
  test::TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
  builder.stream("math").wait("loaded").kernel("gemm", 210, 350);
  const auto file = std::filesystem::path(testing::TempDir()) / "derive_test.sqlite";
  std::filesystem::remove(file);
  builder.write(file);

  const Trace before = trace::read(file);
  EXPECT_FALSE(has_derived_tables(before));
  EXPECT_TRUE(before.edge.empty());
  for (int round = 0; round < 2; ++round) {  // the second replaces the first
    const Trace trace = trace::read(file);
    Analyses analyses(trace);
    write_derived_tables(analyses);
  }
  const Trace after = trace::read(file);
  EXPECT_TRUE(has_derived_tables(after));
  EXPECT_TRUE(after.complete());
  EXPECT_EQ(after.op.size(), before.op.size());
  ASSERT_EQ(after.edge.size(), 1u);
  EXPECT_EQ(after.edge.kind[0], trace::kEventEdge);
  EXPECT_EQ(after.edge.from_op_id[0], 0u);
  EXPECT_EQ(after.edge.to_op_id[0], 1u);
  EXPECT_EQ(after.edge.event_record_id[0], 0u);
  EXPECT_EQ(after.edge.event_wait_id[0], 0u);
  std::filesystem::remove(file);
}

// Code that reads derived rows uses their ids as indexes.
TEST(Derive, IgnoresRowsWithoutTheColumnsOfThisVersion) {
  test::TraceBuilder builder;
  builder.add(trace::Edge{.kind = trace::kEventEdge, .from_op_id = 0, .to_op_id = 1});
  builder.add(trace::WaitCause{.op_id = 0, .cause = 0, .duration_ns = 10});
  builder.add(trace::CriticalPath{
      .step = 0, .kind = trace::kOpStep, .op_id = 0, .start_ns = 10, .end_ns = 20});
  builder.add(trace::Finding{.severity = 1, .confidence = 2});
  Trace whole = builder.trace();
  whole.meta["analysis_version"] = std::to_string(kAnalysisVersion);
  EXPECT_TRUE(has_derived_tables(whole));
  const auto is_whole_after = [&](auto change) {
    Trace trace = whole;
    change(trace);
    return has_derived_tables(trace);
  };
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.edge.kind[0] = trace::kNoSmall; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.edge.from_op_id[0] = kNoId; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.edge.to_op_id[0] = kNoId; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.wait_cause.op_id[0] = kNoId; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.wait_cause.cause[0] = trace::kNoSmall; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.wait_cause.duration_ns[0] = trace::kUnknownNs; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.critical_path.kind[0] = trace::kNoSmall; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.critical_path.op_id[0] = kNoId; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.critical_path.start_ns[0] = trace::kUnknownNs; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.critical_path.end_ns[0] = 5; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.finding.severity[0] = trace::kNoSmall; }));
  EXPECT_FALSE(is_whole_after([](Trace& t) { t.finding.confidence[0] = trace::kNoSmall; }));
}

// A trace with findings that have a place and a gain, whose derived tables are written.
class StoredVerdicts : public testing::Test {
 protected:
  void SetUp() override {
    test::TraceBuilder builder;
    builder.range("step", 0, 5000);
    for (int i = 0; i < 3; ++i) {
      builder.stream("a").kernel("k", 100 + 1000 * i, 200 + 1000 * i);
      builder.stream("a").wait("never").synchronize(200 + 1000 * i, 900 + 1000 * i);
    }
    builder.thread("other").synchronize_event("absent", 4000, 4100);
    builder.loss("ring-full", 7);
    std::filesystem::remove(file_);
    builder.write(file_);
    const Trace trace = trace::read(file_);
    Analyses analyses(trace);
    computed_ = evaluate_all(analyses);
    write_derived_tables(analyses);
  }
  void TearDown() override { std::filesystem::remove(file_); }

  // Tests run side by side.
  const std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("derive_test_") + testing::UnitTest::GetInstance()->current_test_info()->name() +
       ".sqlite");
  std::vector<Verdict> computed_;
};

TEST_F(StoredVerdicts, AreThoseThatWereComputed) {
  const std::optional<std::vector<Verdict>> stored = stored_verdicts(trace::read(file_));
  ASSERT_TRUE(stored);
  ASSERT_EQ(stored->size(), computed_.size());
  size_t findings = 0, places = 0;
  for (size_t i = 0; i < computed_.size(); ++i) {
    const Verdict &got = (*stored)[i], &wanted = computed_[i];
    EXPECT_EQ(got.detector, wanted.detector);
    EXPECT_EQ(got.outcome, wanted.outcome);
    EXPECT_EQ(got.reason, wanted.reason);
    ASSERT_EQ(got.findings.size(), wanted.findings.size()) << wanted.detector->id;
    for (size_t j = 0; j < wanted.findings.size(); ++j) {
      const Finding &a = got.findings[j], &b = wanted.findings[j];
      const auto values = [](const Finding& f) {
        return std::tie(f.title, f.text, f.first_op, f.second_op, f.event_record, f.event_wait,
                        f.host_sync, f.place.thread, f.place.call_site, f.place.ranges,
                        f.confidence, f.start_ns, f.end_ns, f.last_ns, f.count, f.gain_ns);
      };
      EXPECT_TRUE(values(a) == values(b)) << a.title << "\n" << b.title;
      ++findings;
      places += !b.place.thread.empty() && !b.place.ranges.empty();
    }
  }
  EXPECT_GT(findings, 1u);
  EXPECT_GT(places, 0u);
}

TEST_F(StoredVerdicts, AreUsedOnlyForTheseRows) {
  const Trace whole = trace::read(file_);
  const auto are_taken_after = [&](auto change) {
    Trace trace = whole;
    change(trace);
    return stored_verdicts(trace).has_value();
  };
  EXPECT_TRUE(are_taken_after([](Trace&) {}));
  EXPECT_FALSE(are_taken_after([](Trace& t) { t.meta["analysis_version"] = "5"; }));
  EXPECT_FALSE(are_taken_after([](Trace& t) { t.op.append({}); }));
  EXPECT_FALSE(are_taken_after([](Trace& t) { t.finding.append({}); }));
  EXPECT_FALSE(are_taken_after([](Trace& t) { t.finding = {}; }));
  EXPECT_FALSE(are_taken_after([](Trace& t) { t.meta.erase("verdicts"); }));
  EXPECT_FALSE(are_taken_after([](Trace& t) { t.meta["verdicts"] = "\n"; }));
  EXPECT_FALSE(are_taken_after([](Trace& t) { t.meta["verdicts"] += "no-such-detector clean\n"; }));
  EXPECT_FALSE(are_taken_after([](Trace& t) {
    std::string& text = t.meta["verdicts"];
    text.replace(text.find(" found"), 6, " clean");
  }));
}

TEST_F(StoredVerdicts, AreUsedForLargeTracesOnly) {
  Trace trace = trace::read(file_);
  for (std::string& text : trace.strings) {
    if (text.find("which has not been recorded") != text.npos) text = "as stored";
  }
  const auto says_as_stored = [&](size_t above) {
    Analyses analyses(trace);
    for (const Verdict& verdict : verdicts(analyses, above)) {
      for (const Finding& finding : verdict.findings)
        if (finding.title == "as stored") return true;
    }
    return false;
  };
  EXPECT_TRUE(says_as_stored(trace.op.size() - 1));
  EXPECT_FALSE(says_as_stored(trace.op.size()));
  EXPECT_FALSE(says_as_stored(kTakeDerivedAbove));
}

// The detectors use the stored hangs. When derived tables add a hang, they have not seen it yet.
TEST_F(StoredVerdicts, AreComputedAgainIfDerivingAddedAHang) {
  test::TraceBuilder builder;
  builder.stream("a").memory_wait(0x10, 1, kUnknownNs, kUnknownNs).synchronize(50, 60);
  constexpr trace::Small kCodeUnknown = 999;  // how the simulated device ends a hopeless wait
  builder.columns().process.clock.assign(1, trace::kVirtualClock);
  builder.columns().host_sync.result.assign(1, kCodeUnknown);
  std::filesystem::remove(file_);
  builder.write(file_);
  for (const bool are_stored : {false, true}) {
    const Trace trace = trace::read(file_);
    EXPECT_EQ(trace.hang.empty(), !are_stored);
    Analyses analyses(trace);
    write_derived_tables(analyses);
    const Trace after = trace::read(file_);
    EXPECT_FALSE(after.hang.empty());
    EXPECT_EQ(stored_verdicts(after).has_value(), are_stored);
  }
}

TEST(StoredIterations, AreThoseThatWereFound) {
  const auto file = std::filesystem::path(testing::TempDir()) / "derive_test_iterations.sqlite";
  std::filesystem::remove(file);
  test::host_bound_trace(20).write(file);
  Iterations found;
  {
    const Trace trace = trace::read(file);
    EXPECT_FALSE(stored_iterations(trace).found()) << "not written yet";
    Analyses analyses(trace);
    found = analyses.iteration_model().iterations();
    write_derived_tables(analyses);
  }
  ASSERT_TRUE(found.found());
  const Trace trace = trace::read(file);
  const Iterations stored = stored_iterations(trace);
  EXPECT_EQ(stored.source, found.source);
  EXPECT_EQ(stored.name, found.name);
  EXPECT_EQ(stored.process_id, found.process_id);
  EXPECT_EQ(stored.steady_from, found.steady_from);
  EXPECT_EQ(stored.steady_to, found.steady_to);
  EXPECT_EQ(stored.median_ns, found.median_ns);
  EXPECT_EQ(stored.low_ns, found.low_ns);
  EXPECT_EQ(stored.high_ns, found.high_ns);
  EXPECT_EQ(stored.op_count, found.op_count);
  EXPECT_EQ(stored.outlier_count, found.outlier_count);
  ASSERT_EQ(stored.all.size(), found.all.size());
  for (size_t i = 0; i < found.all.size(); ++i) {
    const Iteration &a = stored.all[i], &b = found.all[i];
    EXPECT_EQ(std::tie(a.start_ns, a.end_ns, a.issued_ns, a.last_op, a.op_count),
              std::tie(b.start_ns, b.end_ns, b.issued_ns, b.last_op, b.op_count));
  }
  // Rows that another program wrote may be invalid.
  const auto is_found_after = [&](auto change) {
    Trace changed = trace::read(file);
    change(changed);
    return stored_iterations(changed).found();
  };
  EXPECT_TRUE(is_found_after([](Trace&) {}));
  EXPECT_FALSE(is_found_after([](Trace& t) { t.meta["analysis_version"] = "0"; }));
  EXPECT_FALSE(is_found_after([](Trace& t) { t.iteration.source[0] = 9; }));
  EXPECT_FALSE(is_found_after([](Trace& t) { t.iteration.end_ns[5] = 0; }));
  EXPECT_FALSE(is_found_after([](Trace& t) { t.iteration.start_ns[5] -= 1; }));
  EXPECT_FALSE(is_found_after([](Trace& t) {
    t.iteration.start_ns[0] = -std::numeric_limits<Ns>::max();
    t.iteration.end_ns[0] = std::numeric_limits<Ns>::max();
  }));
  EXPECT_FALSE(is_found_after([](Trace& t) { t.iteration.steady[8] = 0; })) << "two steady parts";
  EXPECT_FALSE(is_found_after([](Trace& t) {
    for (trace::Small& steady : t.iteration.steady) steady = 0;
  }));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace streamscope::analysis
