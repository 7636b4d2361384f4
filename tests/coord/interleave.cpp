// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/interleave.h"

#include <ucontext.h>

#include <deque>
#include <memory>
#include <unordered_set>
#include <utility>

namespace model {

namespace {

constexpr std::size_t kStackBytes = 256 * 1024;

/// A thread of the program under test.
struct Thread {
  ucontext_t context{};
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStackBytes);
  std::function<void()> body;
  std::uint64_t history = 0;  // of its steps and what they read
  bool ended = false;
  const void* sleeps_on = nullptr;
  std::uint32_t bits = 0;
};

struct Word {
  const void* address;
  std::function<std::uint64_t()> value;
};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = ((hash << 5 | hash >> 59) + 0x9e3779b97f4a7c15ull) ^ value * 0xff51afd7ed558ccdull;
  return hash * 0xc4ceb9fe1a85ec53ull ^ hash >> 29;
}

std::vector<Word> words;  // of the run
std::deque<Thread> threads;
std::size_t thread_count = 0;  // of the run; the others are kept for the next one
Thread* self = nullptr;        // null: the explorer runs
ucontext_t explorer;

void run_body() {
  self->body();
  self->ended = true;
  setcontext(&explorer);
}

void start(Thread& thread, std::function<void()> body) {
  thread.body = std::move(body);
  thread.history = 0;
  thread.ended = false;
  thread.sleeps_on = nullptr;
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.get();
  thread.context.uc_stack.ss_size = kStackBytes;
  makecontext(&thread.context, run_body, 0);
}

/// Lets a thread take its next step.
void resume(Thread& thread) {
  self = &thread;
  swapcontext(&explorer, &thread.context);
  self = nullptr;
}

struct Choice {
  std::vector<std::size_t> enabled;
  std::size_t taken = 0;
};

class Explorer {
 public:
  explicit Explorer(const std::function<Program()>& make) : make_(make) {}

  Result explore() {
    do {
      words.clear();
      one_order();
      ++result_.orders;
    } while (result_.failure.empty() && next_order());
    result_.states = seen_.size();
    return result_;
  }

 private:
  bool next_order() {
    while (!path_.empty() && ++path_.back().taken == path_.back().enabled.size()) path_.pop_back();
    return !path_.empty();
  }

  static std::uint64_t state() {
    std::uint64_t hash = 1;
    for (const Word& word : words) hash = mix(hash, word.value());
    for (std::size_t i = 0; i < thread_count; ++i) {
      hash = mix(hash, threads[i].history);
      hash = mix(hash, (threads[i].ended ? 2u : 0u) + (threads[i].sleeps_on != nullptr ? 1u : 0u));
    }
    return hash;
  }

  void one_order() {
    Program program = make_();
    thread_count = program.threads.size();
    while (threads.size() < thread_count) threads.emplace_back();
    for (std::size_t i = 0; i < thread_count; ++i) start(threads[i], program.threads[i]);
    bool known = false;  // this order continues like an earlier one
    for (std::size_t depth = 0;; ++depth) {
      std::vector<std::size_t> enabled;
      bool all_ended = true;
      for (std::size_t i = 0; i < thread_count; ++i) {
        all_ended = all_ended && threads[i].ended;
        if (!threads[i].ended && threads[i].sleeps_on == nullptr) enabled.push_back(i);
      }
      if (all_ended) break;
      if (enabled.empty()) {
        result_.failure = "a thread sleeps and nobody is left to wake it";
        return;
      }
      std::size_t next = enabled.front();
      if (depth < path_.size()) {
        next = path_[depth].enabled[path_[depth].taken];
      } else if (!known && seen_.insert(state()).second) {
        path_.push_back({enabled, 0});
      } else {
        known = true;
      }
      resume(threads[next]);
    }
    result_.failure = program.check();
  }

  const std::function<Program()>& make_;
  std::vector<Choice> path_;
  std::unordered_set<std::uint64_t> seen_;
  Result result_;
};

}  // namespace

void step() {
  if (self == nullptr) return;
  self->history = mix(self->history, 0);  // where it is
  swapcontext(&self->context, &explorer);
}

void saw(std::uint64_t value) {
  if (self != nullptr) self->history = mix(self->history, value + 1);
}

void add_word(const void* address, std::function<std::uint64_t()> value) {
  words.push_back({address, std::move(value)});
}

void remove_word(const void* address) {
  std::erase_if(words, [&](const Word& word) { return word.address == address; });
}

void wait_on(const void* word, const std::function<std::uint64_t()>& now, std::uint64_t value,
             std::uint32_t bits) {
  step();
  const bool sleeps = now() == value;
  saw(sleeps);
  if (!sleeps) return;
  self->sleeps_on = word;
  self->bits = bits;
  step();
}

void wake_on(const void* word, std::uint32_t bits) {
  step();
  for (std::size_t i = 0; i < thread_count; ++i) {
    if (threads[i].sleeps_on == word && (threads[i].bits & bits) != 0)
      threads[i].sleeps_on = nullptr;
  }
}

namespace {

void sleep_on(const void* object) {
  self->sleeps_on = object;
  self->bits = ~0u;
  step();
}

void let_go(const void* object) {
  for (std::size_t i = 0; i < thread_count; ++i) {
    if (threads[i].sleeps_on == object) threads[i].sleeps_on = nullptr;
  }
}

}  // namespace

Mutex::Mutex() {
  add_word(this, [this] { return 2 * times_ + (taken_ ? 1 : 0); });
}
Mutex::~Mutex() { remove_word(this); }

void Mutex::lock() {
  step();
  while (taken_) sleep_on(this);
  taken_ = true;
  saw(times_++);
}

void Mutex::unlock() {
  taken_ = false;
  let_go(this);
}

void Condition::sleep() { sleep_on(this); }
void Condition::notify_all() { let_go(this); }

Result explore(const std::function<Program()>& make) { return Explorer(make).explore(); }

}  // namespace model
