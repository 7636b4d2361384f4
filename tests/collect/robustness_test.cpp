// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that load libraries, end threads or handle signals in unusual ways, recorded by wrapped
// functions with a stand-in driver: they work as without us, and what is missing is reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <sstream>

#include "observed.h"

namespace streamscope::collect {
namespace {

constexpr char kPreloaded[] = COLLECT_CALLS_LIBRARY ":" COLLECT_LIBRARY;

class Robustness : public ::testing::Test {
 protected:
  void SetUp() override {
    NEEDS_PRELOADING();
    run_.control().tier = Tier::kStructure;
    run_.set("LD_PRELOAD", kPreloaded);
  }
  void run(const std::vector<std::string>& scenario) {
    std::vector<std::string> command = {COLLECT_LOADER};
    command.insert(command.end(), scenario.begin(), scenario.end());
    EXPECT_EQ(run_.run(command), 0) << run_.output_text() << run_.error_text();
  }
  std::map<std::string, size_t> calls_by_name() const {
    std::map<std::string, size_t> counts;
    for (const ring::CallRecord& call : run_.calls()) ++counts[name_of(call)];
    return counts;
  }
  std::string collector() const {
    const auto processes = run_.all<ring::ProcessRecord>(ring::RecordKind::kProcess);
    return processes.empty() ? "none" : run_.text(processes[0].collector);
  }

  Observed run_;
};

TEST_F(Robustness, AStreamOfALibraryWithDeepBindingIsReportedAsLoss) {
  run({"deep-stream", COLLECT_PLUGIN});
  EXPECT_EQ(run_.call_names(), "cuEventRecord cuEventRecord");
  EXPECT_EQ(run_.losses()["calls-missing"], 1u);
}

// No wrapper would see a call, but CUPTI does.
TEST_F(Robustness, WhereOnlyALibraryWithDeepBindingUsesTheDriverCallbacksAreUsed) {
  run({"deep-only", COLLECT_PLUGIN});
  EXPECT_THAT(collector(), ::testing::HasSubstr("not interposed: "));
}

TEST_F(Robustness, ALibraryInANamespaceOfItsOwnWorks) { run({"namespace", COLLECT_PLUGIN}); }

TEST_F(Robustness, ALibraryInANamespaceOfItsOwnDoesNotDisturbTheRecording) {
  run({"namespace-too", COLLECT_PLUGIN});
  EXPECT_EQ(run_.call_names(), "cuEventRecord cuEventRecord");
  EXPECT_EQ(run_.error_text(),
            "streamscope: calls of a library are not recorded: it was opened in a namespace of its "
            "own; open it with dlopen\n");
}

TEST_F(Robustness, ARuntimeThatIsLoadedLateIsRecordedUnderItsNames) {
  run({"runtime", COLLECT_RUNTIME});
  EXPECT_EQ(run_.call_names(), "cudaStreamSynchronize");
}

TEST_F(Robustness, ASecondRuntimeWorksAndIsRecordedByItsCallsOfTheDriver) {
  const std::filesystem::path copy = run_.folder() / "libcudart.so.12";
  std::filesystem::copy_file(COLLECT_RUNTIME, copy);
  run({"two-runtimes", COLLECT_RUNTIME, copy});
  EXPECT_EQ(run_.call_names(), "cudaDeviceSynchronize cuEventRecord cudaDeviceSynchronize");
}

TEST_F(Robustness, TheDriverCanBeClosedAndOpenedAgain) {
  run({"reopen"});
  EXPECT_EQ(run_.call_names(), "cuEventRecord cuEventRecord");
}

TEST_F(Robustness, ACallOfASignalHandlerInsideACallIsPartOfIt) {
  run({"signal"});
  EXPECT_EQ(run_.call_names(), "cuStreamWaitEvent cuEventRecord");
}

TEST_F(Robustness, SignalsAtAnyPointDamageNoRecord) {
  run_.control().ring_records = 1 << 20;
  run({"signals"});
  std::istringstream line(run_.output_text());
  size_t made = 0, handled = 0;
  line >> made >> handled;
  std::map<std::string, size_t> counts = calls_by_name();
  EXPECT_EQ(counts.size(), counts.count("cuStreamSynchronize") + 1);
  EXPECT_EQ(counts["cuEventRecord"], made);
  EXPECT_LE(counts["cuStreamSynchronize"], handled);
  for (const ring::CallRecord& call : run_.calls()) {
    ASSERT_LE(call.begin, call.end);
    ASSERT_EQ(call.stream, 0xa00au);
  }
}

TEST_F(Robustness, AThreadMayEndInsideACall) {
  run({"thread-exit"});
  EXPECT_EQ(run_.call_names(), "cuEventRecord");
}

TEST_F(Robustness, AllWaysToAFunctionLeadToTheSamePointer) { run({"pointers"}); }

TEST_F(Robustness, TheDriversExportTablesAreItsOwn) { run({"export-table"}); }

class Linked : public Robustness, public ::testing::WithParamInterface<const char*> {};
TEST_P(Linked, ProgramsNeedNoPreloading) {
  run_.set("LD_PRELOAD", "");
  ASSERT_EQ(run_.run({COLLECT_INTERPOSED_LINKED_CHILD, GetParam()}), 0)
      << run_.output_text() << run_.error_text();
  EXPECT_THAT(collector(), ::testing::StartsWith("interposed"));
  EXPECT_GT(run_.calls().size(), 1u);
}
INSTANTIATE_TEST_SUITE_P(Ways, Linked,
                         ::testing::Values("linked", "dlsym", "dlvsym", "default", "address",
                                           "nested"),
                         [](const auto& way) { return std::string(way.param); });

class OtherAllocator : public Robustness, public ::testing::WithParamInterface<bool> {};
TEST_P(OtherAllocator, MayBePreloadedToo) {
  const std::string allocator = COLLECT_JEMALLOC;
  if (allocator.empty()) GTEST_SKIP() << "libjemalloc is not installed";
  const std::string ours = kPreloaded;
  run_.set("LD_PRELOAD", GetParam() ? allocator + ":" + ours : ours + ":" + allocator);
  ASSERT_EQ(run_.run({COLLECT_INTERPOSED_CHILD, "threads"}), 0) << run_.error_text();
  EXPECT_EQ(run_.calls().size(), 4000u);
  EXPECT_EQ(run_.error_text(), "");
}
INSTANTIATE_TEST_SUITE_P(Orders, OtherAllocator, ::testing::Bool(),
                         [](const auto& order) { return order.param ? "BeforeUs" : "AfterUs"; });

struct Sanitizer {
  const char* name;
  const char* program;
  const char* fault;
  const char* report;
};
class Sanitized : public Robustness, public ::testing::WithParamInterface<Sanitizer> {
 protected:
  void SetUp() override {
    Robustness::SetUp();
    if (IsSkipped()) return;
    if (*GetParam().program == '\0') GTEST_SKIP() << "the compiler lacks this sanitizer";
    run_.set("ASAN_OPTIONS", "verify_asan_link_order=0");  // as the launcher does
  }
};
TEST_P(Sanitized, ProgramsAreRecordedAndFindNoFaultInUs) {
  ASSERT_EQ(run_.run({GetParam().program}), 0) << run_.error_text();
  EXPECT_EQ(run_.calls().size(), 1001u);
  EXPECT_EQ(run_.error_text(), "");
}
TEST_P(Sanitized, ProgramsStillFindTheirOwnFaults) {
  EXPECT_NE(run_.run({GetParam().program, GetParam().fault}), 0);
  EXPECT_THAT(run_.error_text(), ::testing::HasSubstr(GetParam().report));
  EXPECT_EQ(run_.calls().size(), 1001u);
}
INSTANTIATE_TEST_SUITE_P(Kinds, Sanitized,
                         ::testing::Values(Sanitizer{"address", COLLECT_ADDRESS_SANITIZED,
                                                     "overflow", "heap-buffer-overflow"},
                                           Sanitizer{"thread", COLLECT_THREAD_SANITIZED, "race",
                                                     "data race"}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace streamscope::collect
