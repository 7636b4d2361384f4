// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Threads of libcoord's own on which completion callbacks run: never a thread of the driver, which
// must not call CUDA, and never the thread that polls, which others wait for.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "coord/export.h"

namespace coord {

/// Runs functions on its threads, in the order they were posted if it has one. Thread-safe.
class COORD_EXPORT Executor {
 public:
  explicit Executor(std::size_t threads = 1);
  /// Runs everything that was posted, then ends the threads. Not to be called by one of them.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Never blocks. Where there are more than two processors, a thread that has run something
  /// looks for more for some 50 us, so that what follows soon starts without a wake-up. `function`
  /// must not throw: what it throws ends the program, as in any thread.
  void post(std::function<void()> function);
  /// Something may be posted soon: a thread that looks for more looks for as long again. Wakes
  /// nobody; costs a store.
  void expect() noexcept;

  /// The executor of whoever does not name one: one thread, started at its first use, that lives as
  /// long as the process.
  [[nodiscard]] static const std::shared_ptr<Executor>& shared();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
