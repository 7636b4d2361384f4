// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The collector never queries a handle that the program may have destroyed: every call that does
// so, with the handle destroyed by the same call, by another thread and by a failed call. The
// stand-in libraries abort the program if a dead handle is queried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "observed.h"

namespace streamscope::collect {
namespace {

using ring::QuestionKind;
using ring::RecordKind;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr uint64_t kStreamA = 0xa00a, kEventA = 0xe00e;

/// "c" for each call that is marked as captured, "-" for each other.
std::string captured(const Observed& run) {
  std::string marks;
  for (const ring::CallRecord& call : run.calls())
    marks += (call.flags & ring::kCapturing) != 0 ? 'c' : '-';
  return marks;
}

TEST(Handles, AreFollowedIntoCapturesWithoutQueries) {
  Observed run;
  ASSERT_EQ(run.run_child("plain-capture"), 0) << run.error_text();
  // record; begin refused, launch; begin, record, launch elsewhere, wait that joins, launch, record
  // as a node, wait elsewhere, end refused, launch; end, launch. And the launch of another thread.
  EXPECT_EQ(captured(run), "----c-ccc-cc--c");
}

TEST(Handles, OfStreamsMayEndDuringACapture) {
  Observed run;
  ASSERT_EQ(run.run_child("streams-end-in-capture"), 0) << run.error_text();
  std::string launches;
  for (const ring::CallRecord& call : run.calls()) {
    if (ring::call_info(call.call).kind == CallKind::kLaunch)
      launches += (call.flags & ring::kCapturing) != 0 ? 'c' : '-';
  }
  // On a stream with a reused handle; in the capture; after the stream where it began was
  // destroyed, on another one and on one that has its handle; in the next capture; after that
  // failed to end; after the reset.
  EXPECT_EQ(launches, "-c--c--");
}

TEST(Handles, OfDefaultStreamsAreCapturedByThread) {
  Observed run;
  ASSERT_EQ(run.run_child("own-streams-captured"), 0) << run.error_text();
  std::multiset<std::string> by_thread;
  for (const ObservedRing& ring : run.rings()) {
    std::string marks;
    for (const ring::Record& record : ring.records) {
      if (record.head.kind == RecordKind::kCall)
        marks += (record.head.flags & ring::kCapturing) != 0 ? 'c' : '-';
    }
    if (!marks.empty()) by_thread.insert(marks);
  }
  // begin, launch, launch on stream 0 as per-thread, launch on the legacy stream; end, launch
  EXPECT_THAT(by_thread, ElementsAre("-", "-cc---"));
}

TEST(Handles, OfContextsMayEndBeforeAThreadsOwnStreamIsReported) {
  Observed run;
  ASSERT_EQ(run.run_child("own-stream-of-dead-context"), 0) << run.error_text();
  size_t reported = 0;
  for (const auto& stream : run.all<ring::StreamRecord>(RecordKind::kStream))
    reported += stream.stream_kind == static_cast<uint8_t>(kPerThreadStream);
  EXPECT_EQ(reported, 1u);  // when it was used again
}

TEST(Handles, MadeBeforeRecordingBeganAreQueriedOnlyWhileTheyAreValid) {
  Observed run;
  run.set("LD_PRELOAD", "");
  ASSERT_EQ(run.run({COLLECT_CHILD, "late-handles", COLLECT_LIBRARY}), 0) << run.error_text();
  std::vector<uint64_t> reported;
  for (const auto& stream : run.all<ring::StreamRecord>(RecordKind::kStream)) {
    if (stream.destroyed == 0 && stream.handle > 2) reported.push_back(stream.handle);
  }
  EXPECT_THAT(reported, ElementsAre(0xf00fu));
}

TEST(Handles, OfFunctionsMayEndDuringTheirLaunch) {
  Observed run;
  run.control().with = ring::kWithArgs;
  ASSERT_EQ(run.run_child("functions-end"), 0) << run.error_text();
  std::vector<uint32_t> reported;
  for (const auto& each : run.all<ring::KernelArgumentsRecord>(RecordKind::kKernelArguments))
    reported.push_back(each.call_number);
  const auto calls = run.calls();
  ASSERT_THAT(calls, SizeIs(5));
  // Of the first launch and, queried again, of the last one; the call that destroyed them is in
  // another thread and comes last.
  EXPECT_EQ(reported, (std::vector{calls.at(0).call_number, calls.at(3).call_number}));
}

TEST(Handles, OfGraphsAndNodesAreQueriedOnlyAtCreationAndOfGraphsAtDestruction) {
  Observed run;
  ASSERT_EQ(run.run_child("graphs-end"), 0) << run.error_text();
  const auto graphs = run.all<ring::GraphRecord>(RecordKind::kGraph);
  ASSERT_THAT(graphs, SizeIs(2));
  EXPECT_EQ(graphs[0].source, ring::kNone32);
  EXPECT_EQ(graphs[1].destroyed, 1);
  const auto nodes = run.all<ring::GraphNodeRecord>(RecordKind::kGraphNode);
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(nodes[0].original, 0u);
}

/// Sends queries like a writer whose program hangs.
class Asked : public ::testing::Test {
 protected:
  void start(const std::string& scenario) { run_.start_child(scenario, {run_.folder()}); }
  void wait_for_step() { run_.wait_for_line("step " + std::to_string(step_)); }
  /// The program makes its next step.
  void go_on() { std::ofstream(run_.folder() / std::to_string(++step_)); }
  void put(const std::vector<ring::Question>& questions) {
    std::copy(questions.begin(), questions.end(), run_.control().questions);
    run_.control().question_count = static_cast<uint32_t>(questions.size());
    run_.control().questioned_pid = static_cast<uint32_t>(run_.pid());
    ++run_.control().question_round;
  }
  /// Sends queries and waits; returns how each was answered, in words.
  std::vector<std::string> ask(const std::vector<ring::Question>& questions) {
    put(questions);
    for (int i = 0; i < 2000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      run_.read_rings();
      std::vector<std::string> answers(questions.size(), "none");
      for (const auto& answer : run_.all<ring::AnswerRecord>(RecordKind::kAnswer)) {
        if (answer.round != run_.control().question_round) continue;
        if (answer.answer == static_cast<uint8_t>(ring::AnswerKind::kAll)) return answers;
        if (answer.answer == static_cast<uint8_t>(ring::AnswerKind::kQuestion))
          answers.at(answer.question) =
              answer.answered != 0 ? std::to_string(answer.value) : "none";
      }
    }
    return {"no end"};
  }
  /// The newest call of this kind on this handle began then.
  uint64_t last_use(CallKind kind, uint64_t stream) {
    run_.read_rings();
    uint64_t last = 0;
    for (const ring::CallRecord& call : run_.calls()) {
      if (ring::call_info(call.call).kind == kind && call.stream == stream)
        last = std::max(last, call.begin);
    }
    return last;
  }

  Observed run_;
  int step_ = 0;
};

TEST_F(Asked, AnswersOnlyForHandlesNotDestroyedSinceTheirLastUse) {
  start("asked");
  wait_for_step();
  const std::vector<ring::Question> questions = {
      {QuestionKind::kEvent, 0, kEventA, last_use(CallKind::kEventRecord, kStreamA)},
      {QuestionKind::kStream, 0, kStreamA, last_use(CallKind::kLaunch, kStreamA)}};
  EXPECT_THAT(ask(questions), ElementsAre("0", "0"));
  go_on();
  wait_for_step();  // both are destroyed, one by a call that failed
  EXPECT_THAT(ask(questions), ElementsAre("none", "none"));
  go_on();
  wait_for_step();  // their handles are reused
  EXPECT_THAT(ask(questions), ElementsAre("none", "none"));
  std::vector<ring::Question> newer = questions;
  newer[0].since = last_use(CallKind::kEventRecord, kStreamA);
  newer[1].since = last_use(CallKind::kLaunch, kStreamA);
  EXPECT_THAT(ask(newer), ElementsAre("0", "0"));
  go_on();
  wait_for_step();  // another thread has ended the stream
  EXPECT_THAT(ask(newer), ElementsAre("0", "none"));
  go_on();
  wait_for_step();  // a capture is under way
  newer[1].since = last_use(CallKind::kLaunch, kStreamA);
  EXPECT_THAT(ask(newer), ElementsAre("none", "none"));
  go_on();
  wait_for_step();  // the context is destroyed
  EXPECT_THAT(ask(newer), ElementsAre("none", "none"));
  go_on();
  EXPECT_EQ(run_.finish(), 0) << run_.error_text();
}

TEST_F(Asked, DelaysDestructionOfAHandleByAtMostASecond) {
  start("asked-meanwhile");
  for (int i = 0; i < 2; ++i) {
    wait_for_step();
    put({{QuestionKind::kStream, 0, kStreamA, last_use(CallKind::kLaunch, kStreamA)}});
    go_on();
  }
  wait_for_step();
  EXPECT_THAT(ask({{QuestionKind::kStream, 0, kStreamA, last_use(CallKind::kLaunch, kStreamA)}}),
              ElementsAre("0"));
  go_on();
  EXPECT_EQ(run_.finish(), 0) << run_.error_text();
}

TEST_F(Asked, ReadsWordsThatMayDisappearAtAnyTime) {
  start("word");
  wait_for_step();
  const std::string& said = run_.output_text();
  const uint64_t page = std::stoull(said.substr(said.find("page ") + 5));
  const std::vector<ring::Question> questions = {{QuestionKind::kWord, 8, page, 0},
                                                 {QuestionKind::kWord, 4, page, 0}};
  EXPECT_THAT(ask(questions),
              ElementsAre(std::to_string(0x1122334455667788), std::to_string(0x55667788)));
  for (int i = 0; i < 2; ++i) {  // unmapped; mapped, but not to be read
    go_on();
    wait_for_step();
    EXPECT_THAT(ask(questions), ElementsAre("none", "none"));
  }
  go_on();
  wait_for_step();  // appears and disappears
  const std::vector<ring::Question> many(ring::kMaxQuestions, questions[0]);
  for (int i = 0; i < 5; ++i) EXPECT_THAT(ask(many), SizeIs(ring::kMaxQuestions));
  go_on();
  EXPECT_EQ(run_.finish(), 0) << run_.error_text();
}

}  // namespace
}  // namespace streamscope::collect
