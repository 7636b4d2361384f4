// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The collector and its process: start, end, and what the program may notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "observed.h"

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

}  // namespace
}  // namespace streamscope::collect
