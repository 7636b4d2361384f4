// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Exploration: it finds the bug of every program of the corpus, is silent on every fixed one,
// covers every distinct order, and its findings can be replayed.

#include <coord/explore.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "coord/explore_corpus.h"

namespace {

using coord::Event;
using coord::Stream;
using coord::sim::ExploreOptions;
using coord::sim::FindingKind;
using coord::sim::Program;
using coord::sim::Report;
using coord::sim::Schedule;
using testing::HasSubstr;

std::string text_of(const Report& report) {
  std::string text = std::to_string(report.runs) + " runs";
  for (const auto& finding : report.findings)
    text += std::string("; ") + to_string(finding.kind) + ": " + finding.text;
  return text;
}

class Corpus : public testing::TestWithParam<corpus::Case> {};

TEST_P(Corpus, BugIsFoundAndReplayed) {
  const corpus::Case& bug = GetParam();
  const Program program = [&](coord::sim::Run& run) { bug.program(run, false); };
  const Report report = explore(program, bug.options);
  ASSERT_EQ(report.findings.size(), 1u) << text_of(report);
  EXPECT_EQ(report.findings[0].kind, bug.kind) << text_of(report);
  EXPECT_FALSE(report.findings[0].text.empty());
  const Schedule schedule = Schedule::parse(report.findings[0].schedule.text());
  EXPECT_EQ(schedule, report.findings[0].schedule);
  const Report again = replay(program, schedule, bug.options);
  if (bug.kind == FindingKind::kOrderDependence) {
    // One order alone depends on nothing; its result is the other one.
    EXPECT_EQ(again.result, report.result);
  } else {
    ASSERT_EQ(again.findings.size(), 1u) << text_of(report);
    EXPECT_EQ(again.findings[0].kind, bug.kind);
    EXPECT_EQ(again.findings[0].schedule, schedule);
  }
}

TEST_P(Corpus, FixedTwinIsClean) {
  const corpus::Case& bug = GetParam();
  const Report report = explore([&](coord::sim::Run& run) { bug.program(run, true); }, bug.options);
  EXPECT_TRUE(report.clean()) << text_of(report);
  EXPECT_TRUE(report.exhaustive) << text_of(report);
}

TEST_P(Corpus, BugIsFoundBySamplingToo) {
  const corpus::Case& bug = GetParam();
  ExploreOptions options = bug.options;
  options.max_runs = 0;
  const Report report = explore([&](coord::sim::Run& run) { bug.program(run, false); }, options);
  ASSERT_EQ(report.findings.size(), 1u) << text_of(report);
  EXPECT_EQ(report.findings[0].kind, bug.kind) << text_of(report);
  EXPECT_FALSE(report.exhaustive);
}

std::string name_of(const testing::TestParamInfo<corpus::Case>& instance) {
  return instance.param.name;
}
INSTANTIATE_TEST_SUITE_P(Device, Corpus, testing::ValuesIn(corpus::device_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Host, Corpus, testing::ValuesIn(corpus::host_cases()), name_of);

/// The orders in which `threads` steps of that many threads happened, over all runs.
std::set<std::string> orders_of(std::size_t threads, bool dependent, std::uint64_t* runs) {
  std::set<std::string> orders;
  const Report report = coord::sim::explore([&](coord::sim::Run& run) {
    std::string order;
    const auto& device = run.device();
    const Stream shared = device.create_stream();
    std::vector<Stream> own;
    for (std::size_t i = 0; i < threads; ++i) own.push_back(device.create_stream());
    for (std::size_t i = 0; i < threads; ++i) {
      run.thread([&, i] {
        (dependent ? shared : own[i]).launch({});
        order += static_cast<char>('a' + i);
      });
    }
    run.join();
    orders.insert(order);
    device.synchronize();
  });
  EXPECT_TRUE(report.clean()) << text_of(report);
  EXPECT_TRUE(report.exhaustive);
  *runs = report.runs;
  return orders;
}

TEST(Explore, RunsEveryOrderOfStepsThatDependOnEachOther) {
  std::uint64_t runs = 0;
  EXPECT_EQ(orders_of(2, true, &runs).size(), 2u);
  EXPECT_EQ(orders_of(3, true, &runs).size(), 6u);
  EXPECT_EQ(orders_of(4, true, &runs).size(), 24u);
}

TEST(Explore, RunsOneOrderOfStepsThatDoNot) {
  std::uint64_t runs = 0;
  EXPECT_EQ(orders_of(4, false, &runs).size(), 1u);
  EXPECT_LE(runs, 2u);
}

TEST(Explore, RunsIndependentStreamsOnce) {
  const Report report = coord::sim::explore([](coord::sim::Run& run) {
    std::vector<Stream> streams;
    for (int i = 0; i < 6; ++i) {
      streams.push_back(run.device().create_stream());
      for (int k = 0; k < 3; ++k) streams.back().launch({});
    }
    run.device().synchronize();
  });
  EXPECT_TRUE(report.exhaustive);
  EXPECT_EQ(report.runs, 1u);
}

TEST(Explore, ExploresBothAnswersOfAQuery) {
  std::set<bool> answers;
  const Report report = coord::sim::explore([&](coord::sim::Run& run) {
    const Stream stream = run.device().create_stream();
    stream.launch({});
    answers.insert(stream.query());
    stream.synchronize();
  });
  EXPECT_TRUE(report.exhaustive);
  EXPECT_EQ(answers.size(), 2u);
}

TEST(Explore, FindsABugThatNeedsFourStepsInOneOrder) {
  // The value is 1, 2, 3 on the way; in only one order does the wait see just the last.
  const Program program = [](coord::sim::Run& run) {
    const auto& device = run.device();
    const auto flag = device.allocate_host<std::uint64_t>(1);
    const Stream writes = device.create_stream(), waits = device.create_stream();
    for (const std::uint64_t value : {3u, 2u, 1u, 0u}) writes.write_value(flag.data(), value);
    waits.wait_value(flag.data(), 3);
    device.synchronize();
  };
  const Report report = explore(program);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::kDeadlock);
}

TEST(Explore, NamesWhoRacesWithWhom) {
  const Report report = coord::sim::explore([](coord::sim::Run& run) {
    const auto& device = run.device();
    const corpus::Numbers a(device);
    const Stream left = device.create_stream({.name = "left"});
    const Stream right = device.create_stream({.name = "right"});
    corpus::set(left, a.data(), 1, "one");
    right.memset(a.data(), 0, 8);
    device.synchronize();
  });
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_THAT(report.findings[0].text, HasSubstr("kernel \"one\" in stream \"left\""));
  EXPECT_THAT(report.findings[0].text,
              HasSubstr("memset in stream \"right\" writes the same 8 bytes"));
}

TEST(Explore, NamesWhoWaitsInADeadlock) {
  const Report report = coord::sim::explore([](coord::sim::Run& run) {
    const auto& device = run.device();
    const auto flag = device.allocate_host<std::uint64_t>(1);
    const Stream stream = device.create_stream({.name = "stuck"});
    stream.wait_value(flag.data(), 1);
    stream.synchronize();
  });
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_THAT(report.findings[0].text,
              HasSubstr("the first host thread waits in simStreamSynchronize"));
  EXPECT_THAT(report.findings[0].text, HasSubstr("stream \"stuck\": memory wait for the value 1"));
}

TEST(Explore, EndsWorkThatTheProgramDoesNotWaitFor) {
  int ran = 0;
  const Report report = coord::sim::explore([&](coord::sim::Run& run) {
    const Stream stream = run.device().create_stream();
    stream.launch({.function = [&ran] { ++ran; }});
  });
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(ran, static_cast<int>(report.runs));
}

TEST(Explore, GivesUpOnAnEndlessProgram) {
  const Report report = coord::sim::explore(
      [](coord::sim::Run& run) {
        for (;;) run.step();
      },
      {.max_steps = 100});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::kFailure);
  EXPECT_THAT(report.findings[0].text, HasSubstr("no end after 100 steps"));
}

TEST(Explore, CollectsAsManyFindingsAsRequested) {
  const Report report = coord::sim::explore(
      [](coord::sim::Run& run) {
        const auto& device = run.device();
        const Stream stream = device.create_stream();
        const Event event = device.create_event();
        stream.launch({});
        stream.record(event);
        const bool done = event.query();
        stream.synchronize();
        run.check(done, "first");
        run.check(!done, "second");
      },
      {.max_findings = 5});
  EXPECT_EQ(report.findings.size(), 2u) << text_of(report);
  EXPECT_TRUE(report.exhaustive);
}

TEST(Explore, ReportsThatAProgramDependsOnMoreThanTheOrder) {
  int runs = 0;
  const Report report = coord::sim::explore([&runs](coord::sim::Run& run) {
    const auto& device = run.device();
    const Stream stream = device.create_stream();
    if (++runs == 1) stream.launch({});
    (void)stream.query();
    device.synchronize();
  });
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_THAT(report.findings[0].text, HasSubstr("depends on more than the order"));
}

TEST(Explore, ReportsThatAScheduleDoesNotFit) {
  const Program program = [](coord::sim::Run& run) { run.device().synchronize(); };
  EXPECT_THROW((void)replay(program, Schedule{{7}}), coord::Error);
  EXPECT_THROW((void)Schedule::parse("1 2 x"), coord::Error);
  EXPECT_THROW((void)Schedule::parse("a"), coord::Error);
  EXPECT_EQ(Schedule::parse("3x0 1"), (Schedule{{0, 0, 0, 1}}));
}

TEST(Explore, RefusesInvalidConfigs) {
  EXPECT_THROW((void)coord::sim::explore([](coord::sim::Run&) {}, {.config = {.sm_count = 0}}),
               coord::Error);
}

TEST(Explore, CoordinatorKeepsItsPromisesInEveryOrder) {
  const Report report = coord::sim::explore([](coord::sim::Run& run) {
    const auto& device = run.device();
    const corpus::Numbers a(device), b(device), c(device);
    coord::Coordinator coordinator(device);
    const Stream first = device.create_stream(), second = device.create_stream();
    const Stream third = device.create_stream();
    const auto make = coordinator.submit(
        {.stream = first}, [&](coord::StreamRef stream) { corpus::set(stream, a.data(), 2); });
    const auto copy = coordinator.submit(
        {.stream = second, .after = {make}},
        [&](coord::StreamRef stream) { corpus::move(stream, b.data(), a.data()); });
    const auto both =
        coordinator.submit({.stream = third, .after = {copy}}, [&](coord::StreamRef stream) {
          corpus::move(stream, c.data(), a.data());
          corpus::set(stream, b.data(), 1);
        });
    coordinator.wait(both);
  });
  EXPECT_TRUE(report.clean()) << text_of(report);
  EXPECT_TRUE(report.exhaustive);
}

}  // namespace
