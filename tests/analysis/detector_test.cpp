// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "run_detector.h"

namespace streamscope::analysis {
namespace {

using test::TraceBuilder;
using testing::HasSubstr;

TEST(Detectors, HaveDistinctIdsAndNumbersInOrder) {
  std::set<std::string_view> ids;
  std::string_view last;
  for (const Detector& detector : detectors()) {
    EXPECT_TRUE(ids.insert(detector.id).second) << detector.id;
    EXPECT_LT(last, detector.number);
    last = detector.number;
    EXPECT_NE(detector.needs, 0u) << detector.id;
    for (char c : detector.id) EXPECT_TRUE((c >= 'a' && c <= 'z') || c == '-') << detector.id;
    EXPECT_EQ(find_detector(detector.id), &detector);
    EXPECT_EQ(find_detector(detector.number), &detector);
    const char group = detector.number[2];
    EXPECT_EQ(detector.severity == FindingSeverity::kError, group == '0' || group == '1')
        << detector.id;
  }
  EXPECT_EQ(find_detector("no-such-thing"), nullptr);
}

TEST(Detectors, AFindingNamesItsTimeAndSimilarOnesAreCounted) {
  TraceBuilder builder;
  builder.stream("a").at(100).kernel("k", 200, 300).record("e");
  for (int i = 0; i < 3; ++i) builder.stream("a").at(400 + 100 * i).wait("e");
  const Verdict verdict = run("redundant-wait", builder.trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.outcome, Outcome::kFound);
  EXPECT_EQ(verdict.findings[0].count, 3u);
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kCertain);
  EXPECT_EQ(verdict.findings[0].start_ns, 200);
  EXPECT_EQ(verdict.findings[0].last_ns, 600);
}

TEST(Detectors, LostRecordsMakeACleanAnswerNotEvaluableAndAFindingSuspected) {
  for (bool planted : {false, true}) {
    TraceBuilder builder;
    builder.stream("a").kernel("k", 200, 300).record("e");
    if (planted) builder.stream("a").wait("e");
    builder.loss("ring-full", 1024);
    builder.columns().loss.severity[0] = static_cast<trace::Small>(trace::Severity::kDataLoss);
    const Verdict verdict = run("redundant-wait", builder.trace());
    EXPECT_THAT(verdict.reason, HasSubstr("ring-full"));
    EXPECT_EQ(verdict.outcome, planted ? Outcome::kFound : Outcome::kNotEvaluable);
    if (planted) {
      EXPECT_EQ(verdict.findings[0].confidence, Confidence::kSuspected);
    }
  }
}

TEST(Detectors, ALossWeakensOnlyTheEvidenceThatItTouches) {
  for (const trace::LossInfo& kind : trace::loss_kinds()) {
    TraceBuilder builder;
    builder.stream("a").kernel("k", 200, 300).record("e").wait("e");
    builder.loss(kind.name);
    builder.columns().loss.severity[0] = trace::kNoSmall;  // the kind's own
    const bool weakens = kind.severity >= trace::Severity::kDataLoss;
    const AvailableEvidence evidence = evidence_of(builder.trace());
    for (unsigned one = 1; one < kAllEvidence; one *= 2) {
      EXPECT_EQ(!evidence.reason(one).empty(), weakens && (kind.touches & one) != 0)
          << kind.name << ", " << to_string_of_evidence(one);
    }
  }
  TraceBuilder builder;
  builder.stream("a").kernel("k", 200, 300).record("e").wait("e");
  builder.loss("cupti-dropped");
  EXPECT_EQ(run("redundant-wait", builder.trace()).findings[0].confidence, Confidence::kCertain);
  builder.loss("from-the-future");
  EXPECT_EQ(run("redundant-wait", builder.trace()).findings[0].confidence, Confidence::kSuspected)
      << "what a newer version lost may be anything";
}

TEST(Detectors, ReportWhatIsMissingInPrintableText) {
  TraceBuilder builder;
  builder.stream("a").kernel("k", 200, 300);
  builder.loss("\xff\x1b[2J");
  const std::string reason = evidence_of(builder.trace()).reason(kAllEvidence);
  EXPECT_EQ(reason.find('\xff'), std::string::npos) << reason;
  EXPECT_EQ(reason.find('\x1b'), std::string::npos) << reason;
}

TEST(Detectors, EvidenceThatWasNeverPromisedIsNotMissed) {
  TraceBuilder builder;
  builder.meta("tier", "structure");
  builder.stream("a").kernel("k", trace::kUnknownNs, trace::kUnknownNs);
  const AvailableEvidence evidence = evidence_of(builder.trace());
  EXPECT_EQ(evidence.promised & kTimeEvidence, 0u);
  EXPECT_EQ(evidence.reason(kTimeEvidence), "");
  const Detector needs_times{.id = "x",
                             .number = "SS999",
                             .title = "",
                             .needs = kTimeEvidence,
                             .look = [](Analyses&, Findings&) { FAIL(); }};
  const Trace trace = builder.trace();
  Analyses analyses(trace);
  const Verdict verdict = evaluate(needs_times, analyses, evidence);
  EXPECT_EQ(verdict.outcome, Outcome::kNotAtThisTier);
  EXPECT_THAT(verdict.reason, HasSubstr("times"));
}

TEST(Detectors, AmbiguousAndUnknownBindingsAndLateStreamsAreGaps) {
  TraceBuilder builder;
  builder.stream("a").kernel("k", 200, 300).record("e");
  builder.stream("b").wait("e").wait("e").kernel("k", 400, 500);
  EXPECT_EQ(run("redundant-wait", builder.trace()).outcome, Outcome::kFound);
  auto& waits = builder.columns().event_wait;
  for (auto binding : {trace::kAmbiguous, trace::kUnknownHistory}) {
    waits.binding.assign(waits.size(), binding);
    const Verdict verdict = run("redundant-wait", builder.trace());
    EXPECT_EQ(verdict.outcome, Outcome::kNotEvaluable);
    EXPECT_THAT(verdict.reason, HasSubstr("2 waits"));
  }
  waits.binding.assign(waits.size(), trace::kNeverRecorded);
  builder.columns().stream.kind[0] = trace::kUnknownStream;
  EXPECT_THAT(run("redundant-wait", builder.trace()).reason, HasSubstr("1 stream existed"));
}

TEST(RedundantWait, NamesThePathThatImpliesTheWait) {
  TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
  builder.stream("math").wait("loaded").kernel("gemm", 210, 350).record("done");
  builder.stream("out").wait("done").wait("loaded").kernel("store", 360, 400);
  const Verdict verdict = run("redundant-wait", builder.trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  const Finding& finding = verdict.findings[0];
  EXPECT_THAT(finding.title, HasSubstr("out"));
  EXPECT_THAT(finding.text, HasSubstr("memcpy HtoD comes before store anyway"));
  EXPECT_THAT(finding.text, HasSubstr("then"));
  EXPECT_EQ(finding.first_op, 0u);
  EXPECT_EQ(finding.second_op, 2u);
  EXPECT_EQ(finding.event_wait, 2u);
}

TEST(RedundantWait, IsSilentIfEveryWaitOrdersSomething) {
  TraceBuilder builder;
  for (int i = 0; i < 4; ++i) {
    builder.stream("copies").memcpy(test::kHtoD, 100 + 1000 * i, 200 + 1000 * i).record("loaded");
    builder.stream("math").wait("loaded").kernel("gemm", 210 + 1000 * i, 350 + 1000 * i);
    builder.stream("math").record("done");
    builder.stream("copies").wait("done");
  }
  EXPECT_EQ(run("redundant-wait", builder.trace()).outcome, Outcome::kClean);
}

TEST(WaitOnUnrecorded, FindsWaitsAndSynchronizationsThatDoNothing) {
  TraceBuilder builder;
  builder.stream("a").kernel("k", 100, 200);
  builder.stream("b").wait("e").kernel("l", 100, 200);
  builder.synchronize_event("f", 300, 301);
  const Verdict verdict = run("wait-on-unrecorded", builder.trace());
  EXPECT_EQ(verdict.outcome, Outcome::kFound);
  ASSERT_EQ(verdict.findings.size(), 2u);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("which has not been recorded"));
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kCertain);
}

TEST(WaitOnUnrecorded, LeavesOutWhatNcclDoesItself) {
  const auto findings = [](std::string_view domain) {
    TraceBuilder builder;
    builder.at(50);
    builder.stream("b").wait("e").kernel("l", 100, 200);
    builder.range("ncclCommInitRank", 40, 100, domain);
    return run("wait-on-unrecorded", builder.trace()).findings.size();
  };
  EXPECT_EQ(findings("NCCL"), 0u);
  EXPECT_EQ(findings("mine"), 1u);
}

TEST(WaitOnUnrecorded, AnEventThatIsRecordedLaterIsOnlySuspected) {
  TraceBuilder builder;
  for (int i = 0; i < 3; ++i) {
    builder.stream("b").wait("free").kernel("l", 100 + 1000 * i, 200 + 1000 * i);
    builder.stream("a").kernel("k", 300 + 1000 * i, 400 + 1000 * i).record("free");
  }
  const Verdict verdict = run("wait-on-unrecorded", builder.trace());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].count, 1u);
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kSuspected);
}

// cuBLASXt waits for the event of a buffer before it uses the buffer, and one product may use two
// of three: the third event is never recorded.
TEST(WaitOnUnrecorded, AFirstRoundThatWasNotFinishedIsOnlySuspected) {
  TraceBuilder builder;
  builder.stream("a").wait("free 0").wait("free 1").wait("free 2");
  builder.stream("a").kernel("k", 100, 200).record("free 0");
  builder.stream("a").kernel("k", 200, 300).record("free 1");
  builder.synchronize_event("never", 400, 401);  // with another function: not part of that round
  const Verdict verdict = run("wait-on-unrecorded", builder.trace());
  ASSERT_EQ(verdict.findings.size(), 3u);
  for (const Finding& finding : verdict.findings) {
    EXPECT_EQ(finding.confidence,
              finding.host_sync == kNoId ? Confidence::kSuspected : Confidence::kCertain)
        << finding.title;
  }
}

TEST(WaitOnUnrecorded, TheFirstRoundOfAnotherThreadProvesNothing) {
  TraceBuilder builder;
  builder.stream("a").wait("free").kernel("k", 100, 200).record("free");
  builder.thread("other").stream("b").wait("never").kernel("k", 300, 400);
  const Verdict verdict = run("wait-on-unrecorded", builder.trace());
  ASSERT_EQ(verdict.findings.size(), 2u);
  EXPECT_EQ(std::ranges::count(verdict.findings, Confidence::kCertain, &Finding::confidence), 1);
}

TEST(WaitOnUnrecorded, AnotherProcessMayHaveRecordedASharedEvent) {
  constexpr trace::Small kBlockingSync = 1, kNoTiming = 2, kInterprocess = 4;
  TraceBuilder builder;
  builder.stream("a").wait("opened").kernel("k", 100, 200);
  builder.synchronize_event("exported", 300, 301);
  auto& flags = builder.columns().event.flags;
  flags.assign(flags.size(), kNoTiming | kInterprocess);
  EXPECT_EQ(run("wait-on-unrecorded", builder.trace()).outcome, Outcome::kClean);
  flags.assign(flags.size(), kNoTiming | kBlockingSync);
  EXPECT_EQ(run("wait-on-unrecorded", builder.trace()).findings.size(), 2u);
}

TEST(WaitOnUnrecorded, IsSilentIfEveryEventWasRecorded) {
  TraceBuilder builder;
  builder.stream("a").kernel("k", 100, 200).record("e");
  builder.stream("b").wait("e").kernel("l", 210, 300);
  builder.synchronize_event("e", 300, 301);
  EXPECT_EQ(run("wait-on-unrecorded", builder.trace()).outcome, Outcome::kClean);
}

}  // namespace
}  // namespace streamscope::analysis
