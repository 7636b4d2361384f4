// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "import/pairing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace streamscope::import {
namespace {

using testing::ElementsAre;

RecordCall record_call(Id thread, Ns start, Ns end, Id event, Int instance = kNoInt,
                       Int number = kNoInt) {
  return {.process = 0,
          .thread = thread,
          .start_ns = start,
          .end_ns = end,
          .event = event,
          .instance = instance,
          .correlation = number};
}

LookCall look(Id thread, Ns start, Ns end) {
  return {.process = 0, .thread = thread, .start_ns = start, .end_ns = end};
}

TEST(Pairing, UsesTheRecordNumberOfTheFile) {
  const std::vector<RecordCall> records{record_call(0, 0, 10, 5, 100),
                                        record_call(0, 20, 30, 5, 101)};
  LookCall wait = look(0, 40, 50);
  wait.instance = 100;  // an older one: the numbers of the tool know of a wait before the second
  const Bound bound = Pairing(records).bind(wait);
  EXPECT_EQ(bound.binding, trace::kBindingExact);
  EXPECT_EQ(bound.record, 0u);
}

TEST(Pairing, UsesTheCallNamedByTheFile) {
  const std::vector<RecordCall> records{record_call(0, 0, 10, 5, kNoInt, 7),
                                        record_call(0, 20, 30, kNoId, kNoInt, 8)};
  LookCall wait = look(0, 40, 50);
  wait.record_correlation = 7;
  EXPECT_EQ(Pairing(records).bind(wait).record, 0u);
  wait.record_correlation = 99;  // not in the file
  EXPECT_EQ(Pairing(records).bind(wait).binding, trace::kUnknownHistory);
}

TEST(Pairing, UsesTheNewestRecordIfEveryRecordNamesItsEvent) {
  const std::vector<RecordCall> records{record_call(0, 0, 10, 5), record_call(0, 20, 30, 5),
                                        record_call(0, 60, 70, 5)};
  LookCall wait = look(0, 40, 50);
  wait.event = 5;
  EXPECT_EQ(Pairing(records).bind(wait).record, 1u);
  wait.event = 6;
  EXPECT_EQ(Pairing(records).bind(wait).binding, trace::kUnknownHistory);
}

TEST(Pairing, IgnoresCallsLaterThanTheQuery) {
  const std::vector<RecordCall> records{record_call(0, 0, 10, kNoId, kNoInt, 7),
                                        record_call(0, 60, 70, kNoId, kNoInt, 9)};
  LookCall wait = look(0, 40, 50);
  wait.record_correlation = 9;
  EXPECT_EQ(Pairing(records).bind(wait).binding, trace::kUnknownHistory);
}

TEST(Pairing, PrefersTheHistoryOfAnEventToTheNamedCall) {
  const std::vector<RecordCall> records{record_call(0, 0, 10, 5, kNoInt, 7),
                                        record_call(0, 20, 30, 5, kNoInt, 8),
                                        record_call(0, 60, 70, 5, kNoInt, 9)};
  LookCall wait = look(0, 40, 50);
  wait.event = 5;
  for (const Int named : {7, 9}) {
    wait.record_correlation = named;
    EXPECT_EQ(Pairing(records).bind(wait).record, 1u);
  }
}

TEST(Pairing, GuessesNothingIfSomeRecordMayBeOfTheSameEvent) {
  const std::vector<RecordCall> records{record_call(0, 0, 10, 5), record_call(0, 20, 30, kNoId)};
  LookCall wait = look(0, 40, 50);
  wait.event = 5;
  EXPECT_EQ(Pairing(records).bind(wait).binding, trace::kUnknownHistory);
}

TEST(Pairing, CallsARaceAmbiguousWhateverTheFileContains) {
  const std::vector<RecordCall> records{record_call(0, 0, 10, 5, 100),
                                        record_call(1, 35, 45, 5, 101)};
  LookCall wait = look(0, 40, 50);
  wait.instance = 100;
  const Bound bound = Pairing(records).bind(wait);
  EXPECT_EQ(bound.binding, trace::kAmbiguous);
  EXPECT_EQ(bound.record, kNoId);
  EXPECT_THAT(bound.candidates, ElementsAre(0u, 1u));
}

TEST(Pairing, DistrustsCallNumbersIfRecordsRaced) {
  // Two threads recorded at once; the one with the higher number need not have come last.
  const std::vector<RecordCall> records{record_call(0, 0, 10, 5, kNoInt, 1),
                                        record_call(1, 5, 15, kNoId, kNoInt, 2)};
  LookCall wait = look(0, 40, 50);
  wait.record_correlation = 1;
  EXPECT_EQ(Pairing(records).bind(wait).binding, trace::kAmbiguous);
}

TEST(Pairing, KeepsProcessesApart) {
  std::vector<RecordCall> records{record_call(0, 0, 10, 5, 100)};
  records[0].process = 1;
  LookCall wait = look(0, 40, 50);
  wait.instance = 100;
  EXPECT_EQ(Pairing(records).bind(wait).binding, trace::kUnknownHistory);
}

}  // namespace
}  // namespace streamscope::import
