// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/write/cut.h"

#include <gtest/gtest.h>

#include "support/trace_builder.h"
#include "trace/error.h"
#include "trace/read/reader.h"

namespace streamscope::trace {
namespace {

namespace fs = std::filesystem;

class Cut : public testing::Test {
 protected:
  Cut() {
    std::string name = (fs::path(testing::TempDir()) / "cut-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Cut() override { fs::remove_all(folder_); }

  Trace part(const std::string& range) {
    const fs::path out = folder_ / "part.sqlite";
    cut(builder_.trace(), part_of_range(builder_.trace(), range), out, true);
    return read(out);
  }

  test::TraceBuilder builder_;
  fs::path folder_;
};

TEST_F(Cut, KeepsWhatBeginsInTheRange) {
  builder_.at(100).stream("a").kernel("before", 150, 160);
  builder_.at(200).stream("a").kernel("inside", 1000, 1010).synchronize(210, 400);
  builder_.at(500).stream("b").kernel("after", 500, 510);
  builder_.range("step", 190, 300).range("inner", 205, 220).mark("early", 100).mark("now", 250);
  const Trace trace = part("step");
  ASSERT_EQ(trace.op.size(), 1u) << "by its call, however late it runs";
  EXPECT_EQ(trace.text(trace.op.name_id[0]), "inside");
  EXPECT_EQ(trace.op.start_ns[0], 1000);
  EXPECT_EQ(trace.op.api_call_id[0], 0u);
  EXPECT_EQ(trace.api_call.size(), 1u);
  EXPECT_EQ(trace.host_sync.size(), 1u);
  EXPECT_EQ(trace.range.size(), 2u);
  EXPECT_EQ(trace.mark.size(), 1u);
  EXPECT_EQ(trace.stream.size(), 1u) << "only what is used";
  EXPECT_TRUE(trace.complete());
}

TEST_F(Cut, KeepsTheRecordThatAWaitRefersToAndMemoryFromBefore) {
  builder_.at(50).malloc(0x1000, 64);
  builder_.at(100).stream("a").kernel("before", 150, 160).record("loaded");
  builder_.at(200).stream("b").wait("loaded").kernel("inside", 300, 310);
  builder_.range("step", 190, 300);
  const Trace trace = part("step");
  ASSERT_EQ(trace.event_wait.size(), 1u);
  ASSERT_EQ(trace.event_record.size(), 1u);
  EXPECT_EQ(trace.event_wait.record_id[0], 0u);
  EXPECT_EQ(trace.text(trace.stream.name_id[trace.event_record.stream_id[0]]), "a");
  EXPECT_EQ(trace.op.size(), 1u);
  ASSERT_EQ(trace.api_call.size(), 2u) << "the launch, and the call that allocated";
  EXPECT_EQ(trace.api_call.object[0], 0x1000);
}

TEST_F(Cut, DoesNotFollowDependenciesOfOperationsFromBefore) {
  auto stream = builder_.stream("a");
  Id before = kNoId;
  for (int i = 0; i < 4; ++i) {
    builder_.at(100 * i);
    const Id operation = builder_.operation("step", stream);
    builder_.columns().operation.registered_ns[operation] = 100 * i;
    stream.kernel("work", 100 * i, 100 * i + 10);
    builder_.add(OperationOp{.operation_id = operation, .op_id = stream.last_op()});
    if (before != kNoId)
      builder_.add(
          OperationDependency{.operation_id = operation, .depends_on_operation_id = before});
    before = operation;
  }
  builder_.range("last", 290, 400);
  const Trace trace = part("last");
  EXPECT_EQ(trace.operation.size(), 2u) << "the last one, and what it depends on";
  EXPECT_EQ(trace.operation_dependency.size(), 1u);
  EXPECT_EQ(trace.op.size(), 1u);
}

TEST_F(Cut, KeepsWhatBelongsToItsKernels) {
  const Id queue = builder_.add(TaskQueue{.process_id = 0});
  for (int i = 0; i < 2; ++i) {
    auto stream = builder_.at(100 * i).stream("a").kernel("workers", 100 * i, 100 * i + 10);
    const Int call = builder_.columns().op.call_number[stream.last_op()];
    const Id run = builder_.add(TaskRun{.task_queue_id = queue, .call_number = call});
    builder_.add(Task{.task_queue_id = queue, .task_run_id = run, .number = i, .offset_ns = 3});
    builder_.add(Task{.task_queue_id = queue, .number = 10 + i, .start_ns = 100 * i + 1});
    builder_.add(Access{.process_id = 0, .source = 3, .address = 0x1000 + i, .call_number = call});
  }
  builder_.range("second", 90, 200);
  const Trace trace = part("second");
  EXPECT_EQ(trace.task_run.size(), 1u);
  ASSERT_EQ(trace.task.size(), 2u);
  EXPECT_EQ(trace.task.number[0], 1);
  EXPECT_EQ(trace.task.number[1], 11);
  ASSERT_EQ(trace.access.size(), 1u);
  EXPECT_EQ(trace.access.address[0], 0x1001);
}

TEST_F(Cut, IsOfTheLastRangeOfTheNameAndOfItsProcess) {
  builder_.at(100).stream("a").kernel("first", 100, 110);
  builder_.range("step", 90, 150);
  builder_.at(200).stream("a").kernel("second", 200, 210);
  builder_.range("step", 190, 250).range("step", 300, kUnknownNs).range("open", 300, kUnknownNs);
  builder_.process("other").at(200).stream("x").kernel("stranger", 200, 210);
  const Trace trace = part("step");
  ASSERT_EQ(trace.op.size(), 1u);
  EXPECT_EQ(trace.text(trace.op.name_id[0]), "second");
  EXPECT_EQ(trace.process.size(), 1u);
  EXPECT_THROW(part("open"), Error);
  EXPECT_THROW(part("none"), Error);
}

TEST_F(Cut, FindsANumberedRangeWithAndWithoutItsNumber) {
  for (int i = 1; i <= 3; ++i) {
    builder_.at(100 * i).stream("a").kernel("gemm" + std::to_string(i), 100 * i, 100 * i + 10);
    builder_.range("step " + std::to_string(i), 100 * i - 10, 100 * i + 50);
  }
  const auto kernel_in = [this](const std::string& range) {
    const Trace trace = part(range);
    return std::string(trace.text(trace.op.name_id[0]));
  };
  EXPECT_EQ(kernel_in("step"), "gemm3") << "the last one";
  EXPECT_EQ(kernel_in("step 2"), "gemm2");
}

TEST_F(Cut, OfATimeKeepsWhatIsIssuedOrRunsThenInAllProcesses) {
  builder_.at(100).stream("a").kernel("long before", 110, 120);
  builder_.at(130).stream("a").kernel("runs into it", 150, 205);
  builder_.at(210).stream("a").kernel("issued in it", 400, 410);
  builder_.at(310).stream("a").kernel("after", 420, 430);
  builder_.process("other").at(250).stream("x").kernel("of another process", 260, 270);
  const fs::path out = folder_ / "part.sqlite";
  cut(builder_.trace(), {.start_ns = 200, .end_ns = 300}, out, true);
  const Trace trace = read(out);
  std::vector<std::string> names;
  for (const Id name : trace.op.name_id) names.emplace_back(trace.text(name));
  EXPECT_EQ(names,
            (std::vector<std::string>{"runs into it", "issued in it", "of another process"}));
  EXPECT_EQ(trace.process.size(), 2u);
  EXPECT_EQ(trace.op.end_ns[0], 205) << "times stay as they are";
  EXPECT_EQ(trace.complete(), builder_.trace().complete());
}

}  // namespace
}  // namespace streamscope::trace
