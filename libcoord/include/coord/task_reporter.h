// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reports to the profiler, if any, which worker ran which task of a queue, and when.
//
// For task_queue.h and task_queue.cuh, which is compiled with the program and so cannot access
// libcoord's internals.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "coord/export.h"

namespace coord {

/// For one queue. Thread-safe; without a profiler it reports nothing and costs only a branch.
class COORD_EXPORT TaskReporter {
 public:
  enum class Workers : std::uint8_t { kThreads, kWarps };

  TaskReporter(Workers kind, std::size_t count, std::string name);

  [[nodiscard]] bool is_heard() const noexcept;

  // Threads.
  struct Stamp {
    std::uint64_t value = 0;
    std::uint32_t clock = ~0u;  // coord_clock; none without a profiler
  };
  /// The current time, for notify().
  [[nodiscard]] static Stamp stamp() noexcept;
  /// The calling thread has run a task since `begin`. `type`: of work, COORD_NONE for none.
  void notify(std::uint64_t task, std::size_t worker, std::uint32_t type, Stamp begin) noexcept;

  // Warps.
  /// Looks for a profiler: a program may use a GPU without a Device.
  static void listen();
  /// The calling thread has just launched the workers. Returns the number of the run.
  std::uint32_t begin_run() noexcept;
  struct Ran {
    std::uint64_t task = 0;
    std::uint32_t worker = 0, sm = 0;
    std::int64_t start_ns = 0, end_ns = 0;  // since the workers began
  };
  /// The run has ended; `left_out` of its tasks are not in `ran`. Blocks while the profiler's
  /// buffer is full, up to a second without progress.
  void end_run(std::uint32_t run, std::span<const Ran> ran, std::uint64_t left_out) noexcept;

 private:
  void notify_queue() noexcept;

  const Workers kind_;
  const std::size_t count_;
  const std::string name_;
  const std::uint32_t number_;
  std::atomic<bool> told_{false};
  std::atomic<std::uint32_t> runs_{0};
};

}  // namespace coord
