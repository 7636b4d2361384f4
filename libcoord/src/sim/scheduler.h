// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a simulated device asks when somebody else decides what happens next (explore.cpp).
//
// Without one, devices run in virtual time. With one, exactly one host thread runs at any time, and
// each call is a point at which another thread or the device may go first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/engine.h"

namespace coord::sim {

/// Part of the state that a step reads or changes. Steps with no conflicting touch commute.
struct Touch {
  enum Kind : std::uint64_t {
    kStreamTail = 1,
    kEvent,
    kOp,
    kWord,
    kHostExecutor,
    kMultiprocessors,
    kHostState,
    kUnknownMemory,
    kLegacy,
    kThread,
    kCaptures,
  };
  std::uint64_t object = 0;
  bool writes = false;

  static Touch of(Kind kind, std::uint64_t which, bool writes) {
    return {static_cast<std::uint64_t>(kind) << 56 | which, writes};
  }
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// The calling thread is about to do something in a call of that name; returns when it is its
  /// turn. Throws coord::Error if the run is being given up and `may_throw`.
  virtual void turn(const char* call, std::span<const Touch> touches, bool may_throw) = 0;
  /// Returns when it is the calling thread's turn and `ready()` is true; false if that can never
  /// be.
  virtual bool wait(const char* call, std::span<const Touch> touches,
                    const std::function<bool()>& ready) = 0;
  /// The calling thread has looked and found something not ready: it goes on only after something
  /// else has happened.
  virtual void looked_in_vain() = 0;

  /// The calling thread has submitted `op`, which follows `after` (ended or not).
  virtual void submitted(OpRef op, std::span<const OpRef> after) = 0;
  /// The calling thread has seen that these have ended.
  virtual void seen(std::span<const OpRef> ops) = 0;
  /// The calling thread touches memory that the device uses too.
  virtual void host_access(const Access& access, const char* call) = 0;
};

}  // namespace coord::sim
