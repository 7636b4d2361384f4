// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What samples of the host say of iterations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "analysis/iterations/host_calls.h"
#include "analysis/iterations/host_samples.h"
#include "iteration_program.h"

namespace streamscope::analysis {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kLibc = "/usr/lib/libc.so.6";
constexpr const char* kPython = "/usr/bin/python3.12";

// Each step: a pause with samples at one place, or two, then work.
template <class Pause>
SteppedProgram paused(Pause pause) {
  SteppedProgram program;
  program.launch(10, 3);
  program.steps(12, [&](int) {
    pause(program);
    for (int i = 0; i < 10; ++i) program.launch(10, 8, "after");
  });
  return program;
}

SteppedProgram collating() {
  return paused([](SteppedProgram& program) {
    program.sampled_pause(300, {program.python("/src/data.py:45 collate"),
                                program.python("/src/train.py:9 <module>")});
    program.sampled_pause(100,
                          {program.native("__read", kLibc), program.python("/src/data.py:12 load"),
                           program.python("/src/train.py:9 <module>")},
                          SYS_read);
  });
}

TEST(HostSamples, AreSummedByPlaceAndByWhatTheThreadDoesThere) {
  const Trace trace = collating().builder.trace();
  Analyses analyses(trace);
  const HostActivities found = host_activities(analyses, analyses.iteration_model());
  ASSERT_GE(found.lines.size(), 2u);
  EXPECT_EQ(found.lines[0].place, "data.py:45 collate");
  EXPECT_EQ(found.lines[0].what, "runs");
  EXPECT_NEAR(static_cast<double>(found.lines[0].each_ns), 300e3, 15e3);
  EXPECT_EQ(found.lines[1].place, "data.py:12 load");
  EXPECT_EQ(found.lines[1].what, "waits for input (read)");
  EXPECT_NEAR(static_cast<double>(found.lines[1].each_ns), 100e3, 15e3);
  EXPECT_FALSE(is_input_bound(found));
  EXPECT_FALSE(is_lock_bound(found));
  EXPECT_EQ(main_activity(found), "data.py:45 collate (runs)");
}

TEST(HostSamples, StandForAllOfTheTimeOfTheirShare) {
  const Trace trace = collating().builder.trace();
  Analyses analyses(trace);
  const IterationModel& model = analyses.iteration_model();
  double outside = 0;
  for (const WeighedSample& each : weighed_samples(model))
    outside += each.share == TimeShare::kOutside ? each.each_ns : 0;
  EXPECT_NEAR(outside,
              static_cast<double>(model.shares().host[static_cast<size_t>(TimeShare::kOutside)]) /
                  static_cast<double>(model.iterations().steady_count()),
              1.0);
}

TEST(HostSamples, CountOnlyWhileTheDeviceWaitsForTheHost) {
  // The device has work for longer than the pause takes.
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int i = 0; i < 4; ++i) program.launch(10, 300);
    program.sampled_pause(400, {program.python("/src/data.py:45 collate")});
  });
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  ASSERT_TRUE(analyses.iteration_model().found());
  EXPECT_THAT(host_activities(analyses, analyses.iteration_model()).lines, IsEmpty());
}

TEST(HostSamples, AreEmptyWithoutAny) {
  const Trace trace = paused([](SteppedProgram& program) { program.pause(400); }).builder.trace();
  Analyses analyses(trace);
  EXPECT_THAT(host_activities(analyses, analyses.iteration_model()).lines, IsEmpty());
  EXPECT_THAT(host_functions(analyses, analyses.iteration_model(), 0).calls, IsEmpty());
}

TEST(HostSamples, TellsFunctionsFromTheOutermostToTheInnermost) {
  const Trace trace = collating().builder.trace();
  Analyses analyses(trace);
  const HostFunction root = host_functions(analyses, analyses.iteration_model(), 0);
  ASSERT_EQ(root.calls.size(), 1u);
  EXPECT_EQ(root.calls[0].name, "<module> (train.py)");
  EXPECT_THAT(root.calls[0].calls, ElementsAre(Field(&HostFunction::name, "collate (data.py)"),
                                               Field(&HostFunction::name, "load (data.py)")));
  EXPECT_EQ(root.each_ns, root.calls[0].each_ns);
  EXPECT_THAT(root.calls[0].calls[1].calls, ElementsAre(Field(&HostFunction::name, "__read")));
}

TEST(HostWorkInIteration, NamesTheLineThatSamplesShow) {
  const Finding finding = only("host-work-in-iteration", collating());
  EXPECT_THAT(finding.text, HasSubstr("75 % at data.py:45 collate (runs), 25 % at data.py:12 load "
                                      "(waits for input (read))."));
  EXPECT_EQ(finding.place.call_site, "data.py:45 collate");
}

TEST(HostSamples, NameAFunctionOnceForLinesThatFollowEachOther) {
  const auto line = [](const char* place, Ns each_ns) {
    return HostActivity{.place = place, .what = "runs", .each_ns = each_ns};
  };
  HostActivities activities{.each_ns = 100, .samples = 20};
  activities.lines = {line("a.py:7 f", 50), line("a.py:9 f", 30), line("b.py:9 f", 20)};
  EXPECT_EQ(
      activity_sentence(activities),
      "By samples of the host: 50 % at a.py:7 f (runs), 30 % at line 9 (runs), 20 % at b.py:9 "
      "f (runs).");
  activities.lines = {line("a.py:7 f", 50), line("b.py:9 f", 30), line("a.py:9 f", 20)};
  EXPECT_THAT(activity_sentence(activities), HasSubstr("20 % at a.py:9 f (runs)"));
}

TEST(HostSamples, MainPlaceIsInTheFunctionWithMostTime) {
  const auto line = [](const char* place, Ns each_ns) {
    return HostActivity{.place = place, .each_ns = each_ns};
  };
  HostActivities activities;
  EXPECT_EQ(main_place(activities), "");
  activities.lines = {line("train.py:9 step", 40), line("adam.py:31 update", 35),
                      line("adam.py:30 update", 20), line("", 5)};
  EXPECT_EQ(main_place(activities), "adam.py:31 update");
}

TEST(HostSamples, AreOfInputIfTwoFifthsAre) {
  const auto with = [](Ns of_input_ns) {
    HostActivities activities;
    activities.lines = {HostActivity{.each_ns = 60, .input_ns = of_input_ns - 10},
                        HostActivity{.each_ns = 40, .input_ns = 10}};
    activities.each_ns = 100;
    activities.samples = kLeastSamples;
    return activities;
  };
  EXPECT_TRUE(is_input_bound(with(45)));
  EXPECT_FALSE(is_input_bound(with(35)));
}

// A thread without Python code was sampled, and a millisecond later one with Python code. Either
// may wait for another thread.
HostActivities of_helper(bool waits, bool helper_waits = false) {
  SteppedProgram program;
  const Id library = program.add_stack(
               {program.native("void at::native::add<float>(float)", "/usr/lib/libtorch.so")}),
           step = program.add_stack({program.python("/src/train.py:9 step")});
  program.builder.thread("main").range("step", 0, 1'000);
  program.builder.thread("backward").range("step", 0, 1'000);
  const Id helper = program.builder.add(
      trace::HostSample{.thread_id = 1,
                        .at_ns = 5'000'000,
                        .runs = helper_waits ? 0 : 1,
                        .system_call = helper_waits ? trace::Small{SYS_futex} : trace::kNoSmall,
                        .stack_id = library});
  program.builder.add(
      trace::HostSample{.thread_id = 0,
                        .at_ns = 6'000'000,
                        .runs = waits ? 0 : 1,
                        .system_call = waits ? trace::Small{SYS_futex} : trace::kNoSmall,
                        .stack_id = step});
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  return host_activities(analyses, std::vector<Id>{helper}, 100);
}

TEST(HostSamples, NameTheLineThatWaitsForAThreadWithoutPython) {
  const HostActivities found = of_helper(true);
  ASSERT_EQ(found.lines.size(), 1u);
  EXPECT_EQ(found.lines[0].place, "train.py:9 step");
  EXPECT_EQ(found.lines[0].what, "thread backward runs");
}

TEST(HostSamples, NameTheFunctionOfAThreadThatNoPythonWaitsFor) {
  const HostActivities found = of_helper(false);
  ASSERT_EQ(found.lines.size(), 1u);
  EXPECT_EQ(found.lines[0].place, "at::native::add<…>");
  EXPECT_EQ(found.lines[0].what, "runs");
}

// The thread of a backward pass while the program prepares it.
TEST(HostSamples, NameTheLineThatRunsWhileAThreadWithoutPythonWaits) {
  const HostActivities found = of_helper(false, true);
  ASSERT_EQ(found.lines.size(), 1u);
  EXPECT_EQ(found.lines[0].place, "train.py:9 step");
  EXPECT_EQ(found.lines[0].what, "runs");
  EXPECT_TRUE(found.lines[0].runs);
}

TEST(HostSamples, NameTheFunctionThatWaitsIfNoPythonRuns) {
  const HostActivities found = of_helper(true, true);
  ASSERT_EQ(found.lines.size(), 1u);
  EXPECT_EQ(found.lines[0].place, "train.py:9 step");
  EXPECT_EQ(found.lines[0].what, "thread backward waits for another thread (futex)");
}

// The interpreter's function that waits for its lock has no name in a stripped program.
SteppedProgram locked(bool of_interpreter) {
  return paused([=](SteppedProgram& program) {
    program.sampled_pause(
        400,
        {program.native("", kLibc), program.native("pthread_cond_timedwait", kLibc),
         program.native(of_interpreter ? "" : "PyThread_acquire_lock_timed", kPython),
         program.python("/src/train.py:9 <module>")},
        SYS_futex);
  });
}

TEST(HostWorkInIteration, TellsWaitsForPythonsLockFromOthers) {
  const Finding lock = only("host-work-in-iteration", locked(true));
  EXPECT_THAT(lock.text, HasSubstr("train.py:9 <module> (waits for Python's lock)"));
  EXPECT_THAT(lock.text, HasSubstr("Another thread of the program holds Python's lock"));
  const Finding other = only("host-work-in-iteration", locked(false));
  EXPECT_THAT(other.text, HasSubstr("waits for another thread (futex)"));
  EXPECT_THAT(other.text, Not(HasSubstr("Python's lock")));
}

void load(SteppedProgram& program, bool in_workers) {
  const auto loop = program.python("/src/train.py:9 <module>"),
             next = program.python("/site-packages/torch/utils/data/dataloader.py:733 __next__");
  if (in_workers)
    program.sampled_pause(400, {program.native("poll", kLibc), next, loop}, SYS_ppoll);
  else
    program.sampled_pause(400, {program.python("/src/data.py:20 __getitem__"), next, loop});
}

SteppedProgram loading(bool in_workers) {
  return paused([=](SteppedProgram& program) { load(program, in_workers); });
}

TEST(InputStarved, FindsALoaderThatTheDeviceWaitsFor) {
  const Finding workers = only("input-starved", loading(true));
  EXPECT_THAT(workers.title, HasSubstr("waits for the next batch for 400 µs of an iteration"));
  EXPECT_THAT(workers.text, HasSubstr("The workers do not keep up"));
  EXPECT_EQ(workers.place.call_site, "train.py:9 <module>");
  expect_iteration(workers, 500 * kUs, 100 * kUs, 12);

  const Finding own = only("input-starved", loading(false));
  EXPECT_THAT(own.text, HasSubstr("The thread that launches also loads the batches"));
  EXPECT_EQ(own.place.call_site, "data.py:20 __getitem__");
}

TEST(InputStarved, FindsALineThatAlsoWaitsForSomethingElse) {
  const Finding finding =
      only("input-starved", paused([](SteppedProgram& program) {
             load(program, true);
             program.sampled_pause(
                 200, {program.native("poll", kLibc), program.python("/src/train.py:9 <module>")},
                 SYS_ppoll);
           }));
  EXPECT_THAT(finding.text, HasSubstr("The workers do not keep up"));
}

// As imported: not known whether the thread runs, and operators and annotations as frames.
SteppedProgram profiled(const std::vector<std::string>& ranges) {
  SteppedProgram program = paused([&](SteppedProgram& each) {
    std::vector<trace::StackFrame> frames;
    for (const std::string& range : ranges) {
      frames.push_back(each.native(range, range.find("::") == range.npos ? "" : "libtorch"));
      frames.back().kind = trace::kRangeFrame;
    }
    each.sampled_pause(400, frames);
  });
  for (auto& runs : program.builder.columns().host_sample.runs) runs = trace::kNoSmall;
  program.builder.meta("imported_from", "kineto");
  return program;
}

TEST(InputStarved, FindsTheLoaderByTheRangesOfAProfile) {
  const Finding own = only(
      "input-starved", profiled({"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"}));
  EXPECT_THAT(own.text, HasSubstr("By the profile's functions and operators: 100 % at "
                                  "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__."));
  EXPECT_THAT(own.text, HasSubstr("The thread that launches also loads the batches"));
  const Finding workers = only(
      "input-starved", profiled({"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"}));
  EXPECT_THAT(workers.text, HasSubstr("The workers do not keep up"));
}

TEST(HostWorkInIteration, NamesTheAnnotationOfAProfileRatherThanItsOperator) {
  const Finding finding =
      only("host-work-in-iteration", profiled({"aten::mul", "## optimizer ##", "main"}));
  EXPECT_THAT(
      finding.text,
      HasSubstr(
          "By the profile's functions and operators: 100 % at ## optimizer ##, in aten::mul."));
  EXPECT_THAT(only("host-work-in-iteration", profiled({})).text,
              HasSubstr("100 % outside of operators."));
}

TEST(HostWorkInIteration, NamesTheFunctionOfALibraryInWhichMostOfTheTimeGoes) {
  const auto text = [](Ns in_resize_us, Ns in_crop_us) {
    return only("host-work-in-iteration", paused([=](SteppedProgram& program) {
                  const auto loop = program.python("/src/train.py:9 <module>"),
                             load = program.python("/site-packages/PIL/Image.py:1 load");
                  const auto in = [&](const char* function, Ns us) {
                    program.sampled_pause(us, {program.python(function), load, loop});
                  };
                  in("/site-packages/PIL/Image.py:20 resize", in_resize_us);
                  in("/site-packages/PIL/Image.py:30 crop", in_crop_us);
                }))
        .text;
  };
  EXPECT_THAT(text(300, 100),
              HasSubstr("100 % at train.py:9 <module>, in resize (Image.py) (runs)"));
  EXPECT_THAT(text(200, 200), HasSubstr("100 % at train.py:9 <module>, in load (Image.py) (runs)"));
}

TEST(HostSamples, NamesALibraryRatherThanTheInterpreterThatItCalls) {
  SteppedProgram program = paused([](SteppedProgram& each) {
    each.sampled_pause(400,
                       {each.native("pthread_cond_timedwait", kLibc), each.native("", kPython),
                        each.native("PyEval_RestoreThread", kPython),
                        each.native("torch::autograd::Engine::thread_main()", "libtorch_cpu.so")},
                       SYS_futex);
  });
  const Finding finding = only("host-work-in-iteration", program);
  EXPECT_THAT(finding.text,
              HasSubstr("at torch::autograd::Engine::thread_main (waits for Python's lock)"));
}

TEST(InputStarved, IsSilentForOtherWorkWhichHasADetectorOfItsOwn) {
  expect_silent("input-starved", collating());
  expect_silent("host-work-in-iteration", loading(true));
}

TEST(HostBoundLaunching, NeedsTheBatchesFirstIfTheDeviceWaitsForThem) {
  const auto launching = [](const auto& pause) {
    SteppedProgram program;
    return program.steps(12, [&](int) {
      pause(program);
      for (int i = 0; i < 30; ++i) program.launch(10, 2);
    });
  };
  const SteppedProgram starved = launching([](SteppedProgram& program) { load(program, true); });
  const Finding finding = only("host-bound-launching", starved);
  EXPECT_EQ(finding.needs, "SS307");
  EXPECT_THAT(finding.text, HasSubstr("the batches have to be ready first (SS307)"));
  expect_iteration(finding, 700 * kUs, 60 * kUs, 12);

  const Finding alone =
      only("host-bound-launching", launching([](SteppedProgram& program) { program.pause(100); }));
  EXPECT_EQ(alone.needs, "");
  EXPECT_THAT(alone.text, Not(HasSubstr("SS307")));
}

TEST(HostBoundLaunching, SaysThatAGraphCannotReplaceOtherWorkOfTheHost) {
  const auto interrupted = [](trace::Ns pause_us) {
    SteppedProgram program;
    return program.steps(12, [&](int) {
      for (int i = 0; i < 15; ++i) program.launch(10, 2);
      program.pause(pause_us);
      for (int i = 0; i < 15; ++i) program.launch(10, 2);
    });
  };
  EXPECT_THAT(only("host-bound-launching", interrupted(700)).text, HasSubstr("(SS305) stays"));
  EXPECT_THAT(only("host-bound-launching", interrupted(100)).text, Not(HasSubstr("SS305")));
}

TEST(InputStarved, CannotAnswerWithoutSamples) {
  const SteppedProgram program = paused([](SteppedProgram& unsampled) { unsampled.pause(400); });
  EXPECT_EQ(run("input-starved", program.builder).outcome, Outcome::kNotAtThisTier);
}

}  // namespace
}  // namespace streamscope::analysis
