// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Calls through wrapped functions, with a stand-in driver that has every function.
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "observed.h"

namespace streamscope::collect {
namespace {

class Interposed : public ::testing::Test {
 protected:
  void SetUp() override {
    NEEDS_PRELOADING();
    run_.control().tier = Tier::kStructure;
    run_.set("LD_PRELOAD", COLLECT_CALLS_LIBRARY ":" COLLECT_LIBRARY);
    run_.set("STREAMSCOPE_CUPTI", COLLECT_FAKE_CUPTI);
  }
  std::string collector() {
    const auto process = run_.all<ring::ProcessRecord>(ring::RecordKind::kProcess);
    return process.size() == 1 ? run_.text(process[0].collector) : "";
  }
  int run(const std::string& scenario) { return run_.run({COLLECT_INTERPOSED_CHILD, scenario}); }

  Observed run_;
};

class Lookups : public Interposed, public ::testing::WithParamInterface<const char*> {};

// The child checks that the driver is reached once, with the same arguments and result.
TEST_P(Lookups, EveryFunctionIsRecordedOnce) {
  ASSERT_EQ(run(GetParam()), 0) << run_.output_text() << run_.error_text();
  std::istringstream lines(run_.output_text());
  std::string name;
  int per_thread = 0, result = 0;
  size_t next = 0;
  const std::vector<ring::CallRecord> calls = run_.calls();
  while (lines >> name >> per_thread >> result) {
    ASSERT_LT(next, calls.size()) << name;
    EXPECT_EQ(name_of(calls[next]), name);
    EXPECT_EQ((calls[next].flags & ring::kPerThread) != 0, per_thread != 0) << name;
    EXPECT_EQ(calls[next].result, result) << name;
    ++next;
  }
  EXPECT_EQ(next, calls.size());
  EXPECT_GT(next, 200u);
  EXPECT_EQ(run_.error_text(), "");
}
INSTANTIATE_TEST_SUITE_P(Ways, Lookups,
                         ::testing::Values("linked", "dlsym", "dlvsym", "default", "address"),
                         [](const auto& way) { return std::string(way.param); });

TEST_F(Interposed, TheOrderOfTwoCallsIsChosen) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / ("order-" + std::to_string(::getpid()));
  for (const auto mode : {ring::OrderMode::kFirstLate, ring::OrderMode::kInOrder}) {
    std::filesystem::remove(file);
    SCOPED_TRACE(static_cast<int>(mode));
    ring::ChosenOrder& order = run_.control().chosen_order;
    order = {.mode = mode,
             .take = ring::TakeBytes::kBeforeSecond,
             .first = {CallKind::kLaunch, 0, 0},
             .second = {CallKind::kLaunch, 0, 1},
             .memory = {CallKind::kMalloc, 0, 1},
             .offset = 8,
             .bytes = 16,
             .most_ms = 1000};
    file.native().copy(order.result_file, sizeof order.result_file - 1);
    ASSERT_EQ(run("two-streams"), 0) << run_.output_text() << run_.error_text();
    std::ifstream stream(file, std::ios::binary);
    ring::OrderResult result{};
    ASSERT_TRUE(stream.read(reinterpret_cast<char*>(&result), sizeof result));
    EXPECT_EQ(result.outcome, ring::OrderOutcome::kTaken);
    EXPECT_EQ(result.bytes, 16u);
    EXPECT_EQ(std::filesystem::file_size(file), sizeof result + 16);
  }
  std::filesystem::remove(file);
  EXPECT_EQ(run_.calls().size(), 8u) << "the collector's own calls are not recorded";
}

class RuntimeLookups : public Interposed, public ::testing::WithParamInterface<bool> {};

// Calls of the driver inside are not recorded.
TEST_P(RuntimeLookups, EveryFunctionOfASharedRuntimeIsRecordedOnceUnderItsName) {
  std::vector<std::string> command = {COLLECT_RUNTIME_CHILD};
  if (GetParam()) command.push_back("dlsym");
  ASSERT_EQ(run_.run(command), 0) << run_.output_text() << run_.error_text();
  std::istringstream lines(run_.output_text());
  std::string name;
  int result = 0;
  size_t next = 0;
  const std::vector<ring::CallRecord> calls = run_.calls();
  while (lines >> name >> result) {
    ASSERT_LT(next, calls.size()) << name;
    if (name == "__cudaLaunchKernel") name = "cudaLaunchKernel";  // as CUPTI names it
    EXPECT_EQ(name_of(calls[next]), name);
    EXPECT_EQ(calls[next].result, result) << name;
    EXPECT_EQ(calls[next].flags & ring::kDriverCall, 0) << name;
    ++next;
  }
  EXPECT_EQ(next, calls.size());
  EXPECT_GT(next, 100u);
}
INSTANTIATE_TEST_SUITE_P(Ways, RuntimeLookups, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "dlsym" : "linked"; });

// The first calls of a program, and those that follow others like them, which are recorded by less
// code.
class CallEnds : public Interposed, public ::testing::WithParamInterface<bool> {
 protected:
  // The calls that are recorded of a scenario.
  std::string calls_of(const std::string& scenario) {
    if (run(scenario + (GetParam() ? "-under-way" : "")) != 0) return run_.error_text();
    const std::string names = run_.call_names();
    constexpr std::string_view kFirst = "cuLaunchKernel cuEventRecord cuStreamWaitEvent ";
    if (!GetParam()) return names;
    return names.starts_with(kFirst) ? names.substr(kFirst.size()) : "without the first: " + names;
  }
};

TEST_P(CallEnds, ACallLeftByLongjmpDoesNotHideTheNext) {
  EXPECT_EQ(calls_of("longjmp"), "cuStreamWaitEvent");
}

TEST_P(CallEnds, ACallLeftByAnExceptionDoesNotHideTheNext) {
  EXPECT_EQ(calls_of("exception"), "cuStreamWaitEvent");
}

TEST_P(CallEnds, ACallInsideACallIsPartOfIt) {
  EXPECT_EQ(calls_of("nested"), "cuLaunchKernel cuStreamWaitEvent");
}

TEST_P(CallEnds, ACallOfASignalHandlerInsideACallIsPartOfIt) {
  EXPECT_EQ(calls_of("interrupted"), "cuLaunchKernel cuStreamWaitEvent");
}

TEST_P(CallEnds, ACallThatFindsTheDriverGoneIsNotRecorded) {
  EXPECT_EQ(calls_of("driver-gone"), "cuEventRecord cuStreamWaitEvent");
}

TEST_P(CallEnds, ACallDuringWhichACaptureBeganElsewhereIsRecordedAsItIs) {
  EXPECT_EQ(calls_of("capture-meanwhile"),
            "cuLaunchKernel cuEventRecord cuStreamEndCapture cuStreamWaitEvent "
            "cuStreamBeginCapture_v2")
      << "by thread";
  std::set<uint32_t> numbers;
  for (const ring::CallRecord& call : run_.calls()) {
    const std::string name = name_of(call);
    EXPECT_TRUE(numbers.insert(call.call_number).second) << name;
    EXPECT_GT(call.end, call.begin) << name;
    if (name == "cuStreamBeginCapture_v2" || name == "cuStreamEndCapture") continue;
    EXPECT_EQ(call.flags & ring::kCapturing, 0) << name;
    EXPECT_EQ(call.stream, 0xa00au) << name;
    if (name == "cuLaunchKernel")
      EXPECT_EQ(run_.text(call.object), "first_kernel");
    else
      EXPECT_EQ(call.object, 0xe00eu) << name;
  }
  EXPECT_EQ(run_.calls().at(GetParam() ? 6 : 3).result, CUDA_ERROR_INVALID_VALUE);
}

INSTANTIATE_TEST_SUITE_P(Ways, CallEnds, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "UnderWay" : "First"; });

TEST_F(Interposed, AHandleThatIsUsedAgainIsInAnotherContext) {
  ASSERT_EQ(run("handle-again"), 0) << run_.error_text();
  std::vector<uint32_t> contexts;
  for (const ring::CallRecord& call : run_.calls()) contexts.push_back(call.context);
  EXPECT_THAT(contexts, ::testing::ElementsAre(1, 1, 1, 1, 2, 2, 2));
}

TEST_F(Interposed, CallsOnTheDefaultStreamAreInTheContextThatIsCurrent) {
  run_.control().stacks = ring::StackMode::kSyncs;
  ASSERT_EQ(run("two-contexts"), 0) << run_.error_text();
  std::vector<uint32_t> contexts;
  size_t with_stack = 0;
  for (const ring::CallRecord& call : run_.calls()) {
    contexts.push_back(call.context);
    if (call.stack != 0) ++with_stack;
  }
  std::vector<uint32_t> expected(100, 1);
  expected.insert(expected.end(), {2, 2, 1});
  EXPECT_EQ(contexts, expected);
  EXPECT_EQ(with_stack, 64u) << "of the first ones";
}

TEST_F(Interposed, ACallDuringWhichRecordingStopsIsNotRecorded) {
  run_.control().capture_range = ring::CaptureRange::kCudaProfilerApi;
  ASSERT_EQ(run("stop-meanwhile"), 0) << run_.error_text();
  EXPECT_EQ(run_.call_names(),
            "cuProfilerStart cuLaunchKernel cuEventRecord cuStreamWaitEvent cuProfilerStart "
            "cuStreamWaitEvent");
}

TEST_F(Interposed, CallsPassWhereRecordingIsOffToMeasureItsCost) {
  run_.control().measure_cost_window_ms = 20;
  ASSERT_EQ(run("for-a-while"), 0) << run_.error_text();
  const uint64_t rounds = std::stoull(run_.output_text());
  const auto switches = run_.all<ring::CollectingRecord>(ring::RecordKind::kCollecting);
  ASSERT_GE(switches.size(), 6u);
  for (size_t i = 1; i < switches.size(); ++i)
    EXPECT_GT(switches[i].progress, switches[i - 1].progress) << "in both kinds of windows";
  const auto ends = run_.all<ring::EndRecord>(ring::RecordKind::kEnd);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].callbacks, 4 * rounds) << "each is counted once, with what is inside it";

  std::map<std::string, uint64_t> recorded;
  for (const ring::CallRecord& call : run_.calls()) ++recorded[name_of(call)];
  EXPECT_EQ(recorded["cuEventCreate"], rounds) << "handles are always followed";
  EXPECT_EQ(recorded["cuEventDestroy"], rounds);
  EXPECT_EQ(recorded["cuEventRecord"], 0u) << "inside the launch";
  EXPECT_GT(recorded["cuLaunchKernel"], 0u);
  EXPECT_LT(recorded["cuLaunchKernel"], rounds);
  EXPECT_GT(recorded["cuStreamWaitEvent"], 0u);
  EXPECT_LT(recorded["cuStreamWaitEvent"], rounds);
}

TEST_F(Interposed, WhileRecordingIsOffOnlyHandlesAreFollowed) {
  run_.control().capture_range = ring::CaptureRange::kCudaProfilerApi;
  ASSERT_EQ(run("range"), 0) << run_.error_text();
  EXPECT_EQ(run_.call_names(),
            "cuStreamCreate cuEventCreate "
            "cuProfilerStart cuLaunchKernel cuEventRecord cuStreamWaitEvent "
            "cuEventDestroy cuEventCreate cuStreamDestroy cuStreamCreate");
  EXPECT_EQ(run_.text(run_.calls()[3].object), "first_kernel");
  const auto ends = run_.all<ring::EndRecord>(ring::RecordKind::kEnd);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].callbacks, 11u) << "with cuProfilerStop; the other calls pass";
}

// CUPTI does not reliably report calls again that it stopped reporting.
TEST_F(Interposed, CallsAreNumberedInEveryWindowThatMeasuresCost) {
  run_.control().tier = Tier::kTimes;
  run_.control().measure_cost_window_ms = 20;
  ASSERT_EQ(run("times-for-a-while"), 0) << run_.error_text();
  std::set<uint32_t> numbered;
  for (const auto& number : run_.all<ring::CorrelationRecord>(ring::RecordKind::kCorrelation))
    numbered.insert(number.correlation_id);
  const auto kernels = run_.all<ring::OpRecord>(ring::RecordKind::kKernel);
  ASSERT_FALSE(kernels.empty());
  EXPECT_GT(kernels.back().correlation_id, kernels.size()) << "some windows are off";
  for (const ring::OpRecord& kernel : kernels)
    EXPECT_TRUE(numbered.contains(kernel.correlation_id));
}

TEST_F(Interposed, KernelsHaveTheNamesThatTheDriverKnows) {
  ASSERT_EQ(run("kernels"), 0) << run_.error_text();
  std::vector<std::string> names;
  for (const ring::CallRecord& call : run_.calls()) names.push_back(run_.text(call.object));
  EXPECT_THAT(names, ::testing::ElementsAre("first_kernel", "second_kernel", "first_kernel"));
}

TEST_F(Interposed, GraphsAreReadWhenTheyAreInstantiated) {
  ASSERT_EQ(run("graphs"), 0) << run_.error_text();
  std::map<uint32_t, size_t> nodes, edges;  // by graph
  std::set<uint64_t> numbers;
  for (const auto& node : run_.all<ring::GraphNodeRecord>(ring::RecordKind::kGraphNode)) {
    ++nodes[node.graph];
    numbers.insert(node.node);
    EXPECT_EQ(run_.text(node.name), "first_kernel");
  }
  for (const auto& edge : run_.all<ring::GraphEdgeRecord>(ring::RecordKind::kGraphEdge))
    ++edges[edge.graph];
  std::vector<size_t> sources, executables;
  std::map<uint32_t, uint32_t> source_of;
  size_t destroyed = 0;
  for (const auto& graph : run_.all<ring::GraphRecord>(ring::RecordKind::kGraph)) {
    if (graph.destroyed != 0) {
      ++destroyed;
      continue;
    }
    (graph.executable != 0 ? executables : sources).push_back(nodes[graph.graph]);
    if (graph.executable != 0) source_of[graph.graph] = graph.source;
  }
  // The second graph has one node more than the driver knows at once: the one that was destroyed.
  EXPECT_THAT(sources, ::testing::ElementsAre(2, 3));
  EXPECT_THAT(executables, ::testing::ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(source_of.size(), 4u);
  EXPECT_EQ(numbers.size(), 2u + 3u + 4 * 2u);
  for (const auto& [graph, source] : source_of) EXPECT_EQ(edges[graph], 1u);
  EXPECT_EQ(destroyed, 1u);
}

TEST_F(Interposed, ANodeBelongsToTheLaunchThatWasCaptured) {
  ASSERT_EQ(run("capture"), 0) << run_.error_text();
  std::vector<uint32_t> launches, nodes;
  for (const ring::CallRecord& call : run_.calls()) {
    if (run_.text(call.object) == "first_kernel") launches.push_back(call.call_number);
  }
  for (const auto& node : run_.all<ring::GraphNodeRecord>(ring::RecordKind::kGraphNode))
    nodes.push_back(node.call_number);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_THAT(nodes, ::testing::ElementsAre(launches[0], launches[1], launches[0], launches[1]));
}

TEST_F(Interposed, AStreamThatNoCallCreatedIsReportedAsLossOnce) {
  ASSERT_EQ(run("streams"), 0) << run_.error_text();
  EXPECT_EQ(run_.losses()["calls-missing"], 1u);
  std::vector<StreamKind> kinds;
  for (const auto& stream : run_.all<ring::StreamRecord>(ring::RecordKind::kStream))
    kinds.push_back(static_cast<StreamKind>(stream.stream_kind));
  EXPECT_THAT(kinds,
              ::testing::UnorderedElementsAre(kLegacyStream, kBlockingStream, kNonBlockingStream));
}

// ncu puts such a library in the driver's place.
TEST_F(Interposed, ALibraryThatStandsForTheDriverIsCalledAndRecorded) {
  ASSERT_EQ(run_.run({COLLECT_INTERPOSED_CHILD, "stand-in", COLLECT_FAKE_INJECTION}), 0)
      << run_.output_text() << run_.error_text();
  EXPECT_EQ(run_.call_names(), "cuLaunchKernel cuEventRecord");
}

TEST_F(Interposed, LookupsAnswerAsWithoutUs) {
  EXPECT_EQ(run("errors"), 0) << run_.output_text() << run_.error_text();
}

TEST_F(Interposed, CallsOfAllThreadsHaveNumbersOfTheirOwn) {
  ASSERT_EQ(run("threads"), 0) << run_.error_text();
  std::set<uint32_t> numbers;
  for (const ring::CallRecord& call : run_.calls()) numbers.insert(call.call_number);
  EXPECT_EQ(run_.calls().size(), 4000u);
  EXPECT_EQ(numbers.size(), 4000u);
}

TEST_F(Interposed, AForkedChildCallsTheDriverItself) {
  ASSERT_EQ(run("fork"), 0) << run_.error_text();
  EXPECT_EQ(run_.call_names(), "cuEventRecord cuEventRecord");
}

TEST_F(Interposed, DeviceTimesComeWithTheCallsThatCuptiNames) {
  run_.control().tier = Tier::kTimes;
  ASSERT_EQ(run("times"), 0) << run_.error_text();
  EXPECT_EQ(collector(), "interposed, cupti 130001");
  const std::vector<ring::CallRecord> calls = run_.calls();
  const auto numbers = run_.all<ring::CorrelationRecord>(ring::RecordKind::kCorrelation);
  const auto kernels = run_.all<ring::OpRecord>(ring::RecordKind::kKernel);
  ASSERT_EQ(calls.size(), 3u);
  ASSERT_EQ(numbers.size(), 3u);
  ASSERT_EQ(kernels.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_NE(calls[i].flags & ring::kOwnNumber, 0);
    EXPECT_EQ(name_of(calls[i]), "cuLaunchKernel");
    EXPECT_EQ(ring::call_info(numbers[i].call).name, "cuLaunchKernel");
    EXPECT_EQ(numbers[i].correlation_id, 900 - i);
    EXPECT_EQ(kernels[i].correlation_id, 900 - i);
    EXPECT_NE(kernels[i].flags & ring::kOwnNumber, 0);
  }
  // The program uses a stream that it never created.
  EXPECT_EQ(run_.losses(), (std::map<std::string, uint64_t>{{"calls-missing", 1}}));
}

TEST_F(Interposed, CallsAreRecordedWhereAccessesCannotBeObserved) {
  run_.control().with = ring::kWithAccesses;
  run_.set("STREAMSCOPE_SANITIZER", "/nowhere/libsanitizer-public.so");
  ASSERT_EQ(run("kernels"), 0) << run_.error_text();
  EXPECT_EQ(run_.calls().size(), 3u);
  EXPECT_EQ(run_.losses()["accesses-not-observed"], 1u);
  EXPECT_THAT(run_.error_text(), ::testing::HasSubstr("accesses of kernels are not recorded"));
}

TEST_F(Interposed, TensorsThatPyTorchAllocatesAreBlocks) {
  for (const uint32_t with : {uint32_t{0}, uint32_t{ring::kWithAlloc}}) {
    run_.control().with = with;
    ASSERT_EQ(run_.run({COLLECT_INTERPOSED_CHILD, "tensors", COLLECT_FAKE_C10}), 0)
        << run_.error_text();
    const auto blocks = run_.all<ring::TensorBlockRecord>(ring::RecordKind::kTensorBlock);
    if (with == 0) {
      EXPECT_TRUE(blocks.empty());
      continue;
    }
    ASSERT_EQ(blocks.size(), 3u);
    const uint64_t bytes[] = {512, 512, 1024};
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(blocks[i].address, 0x7000u);
      EXPECT_EQ(blocks[i].bytes, bytes[i]);
      EXPECT_EQ(blocks[i].taken_back, i == 1);
    }
  }
}

TEST_F(Interposed, IsNotChosenWhereOnlyCallbacksTellTheTimes) {
  run_.control().tier = Tier::kEvents;
  ASSERT_EQ(run("kernels"), 0) << run_.error_text();
  EXPECT_EQ(run_.call_names(), "");  // the stand-in for CUPTI reports no calls by itself
  EXPECT_THAT(collector(), ::testing::EndsWith("(not interposed: the times of events and graph "
                                               "nodes need callbacks)"));
}

TEST_F(Interposed, CallsAreRecordedWhereCuptiCannotBeUsed) {
  run_.control().tier = Tier::kTimes;
  run_.set("FAKE_REFUSE_BUFFERS", "1");
  ASSERT_EQ(run("times"), 0) << run_.error_text();
  EXPECT_EQ(run_.calls().size(), 3u);
  EXPECT_EQ(run_.losses()["other-subscriber"], 1u);
  EXPECT_THAT(run_.error_text(), ::testing::HasSubstr("streamscope: GPU times are not recorded: "));
}

TEST_F(Interposed, UnderAnotherToolThatHasCuptiCallsAreRecorded) {
  run_.control().tier = Tier::kTimes;
  run_.set("CUDA_INJECTION64_PATH", "/nonexistent/libtool.so");
  ASSERT_EQ(run("kernels"), 0) << run_.error_text();
  EXPECT_EQ(run_.calls().size(), 3u);
  EXPECT_EQ(run_.losses()["other-subscriber"], 1u);
  EXPECT_EQ(collector(), "interposed, no cupti");
}

TEST_F(Interposed, AProgramWithoutTheStubsIsRecordedByCallbacks) {
  run_.set("LD_PRELOAD", COLLECT_LIBRARY);
  ASSERT_EQ(run("kernels"), 0) << run_.error_text();
  const auto process = run_.all<ring::ProcessRecord>(ring::RecordKind::kProcess);
  ASSERT_EQ(process.size(), 1u);
  EXPECT_THAT(run_.text(process[0].collector), ::testing::HasSubstr("not interposed: "));
}

TEST_F(Interposed, AForcedSourceThatIsNotThereIsReported) {
  run_.set("LD_PRELOAD", COLLECT_LIBRARY);
  run_.control().source = ring::CallSource::kInterposed;
  ASSERT_EQ(run("kernels"), 0) << run_.error_text();
  EXPECT_THAT(
      run_.error_text(),
      ::testing::HasSubstr("streamscope: calls are not seen by wrappers: the program does "
                           "not look functions up through this library; leave out --source\n"));
}

// The driver's names are there, but no driver.
TEST_F(Interposed, WhereThereIsNoDriverLookupsFindNone) {
  EXPECT_EQ(run_.run({COLLECT_DRIVERLESS_CHILD}), 0) << run_.output_text() << run_.error_text();
}

}  // namespace
}  // namespace streamscope::collect
