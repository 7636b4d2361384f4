// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "questions.h"

#include <algorithm>
#include <utility>

namespace streamscope::record {
namespace {

constexpr size_t kMostWords = 4;  // of a stream: later words wait for the first one

}  // namespace

void Questions::recorded(trace::Id stream, uint64_t event, trace::Id record, uint64_t since) {
  newest_record_.get(event) = record;
  Tail& tail = tails_.get(stream);
  tail.event = event;
  tail.recorded = since;
  tail.record = record;
  tail.work_behind_record = false;
}

void Questions::issued(trace::Id stream, uint64_t handle, bool per_thread, uint64_t since) {
  // The default streams mean other streams in another thread, or need a context there.
  constexpr uint64_t kLastDefault = 2;
  Tail& tail = tails_.get(stream);
  tail.handle = handle > kLastDefault && !per_thread ? handle : 0;
  tail.used = since;
  tail.work_behind_record = true;
}

void Questions::waits(trace::Id stream, uint64_t address, uint32_t bytes) {
  std::vector<ring::Question>& words = tails_.get(stream).words;
  if (words.size() == kMostWords) words.erase(words.begin());
  words.push_back({ring::QuestionKind::kWord, bytes, address, 0});
}

void Questions::device_reset() {
  tails_.clear();
  newest_record_.clear();
}

std::vector<ring::Question> Questions::ask(uint32_t round, bool of_device) {
  round_ = round;
  not_done_ = 0;
  asked_.clear();
  if (!of_device) return {};
  const auto add = [&](ring::Question question, trace::Id stream, trace::Id record) {
    if (asked_.size() < ring::kMaxQuestions) asked_.push_back({question, stream, record});
  };
  std::vector<std::pair<trace::Id, const Tail*>> tails;
  tails_.for_each([&](trace::Id stream, const Tail& tail) { tails.emplace_back(stream, &tail); });
  std::sort(tails.begin(), tails.end());
  for (const auto& [stream, found] : tails) {
    const Tail& tail = *found;
    const trace::Id* newest = tail.event == 0 ? nullptr : newest_record_.find(tail.event);
    const bool has_event = newest != nullptr && *newest == tail.record;
    if (has_event)
      add({ring::QuestionKind::kEvent, 0, tail.event, tail.recorded}, stream, tail.record);
    if (tail.handle != 0 && (tail.work_behind_record || !has_event))
      add({ring::QuestionKind::kStream, 0, tail.handle, tail.used}, stream, trace::kNoId);
    for (const ring::Question& word : tail.words) add(word, stream, trace::kNoId);
  }
  std::vector<ring::Question> questions;
  questions.reserve(asked_.size());
  for (const Asked& asked : asked_) questions.push_back(asked.question);
  return questions;
}

void Questions::store(const Asked& asked, trace::Ns at, trace::Small result, trace::Int value) {
  trace::Probe row{.process_id = process_,
                   .at_ns = at,
                   .kind = static_cast<trace::Small>(asked.question.kind),
                   .stream_id = asked.stream,
                   .record_id = asked.record,
                   .result = result};
  if (asked.question.kind == ring::QuestionKind::kWord) {
    row.address = static_cast<trace::Int>(asked.question.object);
    row.value = value;
  } else if (result != 0) {
    ++not_done_;
  }
  run_.writer.append(row);
}

void Questions::take(const ring::AnswerRecord& answer, trace::Ns at) {
  if (answer.round != round_) return;
  const bool known = answer.answered != 0;
  switch (static_cast<ring::AnswerKind>(answer.answer)) {
    case ring::AnswerKind::kQuestion: {
      if (answer.question >= asked_.size() || asked_[answer.question].answered) return;
      Asked& asked = asked_[answer.question];
      asked.answered = true;
      const bool is_word = asked.question.kind == ring::QuestionKind::kWord;
      store(asked, at, known ? answer.result : trace::kNoSmall,
            known && is_word ? static_cast<trace::Int>(answer.value) : trace::kNoInt);
      break;
    }
    case ring::AnswerKind::kFlush:
      run_.writer.append(trace::Probe{.process_id = process_,
                                      .at_ns = at,
                                      .kind = trace::kFlushProbe,
                                      .result = known ? answer.result : trace::kNoSmall});
      break;
    case ring::AnswerKind::kAll:
      give_up(at);
      answered_ = answer.round;
      break;
  }
}

void Questions::give_up(trace::Ns at) {
  for (Asked& asked : asked_) {
    if (!asked.answered) store(asked, at, trace::kNoSmall, trace::kNoInt);
    asked.answered = true;
  }
}

}  // namespace streamscope::record
