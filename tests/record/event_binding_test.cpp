// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "record/rows/event_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace streamscope::record {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr uint64_t kAllKnown = 0;

CallSpan span(uint64_t begin, uint64_t end, uint32_t lane = 0, uint64_t order = 0) {
  return {begin, end, lane, order};
}

EventHistory history(const std::vector<EventHistory::Record>& records) {
  EventHistory result;
  for (const auto& record : records) result.add(record);
  return result;
}

TEST(EventBinding, NamesTheNewestRecordThatReturnedBeforeTheWait) {
  auto events = history({{span(10, 20, 0), 1}, {span(30, 40, 1), 2}, {span(90, 95, 0), 3}});
  const Bound bound = events.bind(span(50, 60, 2), kAllKnown);
  EXPECT_EQ(bound.binding, trace::kBindingExact);
  EXPECT_EQ(bound.record, 2u);
  EXPECT_TRUE(bound.candidates.empty());
}

TEST(EventBinding, KnowsAWaitBeforeAnyRecord) {
  EXPECT_EQ(EventHistory().bind(span(50, 60), kAllKnown).binding, trace::kNeverRecorded);
  auto events = history({{span(70, 80, 1), 1}});
  EXPECT_EQ(events.bind(span(50, 60), kAllKnown).binding, trace::kNeverRecorded);
}

TEST(EventBinding, IsAmbiguousWhileARecordOverlapsTheWait) {
  auto events = history({{span(10, 20, 0), 1}, {span(55, 70, 1), 2}});
  const Bound bound = events.bind(span(50, 60, 2), kAllKnown);
  EXPECT_EQ(bound.binding, trace::kAmbiguous);
  EXPECT_EQ(bound.record, trace::kNoId);
  EXPECT_THAT(bound.candidates, UnorderedElementsAre(1, 2));
}

TEST(EventBinding, IsAmbiguousWhenTheLastTwoRecordsOverlapEachOther) {
  auto events = history({{span(1, 5, 0), 1}, {span(10, 20, 0), 2}, {span(15, 30, 1), 3}});
  EXPECT_THAT(events.bind(span(50, 60, 2), kAllKnown).candidates, UnorderedElementsAre(2, 3));
}

TEST(EventBinding, DoesNotGuessBetweenOneOverlappingRecordAndNone) {
  auto events = history({{span(55, 70, 1), 7}});
  const Bound bound = events.bind(span(50, 60, 2), kAllKnown);
  EXPECT_EQ(bound.binding, trace::kAmbiguous);
  EXPECT_THAT(bound.candidates, ElementsAre(7));
}

TEST(EventBinding, FollowsProgramOrderWithinAThreadIfStampsAreEqual) {
  auto events =
      history({{span(10, 10, 0, 1), 1}, {span(10, 10, 0, 3), 2}, {span(10, 10, 0, 5), 3}});
  EXPECT_EQ(events.bind(span(10, 10, 0, 4), kAllKnown).record, 2u);
  EXPECT_EQ(events.bind(span(10, 10, 0, 6), kAllKnown).record, 3u);
  EXPECT_EQ(events.bind(span(10, 10, 1, 6), kAllKnown).binding, trace::kAmbiguous);
}

TEST(EventBinding, MarksRecordsMadeUnderCapture) {
  auto events = history({{span(10, 20), 1}, {span(30, 40), 2, true}});
  EXPECT_EQ(events.bind(span(50, 60, 1), kAllKnown).binding, trace::kCaptured);
}

TEST(EventBinding, IsUnknownAfterALossUntilTheEventIsRecordedAgain) {
  auto events = history({{span(10, 20), 1}});
  EXPECT_EQ(events.bind(span(50, 60, 1), 30).binding, trace::kUnknownHistory);
  EXPECT_EQ(EventHistory().bind(span(50, 60, 1), 30).binding, trace::kUnknownHistory);
  events.add(
      {span(25, 45), 2});  // began before the loss was over: a lost record may have come after it
  EXPECT_EQ(events.bind(span(50, 60, 1), 30).binding, trace::kUnknownHistory);
  events.add({span(61, 65), 3});
  EXPECT_EQ(events.bind(span(70, 80, 1), 30).record, 3u);
}

TEST(EventBinding, TreatsAnOpenRecordAsACandidateUntilItEnds) {
  auto events = history({{span(10, 20), 1}, {span(30, CallSpan::kStillOpen, 1), 2}});
  EXPECT_THAT(events.bind(span(50, 60, 2), kAllKnown).candidates, UnorderedElementsAre(1, 2));
  events.close(2, 70);
  EXPECT_EQ(events.bind(span(80, 90, 2), kAllKnown).record, 2u);
  events.add({span(75, CallSpan::kStillOpen, 1), 3});
  EXPECT_EQ(events.bind(span(80, 90, 2), kAllKnown).binding, trace::kAmbiguous);
  events.remove(3);
  EXPECT_EQ(events.bind(span(80, 90, 2), kAllKnown).record, 2u);
}

// The oracle: tries every order in which the calls can have taken effect and collects what the wait
// can have seen.
class BindingOracle {
 public:
  BindingOracle(const std::vector<EventHistory::Record>& records, const CallSpan& wait)
      : records_(records), wait_(wait) {
    taken_.assign(records.size(), false);
    extend(trace::kNoId);
  }
  std::set<trace::Id> truths;  // kNoId: no record yet

 private:
  bool may_come_next(const CallSpan& span) const {
    for (size_t i = 0; i < records_.size(); ++i) {
      if (!taken_[i] && &records_[i].span != &span && before(records_[i].span, span)) return false;
    }
    return true;
  }
  static bool before(const CallSpan& a, const CallSpan& b) {
    return a.lane == b.lane ? a.order < b.order : a.end < b.begin;
  }
  void extend(trace::Id newest) {
    if (may_come_next(wait_)) truths.insert(newest);
    for (size_t i = 0; i < records_.size(); ++i) {
      if (taken_[i] || !may_come_next(records_[i].span) || before(wait_, records_[i].span))
        continue;
      taken_[i] = true;
      extend(records_[i].row);
      taken_[i] = false;
    }
  }

  const std::vector<EventHistory::Record>& records_;
  const CallSpan& wait_;
  std::vector<bool> taken_;
};

TEST(EventBinding, AgreesWithEveryPossibleOrderOnRandomPrograms) {
  std::map<trace::Binding, int> seen;
  for (unsigned seed = 0; seed < 6000; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](unsigned limit) { return random() % limit; };
    const unsigned lanes = 1 + below(3);
    const unsigned stretch = below(3) == 0 ? 1 : 6;  // equal stamps are frequent in some programs
    std::vector<EventHistory::Record> records;
    std::vector<CallSpan> waits;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      uint64_t now = 1 + below(8);
      const unsigned calls = below(5);
      for (unsigned i = 0; i < calls; ++i) {
        const uint64_t begin = now + below(stretch), end = begin + below(stretch);
        now = end + below(stretch);
        if (below(3) == 0) {
          waits.push_back(span(begin, end, lane, i));
        } else {
          records.push_back({span(begin, end, lane, i), static_cast<trace::Id>(lane * 10 + i)});
        }
      }
    }
    std::stable_sort(records.begin(), records.end(),
                     [](const auto& a, const auto& b) { return a.span.end < b.span.end; });
    EventHistory all;
    for (const auto& record : records) all.add(record);

    for (const CallSpan& wait : waits) {
      const BindingOracle oracle(records, wait);
      // What was forgotten cannot matter to a call that begins at the horizon.
      EventHistory forgetful = all;
      for (int i = 0; i < 20; ++i) forgetful.add({span(1000 + 10 * i, 1001 + 10 * i, 9, i), 100});
      forgetful.forget_before(wait.begin);
      for (const EventHistory& events : {all, forgetful}) {
        const Bound bound = events.bind(wait, kAllKnown);
        ++seen[bound.binding];
        std::set<trace::Id> named(bound.candidates.begin(), bound.candidates.end());
        if (bound.binding == trace::kBindingExact) named.insert(bound.record);
        std::set<trace::Id> truths = oracle.truths;
        if (bound.binding == trace::kBindingExact) {
          ASSERT_EQ(truths, named) << "seed " << seed;
        } else if (bound.binding == trace::kNeverRecorded) {
          ASSERT_EQ(truths, std::set<trace::Id>{trace::kNoId}) << "seed " << seed;
        } else {
          ASSERT_EQ(bound.binding, trace::kAmbiguous);
          ASSERT_GT(truths.size(), 1u) << "seed " << seed;
          truths.erase(trace::kNoId);
          ASSERT_EQ(truths, named) << "seed " << seed;
        }
      }
    }
  }
  EXPECT_GT(seen[trace::kBindingExact], 1000);
  EXPECT_GT(seen[trace::kAmbiguous], 1000);
  EXPECT_GT(seen[trace::kNeverRecorded], 1000);
}

TEST(EventBinding, StaysSmallHoweverOftenAnEventIsRecorded) {
  EventHistory events;
  for (uint64_t i = 1; i < 100'000; ++i) {
    events.add({span(10 * i, 10 * i + 5, 0, i), static_cast<trace::Id>(i)});
    events.forget_before(10 * i);
  }
  EXPECT_LT(events.size(), 40u);
  EXPECT_EQ(events.bind(span(2'000'000, 2'000'001, 1), kAllKnown).record, 99'999u);
}

TEST(LostHistory, IsWhatMayBeMissingBeforeACall) {
  constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();
  LostHistory lost;
  EXPECT_EQ(lost.before(1'000), 0u);
  lost.add(100, 200);
  lost.add(400, 500);
  EXPECT_EQ(lost.before(99), 0u);
  EXPECT_EQ(lost.before(100), 200u);
  EXPECT_EQ(lost.before(300), 200u);
  EXPECT_EQ(lost.before(1'000), 500u);
  lost.add(150, 450);  // joins both
  EXPECT_EQ(lost.before(100), 500u);
  lost.add(50, 60);
  EXPECT_EQ(lost.before(70), 60u);
  lost.add(0, kForever);
  EXPECT_EQ(lost.before(0), kForever);
}

TEST(LostHistory, AgreesWithASearchThroughAllSpans) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    LostHistory lost;
    std::vector<std::pair<uint64_t, uint64_t>> spans;
    for (int i = 0; i < 12; ++i) {
      const uint64_t from = random() % 200, until = from + random() % 40;
      lost.add(from, until);
      spans.emplace_back(from, until);
      for (uint64_t end = 0; end < 250; ++end) {
        uint64_t expected = 0;
        for (const auto& [first, last] : spans) {
          if (first <= end) expected = std::max(expected, last);
        }
        // What joined is lost as a whole: both ends are later than the call, or equal.
        const uint64_t found = lost.before(end);
        ASSERT_TRUE(found == expected || (found > expected && expected >= end));
      }
    }
  }
}

}  // namespace
}  // namespace streamscope::record
