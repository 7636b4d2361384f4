// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Interface to an external scheduler that decides what happens next (explore.cpp).
//
// Without one, devices run in virtual time. With one, exactly one host thread runs at any time, and
// each call is a point at which another thread or the device may go first.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "sim/engine.h"

namespace coord::sim {

/// Part of the state that a step reads or changes. Steps without conflicting touches commute.
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

  /// The calling thread is about to take a step in the named call; returns when it is its turn.
  /// Throws coord::Error if the run is being abandoned and `may_throw`.
  virtual void turn(const char* call, std::span<const Touch> touches, bool may_throw) = 0;
  /// Returns when it is the calling thread's turn and `ready()` is true; false if that can never
  /// happen.
  virtual bool wait(const char* call, std::span<const Touch> touches,
                    const std::function<bool()>& ready) = 0;
  /// The calling thread has polled something that is not ready: it continues only after another
  /// step has happened.
  virtual void polled_not_ready() = 0;

  /// The calling thread has submitted `op`, which follows `after` (ended or not).
  virtual void submitted(OpRef op, std::span<const OpRef> after) = 0;
  /// The calling thread has observed that these have ended.
  virtual void seen(std::span<const OpRef> ops) = 0;
  /// The calling thread accesses memory that the device also uses.
  virtual void host_access(const Access& access) = 0;
};

}  // namespace coord::sim
