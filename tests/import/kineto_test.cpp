// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "imported.h"
#include "trace/error.h"
#include "vocabulary/system_call.h"

namespace streamscope::test {
namespace {

using trace::Trace;

constexpr char kHead[] =
    R"({"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "distributedInfo": {"rank": 3},
  "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150, "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
  "traceEvents": [)";

std::string call(const char* name, const char* ts, int correlation, int thread = 1, int pid = 10) {
  return R"({"ph":"X","cat":"cuda_runtime","name":")" + std::string(name) + R"(","pid":)" +
         std::to_string(pid) + R"(,"tid":)" + std::to_string(thread) + R"(,"ts":)" + ts +
         R"(,"dur":1.5,"args":{"cbid":1,"correlation":)" + std::to_string(correlation) + "}},\n";
}
std::string kernel(const char* ts, int stream, int correlation) {
  return R"({"ph":"X","cat":"kernel","name":"gemm<float>[\"x\"]","pid":0,"tid":)" +
         std::to_string(stream) + R"(,"ts":)" + ts +
         R"(,"dur":10.001,"args":{"device":0,"context":1,"stream":)" + std::to_string(stream) +
         R"(,"correlation":)" + std::to_string(correlation) +
         R"(,"registers per thread":40,"shared memory":1024,"grid":[8,4,1],"block":[256,1,1]}},)"
         "\n";
}
std::string wait(const char* ts, int stream, int correlation, int record, int record_stream) {
  return R"({"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":)" +
         std::to_string(stream) + R"(,"ts":)" + ts +
         R"(,"dur":1,"args":{"cuda_sync_kind":"Stream Wait Event","wait_on_stream":)" +
         std::to_string(record_stream) + R"(,"wait_on_cuda_event_record_corr_id":)" +
         std::to_string(record) + R"(,"wait_on_cuda_event_id":19,"stream":)" +
         std::to_string(stream) + R"(,"correlation":)" + std::to_string(correlation) +
         R"(,"device":0,"context":1}},)"
         "\n";
}
std::string record(const char* ts, int stream, int correlation, int event) {
  return R"({"ph":"X","cat":"cuda_event","name":"cudaEvent","pid":0,"tid":)" +
         std::to_string(stream) + R"(,"ts":)" + ts + R"(,"dur":0.001,"args":{"event_id":)" +
         std::to_string(event) + R"(,"stream":)" + std::to_string(stream) + R"(,"correlation":)" +
         std::to_string(correlation) +
         R"(,"device":0,"context":1}},)"
         "\n";
}
constexpr char kTail[] =
    R"({"ph":"M","name":"process_name","pid":10,"tid":0,"args":{"name":"python3"}}]})";

std::string profile() {
  return kHead + call("cudaLaunchKernel", "100.000", 1) + kernel("103.123", 20, 1) +
         call("cudaEventRecord", "105", 2) + call("cudaStreamWaitEvent", "110.5", 3) +
         wait("110.6", 24, 3, 2, 20) + call("cudaLaunchKernel", "120", 4) + kernel("125", 24, 4) +
         kTail;
}

using KinetoImport = ImportTest;

TEST_F(KinetoImport, KeepsNanosecondsAndTheTimeOfTheDay) {
  const Trace trace = import(write(profile()));
  EXPECT_THAT(trace.op.start_ns, testing::ElementsAre(3'123, 25'000));
  EXPECT_EQ(trace.op.end_ns[0] - trace.op.start_ns[0], 10'001);
  EXPECT_EQ(trace.meta.at("trace_start_realtime_ns"), "1700000000000100000");
}

TEST_F(KinetoImport, BindsAWaitToTheRecordItNames) {
  const Trace trace = import(write(profile()));
  ASSERT_EQ(trace.event_wait.size(), 1u);
  EXPECT_EQ(trace.event_wait.binding[0], trace::kBindingExact);
  EXPECT_EQ(trace.stream.native_id[trace.event_record.stream_id[0]], 20);
  EXPECT_EQ(trace.stream.native_id[trace.event_wait.stream_id[0]], 24);
  EXPECT_EQ(trace.event_wait.event_id[0], trace.event_record.event_id[0]);
}

TEST_F(KinetoImport, BindsAWaitByTheRecordsOfItsEventIfItNamesNoneOrAWrongOne) {
  for (const int named : {-1, 6}) {  // 6 is recorded after the wait
    const Trace trace =
        import(write(kHead + call("cudaEventRecord", "105", 2) + record("107", 20, 2, 19) +
                     call("cudaEventRecord", "108", 5) + record("109", 20, 5, 20) +
                     call("cudaStreamWaitEvent", "110.5", 3) + wait("110.6", 24, 3, named, -1) +
                     call("cudaEventRecord", "120", 6) + record("121", 20, 6, 19) + kTail));
    ASSERT_EQ(trace.event_record.size(), 3u);
    EXPECT_THAT(trace.event_wait.binding, testing::ElementsAre(trace::kBindingExact));
    EXPECT_THAT(trace.event_wait.record_id, testing::ElementsAre(0u));
  }
}

TEST_F(KinetoImport, CallsAGuessAmbiguousIfAnotherThreadRecordedMeanwhile) {
  const Trace trace = import(
      write(kHead + call("cudaEventRecord", "105", 2) + call("cudaEventRecord", "110", 5, 2) +
            call("cudaStreamWaitEvent", "110.5", 3) + wait("110.6", 24, 3, 2, 20) + kTail));
  EXPECT_THAT(trace.event_wait.binding, testing::ElementsAre(trace::kAmbiguous));
  EXPECT_EQ(trace.event_wait_candidate.size(), 2u);
}

TEST_F(KinetoImport, FindsTheOnlyBusyStreamThatASynchronizationWaitedFor) {
  const auto awaited = [&](const std::string& work, const char* duration) {
    const Trace trace = import(write(
        kHead + call("cudaLaunchKernel", "100", 1) + kernel("103", 20, 1) + work +
        R"({"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":10,"tid":1,"ts":104,"dur":)" +
        duration + R"(,"args":{"correlation":9}},)" + kTail));
    EXPECT_EQ(trace.host_sync.size(), 1u);
    const trace::Id stream = trace.host_sync.stream_id[0];
    return stream == trace::kNoId ? -1 : static_cast<int>(trace.stream.native_id[stream]);
  };
  EXPECT_EQ(awaited("", "10"), 20);
  EXPECT_EQ(awaited("", "1.2"), -1) << "it returned before";
  const std::string launch = call("cudaLaunchKernel", "102", 2);
  EXPECT_EQ(awaited(launch + kernel("113.1", 20, 2), "20"), 20);
  EXPECT_EQ(awaited(launch + kernel("103", 24, 2), "10"), -1) << "two are busy";
  EXPECT_EQ(awaited(call("cudaLaunchKernel", "90", 2) + kernel("91", 24, 2), "10"), 20)
      << "the other one is done";
  EXPECT_EQ(awaited(kernel("80", 24, 3), "10"), -1) << "who knows what else was issued";
}

TEST_F(KinetoImport, NamesDevicesProcessesAndShapes) {
  const Trace trace = import(write(profile()));
  EXPECT_EQ(trace.text(trace.device.name_id[0]), "NVIDIA H200");
  EXPECT_EQ(trace.device.compute_capability[0], 90);
  EXPECT_EQ(trace.text(trace.process.name_id[0]), "python3 (rank 3)");
  EXPECT_EQ(trace.text(trace.op.name_id[0]), "gemm<float>[\"x\"]");
  EXPECT_EQ(trace.launch_shape.grid_x[0], 8);
  EXPECT_EQ(trace.launch_shape.registers[0], 40);
}

// They have processes of their own, which are none.
TEST_F(KinetoImport, LeavesOutWhatTheProfilerSaysOfItself) {
  const Trace trace = import(write(
      kHead + call("cudaLaunchKernel", "100", 1) +
      R"json({"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":90,"dur":50},
         {"ph":"i","s":"g","name":"Iteration Start: PyTorch Profiler","pid":"Traces","tid":"Trace PyTorch Profiler","ts":90},
         {"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":140},
         {"ph":"i","name":"of the program","pid":10,"tid":1,"ts":120},)json" +
      kTail));
  EXPECT_EQ(trace.process.size(), 1u);
  EXPECT_EQ(trace.thread.size(), 1u);
  ASSERT_EQ(trace.mark.size(), 1u);
  EXPECT_EQ(trace.text(trace.mark.name_id[0]), "of the program");
}

TEST_F(KinetoImport, AssignsWorkToTheProcessOfItsCall) {
  const Trace trace = import(write(kHead + call("cudaLaunchKernel", "100", 1, 1, 10) +
                                   call("cudaLaunchKernel", "100", 2, 1, 11) +
                                   kernel("103", 20, 1) + kernel("104", 20, 2) + kTail));
  ASSERT_EQ(trace.op.size(), 2u);
  EXPECT_NE(trace.op.stream_id[0], trace.op.stream_id[1]);
  EXPECT_EQ(trace.process.os_pid[trace.process_of_stream(trace.op.stream_id[0])], 10);
  EXPECT_EQ(trace.process.os_pid[trace.process_of_stream(trace.op.stream_id[1])], 11);
}

TEST_F(KinetoImport, ReadsGzip) {
  const auto file = folder_ / "input.json.gz";
  gzFile out = gzopen(file.c_str(), "wb");
  const std::string text = profile();
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  EXPECT_EQ(import(file).op.size(), 2u);
}

TEST_F(KinetoImport, RecognizesStreamsByTheNamesOfOurExport) {
  const Trace trace = import(write(R"([
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":1}},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":8,"ts":2,"dur":1,
     "args":{"device":0,"context":1,"stream":8,"correlation":1}},
    {"ph":"M","name":"thread_name","pid":0,"tid":8,"ts":0,
     "args":{"name":"stream 8 math","device":0,"context":1,"stream":8,"stream_name":"math","stream_kind":3}},
    {"ph":"M","name":"thread_name","pid":0,"tid":9,"ts":0,
     "args":{"name":"x","device":0,"context":1,"stream":8,"stream_name":"x","stream_kind":99}}])"));
  ASSERT_EQ(trace.stream.size(), 1u);
  EXPECT_EQ(trace.text(trace.stream.name_id[0]), "math");
  EXPECT_EQ(trace.stream.kind[0], trace::kNonBlockingStream);
}

TEST_F(KinetoImport, MakesRangesOfAnyChromeTrace) {
  const Trace trace = import(write(R"([{"ph":"B","name":"outer","pid":"main","tid":"worker","ts":1},
    {"ph":"B","name":"inner","pid":"main","tid":"worker","ts":2},{"ph":"E","pid":"main","tid":"worker","ts":3},
    {"ph":"E","pid":"main","tid":"worker","ts":"4.5"},{"ph":"X","name":"whole","pid":1,"tid":2,"ts":1e1,"dur":2},
    {"ph":"i","name":"tick","pid":1,"tid":2,"ts":5},{"ph":"C","name":"count","pid":1,"ts":5,"args":{"x":1}}, 17])"));
  ASSERT_EQ(trace.range.size(), 3u);
  EXPECT_EQ(trace.text(trace.range.name_id[0]), "outer");
  EXPECT_THAT(trace.range.depth, testing::ElementsAre(0, 1, 0));
  EXPECT_THAT(trace.range.start_ns, testing::ElementsAre(0, 1'000, 9'000));
  EXPECT_EQ(trace.range.end_ns[0], 3'500);
  EXPECT_EQ(trace.text(trace.thread.name_id[0]), "worker");
  EXPECT_EQ(trace.mark.size(), 1u);
  EXPECT_EQ(lost(trace, "import-no-cuda"), 1);
  EXPECT_EQ(lost(trace, "import-not-understood"), 1);
  EXPECT_EQ(lost(trace, "record-invalid"), 1);
}

TEST_F(KinetoImport, KeepsTheContentOfATruncatedFile) {
  const std::string whole = profile();
  const Trace trace = import(write(whole.substr(0, whole.find("Stream Wait Event") + 5)));
  EXPECT_EQ(trace.op.size(), 1u);
  EXPECT_EQ(trace.event_record.size(), 1u);
  EXPECT_EQ(lost(trace, "import-truncated"), 1);
}

TEST_F(KinetoImport, CountsHipWaitsThatNameNothing) {
  const Trace trace = import(write(kHead + call("hipStreamWaitEvent", "100", 1) + kTail));
  EXPECT_EQ(trace.event_wait.size(), 1u);
  EXPECT_EQ(lost(trace, "import-unknown-object"), 1);
}

TEST_F(KinetoImport, RefusesFilesThatAreNotProfiles) {
  EXPECT_THROW(import(write(R"({"hello": "world"})")), Error);
  EXPECT_THROW(import(write("{")), Error);
  EXPECT_THROW(import(write("[1, 2]")), Error);
  EXPECT_THROW(import(write("hello")), Error);
  EXPECT_THROW(import(write("")), Error);
  EXPECT_THROW(import(write(std::string(100'000, '['))), Error);
  EXPECT_THROW(import(write("\x1f\x8b\x08 damaged")), Error);
}

TEST_F(KinetoImport, RefusesAZipBombWithoutFillingTheMemory) {
  const auto file = folder_ / "bomb.json.gz";
  gzFile out = gzopen(file.c_str(), "wb9");
  const std::string piece(1 << 20, ' ');
  gzwrite(out, "{", 1);
  for (int i = 0; i < 512; ++i) gzwrite(out, piece.data(), static_cast<unsigned>(piece.size()));
  gzclose(out);
  EXPECT_THROW(import(file), Error);
}

TEST_F(KinetoImport, RefusesAHugeSparseFileAtOnce) {
  const auto file = write("{\"traceEvents\": [");
  ASSERT_EQ(truncate(file.c_str(), off_t{100} << 30), 0);
  EXPECT_THROW(import(file), Error);
}

std::string python(const char* name, const char* ts, const char* duration, int thread = 1,
                   const char* category = "python_function") {
  return R"({"ph":"X","cat":")" + std::string(category) + R"(","name":")" + name +
         R"(","pid":10,"tid":)" + std::to_string(thread) + R"(,"ts":)" + ts + R"(,"dur":)" +
         duration + "},\n";
}
std::vector<std::string> frames_of(const Trace& trace, trace::Id stack) {
  std::vector<std::string> frames;
  for (trace::Id frame = 0; frame < trace.stack_frame.size(); ++frame) {
    if (trace.stack_frame.stack_id[frame] != stack) continue;
    EXPECT_EQ(trace.stack_frame.kind[frame], trace::kPythonFrame);
    frames.emplace_back(trace.text(trace.stack_frame.symbol_id[frame]));
  }
  return frames;
}

TEST_F(KinetoImport, GivesCallsTheFunctionsThatWereOpenAsTheirStack) {
  const Trace trace = import(write(
      kHead + python("train.py(9): main", "90", "200") + python("train.py(41): step", "100", "50") +
      python("nn.Module: Linear_0", "100", "50") +
      python("torch/nn/modules/linear.py(124): forward", "100", "10") +
      python("<built-in function linear>", "101", "8") + call("cudaLaunchKernel", "102", 1) +
      kernel("110", 20, 1) + call("cudaDeviceSynchronize", "120", 2) +
      call("cudaLaunchKernel", "200", 3) + call("cudaLaunchKernel", "102", 4, 2) +  // other thread
      call("cudaLaunchKernel", "300", 5) + kTail));
  ASSERT_EQ(trace.api_call.size(), 4u);
  ASSERT_EQ(trace.host_sync.size(), 1u);
  const auto& stacks = trace.api_call.stack_id;
  EXPECT_THAT(frames_of(trace, stacks[0]),
              testing::ElementsAre("torch/nn/modules/linear.py:124 forward", "train.py:41 step",
                                   "train.py:9 main"));
  EXPECT_THAT(frames_of(trace, trace.host_sync.stack_id[0]),
              testing::ElementsAre("train.py:41 step", "train.py:9 main"));
  EXPECT_EQ(stacks[1], trace::kNoId) << "another thread";
  EXPECT_THAT(frames_of(trace, stacks[2]), testing::ElementsAre("train.py:9 main"));
  EXPECT_EQ(stacks[3], trace::kNoId) << "after the last function";
  EXPECT_EQ(trace.range.size(), 5u);
}

TEST_F(KinetoImport, ReadsTheCallStacksOfOperators) {
  const Trace trace = import(write(
      kHead +
      std::string(
          R"({"ph":"X","cat":"Operator","name":"aten::add","pid":10,"tid":1,"ts":100,"dur":50,)"
          R"("args":{"Call stack":"/lib/torch/x.py(7): add;<built-in>;train.py(44): step"}},)") +
      call("cudaLaunchKernel", "110", 1) + call("cudaLaunchKernel", "160", 2) + kTail));
  EXPECT_THAT(frames_of(trace, trace.api_call.stack_id[0]),
              testing::ElementsAre("/lib/torch/x.py:7 add", "train.py:44 step"));
  EXPECT_EQ(trace.api_call.stack_id[1], trace::kNoId);
}

TEST_F(KinetoImport, KeepsOnlyTheInnerFramesOfDeepStacks) {
  std::string text = kHead;
  for (int depth = 0; depth < 100; ++depth)
    text += python(("train.py(" + std::to_string(depth) + "): f").c_str(), "100", "50");
  const Trace trace = import(write(text + call("cudaLaunchKernel", "110", 1) + kTail));
  const std::vector<std::string> frames = frames_of(trace, trace.api_call.stack_id[0]);
  ASSERT_EQ(frames.size(), 64u);
  EXPECT_EQ(frames.front(), "train.py:99 f");
  EXPECT_EQ(trace.stack.frame_count[0], 64);
}

TEST_F(KinetoImport, TakesOnlyNamesWithFileAndLineAsFrames) {
  const Trace trace =
      import(write(kHead + python("(3): f", "90", "100") + python("a.py(): f", "90", "100") +
                   python("a.py(x): f", "90", "100") + python("a.py(3)", "90", "100") +
                   python("a.py(3): f", "90", "100", 1, "user_annotation") +
                   call("cudaLaunchKernel", "110", 1) + kTail));
  EXPECT_THAT(trace.stack_frame.kind, testing::Not(testing::Contains(trace::kPythonFrame)));
  EXPECT_EQ(trace.api_call.stack_id[0], trace::kNoId);
}

// Of the samples of the thread with calls, those between two times of the file, in µs.
std::vector<trace::Id> samples_between(const Trace& trace, trace::Ns from_us, trace::Ns to_us) {
  const trace::Ns zero = 90'000;  // where the first range begins
  std::vector<trace::Id> found;
  for (trace::Id sample = 0; sample < trace.host_sample.size(); ++sample) {
    const trace::Ns at = trace.host_sample.at_ns[sample] + zero;
    if (at >= from_us * 1000 && at < to_us * 1000) found.push_back(sample);
  }
  return found;
}
// What a sample shows, the innermost first: functions of Python, and ranges in brackets.
std::vector<std::string> shown(const Trace& trace, trace::Id sample) {
  std::vector<std::string> frames;
  for (trace::Id frame = 0; frame < trace.stack_frame.size(); ++frame) {
    if (trace.stack_frame.stack_id[frame] != trace.host_sample.stack_id[sample]) continue;
    const std::string symbol(trace.text(trace.stack_frame.symbol_id[frame]));
    frames.push_back(trace.stack_frame.kind[frame] == trace::kRangeFrame ? "[" + symbol + "]"
                                                                         : symbol);
  }
  return frames;
}

TEST_F(KinetoImport, SamplesTheFunctionsAndOperatorsThatWereOpen) {
  const Trace trace = import(
      write(kHead + python("train.py(9): main", "90", "1000") +
            python("ProfilerStep#7", "95", "990", 1, "user_annotation") +
            python("## load ##", "100", "300", 1, "user_annotation") +
            python("data.py(3): next", "101", "299") +
            python("<built-in method poll of select.poll object at 0x7f12>", "200", "200") +
            python("Optimizer.step#SGD.step", "500", "400", 1, "user_annotation") +
            python("aten::add_", "600", "200", 1, "cpu_op") +
            python("aten::mul", "100", "900", 2, "cpu_op") + call("cudaLaunchKernel", "1080", 1) +
            python("aten::late", "1000", "80", 3, "cpu_op") +
            call("cudaLaunchKernel", "1070", 2, 3) + kernel("1085", 20, 1) + kTail));
  using testing::ElementsAre;
  const auto check = [&](trace::Ns from, trace::Ns to, const std::vector<std::string>& expected) {
    const auto samples = samples_between(trace, from, to);
    EXPECT_GE(samples.size(), 3u);
    for (const trace::Id sample : samples) {
      EXPECT_EQ(shown(trace, sample), expected) << "from " << from;
      EXPECT_EQ(trace.host_sample.thread_id[sample], 0u);
    }
  };
  check(102, 200, {"data.py:3 next", "train.py:9 main"});
  check(200, 400, {"[<built-in method poll of select.poll]", "data.py:3 next", "train.py:9 main"});
  check(410, 490, {"train.py:9 main"});
  check(500, 600, {"[Optimizer.step#SGD.step]", "train.py:9 main"});
  check(600, 800, {"[aten::add_]", "[Optimizer.step#SGD.step]", "train.py:9 main"});
  const auto& samples = trace.host_sample;
  EXPECT_THAT(samples.thread_id, testing::Not(testing::Contains(1u))) << "it makes no calls";
  const auto late = std::ranges::count(samples.thread_id, 2u);
  EXPECT_GE(late, 6) << "10 µs apart, from its first operator to its last call";
  EXPECT_LE(late, 8);
  EXPECT_EQ(samples.runs[samples_between(trace, 600, 800)[0]], trace::kNoSmall);
  EXPECT_EQ(samples.runs[samples_between(trace, 200, 400)[0]], 0);
  EXPECT_EQ(samples.system_call[samples_between(trace, 200, 400)[0]], SystemCall::ppoll);
}

// PyTorch reads a value by an asynchronous copy and a synchronization. The call of such a copy
// waits if the memory is pageable, else the synchronization does.
TEST_F(KinetoImport, MakesACopyToPageableMemoryASynchronousOne) {
  const auto read = [&](const std::string& memory, const std::string& started) {
    const std::string copy =
        R"({"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> )" + memory +
        R"X()","pid":0,"tid":7,"ts":)X" + started +
        R"(,"dur":2,"args":{"device":0,"context":1,"stream":7,"correlation":2,"bytes":8}},)";
    return import(write(kHead + call("cudaLaunchKernel", "100", 1) + kernel("103", 7, 1) +
                        call("cudaMemcpyAsync", "115", 2) + copy + kTail));
  };
  const Trace pageable = read("Pageable", "113.5");
  ASSERT_EQ(pageable.host_sync.size(), 1u);
  EXPECT_EQ(pageable.host_sync.kind[0], trace::kSynchronousCopy);
  EXPECT_EQ(pageable.text(pageable.host_sync.name_id[0]), "cudaMemcpyAsync");
  EXPECT_EQ(pageable.api_call.size(), 1u);
  EXPECT_EQ(pageable.op.api_call_id[1], trace::kNoId);
  EXPECT_EQ(read("Pinned", "113.5").host_sync.size(), 0u);
  EXPECT_EQ(read("Pageable", "130").host_sync.size(), 0u) << "the call returned long before";
}

TEST_F(KinetoImport, SamplesNothingOfAFileWithoutFunctionsAndOperators) {
  const Trace trace =
      import(write(kHead + call("cudaLaunchKernel", "100", 1) + kernel("105", 20, 1) + kTail));
  EXPECT_EQ(trace.host_sample.size(), 0u);
}

}  // namespace
}  // namespace streamscope::test
