// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/answers.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

#include "collect/coord/coord_observer.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"
#ifdef STREAMSCOPE_WITH_CUPTI
#include "collect/cupti/activities.h"
#include "collect/process/asking.h"
#include "collect/process/driver.h"
#endif
#include "ring/descriptor.h"

namespace streamscope::collect {
namespace {

using ring::Question;
using ring::QuestionKind;

// Measured on an H200 in four kinds of hangs: answers arrive within 1 ms or never.
constexpr int64_t kLimitNs = 200'000'000;
constexpr int kFlushLimitMs = 400;

enum Stage : int { kCoord, kEvents, kStreams, kFlush, kDone };

struct Answer {
  uint32_t ready = 0;  // the round it belongs to
  int32_t result = 0;
  uint64_t value = 0;
  bool answered = false;
};

// The current round. A thread that was given up may come back in a later one: it works on its own
// copy of the questions, and its answers are ignored.
struct Round {
  std::mutex mutex;  // of number, questions and answers; never held during a query
  std::atomic<uint32_t> number{0};
  std::atomic<int> finished_stage{-1};
  uint32_t count = 0;
  bool flushes = false;
  Question questions[ring::kMaxQuestions];
  Answer answers[ring::kMaxQuestions];
  bool reported[ring::kMaxQuestions];
  Stage stage = kDone;
  int64_t stage_since = 0;
};
constinit Round round{};

void give(uint32_t number, uint32_t question, bool answered, int32_t result, uint64_t value) {
  std::lock_guard lock(round.mutex);
  if (round.number.load(std::memory_order_relaxed) == number)
    round.answers[question] = {number, result, value, answered};
}

// A word of memory, copied by the kernel: the program may unmap it at any time, and for device
// memory only the addresses are reserved.
bool read_word(const Question& question, uint64_t* value) {
  int ends[2];
  if (!ring::pipe_high(ends)) return false;
  const ssize_t size = question.bytes == 4 ? 4 : 8;
  uint64_t word = 0;
  // Not through the library function, which a sanitizer replaces by one that accesses the memory.
  const bool readable = ::syscall(SYS_write, ends[1], question.object, size) == size &&
                        ::read(ends[0], &word, static_cast<size_t>(size)) == size;
  ::close(ends[0]);
  ::close(ends[1]);
  if (readable) *value = word;
  return readable;
}

#ifdef STREAMSCOPE_WITH_CUPTI
// Queries the driver whether work has finished, unless the program may have destroyed the handle. A
// query breaks a capture of its stream, so nothing is queried during captures.
void query(uint32_t number, uint32_t index, const Question& question) {
  if (!has_cuda()) return;
  const Asking asking(question.object, question.since);
  if (!asking.allowed() || session.active_captures.load() > 0) return;
  if (question.kind == QuestionKind::kEvent && cuda.cuEventQuery != nullptr)
    give(number, index, true, cuda.cuEventQuery(reinterpret_cast<CUevent>(question.object)), 0);
  if (question.kind == QuestionKind::kStream && cuda.cuStreamQuery != nullptr)
    give(number, index, true, cuda.cuStreamQuery(reinterpret_cast<CUstream>(question.object)), 0);
}
#endif

void ask(uint32_t number, QuestionKind kind) {
  Question questions[ring::kMaxQuestions];
  uint32_t count = 0;
  {
    std::lock_guard lock(round.mutex);
    if (round.number.load(std::memory_order_relaxed) != number) return;
    count = round.count;
    std::copy_n(round.questions, count, questions);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Question& question = questions[i];
    if (question.kind != kind) continue;
    if (kind == QuestionKind::kWord) {
      uint64_t value = 0;
      const bool known = read_word(question, &value);
      give(number, i, known, 0, value);
      continue;
    }
#ifdef STREAMSCOPE_WITH_CUPTI
    query(number, i, question);
#endif
  }
}

// Our queries are not calls of the program. A capture that we do not know of must neither forbid
// them nor be broken by them.
void stay_out_of_the_way() {
  if (ThreadState* thread = this_thread()) thread->in_collector = true;
#ifdef STREAMSCOPE_WITH_CUPTI
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (has_cuda() && cuda.cuThreadExchangeStreamCaptureMode != nullptr)
    cuda.cuThreadExchangeStreamCaptureMode(&mode);
#endif
}

// What each stage does; false: not finished.
bool do_stage(Stage stage, [[maybe_unused]] uint32_t number) {
  switch (stage) {
    case kCoord:
      ask_coord();
      return true;
    case kEvents:
      ask(number, QuestionKind::kWord);
      ask(number, QuestionKind::kEvent);
      return true;
    case kStreams:
      ask(number, QuestionKind::kStream);
      return true;
    default:
#ifdef STREAMSCOPE_WITH_CUPTI
      return flush_by_force(kFlushLimitMs);
#else
      return true;
#endif
  }
}

template <Stage stage>
void* run_stage(void* argument) {
  const auto number = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(argument));
  if (stage != kFlush) stay_out_of_the_way();
  if (do_stage(stage, number) && round.number.load(std::memory_order_relaxed) == number)
    round.finished_stage.store(stage);
  return nullptr;
}

void begin_stage(Stage stage) {
  round.stage = stage;
  round.stage_since = monotonic_ns();
  round.finished_stage.store(-1);
  constexpr void* (*kBodies[])(void*) = {run_stage<kCoord>, run_stage<kEvents>, run_stage<kStreams>,
                                         run_stage<kFlush>};
  void* number = reinterpret_cast<void*>(static_cast<uintptr_t>(round.number.load()));
  if (!start_thread("streamscope-ask", kBodies[stage], number)) round.finished_stage.store(stage);
}

void push(ring::AnswerKind kind, uint32_t question, const Answer* answer, bool answered) {
  ThreadState* thread = this_thread();
  if (thread == nullptr) return;
  ring::AnswerRecord record{};
  record.kind = ring::RecordKind::kAnswer;
  record.answer = static_cast<uint8_t>(kind);
  record.answered = answered ? 1 : 0;
  record.round = round.number.load(std::memory_order_relaxed);
  record.begin = ticks();
  record.question = question;
  if (answer != nullptr) {
    record.result = answer->result;
    record.value = answer->value;
  }
  thread->push(record);
}

void report_answers() {
  const uint32_t number = round.number.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < round.count; ++i) {
    Answer answer;
    {
      std::lock_guard lock(round.mutex);
      answer = round.answers[i];
    }
    if (round.reported[i] || answer.ready != number) continue;
    round.reported[i] = true;
    push(ring::AnswerKind::kQuestion, i, &answer, answer.answered);
  }
}

void begin_round(const ring::Control& control, uint32_t number) {
  {
    std::lock_guard lock(round.mutex);
    round.count = std::min(control.question_count, ring::kMaxQuestions);
    std::copy_n(control.questions, round.count, round.questions);
    round.flushes = control.question_flush != 0;
    std::fill(std::begin(round.reported), std::end(round.reported), false);
    round.number.store(number, std::memory_order_relaxed);
  }
  begin_stage(kCoord);
}

}  // namespace

bool is_answering() { return round.stage != kDone; }

void answer_questions() {
  const ring::Control& control = *session.control;
  const uint32_t number = control.question_round.load(std::memory_order_acquire);
  if (number != round.number.load(std::memory_order_relaxed) &&
      control.questioned_pid == static_cast<uint32_t>(::getpid()))
    begin_round(control, number);
  if (round.stage == kDone) return;
  const bool finished = round.finished_stage.load(std::memory_order_acquire) == round.stage;
  const int64_t limit = round.stage == kFlush ? kFlushLimitMs * int64_t{1'000'000} : kLimitNs;
  report_answers();
  if (!finished && monotonic_ns() - round.stage_since < limit) return;
  if (round.stage == kFlush) push(ring::AnswerKind::kFlush, 0, nullptr, finished);
  if (round.stage == (round.flushes ? kFlush : kStreams)) {
    push(ring::AnswerKind::kAll, 0, nullptr, true);
    round.stage = kDone;
  } else {
    begin_stage(static_cast<Stage>(round.stage + 1));
  }
}

void forget_answers_after_fork() {
  new (&round.mutex) std::mutex;
  round.stage = kDone;
  round.number.store(0, std::memory_order_relaxed);
}

}  // namespace streamscope::collect
