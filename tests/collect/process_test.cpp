// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The collector and its process: start, end, and what the program may notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "observed.h"
#include "ring/process.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string shell(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char bytes[4096];
  for (size_t got; (got = fread(bytes, 1, sizeof bytes, pipe)) > 0;) text.append(bytes, got);
  pclose(pipe);
  return text;
}

TEST(Library, ShowsOnlyItsEntryPoints) {
  NEEDS_PRELOADING();
  EXPECT_EQ(shell("nm -D --defined-only " COLLECT_LIBRARY " | awk '{print $3}' | sort"),
            "InitializeInjection\nInitializeInjectionNvtx\nInitializeInjectionNvtx2\n"
            "InitializeInjectionNvtxExtension\n_Exit\n"
            "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE\n"
            "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE\n__sysv_signal\n_exit\n"
            "cuptiActivityDisable\ncuptiActivityEnable\n"
            "cuptiActivityFlushAll\ncuptiActivityRegisterCallbacks\ncuptiFinalize\ncuptiSubscribe\n"
            "cuptiSubscribe_v2\nsigaction\nsignal\nstreamscope_coord_observer\nstreamscope_dump\n"
            "streamscope_flush\nstreamscope_followed\nstreamscope_lookups\nstreamscope_range_pop\n"
            "streamscope_range_push\nstreamscope_ways\nstreamscope_wrapped_runtime\n");
}

TEST(Library, NeedsOnlyTheLibcFamily) {
  NEEDS_PRELOADING();
  const std::string needed = shell("readelf -d " COLLECT_LIBRARY " | grep NEEDED");
  std::istringstream lines(needed);
  for (std::string line; std::getline(lines, line);)
    EXPECT_THAT(line, ::testing::ContainsRegex(
                          "\\[(libc|libm|libdl|libpthread|librt|ld-linux-x86-64)\\.so"));
}

TEST(Library, KeepsToTheStatedGlibcFloor) {
  NEEDS_PRELOADING();
  // docs/packages.md says so.
  const std::string newest = shell("objdump -T " COLLECT_LIBRARY
                                   " | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -1 | cut -d. -f2");
  EXPECT_LE(std::stoi(newest), 35);
}

TEST(Library, NeedsAnOlderGlibcExceptInTheCompilersRuntimes) {
  NEEDS_PRELOADING();
  const std::string newer = shell("objdump -T " COLLECT_LIBRARY
                                  " | sed -n 's/.*(GLIBC_2\\.\\([0-9]*\\).*) \\(.*\\)/\\1 \\2/p'"
                                  " | awk '$1 > 34 {print $2}' | sort");
  std::istringstream lines(newer);
  for (std::string name; lines >> name;) EXPECT_EQ(name, "_dl_find_object");  // of libgcc
  EXPECT_EQ(shell("objdump -T " COLLECT_CALLS_LIBRARY " | grep GLIBC_"), "");
}

TEST(Library, UsesNoInitialExecStorage) {
  NEEDS_PRELOADING();
  // The driver may dlopen it when no static TLS space is left.
  EXPECT_EQ(shell("readelf -d " COLLECT_LIBRARY " | grep STATIC_TLS"), "");
}

TEST(Process, WithoutCudaLeavesNothing) {
  Observed run;
  EXPECT_EQ(run.run_child("no-cuda"), 0) << run.error_text();
  EXPECT_THAT(run.rings(), IsEmpty());
  EXPECT_EQ(run.error_text(), "");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(run.folder()), {}),
            1);  // the control file
}

TEST(Process, WithoutCudaGetsOnlyTwoVariables) {
  NEEDS_PRELOADING();
  Observed run;
  ASSERT_EQ(run.run({"/usr/bin/env"}), 0);
  std::istringstream with(run.output_text());
  run.set("LD_PRELOAD", "");
  ASSERT_EQ(run.run({"/usr/bin/env"}), 0);
  std::istringstream without(run.output_text());
  std::set<std::string> names;
  for (std::string line; std::getline(with, line);) names.insert(line);
  for (std::string line; std::getline(without, line);) names.erase(line);
  std::set<std::string> added;
  for (const std::string& name : names) added.insert(name.substr(0, name.find('=')));
  EXPECT_THAT(added, ElementsAre("CUDA_INJECTION64_PATH", "LD_PRELOAD", "NVTX_INJECTION64_PATH"));
}

TEST(Process, WithItsOwnSqliteBehavesTheSameAndLeavesNothing) {
  NEEDS_PRELOADING();
  const std::vector<std::string> program = {
      "/usr/bin/env", "python3", "-c",
      "import sqlite3; d = sqlite3.connect(':memory:'); d.execute('create table t(x)');"
      "d.executemany('insert into t values(?)', [(i,) for i in range(100)]);"
      "print(sqlite3.sqlite_version, d.execute('select sum(x) from t').fetchone()[0])"};
  Observed with, without;
  without.set("LD_PRELOAD", "");
  if (without.run(program) != 0) GTEST_SKIP() << "python3 with sqlite3 is not here";
  ASSERT_EQ(with.run(program), 0) << with.error_text();
  EXPECT_THAT(with.output_text(), HasSubstr(" 4950"));
  EXPECT_EQ(with.output_text(), without.output_text());
  EXPECT_EQ(with.error_text(), without.error_text());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(with.folder()), {}),
            1);  // the control file
}

TEST(Process, ThatIsAShellWithItsOwnSetenvPassesTheVariablesOn) {
  NEEDS_PRELOADING();
  Observed run;
  ASSERT_EQ(
      run.run({"/bin/bash", "-c", "echo $CUDA_INJECTION64_PATH; exec " COLLECT_CHILD " simple"}), 0)
      << run.error_text();
  EXPECT_THAT(run.output_text(), HasSubstr("libstreamscope_inject.so"));
  EXPECT_EQ(run.call_names(), "cudaLaunchKernel");
}

TEST(Process, FactsComeFirst) {
  Observed run;
  run.set("SECRET_TOKEN", "hush");
  run.set("NCCL_DEBUG", "INFO");
  ASSERT_EQ(run.run_child("simple"), 0) << run.error_text();
  const auto processes = run.all<ring::ProcessRecord>(RecordKind::kProcess);
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_EQ(run.text(processes[0].executable), kChild);
  EXPECT_EQ(run.text(processes[0].command_line), std::string(kChild) + '\0' + "simple");
  EXPECT_THAT(run.text(processes[0].environment), HasSubstr("NCCL_DEBUG=INFO"));
  EXPECT_THAT(run.text(processes[0].environment), ::testing::Not(HasSubstr("hush")));
  EXPECT_EQ(run.text(processes[0].collector),
            "cupti 130001 (not interposed: the program does not look functions up through this "
            "library)");
  EXPECT_THAT(run.all<ring::EndRecord>(RecordKind::kEnd), SizeIs(1));
}

TEST(Process, MayLoadTheLibraryItselfBeforeCuda) {
  Observed run;
  run.set("LD_PRELOAD", "");
  ASSERT_EQ(run.run({COLLECT_CHILD, "late-before-cuda", COLLECT_LIBRARY}), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaLaunchKernel");
  EXPECT_THAT(run.losses(), IsEmpty());
}

TEST(Process, MayBeEnteredThroughTheDriverAlone) {
  Observed run;
  run.set("LD_PRELOAD", "");
  run.set("CUDA_INJECTION64_PATH", COLLECT_LIBRARY);
  ASSERT_EQ(run.run({COLLECT_CHILD, "simple"}), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaLaunchKernel");
}

TEST(Process, MayBeLinkedWithTheLibraryAndNoVariableSet) {
  Observed run;
  run.set("LD_PRELOAD", "");
  ASSERT_EQ(run.run({COLLECT_LINKED_CHILD, "simple"}), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaLaunchKernel");
}

TEST(Process, EnteredLateReportsThatAndNeverTracesGraphs) {
  Observed run;
  run.set("LD_PRELOAD", "");
  ASSERT_EQ(run.run({COLLECT_CHILD, "late", COLLECT_LIBRARY}), 0) << run.error_text();
  EXPECT_EQ(run.losses()["late-attach"], 1u);
  EXPECT_EQ(run.losses()["graph-times"], 1u);
  EXPECT_THAT(run.calls(), SizeIs(2));
  // Contexts and streams that nobody reported become known at their first use, once.
  EXPECT_THAT(run.all<ring::ContextRecord>(RecordKind::kContext), SizeIs(1));
  const auto streams = run.all<ring::StreamRecord>(RecordKind::kStream);
  ASSERT_THAT(streams, SizeIs(2));
  EXPECT_EQ(streams[1].handle, 0xa00au);
  EXPECT_EQ(streams[1].priority, -3);
}

TEST(Process, WithAnotherSubscriberNamesItAndContinues) {
  Observed run;
  run.set("FAKE_OTHER_SUBSCRIBER", "Nsight Systems");
  ASSERT_EQ(run.run_child("nvtx"), 0);
  EXPECT_THAT(run.error_text(), HasSubstr("CUPTI for Nsight Systems already uses CUPTI"));
  EXPECT_EQ(run.loss_detail(ring::Loss::kOtherSubscriber), "CUPTI for Nsight Systems");
  EXPECT_FALSE(run.all<ring::RangeRecord>(RecordKind::kRangePush).empty());
}

TEST(Process, WithBuffersRefusedByAnotherCopyOfCuptiContinues) {
  Observed run;
  run.set("FAKE_REFUSE_BUFFERS", "1");
  ASSERT_EQ(run.run_child("simple"), 0);
  EXPECT_EQ(run.losses()["other-subscriber"], 1u);
}

TEST(Process, WhoseStartFailsLeavesNothingEnabled) {
  const std::pair<const char*, const char*> refusals[] = {
      {"FAKE_REFUSE_RESOURCES", "no-cupti"}, {"FAKE_REFUSE_BUFFERS", "other-subscriber"}};
  for (const auto& [refusal, loss] : refusals) {
    Observed run;
    run.control().tier = Tier::kEvents;
    run.set(refusal, "1");
    ASSERT_EQ(run.run_child("failed-start"), 0) << refusal << run.error_text();
    EXPECT_THAT(run.output_text(), HasSubstr("unsubscribe:0")) << refusal;
    EXPECT_THAT(run.error_text(), HasSubstr("CUDA calls and GPU times are not recorded"));
    EXPECT_EQ(run.losses()[loss], 1u);
    EXPECT_THAT(run.calls(), SizeIs(0));
  }
}

TEST(Process, WithoutCuptiStillRecordsWhatItCan) {
  NEEDS_PRELOADING();
  Observed run;
  run.set("STREAMSCOPE_CUPTI", "/nonexistent/libcupti.so");
  ASSERT_EQ(run.run({COLLECT_PLAIN_CHILD}), 0) << run.error_text();
  EXPECT_EQ(run.losses()["no-cupti"], 1u);
  EXPECT_THAT(run.error_text(), HasSubstr("STREAMSCOPE_CUPTI"));
}

TEST(Process, ThatForksKeepsItsRingsToItself) {
  Observed run;
  ASSERT_EQ(run.run_child("forks"), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaLaunchKernel cudaLaunchKernel");
  EXPECT_THAT(run.all<ring::RangeRecord>(RecordKind::kMark), IsEmpty());
  EXPECT_THAT(run.all<ring::EndRecord>(RecordKind::kEnd), SizeIs(1));
}

TEST(Process, ThatForksAndExecutesJoinsTheSameRun) {
  Observed run;
  ASSERT_EQ(run.run_child("forks", {kChild}), 0) << run.error_text();
  EXPECT_THAT(run.calls(), SizeIs(3));
  EXPECT_THAT(run.all<ring::ProcessRecord>(RecordKind::kProcess), SizeIs(2));
}

TEST(Process, ThatExecutesAnotherProgramContinuesWithNewRings) {
  Observed run;
  ASSERT_EQ(run.run_child("executes", {kChild}), 0) << run.error_text();
  EXPECT_THAT(run.calls(), SizeIs(2));
  EXPECT_THAT(run.all<ring::ProcessRecord>(RecordKind::kProcess), SizeIs(2));
}

TEST(Process, ForkedFromOneThatUsedNoCudaMayUseItItself) {
  Observed run;
  ASSERT_EQ(run.run_child("fork-then-cuda"), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaLaunchKernel");
  const auto processes = run.all<ring::ProcessRecord>(RecordKind::kProcess);
  ASSERT_THAT(processes, SizeIs(2));
}

TEST(Process, WithoutAWriterRunsOnAndReportsWhy) {
  Observed run;
  run.set(ring::kRingsVariable, "");
  run.set("STREAMSCOPE_BIN", "/nonexistent");
  EXPECT_EQ(run.run_child("simple"), 0);
  EXPECT_EQ(run.error_text(),
            "streamscope: not recording: the program `streamscope` was not found; start with "
            "`streamscope record -- "
            "PROGRAM`, or name it in STREAMSCOPE_BIN\n");
}

// A stand-in for `streamscope`: writes its arguments and environment to a file and prints where the
// rings are.
std::filesystem::path fake_writer(const Observed& run, const std::string& answer) {
  std::filesystem::path path = run.folder() / "writer";
  std::ofstream(path) << "#!/bin/sh\necho \"$@\" > " << run.folder().string()
                      << "/arguments\nenv > " << run.folder().string()
                      << "/environment\nls -l /proc/$$/fd > " << run.folder().string() << "/files\n"
                      << answer << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Process, AloneStartsAWriterThatDoesNotAffectIt) {
  Observed run;
  run.set(ring::kRingsVariable, "");
  run.set("STREAMSCOPE_TIER", "events");
  run.set("STREAMSCOPE_BIN", fake_writer(run, "printf '" + run.folder().string() + "\\0' >&3"));
  ASSERT_EQ(run.run_child("own-writer"), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaLaunchKernel");
  const std::string arguments = contents(run.folder() / "arguments");
  EXPECT_THAT(arguments, ::testing::StartsWith("record --attach-writer --ready-fd 3 --target "));
  EXPECT_THAT(arguments, HasSubstr("--tier events"));
  // It must not record itself, and must not keep the program's files open.
  EXPECT_THAT(contents(run.folder() / "environment"), ::testing::Not(HasSubstr("LD_PRELOAD")));
  EXPECT_THAT(contents(run.folder() / "environment"),
              ::testing::Not(HasSubstr("INJECTION64_PATH")));
}

TEST(Process, IgnoresTheRunOfAWriterThatIsDead) {
  Observed run;
  run.control().writer_start -= 1;  // this pid now belongs to another process
  run.set("STREAMSCOPE_BIN", "/nonexistent");
  EXPECT_EQ(run.run_child("simple"), 0);
  EXPECT_THAT(run.error_text(), HasSubstr("not recording"));
  EXPECT_THAT(run.rings(), IsEmpty());
}

TEST(Process, DoesNotWaitForAWriterThatEndsWithoutAnAnswer) {
  Observed run;
  run.set(ring::kRingsVariable, "");
  run.set("STREAMSCOPE_BIN", fake_writer(run, "exit 1"));
  EXPECT_EQ(run.run_child("simple"), 0);
  EXPECT_THAT(run.error_text(), HasSubstr("the writer did not become ready"));
}

TEST(Process, WhilePausedReportsOnlyWhatIdentitiesNeed) {
  Observed run;
  run.control().collecting.store(0);
  const std::filesystem::path go = run.folder() / "go";
  run.start_child("paused", {go});
  run.wait_for_line("one");
  run.control().collecting.store(1);
  ring::announce_change(run.control());
  std::ofstream(go) << "go";
  ASSERT_EQ(run.finish(), 0) << run.error_text();
  EXPECT_EQ(run.call_names(), "cudaEventCreateWithFlags cudaLaunchKernel");
  EXPECT_EQ(run.text(run.calls()[1].object), "while collecting");
  const auto kernels = run.all<ring::OpRecord>(RecordKind::kKernel);
  ASSERT_THAT(kernels, SizeIs(1));  // the device's work of the pause comes later and is omitted
  EXPECT_EQ(run.text(kernels[0].name), "while collecting");
  std::vector<int> switches;
  for (const auto& each : run.all<ring::CollectingRecord>(RecordKind::kCollecting))
    switches.push_back(each.on);
  EXPECT_THAT(switches, ElementsAre(0, 1));
}

/// How many windows of each kind, off and on, the program made progress in. On a busy machine it
/// may not run for a whole one.
std::array<size_t, 2> windows_with_progress(const std::vector<ring::CollectingRecord>& marks) {
  std::array<size_t, 2> count{};
  for (size_t i = 1; i < marks.size(); ++i) {
    EXPECT_GE(marks[i].progress, marks[i - 1].progress);
    count[marks[i - 1].on != 0] += marks[i].progress > marks[i - 1].progress;
  }
  return count;
}

TEST(Process, SwitchesRecordingOffAndOnToMeasureItsCost) {
  for (const std::string range : {"", "step"}) {
    Observed run;
    run.control().measure_cost_window_ms = 20;
    range.copy(run.control().measure_cost_range, range.size());
    ASSERT_EQ(run.run_child("cost-windows"), 0) << run.error_text();
    const uint64_t steps = std::stoull(run.output_text());

    const auto switches = run.all<ring::CollectingRecord>(RecordKind::kCollecting);
    ASSERT_GE(switches.size(), 6u);
    for (size_t i = 0; i < switches.size(); ++i) {
      EXPECT_EQ(switches[i].on, i % 2) << "the first window is recorded";
      EXPECT_EQ(switches[i].measuring, 1);
      if (i == 0) continue;
      EXPECT_GT(switches[i].begin, switches[i - 1].begin);
    }
    const auto [off, on] = windows_with_progress(switches);
    EXPECT_GE(off + on, switches.size() / 2);
    EXPECT_GT(off, 0u);
    EXPECT_GT(on, 0u);
    EXPECT_LE(switches.back().progress, (range.empty() ? 2 : 1) * steps);

    size_t created = 0;
    std::set<uint32_t> launches;
    for (const ring::CallRecord& call : run.calls()) {
      created += ring::call_info(call.call).kind == CallKind::kEventCreate;
      if (ring::call_info(call.call).kind == CallKind::kLaunch) launches.insert(call.call_number);
    }
    EXPECT_EQ(created, steps) << "handles are always followed";
    EXPECT_LT(launches.size(), steps);
    EXPECT_GT(launches.size(), 0u);
    for (const auto& kernel : run.all<ring::OpRecord>(RecordKind::kKernel))
      EXPECT_TRUE(launches.contains(kernel.correlation_id)) << "work without its call";
    EXPECT_THAT(run.losses(), IsEmpty());
  }
}

// In steps of 20 ms a window of 5 ms is over soon: it ends with the step, unless the machine is
// busy.
TEST(Process, EndsWindowsWithTheRangeThatShowsProgress) {
  Observed run;
  run.control().measure_cost_window_ms = 5;
  std::string_view("step").copy(run.control().measure_cost_range, 4);
  ASSERT_EQ(run.run_child("cost-of-steps"), 0) << run.error_text();
  const auto steps = run.all<ring::RangeRecord>(RecordKind::kRangePop);
  const auto switches = run.all<ring::CollectingRecord>(RecordKind::kCollecting);
  size_t windows = 0, whole = 0;
  for (size_t i = 2; i < switches.size(); i += 2) {
    ASSERT_EQ(switches[i].on, 0);
    const uint64_t begin = switches[i - 1].begin, end = switches[i].begin;
    const auto next = std::ranges::upper_bound(steps, end, {}, &ring::RangeRecord::begin);
    ASSERT_NE(next, steps.begin());
    const uint64_t step_end = std::prev(next)->begin;
    ++windows;
    whole += step_end > begin && end - step_end < (step_end - begin) / 2;
  }
  EXPECT_GE(windows, 8u);
  EXPECT_GE(whole, windows - windows / 4);
}

TEST(Process, GoesOnWithWindowsWhereNoSuchRangeEnds) {
  Observed run;
  run.control().measure_cost_window_ms = 5;
  std::string_view("never").copy(run.control().measure_cost_range, 5);
  run.start_child("cost-windows");
  EXPECT_EQ(run.finish(), 0) << run.error_text();
  EXPECT_GE(run.all<ring::CollectingRecord>(RecordKind::kCollecting).size(), 6u);
}

TEST(Process, MarksTheWindowsOfARunThatIsRecordedOrNot) {
  for (const bool recorded : {false, true}) {
    Observed run;
    run.control().measure_cost_window_ms = 20;
    run.control().measured_windows =
        recorded ? ring::MeasuredWindows::kRecorded : ring::MeasuredWindows::kNotRecorded;
    ASSERT_EQ(run.run_child("cost-of-run"), 0) << run.error_text();
    const uint64_t steps = std::stoull(run.output_text());
    const auto marks = run.all<ring::CollectingRecord>(RecordKind::kCollecting);
    ASSERT_GE(marks.size(), 6u);
    for (const ring::CollectingRecord& mark : marks) {
      EXPECT_EQ(mark.on, recorded ? 1 : 0);
      EXPECT_EQ(mark.measuring, 1);
    }
    EXPECT_GE(windows_with_progress(marks)[recorded], marks.size() / 2);
    size_t created = 0, launched = 0;
    for (const ring::CallRecord& call : run.calls()) {
      created += ring::call_info(call.call).kind == CallKind::kEventCreate;
      launched += ring::call_info(call.call).kind == CallKind::kLaunch;
    }
    EXPECT_EQ(created, steps) << "handles are always followed";
    if (recorded) {
      EXPECT_EQ(launched, steps);
      EXPECT_THAT(run.all<ring::OpRecord>(RecordKind::kKernel), SizeIs(steps));
    } else {
      EXPECT_LT(launched, steps / 4) << "those before the first window";
    }
    EXPECT_THAT(run.losses(), IsEmpty());
  }
}

TEST(Process, SwitchesNoDeviceTimesWhileCudaEnds) {
  Observed run;
  run.control().measure_cost_window_ms = 20;
  run.set("FAKE_SLOW_END", "1");
  EXPECT_EQ(run.run_child("cost-windows"), 0) << run.error_text();
}

std::vector<std::string> launched(const Observed& run) {
  std::vector<std::string> names;
  for (const ring::CallRecord& call : run.calls()) {
    if (ring::call_info(call.call).kind == CallKind::kLaunch)
      names.push_back(run.text(call.object));
  }
  return names;
}

TEST(Process, RecordsBetweenTheProfilerCallsOnRequest) {
  Observed run;
  run.control().capture_range = ring::CaptureRange::kCudaProfilerApi;
  ASSERT_EQ(run.run_child("profiler-range"), 0) << run.error_text();
  EXPECT_THAT(launched(run), ElementsAre("inside"));
}

TEST(Process, RecordsInsideTheNamedRangeOnRequest) {
  Observed run;
  run.control().capture_range = ring::CaptureRange::kNvtx;
  std::strcpy(run.control().capture_range_name, "step");
  ASSERT_EQ(run.run_child("nvtx-range"), 0) << run.error_text();
  EXPECT_THAT(launched(run), ElementsAre("inside", "still inside", "inside again"));
}

TEST(Process, StoppedOnRequestDetachesCompletely) {
  Observed run;
  const std::filesystem::path go = run.folder() / "go";
  run.start_child("stopped", {go});
  run.wait_for_line("one");
  run.control().stop.store(1);
  std::ofstream(go) << "go";
  ASSERT_EQ(run.finish(), 0) << run.error_text();
  EXPECT_THAT(run.calls(), SizeIs(1));
  EXPECT_THAT(run.output_text(), HasSubstr("unsubscribe:0"));  // no callback was enabled any more
}

TEST(Nvtx, RangesMarksAndNamesAreRecorded) {
  Observed run;
  ASSERT_EQ(run.run_child("nvtx"), 0) << run.error_text();
  const auto pushes = run.all<ring::RangeRecord>(RecordKind::kRangePush);
  ASSERT_THAT(pushes, SizeIs(2));
  EXPECT_EQ(run.text(pushes[0].name), "open at start");  // opened before CUDA was loaded
  EXPECT_EQ(run.text(pushes[1].name), "registered");
  EXPECT_EQ(run.text(pushes[1].domain), "my domain");
  EXPECT_EQ(pushes[1].category, 7);
  EXPECT_EQ(pushes[1].color, 0xff102030);
  EXPECT_EQ(pushes[1].payload, 99u);
  EXPECT_LT(pushes[0].begin, pushes[1].begin);
  EXPECT_THAT(run.all<ring::RangeRecord>(RecordKind::kRangePop), SizeIs(2));
  const auto marks = run.all<ring::RangeRecord>(RecordKind::kMark);
  ASSERT_THAT(marks, SizeIs(1));
  EXPECT_EQ(run.text(marks[0].name),
            "gr\xc3\xb6\xc3\x9f"
            "e");
  const auto starts = run.all<ring::RangeRecord>(RecordKind::kRangeStart);
  const auto ends = run.all<ring::RangeRecord>(RecordKind::kRangeEnd);
  ASSERT_THAT(starts, SizeIs(1));
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(starts[0].id, ends[0].id);
  EXPECT_NE(starts[0].tid, ends[0].tid);
  std::map<int, std::string> names;
  for (const auto& name : run.all<ring::NameRecord>(RecordKind::kName))
    names[name.object_kind] = run.text(name.name);
  EXPECT_EQ(names[static_cast<int>(ring::ObjectKind::kStream)], "copies");
  EXPECT_EQ(names[static_cast<int>(ring::ObjectKind::kEvent)], "done");
  EXPECT_EQ(names[static_cast<int>(ring::ObjectKind::kThread)], "the main thread");
}

TEST(CoordObserver, ReportsOperationsByTheirKinds) {
  Observed run;
  ASSERT_EQ(run.run_child("coord-kinds"), 0) << run.error_text();
  std::map<uint32_t, ring::OperationRecord> operations;
  for (const auto& each : run.all<ring::OperationRecord>(RecordKind::kOperation))
    operations[each.operation] = each;
  ASSERT_THAT(operations, SizeIs(6));
  EXPECT_EQ(operations.count(4), 0u);
  const uint64_t now = operations[0].begin;
  for (const auto& [number, each] : operations) {
    EXPECT_EQ(run.text(each.name), "step");
    EXPECT_EQ(run.text(each.call_site),
              number == 3 || number == 6 ? "main.cpp:8 main" : "main.cpp:7 main");
    EXPECT_EQ(each.type, 3);      // reduction
    EXPECT_EQ(each.priority, 1);  // high
    EXPECT_EQ(each.stream, 40u);
    EXPECT_EQ(each.context, 1u);
    EXPECT_EQ(each.parent, ring::kNone32);
    EXPECT_EQ(each.flags, 0);
  }
  for (uint32_t i : {0u, 1u, 2u}) {
    EXPECT_EQ(operations[i].begin, now + 10 * i);
    EXPECT_EQ(operations[i].begun, now + 10 * i + 1);
  }
  EXPECT_EQ(operations[0].ended_before, 0u);
  EXPECT_EQ(operations[1].ended, 0u);
  EXPECT_EQ(operations[1].ended_before, 8u);
  EXPECT_EQ(operations[2].ended, 1u);
  EXPECT_EQ(operations[2].ended_before, 8u);
  EXPECT_EQ(operations[3].ended_before, 0u) << "that is too long for the record";
  const auto states = run.all<ring::OperationStateRecord>(RecordKind::kOperationState);
  ASSERT_THAT(states, SizeIs(1));
  EXPECT_EQ(states[0].operation, 2u);
  EXPECT_EQ(states[0].begin, now + 22);
  EXPECT_EQ(operations[6].ended, 5u);
  const auto reasons =
      run.all<ring::OperationDependenciesRecord>(RecordKind::kOperationDependencies);
  ASSERT_THAT(reasons, SizeIs(1));
  EXPECT_EQ(reasons[0].operation, 1u);
  EXPECT_EQ(reasons[0].dependencies[0].inferred, 1);
  // The texts go to the child as well.
  const auto texts = run.all<ring::TextRecord>(RecordKind::kText);
  for (const ring::TextHash hash :
       {operations[0].name, operations[0].call_site, operations[3].call_site}) {
    EXPECT_EQ(std::count_if(texts.begin(), texts.end(),
                            [&](const auto& text) { return text.hash == hash; }),
              2);
  }
}

TEST(CoordObserver, ReportsSimulatedWorkInVirtualTime) {
  Observed run;
  ASSERT_EQ(run.run_child("coord"), 0) << run.error_text();
  EXPECT_EQ(run.all<ring::DeviceRecord>(RecordKind::kDevice).at(0).simulated, 1u);
  const auto streams = run.all<ring::StreamRecord>(RecordKind::kStream);
  ASSERT_THAT(streams, SizeIs(1));
  EXPECT_EQ(run.text(streams[0].name), "math");
  const auto operations = run.all<ring::OperationRecord>(RecordKind::kOperation);
  ASSERT_THAT(operations, SizeIs(4));
  EXPECT_EQ(run.text(operations[0].name), "gemm");
  EXPECT_EQ(run.text(operations[0].call_site), "main.cpp:3 main");
  EXPECT_EQ(operations[0].begin, 5u);
  EXPECT_EQ(operations[0].begun, ring::kNotYet);
  for (uint32_t i : {1u, 2u, 3u}) {
    EXPECT_EQ(run.text(operations[i].name),
              i == 3 ? "a name that is longer than what the collector remembers of names" : "axpy");
    EXPECT_EQ(run.text(operations[i].call_site), "main.cpp:7 main");
    EXPECT_EQ(operations[i].begin, 50u + 10 * i);
    EXPECT_EQ(operations[i].begun, 51u + 10 * i);
    EXPECT_EQ(operations[i].flags, ring::kVirtualTime);
  }
  // The end of a submission is in the thread's next operation, the last in the ring's head.
  EXPECT_EQ(operations[1].ended_before, 0u);
  for (uint32_t i : {2u, 3u}) {
    EXPECT_EQ(operations[i].ended, i);
    EXPECT_EQ(operations[i].begin - operations[i].ended_before, 45u + 10 * i);
  }
  EXPECT_EQ(run.rings().at(0).ended, 4u);
  EXPECT_EQ(run.rings().at(0).ended_at, 85u);
  const auto dependencies =
      run.all<ring::OperationDependenciesRecord>(RecordKind::kOperationDependencies);
  ASSERT_THAT(dependencies, SizeIs(3));  // at registration, when it was satisfied; two in one
  EXPECT_EQ(dependencies[2].count, 2);
  EXPECT_EQ(dependencies[2].dependencies[0].elided, 2);  // the same stream
  EXPECT_EQ(dependencies[2].dependencies[1].inferred, 1);
  const auto points = run.all<ring::TimelinePointRecord>(RecordKind::kTimelinePoint);
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points[0].begin, 90u);
  EXPECT_EQ(points[0].value, 4u);
  EXPECT_EQ(points[0].stream, 40u);
  EXPECT_EQ(run.text(run.all<ring::TimelineRecord>(RecordKind::kTimeline).at(0).name), "steps");
  EXPECT_EQ(run.all<ring::BarrierArrivalRecord>(RecordKind::kBarrierArrival).at(0).arrival_ns, 85);
  const auto calls = run.calls();
  ASSERT_THAT(calls, SizeIs(7));
  EXPECT_EQ(name_of(calls[0]), "simLaunchKernel");
  EXPECT_EQ(name_of(calls[2]), "simEventQuery");
  EXPECT_EQ(ring::PollWord{calls[2].value}.more(), 99u);
  EXPECT_EQ(calls[2].begin, 9u);
  EXPECT_EQ(ring::last_end(calls[2]), 209u);
  EXPECT_EQ(calls[0].operation, 1u);  // made between begin and end
  for (size_t i = 1; i < 7; ++i) EXPECT_EQ(calls[i].operation, ring::kNone32);
  const auto completed = run.all<ring::OperationsCompletedRecord>(RecordKind::kOperationsCompleted);
  ASSERT_THAT(completed, SizeIs(2));
  EXPECT_EQ(completed[0].count + completed[1].count, 14);
  EXPECT_EQ(completed[1].operations[1], 13u);
  EXPECT_EQ(completed[1].begin, 89u);
  EXPECT_NE(calls[0].flags & ring::kVirtualTime, 0);
  EXPECT_EQ(run.losses()["bad-observer-fact"], 1u);
  EXPECT_EQ(run.loss_detail(ring::Loss::kBadObserverFact), "simUnheardOf");
  const auto kernels = run.all<ring::OpRecord>(RecordKind::kKernel);
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].flags, ring::kVirtualTime);  // began at 0 and is finished
  EXPECT_EQ(kernels[0].end_ns, 50);
  const auto work = run.all<ring::OpRecord>(RecordKind::kDeviceWork);
  ASSERT_THAT(work, SizeIs(1));
  EXPECT_NE(work[0].flags & ring::kUnfinished, 0);
  EXPECT_EQ(work[0].begin_ns, 60);
  EXPECT_EQ(run.text(kernels[0].name), "gemm_kernel");
  EXPECT_EQ(work[0].name, 0u) << "what libcoord calls other work is no name";
  EXPECT_THAT(run.all<ring::RangeRecord>(RecordKind::kMark), SizeIs(1));
  const auto queues = run.all<ring::TaskQueueRecord>(RecordKind::kTaskQueue);
  ASSERT_THAT(queues, SizeIs(1));
  EXPECT_EQ(run.text(queues[0].name), "warps");
  const auto runs = run.all<ring::TaskRunRecord>(RecordKind::kTaskRun);
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].run, 6u);
  const auto tasks = run.all<ring::TaskRecord>(RecordKind::kTask);
  ASSERT_GT(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].run, ring::kNone32);
  EXPECT_EQ(tasks[0].flags, ring::kVirtualTime);
  EXPECT_EQ(tasks[0].begin, 209u) << "the thread's call before it had ended then";
  EXPECT_EQ(tasks[0].end, 120u);
  EXPECT_EQ(tasks[0].type, 2);
  EXPECT_EQ(tasks[1].run, 6u);
  EXPECT_EQ(tasks[1].flags, 0) << "times of a run are its own";
  EXPECT_EQ(tasks[1].begin, 5u);
  EXPECT_EQ(tasks[1].end, 25u);
}

TEST(CoordObserver, CallsDoNotBelongToAnOperationThatAnotherThreadHasEnded) {
  Observed run;
  ASSERT_EQ(run.run_child("coord-threads"), 0) << run.error_text();
  std::map<uint32_t, uint32_t> operation_of;
  for (const ring::CallRecord& call : run.calls()) operation_of[call.call_number] = call.operation;
  const std::map<uint32_t, uint32_t> expected = {{1, 1}, {2, 2}, {3, ring::kNone32}};
  EXPECT_EQ(operation_of, expected);
}

}  // namespace
}  // namespace streamscope::collect
