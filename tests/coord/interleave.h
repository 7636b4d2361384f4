// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Runs a few short threads in every order of their steps.
//
// The threads are contexts of one real thread, which takes a step of one of them at a time: one
// operation on a model::Atomic, or one model::Platform::wait or wake, which replace std::atomic and
// the futex in the code under test. Everything is sequentially consistent, as that code requires.
// Orders that lead to the same memory with every thread having read the same values are followed
// once. A sleep never ends by itself, so a lost wake-up shows as a deadlock.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/sanitized.h"

namespace model {

/// Before a step of the calling thread.
void step();
/// What a step read or wrote, which decides what its thread does next.
void saw(std::uint64_t value);
/// A word of shared memory, as part of the state.
void add_word(const void* address, std::function<std::uint64_t()> value);
void remove_word(const void* address);
/// Sleeping on a word.
void wait_on(const void* word, const std::function<std::uint64_t()>& now, std::uint64_t value,
             std::uint32_t bits);
void wake_on(const void* word, std::uint32_t bits);

template <typename T>
class Atomic {
 public:
  Atomic(T value = {}) : value_(value) {
    add_word(this, [this] { return static_cast<std::uint64_t>(value_); });
  }
  ~Atomic() { remove_word(this); }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  template <typename... Order>
  T load(Order...) {
    step();
    return seen(value_);
  }
  template <typename... Order>
  void store(T value, Order...) {
    step();
    value_ = value;
  }
  template <typename... Order>
  T exchange(T value, Order...) {
    step();
    return seen(std::exchange(value_, value));
  }
  template <typename... Order>
  T fetch_add(T by, Order...) {
    step();
    return seen(std::exchange(value_, static_cast<T>(value_ + by)));
  }
  template <typename... Order>
  T fetch_sub(T by, Order...) {
    step();
    return seen(std::exchange(value_, static_cast<T>(value_ - by)));
  }
  template <typename... Order>
  T fetch_or(T bits, Order...) {
    step();
    return seen(std::exchange(value_, static_cast<T>(value_ | bits)));
  }
  template <typename... Order>
  T fetch_and(T bits, Order...) {
    step();
    return seen(std::exchange(value_, static_cast<T>(value_ & bits)));
  }
  template <typename... Order>
  bool compare_exchange_strong(T& expected, T value, Order...) {
    step();
    const bool same = value_ == expected;
    if (same) {
      value_ = value;
    } else {
      expected = value_;
    }
    seen(expected);
    saw(same);
    return same;
  }
  /// Not a step: for the checks of a test.
  [[nodiscard]] T now() const { return value_; }

 private:
  static T seen(T value) {
    saw(static_cast<std::uint64_t>(value));
    return value;
  }
  T value_;
};

struct Platform {
  template <typename T>
  using Atomic = model::Atomic<T>;
  static void wait(Atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t,
                   std::uint32_t bits = ~0u) {
    wait_on(
        &word, [&word] { return static_cast<std::uint64_t>(word.now()); }, value, bits);
  }
  static void wake(Atomic<std::uint32_t>& word, std::uint32_t bits = ~0u) { wake_on(&word, bits); }
  /// Every order is sequentially consistent.
  static constexpr int kRelaxed = 0, kAcquire = 0, kRelease = 0;
  static void fence(int) {}
};

/// A mutex; locking it is a step. The thread that gets it sees how often it was locked before: what
/// it protects follows from that order, and so is part of what the threads have read. Unlocking is
/// not a step: it only lets others continue.
class Mutex {
 public:
  Mutex();
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock();
  void unlock();

 private:
  bool taken_ = false;
  std::uint64_t times_ = 0;
};

/// A condition variable that never wakes without a reason; used with its mutex held.
class Condition {
 public:
  template <typename Lock, typename Predicate>
  void wait(Lock& lock, Predicate predicate) {
    while (!predicate()) {
      lock.unlock();
      sleep();
      lock.lock();
    }
  }
  void notify_all();

 private:
  void sleep();
};

/// One run: its threads, and the check once all have ended (empty: it holds).
struct Program {
  std::vector<std::function<void()>> threads;
  std::function<std::string()> check;
};

struct Result {
  std::string failure;  // of the first order that failed; empty: all passed
  std::uint64_t orders = 0, states = 0;
};

/// Runs what `make` returns, newly made each time, in every order; stops at the first that fails.
Result explore(const std::function<Program()>& make);

class OrdersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (streamscope::test::kThreadSanitized)
      GTEST_SKIP() << "there is one real thread, which the thread sanitizer would only slow down";
  }
};

}  // namespace model
