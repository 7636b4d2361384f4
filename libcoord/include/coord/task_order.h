// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What task graphs are made of (task_graph.cuh): a word for each task that says in which run it has
// ended.
//
// A template of a platform, as task_ring.h. Nothing here blocks, allocates or throws.
#pragma once

#include <cstdint>

#include "coord/task_ring.h"

namespace coord {

/// Tasks 0, 1, ... of which each comes after those it waits for: task t waits for before[k] for k
/// in [offsets[t], offsets[t + 1]). Worker w of W runs tasks w, w + W, w + 2 W, ... in this order:
/// it waits until has_ended() is true of each task before, runs the task, and calls end().
///
/// All workers must run at the same time. Then the first task that has not ended waits for nobody,
/// neither by its dependencies nor behind a task of its worker, so there is always one that gets
/// on. Borrows its arrays. Each worker has a copy of this; they are thread-safe together.
template <typename Platform>
struct TaskOrder {
  using Word = typename Platform::template Atomic<std::uint32_t>;

  const std::uint32_t* offsets = nullptr;
  const std::uint32_t* before = nullptr;
  Word* ended = nullptr;    // for each task the run in which it ended last; 0: none
  std::uint32_t count = 0;  // tasks
  std::uint32_t run = 0;    // its number, from 1 on

  /// What came before end() of that task comes before what follows `true`.
  [[nodiscard]] COORD_HOST_DEVICE bool has_ended(std::uint32_t task) const {
    return ended[task].load(Platform::kAcquire) == run;
  }
  /// A cheaper look, after which nothing comes: once it says `true`, has_ended() does.
  [[nodiscard]] COORD_HOST_DEVICE bool seems_ended(std::uint32_t task) const {
    return ended[task].load(Platform::kRelaxed) == run;
  }
  COORD_HOST_DEVICE void end(std::uint32_t task) const {
    ended[task].store(run, Platform::kRelease);
  }
};

}  // namespace coord
