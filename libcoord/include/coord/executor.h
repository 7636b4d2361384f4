// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Threads of libcoord that run completion callbacks: never a thread of the driver, which must not
// call CUDA, and never the polling thread, which others wait for.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "coord/export.h"

namespace coord {

/// Runs functions on its threads, in posting order if it has one thread. Thread-safe.
class COORD_EXPORT Executor {
 public:
  explicit Executor(std::size_t threads = 1);
  /// Runs everything that was posted, then ends the threads. Not to be called by one of them.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Never blocks. With more than two processors, a thread that has run a function polls for more
  /// for about 50 us, so that a function posted soon after starts without a wake-up. `function`
  /// must not throw: an exception ends the program, as in any thread.
  void post(std::function<void()> function);
  /// Hints that a function may be posted soon: a polling thread restarts its polling time. Wakes no
  /// thread; costs one store.
  void expect() noexcept;

  /// The default executor: one thread, started at its first use, that lives as long as the process.
  [[nodiscard]] static const std::shared_ptr<Executor>& shared();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
