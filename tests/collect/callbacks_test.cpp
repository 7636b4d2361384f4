// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What callbacks are recorded as. Each pitfall of CUPTI's callbacks is a test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "observed.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Callbacks, KeepTheOutermostCallOnly) {
  Observed run;
  ASSERT_EQ(run.run_child("nested"), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaLaunchKernel cudaEventRecord");
  EXPECT_EQ(run.calls()[0].flags & ring::kDriverCall, 0);
  EXPECT_EQ(run.text(run.calls()[0].object), "outer");
  EXPECT_EQ(run.error_text(), "");
}

TEST(Callbacks, KeepCallsMadeDirectlyAtTheDriver) {
  Observed run;
  ASSERT_EQ(run.run_child("direct-driver"), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cuLaunchKernel cuLaunchKernelEx");
  for (const ring::CallRecord& call : run.calls()) {
    EXPECT_NE(call.flags & ring::kDriverCall, 0);
    EXPECT_EQ(run.text(call.object), "triton_kernel");
  }
  EXPECT_EQ(run.calls()[1].stream, 0xb00bu);
}

TEST(Callbacks, KeepADriverCallInsideAnUntracedRuntimeCall) {
  Observed run;
  ASSERT_EQ(run.run_child("inside-untraced"), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cuMemAlloc_v2");
  EXPECT_EQ(run.calls()[0].object, 0x1000u);
  EXPECT_EQ(run.calls()[0].value, 64u);
}

TEST(Callbacks, EnableSingleCallsNeverWholeDomains) {
  Observed run;
  ASSERT_EQ(run.run_child("enabled-callbacks"), 0) << run.error_text();
  const int count = std::stoi(run.output_text());
  EXPECT_GT(count, 250);
  EXPECT_LT(count, 450);
}

TEST(Callbacks, KnowEveryWayToLaunch) {
  Observed run;
  ASSERT_EQ(run.run_child("launches"), 0) << run.error_text();
  EXPECT_EQ(run.call_names(),
            "cudaLaunchKernel cudaLaunchKernel cudaLaunchKernelExC cudaLaunchKernelExC "
            "cudaLaunchCooperativeKernel "
            "__cudaLaunchKernel");
  std::vector<bool> per_thread;
  for (const ring::CallRecord& call : run.calls()) {
    EXPECT_EQ(call.stream, 0xa00au);
    EXPECT_EQ(ring::call_info(call.call).kind, CallKind::kLaunch);
    per_thread.push_back((call.flags & ring::kPerThread) != 0);
  }
  EXPECT_THAT(per_thread, ElementsAre(false, true, false, true, false, false));
}

TEST(Callbacks, CountRepeatedQueriesThatAreNotReadyInOneRecord) {
  Observed run;
  ASSERT_EQ(run.run_child("polls"), 0) << run.error_text();
  std::vector<std::pair<std::string, uint64_t>> queries;
  for (const ring::CallRecord& call : run.calls()) {
    const bool poll = (call.flags & ring::kPolls) != 0;
    EXPECT_EQ(poll, call.result == ring::kNotReady);
    if (name_of(call) != "cudaEventRecord")
      queries.emplace_back(name_of(call), poll ? ring::PollWord{call.value}.more() + 1 : 0);
    EXPECT_GE(ring::last_end(call), call.end);
  }
  using P = std::pair<std::string, uint64_t>;
  EXPECT_THAT(queries,
              testing::UnorderedElementsAre(
                  P{"cudaEventQuery", 1000}, P{"cudaEventQuery", 0}, P{"cudaEventQuery", 3},
                  P{"cudaEventQuery", 2}, P{"cudaEventQuery", 5}, P{"cudaStreamQuery", 4},
                  P{"cuStreamQuery", 4}, P{"cudaEventQuery", 0}, P{"cudaEventQuery", 0}));
}

TEST(Callbacks, ReadSizesAndKindsOfCopies) {
  Observed run;
  ASSERT_EQ(run.run_child("copies"), 0) << run.error_text();
  std::vector<std::pair<uint64_t, uint64_t>> kind_and_bytes;
  for (const ring::CallRecord& call : run.calls())
    kind_and_bytes.emplace_back(call.object, call.value);
  using P = std::pair<uint64_t, uint64_t>;
  EXPECT_THAT(kind_and_bytes,
              ElementsAre(P{1, 4096}, P{2, 200}, P{3, 120}, P{2, 77}, P{1, 72}, P{0x5000, 256}));
}

TEST(Callbacks, ReportBothEndsOfCopiesThatSucceeded) {
  Observed run;
  ASSERT_EQ(run.run_child("accesses"), 0) << run.error_text();
  const auto calls = run.calls();
  const auto accesses = run.all<ring::AccessRecord>(RecordKind::kAccess);
  using Range = std::array<uint64_t, 3>;  // address, bytes, pitch
  const auto expect = [&](size_t index, size_t call, Range source, Range destination,
                          uint32_t rows) {
    const ring::AccessRecord& access = accesses.at(index);
    EXPECT_EQ(access.call_number, calls.at(call).call_number) << index;
    EXPECT_EQ((Range{access.ranges[0].address, access.ranges[0].bytes, access.pitch[0]}), source)
        << index;
    EXPECT_EQ((Range{access.ranges[1].address, access.ranges[1].bytes, access.pitch[1]}),
              destination)
        << index;
    EXPECT_EQ(access.rows, rows) << index;
    EXPECT_EQ(access.writes, 2) << index;
  };
  ASSERT_EQ(accesses.size(), 7u);
  expect(0, 0, {0x1000, 4096, 0}, {0x2000, 4096, 0}, 1);
  expect(1, 2, {0x1000, 10, 64}, {0x2000, 10, 10}, 3);
  expect(2, 3, {0x1000, 8, 0}, {0, 0, 0}, 1);
  const uint64_t box = 0x1000 + 1 + 2 * 16 + 3 * 64;  // two slices
  expect(3, 4, {box, 4, 16}, {0x9000, 4, 32}, 2);
  expect(4, 4, {box + 64, 4, 16}, {0x9000 + 256, 4, 32}, 2);
  expect(5, 5, {0x1020, 16, 16}, {0x2000, 16, 32}, 2);
  expect(6, 6, {0, 0, 0}, {0x5000, 100, 512}, 2);
}

TEST(Callbacks, AskForTheMemoryOfSynchronousCallsWithoutDeviceTimes) {
  for (const bool has_times : {true, false}) {
    Observed run;
    if (!has_times) run.control().tier = Tier::kStructure;
    ASSERT_EQ(run.run_child("synchronous-calls"), 0) << run.error_text();
    std::vector<uint32_t> kinds;
    for (const auto& call : run.calls()) kinds.push_back(ring::memory_kinds_of(call.object));
    constexpr uint32_t kPageableToDevice = 0x13, kToManaged = 0x05;
    EXPECT_EQ(kinds, has_times ? (std::vector<uint32_t>{0, 0, 0})
                               : (std::vector<uint32_t>{kPageableToDevice, kToManaged, 0}));
    EXPECT_EQ(ring::without_memory_kinds(run.calls().at(0).object), uint64_t{4})
        << "cudaMemcpyDefault";
  }
}

TEST(Callbacks, ReportKernelParametersThatMayBePointersOnlyOnRequest) {
  for (const bool asked : {false, true}) {
    Observed run;
    if (asked) run.control().with = ring::kWithArgs;
    ASSERT_EQ(run.run_child("kernel-arguments"), 0) << run.error_text();
    const auto reported = run.all<ring::KernelArgumentsRecord>(RecordKind::kKernelArguments);
    if (!asked) {
      EXPECT_TRUE(reported.empty());
      continue;
    }
    ASSERT_EQ(reported.size(), 2u);
    ASSERT_EQ(reported[0].count, 2u);  // a small number is not a pointer
    EXPECT_EQ(reported[0].values[0], 0x7f0000001000u);
    EXPECT_EQ(reported[0].values[1], 0x7f0000002000u);
    EXPECT_EQ(reported[0].parameters[1], 3);
    EXPECT_EQ(reported[0].call_number, run.calls().at(0).call_number);
    EXPECT_EQ(run.text(reported[0].kernel), "outer");
    ASSERT_EQ(reported[1].count, 1u);
    EXPECT_EQ(reported[1].values[0], 0x7f0000003000u);
    EXPECT_EQ(reported[1].call_number, run.calls().at(1).call_number);
  }
}

/// What is recorded of the launch `call`: parameter and value of each word.
std::vector<std::pair<int, uint64_t>> words_of(const Observed& run, const ring::CallRecord& call) {
  std::vector<std::pair<int, uint64_t>> words;
  for (const auto& each : run.all<ring::KernelArgumentsRecord>(RecordKind::kKernelArguments)) {
    if (each.call_number != call.call_number) continue;
    for (int i = 0; i < each.count; ++i) words.emplace_back(each.parameters[i], each.values[i]);
  }
  return words;
}

TEST(Callbacks, ReportWordsOfStructsThatPointIntoAllocatedMemory) {
  Observed run;
  run.control().with = ring::kWithArgs;
  ASSERT_EQ(run.run_child("struct-arguments"), 0) << run.error_text();
  std::vector<ring::CallRecord> launches;
  for (const ring::CallRecord& call : run.calls()) {
    if (name_of(call) == "cuLaunchKernel") launches.push_back(call);
  }
  ASSERT_EQ(launches.size(), 3u);
  using Word = std::pair<int, uint64_t>;
  EXPECT_THAT(words_of(run, launches[0]), ElementsAre(Word{3, 0x600000000000}));
  EXPECT_THAT(words_of(run, launches[1]),
              ElementsAre(Word{0, 0x7f0000001000}, Word{0, 0x302000010}, Word{2, 0x7f0000002000},
                          Word{2, 0x7f0000001000}, Word{3, 0x600000000000}));
  EXPECT_THAT(words_of(run, launches[2]),
              ElementsAre(Word{0, 0x7f0000001000}, Word{0, 0x302000010}, Word{2, 0x7f0000002000}));
  EXPECT_TRUE(run.losses().empty());
}

TEST(Callbacks, ReadABoundedPartOfHugeParametersAndReportThatOnce) {
  for (const std::string what : {"many", "far"}) {
    Observed run;
    run.control().with = ring::kWithArgs;
    ASSERT_EQ(run.run_child("huge-arguments", {what}), 0) << run.error_text();
    const auto calls = run.calls();
    ASSERT_EQ(calls.size(), 4u);
    for (size_t i = 1; i < calls.size(); ++i)
      EXPECT_EQ(words_of(run, calls[i]).size(), what == "many" ? 250u : 1u) << what;
    EXPECT_EQ(run.losses()["kernel-parameters"], 1u);
  }
}

TEST(Callbacks, NameTheAddressesAtWhichMemoryIsMapped) {
  Observed run;
  ASSERT_EQ(run.run_child("mapped-memory"), 0) << run.error_text();
  const auto calls = run.calls();
  ASSERT_EQ(calls.size(), 5u);
  const std::vector<std::pair<uint64_t, uint64_t>> expected = {
      {0x7f0000001000, 4096}, {0x7f0000001000, 8192}, {0x2000, 0}, {0, 0}, {0x3000, 64}};
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(ring::call_info(calls[i].call).kind, i == 1 ? CallKind::kFree : CallKind::kMalloc);
    EXPECT_EQ(std::pair(calls[i].object, calls[i].value), expected[i]) << i;
  }
}

TEST(Callbacks, ReadWhatACallReturnsAtItsExitAndOnlyOnSuccess) {
  Observed run;
  ASSERT_EQ(run.run_child("objects"), 0) << run.error_text();
  const auto calls = run.calls();
  ASSERT_EQ(calls.size(), 6u);
  EXPECT_EQ(calls[0].object, 0xe00eu);
  EXPECT_EQ(calls[0].value, 2u);  // cudaEventDisableTiming
  EXPECT_EQ(calls[1].object, 0u);
  EXPECT_EQ(calls[1].result, 2);
  EXPECT_EQ(calls[2].stream, 0xa00au);
  EXPECT_EQ(calls[2].value, 1 | uint64_t{0xfffffffe} << 32);  // non-blocking, priority -2
  EXPECT_EQ(calls[5].result, 600);
}

TEST(Callbacks, ReportStreamsWithTheirKindAndNumberAlsoWhenAHandleIsReused) {
  Observed run;
  ASSERT_EQ(run.run_child("objects"), 0) << run.error_text();
  const auto streams = run.all<ring::StreamRecord>(RecordKind::kStream);
  ASSERT_EQ(streams.size(), 4u);
  EXPECT_EQ(streams[0].handle, 0u);
  EXPECT_EQ(streams[0].stream_kind, static_cast<uint8_t>(kLegacyStream));
  EXPECT_EQ(streams[0].stream, 7u);
  EXPECT_EQ(streams[1].stream_kind, static_cast<uint8_t>(kNonBlockingStream));
  EXPECT_EQ(streams[1].priority, -2);
  EXPECT_EQ(streams[1].stream, 0xa00au);
  EXPECT_EQ(streams[2].destroyed, 1);
  EXPECT_EQ(streams[3].handle, streams[1].handle);
  EXPECT_EQ(streams[3].stream_kind, static_cast<uint8_t>(kBlockingStream));
  EXPECT_LT(streams[1].begin, streams[2].begin);
  EXPECT_LT(streams[2].begin, streams[3].begin);
}

TEST(Callbacks, ReportTheDeviceAndTheContext) {
  Observed run;
  run.set("CUDA_DEVICE_MAX_CONNECTIONS", "4");
  ASSERT_EQ(run.run_child("nested"), 0) << run.error_text();
  const auto devices = run.all<ring::DeviceRecord>(RecordKind::kDevice);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(run.text(devices[0].name), "Fake GPU");
  EXPECT_EQ(run.text(devices[0].uuid), "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(devices[0].sm_count, 132u);
  EXPECT_EQ(devices[0].copy_engines, 3u);
  EXPECT_EQ(devices[0].compute_capability, 90);
  EXPECT_EQ(devices[0].max_connections, 4u);
  const auto contexts = run.all<ring::ContextRecord>(RecordKind::kContext);
  ASSERT_EQ(contexts.size(), 1u);
  EXPECT_EQ(contexts[0].context, 1u);
  EXPECT_EQ(contexts[0].null_stream, 7u);
  for (const ring::CallRecord& call : run.calls()) EXPECT_EQ(call.context, 1u);
}

TEST(Callbacks, ReportEachThreadsOwnDefaultStreamOnce) {
  Observed run;
  ASSERT_EQ(run.run_child("per-thread-stream"), 0) << run.error_text();
  std::set<uint32_t> tids;
  for (const auto& stream : run.all<ring::StreamRecord>(RecordKind::kStream)) {
    if (stream.stream_kind != static_cast<uint8_t>(kPerThreadStream)) continue;
    EXPECT_EQ(stream.handle, 2u);
    EXPECT_EQ(stream.stream, 16u);
    EXPECT_TRUE(tids.insert(stream.tid).second);
  }
  EXPECT_EQ(tids.size(), 2u);
}

TEST(Callbacks, SendAKernelNameOnceAndDetectThatItsModuleWasUnloaded) {
  Observed run;
  ASSERT_EQ(run.run_child("kernel-names"), 0) << run.error_text();
  std::vector<std::string> names;
  for (const ring::CallRecord& call : run.calls()) names.push_back(run.text(call.object));
  EXPECT_THAT(names, ElementsAre("_Z5firstv", "_Z5firstv", "_Z5firstv", "_Z5otherv", "_Z5firstv"));
  int sent = 0;
  for (const auto& text : run.all<ring::TextRecord>(RecordKind::kText))
    sent += text.hash == ring::hash_text("_Z5firstv");
  EXPECT_EQ(sent, 1);
}

TEST(Callbacks, IgnoreAnExitWhoseEntryWasNotSeen) {
  Observed run;
  ASSERT_EQ(run.run_child("exit-without-entry"), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaStreamWaitEvent");
}

TEST(Callbacks, LeaveTheOpenCallInTheRingWhenTheProgramDiesInside) {
  Observed run;
  ASSERT_EQ(run.run_child("dies-inside"), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaLaunchKernel");
  const ObservedRing& ring = run.rings().at(0);
  ASSERT_TRUE(ring.open_call);
  EXPECT_EQ(name_of(*ring.open_call), "cudaEventSynchronize");
  EXPECT_EQ(ring.open_call->object, 0xe00eu);
}

TEST(Callbacks, LoseNothingThatReachedARingWhenTheProgramIsKilled) {
  Observed run;
  run.start_child("dies-inside", {"wait"});
  run.wait_for_line("inside");
  run.read_rings();
  EXPECT_TRUE(run.rings().at(0).open_call);
  kill(run.pid(), SIGKILL);
  EXPECT_EQ(run.finish(), 128 + SIGKILL);
  EXPECT_EQ(run.call_names(), "cudaLaunchKernel");
  EXPECT_TRUE(run.rings().at(0).open_call);
}

TEST(Callbacks, GiveEveryThreadItsRingAndTheRingsOfEndedThreadsToNewOnes) {
  Observed run;
  ASSERT_EQ(run.run_child("threads"), 0) << run.error_text();
  EXPECT_EQ(run.calls().size(), 602u);
  size_t with_calls = 0;
  for (const ObservedRing& ring : run.rings()) {
    uint64_t end = 0;
    bool any = false;
    for (const ring::Record& record : ring.records) {
      if (record.head.kind != RecordKind::kCall) continue;
      const auto& call = reinterpret_cast<const ring::CallRecord&>(record);
      EXPECT_LE(end, call.begin);  // calls of a thread follow each other
      EXPECT_LE(call.begin, call.end);
      end = call.end;
      any = true;
    }
    with_calls += any;
    EXPECT_FALSE(ring.open_call);
  }
  EXPECT_EQ(with_calls, 2u);
  std::set<uint32_t> tids;
  for (const auto& thread : run.all<ring::ThreadRecord>(RecordKind::kThread))
    tids.insert(thread.tid);
  EXPECT_GE(tids.size(), 4u);
}

TEST(Callbacks, OfAThreadWithoutARingAreALossAndTheProgramRunsOn) {
  Observed run;
  run.control().tier = Tier::kStructure;
  ASSERT_EQ(run.run_child("no-room"), 0) << run.error_text();
  EXPECT_EQ(run.calls().size(), 1u);
  EXPECT_EQ(run.losses()["no-thread-ring"], 1u);
  EXPECT_EQ(run.loss_detail(ring::Loss::kNoThreadRing), "File too large");
}

TEST(Callbacks, TakeStacksOfBlockingCallsOnly) {
  Observed run;
  run.control().stacks = ring::StackMode::kSyncs;
  ASSERT_EQ(run.run_child("dies-inside"), 0) << run.error_text();
  EXPECT_EQ(run.calls().at(0).stack, 0u);  // a launch does not block
  const auto stacks = run.all<ring::StackRecord>(RecordKind::kStack);
  ASSERT_FALSE(stacks.empty());
  EXPECT_GE(stacks[0].total_frames, 3u);
  // The innermost frames are in modules that were reported.
  bool found = false;
  for (const auto& module : run.all<ring::ModuleRecord>(RecordKind::kModule))
    found = found || (module.begin_address <= stacks[0].frames[2] &&
                      stacks[0].frames[2] < module.end_address);
  EXPECT_TRUE(found);
}

// A stack that was seen before is not walked again: then it must be the same one.
TEST(Callbacks, TakeTheStackOfEachPlace) {
  Observed run;
  run.control().stacks = ring::StackMode::kAll;
  ASSERT_EQ(run.run_child("stacks-of-many-places"), 0) << run.error_text();
  std::istringstream ways(run.output_text());
  std::map<std::string, std::set<uint32_t>> stacks;
  std::set<uint32_t> all;
  size_t count = 0;
  for (const ring::CallRecord& call : run.calls()) {
    if (ring::call_info(call.call).kind != CallKind::kLaunch) continue;
    std::string way;
    ASSERT_TRUE(ways >> way);
    stacks[way].insert(call.stack);
    all.insert(call.stack);
    ++count;
  }
  EXPECT_EQ(count, 3000u);
  EXPECT_EQ(stacks.size(), 31u);
  for (const auto& [way, found] : stacks) EXPECT_THAT(found, SizeIs(1)) << way;
  EXPECT_THAT(all, SizeIs(31)) << "each way has its own";
}

// The library loader may wait for this call: the call must not wait for the loader.
TEST(Callbacks, TakeStacksWhileAnotherThreadLoadsALibrary) {
  Observed run;
  run.control().stacks = ring::StackMode::kAll;
  ASSERT_EQ(run.run_child("call-while-loading", {COLLECT_SLOW_LIBRARY}), 0) << run.error_text();
  EXPECT_FALSE(run.all<ring::StackRecord>(RecordKind::kStack).empty());
}

TEST(Callbacks, ReportTheGraphAsItWasBuiltAndIgnoreTheInternalCopy) {
  Observed run;
  ASSERT_EQ(run.run_child("graphs"), 0) << run.error_text();
  std::map<uint64_t, uint8_t> kinds;
  std::map<uint64_t, uint64_t> originals;
  std::map<uint64_t, uint32_t> call_numbers;
  for (const auto& node : run.all<ring::GraphNodeRecord>(RecordKind::kGraphNode)) {
    if (node.node_kind != 0xff) kinds[node.node] = node.node_kind;
    if (node.original != 0) originals[node.node] = node.original;
    call_numbers[node.node] = node.call_number;
  }
  EXPECT_EQ(kinds[51], 1);  // a copy, although CREATED reports kernel
  EXPECT_EQ(kinds[52], 0);
  EXPECT_EQ(originals[61], 51u);
  EXPECT_EQ(originals[62], 52u);
  EXPECT_EQ(kinds[61], 1);  // of its original
  EXPECT_EQ(kinds[62], 0);
  EXPECT_FALSE(originals.contains(63));
  EXPECT_FALSE(kinds.contains(71));
  std::multiset<std::pair<uint64_t, uint64_t>> edges;
  for (const auto& edge : run.all<ring::GraphEdgeRecord>(RecordKind::kGraphEdge))
    edges.emplace(edge.from_node, edge.to_node);
  EXPECT_EQ(edges, (std::multiset<std::pair<uint64_t, uint64_t>>{{51, 52}, {61, 62}}));
  const uint32_t launch = run.calls().at(0).call_number;  // that was captured
  EXPECT_EQ(call_numbers,
            (std::map<uint64_t, uint32_t>{
                {51, ring::kNone32}, {52, launch}, {61, ring::kNone32}, {62, launch}}));
  const auto graphs = run.all<ring::GraphRecord>(RecordKind::kGraph);
  ASSERT_EQ(graphs.size(), 3u);
  EXPECT_EQ(graphs[1].source, 5u);
  EXPECT_EQ(graphs[2].executable, 1);
  EXPECT_EQ(graphs[2].graph, 6u);
  EXPECT_EQ(graphs[2].source, 5u);
}

TEST(Callbacks, ContinueWithoutCuptiAfterItsFatalError) {
  Observed run;
  ASSERT_EQ(run.run_child("fatal-error"), 0) << run.error_text();
  EXPECT_EQ(run.loss_detail(ring::Loss::kCuptiFatal), "the device fell off the bus");
  EXPECT_THAT(run.error_text(), HasSubstr("CUPTI stopped: the device fell off the bus"));
}

}  // namespace
}  // namespace streamscope::collect
