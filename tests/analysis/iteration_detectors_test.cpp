// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The detectors SS301 to SS308: each with a program in which it finds a planted problem, with the
// predicted duration of an iteration, and a similar one in which it stays silent.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/call_sites.h"
#include "analysis/delay/what_if.h"
#include "analysis/iterations/iteration_model.h"
#include "analysis/units.h"
#include "iteration_program.h"

namespace streamscope::analysis {
namespace {

using test::TraceBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Ns bare_ns(const SteppedProgram& program) {
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  EXPECT_TRUE(analyses.iteration_model().found());
  return analyses.iteration_model().bare_ns();
}

// ---- The bound ----

template <class Check>
void check_model(const SteppedProgram& program, Check check) {
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  ASSERT_TRUE(analyses.iteration_model().found());
  check(analyses.iteration_model());
}

// Short kernels that are waited for one by one, or ten by ten. The host prepares a launch for 2 µs
// and makes it in 4 µs; if it waits for the kernel, it goes on 5 µs later.
TimeShare bound_of(int between_syncs) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int i = 0; i < 40; ++i) {
      program.pause(2);
      program.launch(4, 2);
      if (i % between_syncs == between_syncs - 1) program.synchronize();
    }
  });
  TimeShare bound = TimeShare::kUnknown;
  check_model(program, [&](const IterationModel& model) { bound = model.bound(); });
  return bound;
}

TEST(Bound, IsSynchronizingIfThatKeepsTheHostFromRunningAhead) {
  EXPECT_EQ(bound_of(1), TimeShare::kSynchronizing);
}

TEST(Bound, IsLaunchingIfTheDeviceWaitsForMostLaunchesAnyway) {
  EXPECT_EQ(bound_of(10), TimeShare::kLaunching);
}

// The device works on ten kernels that the host launches nearly as fast, then waits for each of
// three that are short.
TEST(Bound, IsNotTheLargestShareIfLittleIsWonWithoutIt) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int i = 0; i < 10; ++i) program.launch(8, 9);
    program.synchronize();
    for (int i = 0; i < 3; ++i) program.launch(20, 1);
    program.synchronize();
  });
  check_model(program, [](const IterationModel& model) {
    EXPECT_EQ(model.shares().largest(), TimeShare::kKernels);
    EXPECT_EQ(model.bound(), TimeShare::kLaunching);
    const Ns launching = model.without_ns(TimeShare::kLaunching),
             kernels = model.without_ns(TimeShare::kKernels);
    EXPECT_LT(launching, kernels);
    EXPECT_LT(kernels, model.bare_ns());
    EXPECT_EQ(model.without_ns(TimeShare::kMemory), kUnknownNs) << "there is none";
  });
}

// Three values that the host reads by synchronous copies: without the copies it does not wait
// either, and without waiting it still makes them.
TEST(Bound, IsCopiesIfTheyAreWhatTheHostWaitsFor) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.launch(5, 4);
    for (int i = 0; i < 3; ++i) program.copy_and_wait(test::kDtoH, 5, 1, 4, 8);
  });
  check_model(program, [](const IterationModel& model) {
    EXPECT_EQ(model.shares().largest(), TimeShare::kSynchronizing);
    EXPECT_EQ(model.bound(), TimeShare::kCopies);
    EXPECT_LT(model.without_ns(TimeShare::kCopies), model.without_ns(TimeShare::kSynchronizing));
  });
}

// 40 µs in calls, 30 µs in pauses too short to count as such, 200 µs in a long one, and 50 µs in an
// allocation.
TEST(Bound, LeavesOutWhatThreadsSpendOfOneShareOnly) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int i = 0; i < 10; ++i) {
      program.launch(4, 1);
      program.pause(3);
    }
    program.pause(200);
    program.malloc(50);
  });
  check_model(program, [](const IterationModel& model) {
    EXPECT_EQ(model.bound(), TimeShare::kOutside);
    EXPECT_EQ(model.bare_ns(), 320 * kUs);
    EXPECT_NEAR(static_cast<double>(model.without_ns(TimeShare::kOutside)), 117.0 * kUs, 4.0 * kUs);
    EXPECT_NEAR(static_cast<double>(model.without_ns(TimeShare::kLaunching)), 253.0 * kUs,
                4.0 * kUs);
    EXPECT_NEAR(static_cast<double>(model.without_ns(TimeShare::kMemory)), 270.0 * kUs, 1.0 * kUs);
  });
}

TEST(Bound, IsTheDeviceIfItWorksAllTheTime) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.launch(5, 100);
    program.pause(20);
  });
  check_model(program, [](const IterationModel& model) {
    EXPECT_EQ(model.bound(), TimeShare::kKernels);
    EXPECT_EQ(model.without_ns(TimeShare::kKernels), 25 * kUs) << "as fast as the host issues them";
  });
}

// The host waits for the device half of the time, and the device for the host.
TEST(Bound, NamesWhatWouldSaveAsMuch) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.launch(50, 50);
    program.synchronize();
  });
  check_model(program, [](const IterationModel& model) {
    EXPECT_EQ(model.bound(), TimeShare::kKernels);
    EXPECT_THAT(model.nearly_bound(), ElementsAre(TimeShare::kSynchronizing));
  });
  SteppedProgram busy;
  busy.steps(12, [&](int) { busy.launch(5, 100); });
  check_model(busy, [](const IterationModel& model) {
    EXPECT_EQ(model.bound(), TimeShare::kKernels);
    EXPECT_THAT(model.nearly_bound(), IsEmpty());
  });
  SteppedProgram even;  // the host and the device are as fast: nothing is won without either
  even.steps(12, [&](int) { even.launch(100, 100); });
  check_model(even,
              [](const IterationModel& model) { EXPECT_THAT(model.nearly_bound(), IsEmpty()); });
}

// Two pauses of which each takes half as long as all launches and the pauses between them: a
// framework makes such pauses, too.
TEST(Bound, IsLaunchingRatherThanPausesThatAreWorthAsMuch) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int i = 0; i < 20; ++i) program.launch(10, 1);
    for (int i = 0; i < 2; ++i) {
      program.pause(102);
      program.launch(1, 1);
    }
  });
  check_model(program, [](const IterationModel& model) {
    EXPECT_EQ(model.shares().largest(), TimeShare::kOutside);
    EXPECT_EQ(model.bound(), TimeShare::kLaunching);
    EXPECT_THAT(model.nearly_bound(), ElementsAre(TimeShare::kOutside));
  });
}

// A pause that takes most of the time, such as for the next batch. The device works meanwhile, so
// that no more is won without the pause than without the launches.
TEST(Bound, IsAPauseThatTakesMostOfTheTimeRatherThanLaunching) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.launch(10, 290);
    program.pause(300);
    for (int i = 0; i < 9; ++i) program.launch(10, 1);
  });
  check_model(program, [](const IterationModel& model) {
    EXPECT_EQ(model.bare_ns(), 400 * kUs);
    EXPECT_EQ(model.without_ns(TimeShare::kLaunching), 300 * kUs);
    EXPECT_NEAR(static_cast<double>(model.without_ns(TimeShare::kOutside)), 310e3, 10e3);
    EXPECT_EQ(model.bound(), TimeShare::kOutside);
    EXPECT_THAT(model.nearly_bound(), ElementsAre(TimeShare::kLaunching));
  });
}

// Iterations of two lengths in turn, and one more of the short ones: as the device is busy, little
// is saved of either kind.
TEST(Prediction, IsInProportionIfIterationsOfTwoKindsTakeTurns) {
  for (const int steps : {20, 21}) {
    SteppedProgram program;
    program.steps(steps, [&](int step) {
      program.launch(5, step % 2 == 0 ? 400 : 800);
      program.synchronize();
    });
    check_model(program, [](const IterationModel& model) {
      const Ns median = model.iterations().median_ns;
      EXPECT_EQ(model.bare_ns(), median);
      EXPECT_LT(model.without_ns(TimeShare::kSynchronizing), median);
      EXPECT_GT(model.without_ns(TimeShare::kSynchronizing), median - 15 * kUs);
      EXPECT_LT(model.shares().busy_ns, median);
      EXPECT_GT(model.shares().busy_ns, median - 15 * kUs);
    });
  }
}

// ---- SS301 ----

SteppedProgram launches(Ns call_us, Ns kernel_us, int count = 20) {
  SteppedProgram program;
  return program.steps(12, [&](int) {
    for (int i = 0; i < count; ++i) program.launch(call_us, kernel_us);
  });
}

TEST(HostBoundLaunching, FindsShortKernelsThatTheHostLaunchesOneByOne) {
  const Finding finding = only("host-bound-launching", launches(10, 2));
  // As a graph, 20 kernels of 2 µs run without a gap.
  expect_iteration(finding, 200 * kUs, 40 * kUs, 12);
  EXPECT_EQ(finding.count, 12u * 20);
  EXPECT_THAT(finding.title, HasSubstr("launches 20 kernels one by one"));
  EXPECT_THAT(finding.title, HasSubstr("80 %"));
  EXPECT_THAT(finding.text, HasSubstr("Capture the iteration as a CUDA graph"));
}

TEST(HostBoundLaunching, IsSilentIfTheDeviceIsBusy) {
  expect_silent("host-bound-launching", launches(10, 30));
}

TEST(HostBoundLaunching, IsSilentForFewLaunches) {
  expect_silent("host-bound-launching", launches(10, 2, 7));
}

TEST(HostBoundLaunching, CapturesOnlyWhatRunsBetweenSynchronizations) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int part = 0; part < 2; ++part) {
      for (int i = 0; i < 10; ++i) program.launch(10, 2);
      program.synchronize();
    }
  });
  const Finding finding = only("host-bound-launching", program);
  // Twice the 10 kernels, which begin 5 µs after the graph is launched, and the synchronization,
  // which returns 1 µs after them.
  expect_iteration(finding, 2 * 101 * kUs, 2 * (5 + 20 + 1) * kUs, 12);
}

// The host waits for every few kernels, or reads a value that they computed.
SteppedProgram interrupted(Ns kernel_us, bool reads) {
  SteppedProgram program;
  return program.steps(12, [&](int) {
    for (int part = 0; part < 5; ++part) {
      for (int i = 0; i < 4; ++i) program.launch(10, kernel_us);
      if (reads) program.copy(test::kDtoH, 5, 2);
      program.synchronize();
    }
  });
}

TEST(HostBoundLaunching, SaysThatSynchronizationsHaveToGoBeforeAGraphIsPossible) {
  for (const bool reads : {false, true}) {
    const SteppedProgram program = interrupted(2, reads);
    const Finding finding = only("host-bound-launching", program);
    // One graph of 20 kernels. With the copies, the device was busy for 50 µs.
    expect_iteration(finding, bare_ns(program), (reads ? 50 : 40) * kUs, 12);
    EXPECT_EQ(finding.count, 12u * 20);
    EXPECT_EQ(finding.needs, "SS302");
    EXPECT_THAT(finding.text, HasSubstr("Remove what synchronizes (5 times an iteration, SS302), "
                                        "then capture the iteration as a CUDA graph"));
  }
}

TEST(HostBoundLaunching, IsSilentIfTheDeviceIsBusyBetweenSynchronizations) {
  expect_silent("host-bound-launching", interrupted(30, false));
}

TEST(HostBoundLaunching, IsSilentIfAllocationsInterruptEveryFewLaunches) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int part = 0; part < 5; ++part) {
      for (int i = 0; i < 4; ++i) program.launch(10, 2);
      program.malloc(1);
    }
  });
  expect_silent("host-bound-launching", program);
}

// ---- Words for each language ----

// The texts of all findings of a program with a stack, unless the language is not known.
std::string advice_in(Language language) {
  SteppedProgram program;
  if (language == Language::kPython) program.add_stack({program.python("step (a.py:1)")});
  if (language == Language::kCompiled) program.add_stack({program.native("step", "/bin/app")});
  program.steps(12, [&](int) {
    for (int i = 0; i < 20; ++i) program.launch(10, 2);
    program.pause(300);
    program.copy_pageable(50, 80, 1 << 20);
    program.malloc(50);
  });
  std::string texts;
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  for (const Verdict& verdict : evaluate_all(analyses)) {
    for (const Finding& finding : verdict.findings) texts += finding.text + "\n";
  }
  return texts;
}

TEST(Advice, HasTheWordsOfTheLanguageThatAProgramIsWrittenIn) {
  const std::string unknown = advice_in(Language::kUnknown), python = advice_in(Language::kPython),
                    compiled = advice_in(Language::kCompiled);
  for (const char* of_python : {"torch.cuda.graph", "DataLoader(num_workers=…)", "empty_cache"}) {
    EXPECT_THAT(unknown, HasSubstr(of_python));
    EXPECT_THAT(python, HasSubstr(of_python));
    EXPECT_THAT(compiled, testing::Not(HasSubstr(of_python)));
  }
  EXPECT_THAT(compiled, HasSubstr("as a CUDA graph (cudaStreamBeginCapture)"));
  EXPECT_THAT(compiled, HasSubstr("one iteration ahead (a queue)"));
  for (const std::string& text : {unknown, compiled})
    EXPECT_THAT(text, HasSubstr("Allocate the memory with cudaMallocHost, or register it; then"));
  EXPECT_THAT(python, HasSubstr("Use page-locked memory (in PyTorch pin_memory()"));
  EXPECT_THAT(python, HasSubstr("In an iteration the driver stages 1 MiB through its own buffer, "
                                "and the host is blocked in the calls for 110 µs."));
}

// ---- SS302 ----

// 30 µs of the host, 10 kernels of 10 µs; then the host waits for them.
SteppedProgram with_sync(bool reads, bool synchronizes = true) {
  SteppedProgram program;
  return program.steps(12, [&](int) {
    program.pause(30);
    for (int i = 0; i < 10; ++i) program.launch(5, 10);
    if (reads) program.copy(test::kDtoH, 5, 2);
    if (synchronizes) program.synchronize();
  });
}

TEST(SyncInIteration, FindsASynchronizationAfterWhichTheDeviceHasNothingToDo) {
  const Finding finding = only("sync-in-iteration", with_sync(false));
  // Before: 30 µs, 5 µs until the first kernel starts, the kernels, 2 µs. After: only the kernels,
  // 1.5 µs from one to the next.
  expect_iteration(finding, 30 * kUs + 5 * kUs + 113'500 + 2 * kUs, 115 * kUs, 12);
  EXPECT_EQ(finding.count, 12u);
  EXPECT_EQ(finding.host_sync, 0u);
  EXPECT_THAT(finding.title, HasSubstr("once, so the host cannot run ahead"));
  EXPECT_THAT(finding.title, HasSubstr("cudaDeviceSynchronize"));
  EXPECT_EQ(finding.iteration->after_ns, bare_ns(with_sync(false, false)));
  EXPECT_THAT(finding.text, HasSubstr("order the work with an event and a stream wait."));
}

TEST(SyncInIteration, SaysThatTheHostMayReadManagedMemory) {
  SteppedProgram program;
  program.malloc(5);
  program.builder.columns().api_call.name_id.back() = program.builder.intern("cuLibraryGetManaged");
  program.steps(12, [&](int) {
    for (int i = 0; i < 10; ++i) program.launch(5, 10);
    program.synchronize();
  });
  EXPECT_THAT(
      only("sync-in-iteration", program).text,
      HasSubstr("a stream wait, unless the host reads managed memory that this work writes."));
}

TEST(SyncInIteration, RemovesTheReadOfAValueWithItsSynchronization) {
  const Finding finding = only("sync-in-iteration", with_sync(true));
  expect_iteration(finding, 30 * kUs + 5 * kUs + 113'500 + 1'500 + 2 * kUs + 2 * kUs, 115 * kUs,
                   12);
  EXPECT_EQ(finding.iteration->after_ns, bare_ns(with_sync(false, false)));
  EXPECT_THAT(finding.text, HasSubstr("It reads a value that the device computed."));
}

// As older versions of PyTorch read a value: the call of an asynchronous copy to pageable memory
// returns only once that is done, so the synchronization after it has nothing to wait for, and a
// profile does not say of which stream it is.
SteppedProgram read_to_pageable_memory() {
  constexpr trace::Small kDeviceToPageable = 3 * 16 + 1;
  SteppedProgram program;
  return program.steps(12, [&](int) {
    for (int i = 0; i < 10; ++i) program.launch(5, 30);
    program.copy(test::kDtoH, 5, 2, "main", 8);
    auto& columns = program.builder.columns();
    columns.op.memory_kinds.back() = kDeviceToPageable;
    program.now = columns.api_call.end_ns.back() = columns.op.end_ns.back() + 2 * kUs;
    program.builder.stream("main").synchronize(program.now, program.now + 3 * kUs);
    columns.host_sync.stream_id.back() = kNoId;
    program.now += 3 * kUs;
  });
}

TEST(SyncInIteration, KnowsThatACopyToPageableMemoryHasWaited) {
  const SteppedProgram program = read_to_pageable_memory();
  const Finding finding = only("sync-in-iteration", program);
  EXPECT_THAT(finding.text, HasSubstr("It reads a value that the device computed. The host is "
                                      "blocked for 277 µs of an iteration"));
  EXPECT_LT(finding.iteration->after_ns, finding.iteration->before_ns);
  expect_silent("pageable-copy", program);
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  const Shares& shares = analyses.iteration_model().shares().total;
  EXPECT_LE(shares[static_cast<size_t>(TimeShare::kCopies)], 12 * 2 * kUs) << "the copies alone";
  EXPECT_GT(shares[static_cast<size_t>(TimeShare::kSynchronizing)], 100 * kUs);
}

TEST(SyncInIteration, DoesNotTakeACopyOfUnknownSizeForAValue) {
  SteppedProgram program = with_sync(true);
  for (trace::Int& bytes : program.builder.columns().op.bytes) bytes = trace::kNoInt;
  const Finding finding = only("sync-in-iteration", program);
  EXPECT_THAT(finding.text, Not(HasSubstr("reads a value")));
}

// Short kernels of which some are waited for at either of two lines.
SteppedProgram synchronizing(bool first, bool second) {
  SteppedProgram program;
  const Id read = program.add_stack({program.python("read (a.py:1)")}),
           log = program.add_stack({program.python("log (a.py:2)")});
  return program.steps(12, [&](int) {
    for (int i = 0; i < 6; ++i) {
      program.launch(5, 20);
      if (first) program.synchronize_from(read);
    }
    program.launch(5, 20);
    if (second) program.synchronize_from(log);
  });
}

TEST(SyncInIteration, IsOneFindingThatNamesItsPlacesByWhatEachSaves) {
  const Finding finding = only("sync-in-iteration", synchronizing(true, true));
  const Ns each = bare_ns(synchronizing(true, false)), other = bare_ns(synchronizing(false, true)),
           none = bare_ns(synchronizing(false, false)), both = bare_ns(synchronizing(true, true));
  expect_iteration(finding, both, none, 12);
  EXPECT_EQ(finding.count, 12u * 7);
  EXPECT_THAT(finding.title, HasSubstr("7 times at 2 places"));
  const auto saved = [&](Ns after) { return format_percent(both - after, both); };
  EXPECT_THAT(finding.text, HasSubstr(fmt::format("By place, each alone: read (a.py:1) (6 times, "
                                                  "−{}), log (a.py:2) (once, −{}).",
                                                  saved(other), saved(each))));
}

TEST(SyncInIteration, TellsReadsOfValuesFromOtherSynchronizations) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int i = 0; i < 3; ++i) program.launch(5, 30);
    program.synchronize();
    program.pause(100);  // so that the copy is not right before the other synchronization
    for (int i = 0; i < 3; ++i) program.launch(5, 30);
    program.copy(test::kDtoH, 5, 2);
    program.synchronize();
    program.builder.columns().host_sync.name_id.back() = program.builder.intern("cudaStreamSync");
  });
  const Verdict verdict = run("sync-in-iteration", program.builder);
  ASSERT_EQ(verdict.findings.size(), 2u);
  for (const Finding& finding : verdict.findings) {
    EXPECT_EQ(finding.count, 12u);
    EXPECT_EQ(finding.text.starts_with("It reads a value"),
              finding.title.find("cudaStreamSync once") != std::string::npos);
  }
}

TEST(SyncInIteration, IsSilentIfTheDeviceStillHasWorkWhenTheHostGoesOn) {
  SteppedProgram program;
  program.launch(5, 10);
  program.record("done");
  program.steps(12, [&](int) {
    for (int i = 0; i < 10; ++i) program.launch(5, 10);
    program.synchronize("done");  // of the iteration before
    program.record("done");
  });
  expect_silent("sync-in-iteration", program);
}

TEST(SyncInIteration, IsSilentForOneOfSeveralIterations) {
  SteppedProgram program;
  program.steps(12, [&](int step) {
    program.pause(30);
    for (int i = 0; i < 10; ++i) program.launch(5, 10);
    if (step % 3 == 2) program.synchronize();
  });
  expect_silent("sync-in-iteration", program);
}

// ---- SS303 ----

SteppedProgram with_allocations(int every, Ns malloc_us = 300, Ns free_us = 100) {
  SteppedProgram program;
  return program.steps(12, [&](int step) {
    if (step % every == 0) program.malloc(malloc_us);
    for (int i = 0; i < 5; ++i) program.launch(10, 5);
    if (step % every == 0) program.free(free_us);
  });
}

TEST(AllocationInIteration, FindsAnAllocationAndAFreeInEachIteration) {
  const Finding finding = only("allocation-in-iteration", with_allocations(1));
  expect_iteration(finding, 450 * kUs, 50 * kUs, 12);
  EXPECT_EQ(finding.count, 24u);
  EXPECT_THAT(finding.title, HasSubstr("1 cudaFree, 1 cudaMalloc"));
  EXPECT_THAT(finding.text, HasSubstr("take 400 µs of an iteration"));
}

TEST(AllocationInIteration, FindsStreamOrderedOnesThatTakeLong) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.builder.at(program.now).stream("main").malloc_async(0x1000, 64);
    program.pause(100);
    program.builder.columns().api_call.end_ns.back() = program.now;
    for (int i = 0; i < 5; ++i) program.launch(10, 5);
  });
  const Finding finding = only("allocation-in-iteration", program);
  expect_iteration(finding, 150 * kUs, 50 * kUs, 12);
  EXPECT_THAT(finding.title, HasSubstr("cudaMallocAsync"));
}

TEST(AllocationInIteration, IsSilentBeforeTheLoopAndFromTimeToTime) {
  SteppedProgram before;
  before.malloc(300);
  before.steps(12, [&](int) {
    for (int i = 0; i < 5; ++i) before.launch(10, 5);
  });
  expect_silent("allocation-in-iteration", before);
  expect_silent("allocation-in-iteration", with_allocations(5, 30, 10));
}

TEST(AllocationInIteration, IsSilentIfTheDeviceIsBusyMeanwhile) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.malloc(100);
    for (int i = 0; i < 5; ++i) program.launch(10, 100);
  });
  expect_silent("allocation-in-iteration", program);
}

// ---- SS304 ----

TEST(CodeLoadingInIteration, FindsModulesThatAreLoadedInTheSteadyPart) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.load_module(200);
    for (int i = 0; i < 5; ++i) program.launch(10, 5);
  });
  const Finding finding = only("code-loading-in-iteration", program);
  expect_iteration(finding, 250 * kUs, 50 * kUs, 12);
  EXPECT_EQ(finding.count, 12u);
  EXPECT_THAT(finding.title, HasSubstr("code is loaded 12 times in the steady part"));
}

// Such as those of a new shape: a third of the time, but in no typical iteration.
TEST(CodeLoadingInIteration, FindsModulesThatAreLoadedInSomeIterationsOnly) {
  SteppedProgram program;
  program.steps(24, [&](int step) {
    if (step % 4 == 3) program.load_module(300);
    for (int i = 0; i < 5; ++i) program.launch(30, 5);
  });
  const Finding finding = only("code-loading-in-iteration", program);
  EXPECT_EQ(finding.count, 6u);
  EXPECT_THAT(finding.title, HasSubstr("code is loaded 6 times in the steady part"));
  EXPECT_GT(finding.gain_ns.value_or(0), 1000 * kUs);
}

TEST(CodeLoadingInIteration, IsSilentForModulesThatAreLoadedAtTheStart) {
  SteppedProgram program;
  program.steps(14, [&](int step) {
    if (step < 2) program.load_module(2000);
    for (int i = 0; i < 5; ++i) program.launch(10, 5);
  });
  expect_silent("code-loading-in-iteration", program);
}

// ---- SS305 ----

// The host does something for this long, then launches kernels of 8 µs, 10 µs each.
SteppedProgram with_pause(Ns pause_us, int count, Ns kernel_us = 8) {
  SteppedProgram program;
  return program.steps(12, [&](int) {
    program.launch(10, kernel_us, "first");
    program.pause(pause_us);
    for (int i = 1; i < count; ++i) program.launch(10, kernel_us, i == 1 ? "after" : "k");
  });
}

TEST(HostWorkInIteration, FindsALongPauseInWhichTheDeviceHasNothingToDo) {
  const Finding finding = only("host-work-in-iteration", with_pause(200, 30));
  expect_iteration(finding, 500 * kUs, 300 * kUs, 12);
  EXPECT_EQ(finding.count, 12u);
  EXPECT_THAT(finding.title, HasSubstr("outside CUDA for 200 µs of an iteration"));
  EXPECT_THAT(finding.text, HasSubstr("100 % of it comes right before after is issued"));
}

TEST(HostWorkInIteration, PredictsThatAsManyOthersDoTheWorkAsItTakes) {
  const Finding finding = only("host-work-in-iteration", with_pause(400, 10));
  expect_iteration(finding, 500 * kUs, 100 * kUs, 12);
}

TEST(HostWorkInIteration, IsSilentForShortPausesAndIfTheDeviceIsBusy) {
  expect_silent("host-work-in-iteration", with_pause(90, 30));
  expect_silent("host-work-in-iteration", with_pause(200, 10, 60));
}

TEST(HostWorkInIteration, IsSilentIfAnotherThreadIssuesWorkInThePause) {
  SteppedProgram program;
  program.builder.thread("backward");
  program.launch(10, 3);
  program.steps(12, [&](int) {
    for (const char* thread : {"main", "backward"}) {
      program.builder.thread(thread);
      for (int i = 0; i < 30; ++i) program.launch(10, 8);
    }
  });
  expect_silent("host-work-in-iteration", program);
}

// ---- SS306 ----

TEST(CopyNotOverlapped, FindsCopiesThatRunAlone) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.copy(test::kHtoD, 5, 100, "main", 2 << 20);
    for (int i = 0; i < 3; ++i) program.launch(5, 50);
  });
  const Finding finding = only("copy-not-overlapped", program);
  expect_iteration(finding, 256 * kUs, 156 * kUs, 12);
  EXPECT_EQ(finding.count, 12u);
  EXPECT_THAT(finding.title, HasSubstr("copies to the device of 2 MiB"));
}

TEST(CopyNotOverlapped, LeavesOutTheirSizeIfItIsNotKnown) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.copy(test::kHtoD, 5, 100);
    program.builder.columns().op.bytes.back() = trace::kNoInt;
    for (int i = 0; i < 3; ++i) program.launch(5, 50);
  });
  EXPECT_EQ(only("copy-not-overlapped", program).title,
            "copies to the device in each iteration delay it");
}

TEST(CopyNotOverlapped, PredictsAtLeastTheTimeOfTheCopies) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.copy(test::kDtoH, 5, 200);
    for (int i = 0; i < 3; ++i) program.launch(5, 50);
  });
  const Finding finding = only("copy-not-overlapped", program);
  expect_iteration(finding, 356 * kUs, 200 * kUs, 12);
  EXPECT_THAT(finding.title, HasSubstr("copies to the host"));
}

TEST(CopyNotOverlapped, IsSilentIfKernelsRunBesideThem) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.copy(test::kHtoD, 5, 100, "copies");
    program.record("loaded", "copies");
    for (int i = 0; i < 3; ++i) program.launch(5, 50);
    program.wait("loaded", "main");
  });
  expect_silent("copy-not-overlapped", program);
}

TEST(CopyNotOverlapped, LeavesPageableCopiesToTheirOwnDetector) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    program.copy(test::kHtoD, 5, 100);
    program.builder.columns().op.memory_kinds.back() = 1 * 16 + 3;
    for (int i = 0; i < 3; ++i) program.launch(5, 50);
  });
  expect_silent("copy-not-overlapped", program);
}

TEST(CopyNotOverlapped, LeavesValuesThatTheHostWaitsForToTheirOwnDetector) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int i = 0; i < 3; ++i) program.launch(5, 50);
    program.copy(test::kDtoH, 5, 20, "main", 4);
    program.synchronize();
  });
  expect_silent("copy-not-overlapped", program);
}

// ---- SS308 ----

TEST(TinyKernels, FindsShortKernelsThatTheDeviceStartsForLong) {
  // The host is ahead: a launch takes 1 µs, a kernel 2 µs and 1.5 µs to start.
  const Finding finding = only("tiny-kernels", launches(1, 2, 100));
  ASSERT_TRUE(finding.iteration.has_value());
  EXPECT_EQ(finding.iteration->before_ns, 350 * kUs);
  EXPECT_NEAR(static_cast<double>(finding.iteration->after_ns), 275e3, 100);
  EXPECT_THAT(finding.title, HasSubstr("100 kernels of 2.00 µs (median) in an iteration"));
}

TEST(TinyKernels, IsSilentForLongOnesForFewAndIfTheHostIsBehind) {
  only("tiny-kernels", launches(1, 10, 100));  // 13 % of an iteration
  expect_silent("tiny-kernels", launches(1, 11, 100));
  expect_silent("tiny-kernels", launches(1, 2, 6));
  expect_silent("tiny-kernels", launches(10, 2, 100));
}

TEST(Severity, AWarningThatSavesLessThanOnePercentIsANote) {
  Detector detector{.severity = FindingSeverity::kWarning};
  const auto severity = [&](Ns before, Ns after) {
    Finding finding;
    finding.iteration = {before, after};
    return severity_of(detector, finding);
  };
  EXPECT_EQ(severity(1000, 900), FindingSeverity::kWarning);
  EXPECT_EQ(severity(1000, 990), FindingSeverity::kWarning);
  EXPECT_EQ(severity(1000, 991), FindingSeverity::kNote);
  EXPECT_EQ(severity(1000, 1000), FindingSeverity::kNote);
  EXPECT_EQ(severity(1000, 1200), FindingSeverity::kNote);
  EXPECT_EQ(severity_of(detector, Finding{}), FindingSeverity::kWarning) << "no iterations";
  detector.severity = FindingSeverity::kError;
  EXPECT_EQ(severity(1000, 1000), FindingSeverity::kError) << "a fault of correctness";
  detector.severity = FindingSeverity::kNote;
  EXPECT_EQ(severity(1000, 100), FindingSeverity::kNote);
}

// A second synchronization with nothing new in each iteration.
SteppedProgram with_second_sync(Ns second_us) {
  SteppedProgram program;
  return program.steps(12, [&](int) {
    for (int i = 0; i < 10; ++i) program.launch(5, 90);
    program.synchronize();
    program.builder.synchronize_device(program.now, program.now + second_us * kUs);
    program.pause(second_us);
  });
}

TEST(Severity, OfARedundantSynchronizationDependsOnTheIteration) {
  for (const bool is_long : {false, true}) {
    const Finding finding = only("redundant-host-sync", with_second_sync(is_long ? 40 : 2));
    ASSERT_TRUE(finding.iteration.has_value());
    EXPECT_EQ(finding.iteration->is_small(), !is_long);
    EXPECT_EQ(severity_of(*find_detector("redundant-host-sync"), finding),
              is_long ? FindingSeverity::kWarning : FindingSeverity::kNote);
  }
}

// ---- The model ----

TEST(IterationModel, PredictsTheRecordingWithoutAChangeAndKnowsWhatRunningAheadSaves) {
  const Trace trace = with_sync(false).builder.trace();
  Analyses analyses(trace);
  const IterationModel& model = analyses.iteration_model();
  ASSERT_TRUE(model.found());
  EXPECT_EQ(model.bare_ns(), model.iterations().median_ns);
  EXPECT_EQ(model.predicted_ns({}), model.bare_ns());
  EXPECT_EQ(model.run_ahead_ns(), model.bare_ns() - bare_ns(with_sync(false, false)));
  EXPECT_EQ(model.syncs().all().size(), 12u);
}

TEST(IterationModel, AnswersWhatIfForGraphsAndSynchronizations) {
  const auto predicted = [](const SteppedProgram& program, auto... texts) -> std::optional<Ns> {
    const Trace trace = program.builder.trace();
    Analyses analyses(trace);
    Change change;
    if (!(add_change(analyses, texts, change) && ...)) return std::nullopt;
    return analyses.iteration_model().predicted_ns(change);
  };
  EXPECT_EQ(predicted(launches(10, 2), "graph"), 40 * kUs);
  EXPECT_EQ(predicted(with_sync(false), "no-sync"), bare_ns(with_sync(false, false)));
  EXPECT_EQ(predicted(with_sync(true), "no-sync"), bare_ns(with_sync(false, false)));
  EXPECT_EQ(predicted(interrupted(2, true), "graph"), std::nullopt);
  EXPECT_EQ(predicted(interrupted(2, true), "no-sync", "graph"), 40 * kUs);
  EXPECT_EQ(predicted(launches(10, 2), "no-sync"), std::nullopt) << "there are none";
  EXPECT_EQ(predicted(launches(10, 2, 7), "graph"), std::nullopt) << "too few launches";
  EXPECT_EQ(predicted(SteppedProgram(), "graph"), std::nullopt) << "there are no iterations";
}

TEST(IterationModel, RemovesTheOverheadOfRecordingOnARealClock) {
  SteppedProgram program = launches(10, 2);
  program.builder.columns().process.clock[0] = trace::kMonotonicClock;
  EXPECT_LT(bare_ns(program), 200 * kUs);
  EXPECT_GT(bare_ns(program), 150 * kUs);
}

TEST(IterationModel, IsEmptyWithoutIterations) {
  SteppedProgram program;
  for (int i = 0; i < 40; ++i) program.launch(10, 2);
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  EXPECT_FALSE(analyses.iteration_model().found());
  for (const char* detector :
       {"host-bound-launching", "sync-in-iteration", "allocation-in-iteration",
        "code-loading-in-iteration", "host-work-in-iteration", "copy-not-overlapped"})
    EXPECT_EQ(run(detector, trace).outcome, Outcome::kClean) << detector;
}

}  // namespace
}  // namespace streamscope::analysis
