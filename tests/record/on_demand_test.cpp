// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "record/on_demand/on_demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "drain_fixture.h"
#include "record/on_demand/idle_reader.h"

namespace streamscope::record {
namespace {

namespace fs = std::filesystem;
using testing::UnorderedElementsAre;

// A program whose recording is switched as a collector does it.
class OnDemandParts : public DrainTest {
 protected:
  void SetUp() override {
    DrainTest::SetUp();
    options_.run.on_demand = true;
    options_.facts = &facts_;
    idle_.emplace(rings_, facts_);
  }

  void switch_to(test::FakeThread& thread, bool on) {
    auto record = thread.make<ring::CollectingRecord>(ring::RecordKind::kCollecting);
    record.on = on ? 1 : 0;
    record.begin = thread.now();
    thread.ring.push(record);
  }
  /// With its device work.
  uint32_t launch(test::FakeThread& thread, ring::TextHash name = 0) {
    const uint32_t number = thread.call("cudaLaunchKernel", 0xa, name);
    const auto now_ns = static_cast<int64_t>(ring::read_monotonic());
    thread.kernel(number, 13, now_ns, now_ns + 10, "");
    return number;
  }
  void begin_part() {
    idle_->step();
    fact_rings_ = idle_->write_facts();
    idle_.reset();
    file_ = directory_ / ("part-" + std::to_string(++parts_) + ".sqlite");
    drain().cycle();
  }
  trace::Trace end_part() {
    settle();
    complete_ = drain().hand_over();
    drain_.reset();
    for (const fs::path& file : fact_rings_) fs::remove(file);
    idle_.emplace(rings_, facts_);
    return trace::read(file_);
  }

  FactsOfProcesses facts_;
  std::optional<IdleReader> idle_;
  std::vector<fs::path> fact_rings_;
  int parts_ = 0;
};

TEST_F(OnDemandParts, EachHasTheCallsOfItsTimeAndTheNamesOfAll) {
  test::FakeThread& thread = program_thread();
  switch_to(thread, false);
  thread.context(1);
  thread.stream(0xa, 13);
  const auto early =
      thread.text("named while off, in more than one record of a ring, as it is long");
  idle_->step();
  EXPECT_EQ(thread.ring.header().head.load(), thread.ring.header().tail.load());

  begin_part();
  switch_to(thread, true);
  const uint32_t first = launch(thread, early);
  const auto late = thread.text("named in the first part");
  launch(thread, late);
  switch_to(thread, false);
  const trace::Trace one = end_part();
  EXPECT_TRUE(complete_);
  ASSERT_EQ(one.api_call.size(), 2u);
  EXPECT_EQ(one.api_call.call_number[0], first);
  EXPECT_EQ(one.process.complete[0], 1);
  EXPECT_THAT(losses(one), UnorderedElementsAre()) << "nothing is missing in a part";

  idle_->step();
  begin_part();
  switch_to(thread, true);
  launch(thread, late);
  launch(thread, early);
  switch_to(thread, false);
  const trace::Trace two = end_part();
  ASSERT_EQ(two.op.size(), 2u);
  EXPECT_EQ(two.text(two.op.name_id[0]), "named in the first part");
  EXPECT_EQ(two.text(two.op.name_id[1]),
            "named while off, in more than one record of a ring, as it is long");
  ASSERT_EQ(two.stream.size(), 1u);
  EXPECT_EQ(two.stream.native_id[0], 13);
  EXPECT_EQ(two.text(two.process.name_id[0]), "app");
  EXPECT_THAT(losses(two), UnorderedElementsAre());
}

// The device may finish, and report, in a part what was issued before it.
TEST_F(OnDemandParts, WorkOfBeforeIsNeitherStoredNorMissed) {
  options_.run.tier = Tier::kTimes;
  test::FakeThread& thread = program_thread();
  switch_to(thread, false);
  thread.context(1);
  thread.stream(0xa, 13);
  begin_part();
  thread.flags = ring::kOwnNumber;
  auto correlation = thread.make<ring::CorrelationRecord>(ring::RecordKind::kCorrelation);
  correlation.call = ring::find_call("cuLaunchKernel").value();
  correlation.correlation_id = 9;
  correlation.tid = 100;
  correlation.begin_ns = static_cast<int64_t>(ring::read_monotonic()) - 5'000'000'000;
  correlation.end_ns = correlation.begin_ns + 10'000;
  thread.ring.push(correlation);
  thread.kernel(9, 13, correlation.begin_ns + 20'000, correlation.begin_ns + 30'000);
  thread.flags = 0;
  switch_to(thread, true);
  switch_to(thread, false);
  const trace::Trace part = end_part();
  EXPECT_EQ(part.op.size(), 0u);
  EXPECT_FALSE(losses(part).contains("calls-missing"));
}

TEST_F(OnDemandParts, CountsNoRecordsThatWereDroppedBefore) {
  test::FakeThread& thread = this->thread(0, 64);
  thread.process("/bin/app");
  for (int i = 0; i < 200; ++i) thread.call("cudaLaunchKernel", 0xa, 0);
  ASSERT_GT(thread.ring.header().dropped.load(), 0u);
  begin_part();
  switch_to(thread, true);
  thread.call("cudaLaunchKernel", 0xa, 0);
  switch_to(thread, false);
  const trace::Trace part = end_part();
  EXPECT_EQ(part.api_call.size(), 1u);
  EXPECT_FALSE(losses(part).contains("ring-full"));
}

TEST_F(OnDemandParts, ACallInProgressAtTheEndIsNoLoss) {
  test::FakeThread& thread = program_thread();
  begin_part();
  switch_to(thread, true);
  launch(thread);
  thread.enter("cudaDeviceSynchronize", 0, 0);
  switch_to(thread, false);
  const trace::Trace part = end_part();
  EXPECT_EQ(part.api_call.size(), 1u);
  EXPECT_THAT(losses(part), UnorderedElementsAre());
  thread.leave("cudaDeviceSynchronize", 0, 0);
}

TEST_F(OnDemandParts, RingsOfProcessesThatEndedAreRemoved) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    test::FakeThread ended(rings_, 7);
    ended.thread(1);
    ended.end();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  program_thread();
  idle_->step();
  EXPECT_FALSE(idle_->all_finished());
  size_t rings = 0;
  for (const auto& entry : fs::directory_iterator(rings_))
    rings += entry.path().extension() == ".ring";
  EXPECT_EQ(rings, 1u);
  EXPECT_EQ(facts_.size(), 1u);
}

}  // namespace
}  // namespace streamscope::record
