// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Building block of task graphs (task_graph.cuh): one word per task with the last run in which it
// ended.
//
// A template over a platform, as in task_ring.h. Nothing here blocks, allocates or throws.
#pragma once

#include <cstdint>

#include "coord/task_ring.h"

namespace coord {

/// Tasks 0, 1, ..., each numbered higher than those it waits for: task t waits for before[k] for k
/// in [offsets[t], offsets[t + 1]). Worker w of W runs tasks w, w + W, w + 2 W, ... in this order:
/// it waits until has_ended() is true for each dependency, runs the task, and calls end().
///
/// All workers must run at the same time. Then the first task that has not ended waits for nothing,
/// neither a dependency nor an earlier task of its worker, so there is always progress. Borrows its
/// arrays. Each worker has a copy of this; they are thread-safe together.
template <typename Platform>
struct TaskOrder {
  using Word = typename Platform::template Atomic<std::uint32_t>;

  const std::uint32_t* offsets = nullptr;
  const std::uint32_t* before = nullptr;
  Word* ended = nullptr;    // per task, the last run in which it ended; 0: none
  std::uint32_t count = 0;  // tasks
  std::uint32_t run = 0;    // number of the run, from 1

  /// What happens before end() of that task happens before what follows a `true` result.
  [[nodiscard]] COORD_HOST_DEVICE bool has_ended(std::uint32_t task) const {
    return ended[task].load(Platform::kAcquire) == run;
  }
  /// A cheaper check without ordering: once it returns `true`, has_ended() does too.
  [[nodiscard]] COORD_HOST_DEVICE bool seems_ended(std::uint32_t task) const {
    return ended[task].load(Platform::kRelaxed) == run;
  }
  COORD_HOST_DEVICE void end(std::uint32_t task) const {
    ended[task].store(run, Platform::kRelease);
  }
};

}  // namespace coord
