// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which life of a reused handle a call means.
//
// CUDA returns the handles of destroyed streams and events (and addresses of freed memory) again,
// at once and to any thread. Whoever uses a handle got it from a creation that had returned before
// the use began; so a use means the newest life whose creation was over by then, whatever order the
// calls are looked at in. Pure; used by the drain.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "record/drain/flat_map.h"

namespace streamscope::record {

/// All lives of all handles of one kind in one process; a life is named by its dense index. Times
/// are ticks. Thread-compatible.
class HandleLives {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  struct Life {
    uint64_t handle = 0;
    bool creation_seen = false;   ///< else it began before recording
    uint64_t created = 0;         ///< end of the creation
    uint64_t destroyed = kNever;  ///< end of the destruction
    uint32_t generation = 0;      ///< lives of this handle before
    uint32_t previous = kNone;    ///< the life before
  };

  /// A life begins in a creation that ended at `end`.
  uint32_t create(uint64_t handle, uint64_t end);
  /// The same for what reports a creation twice, by its call and by an instant within the call: if
  /// a life that began from `begin` to `end` is known already, it is that one.
  uint32_t create_or_join(uint64_t handle, uint64_t begin, uint64_t end);
  /// The life that a call which began at `begin` means. Starts one of unknown past if there is
  /// none: `*is_new` says so.
  uint32_t use(uint64_t handle, uint64_t begin, bool* is_new);
  /// When the handle's first life began, 0 if none is known.
  uint64_t first_created(uint64_t handle) const;
  /// The life that a call which began at `begin` means; kNone if there is none.
  uint32_t find(uint64_t handle, uint64_t begin) const;
  /// Ends the life that a destruction from `begin` to `end` means and returns it; `is_new` as in
  /// use().
  uint32_t destroy(uint64_t handle, uint64_t begin, uint64_t end, bool* is_new);

  /// Takes over a life from an earlier writer; lives of one handle come by generation.
  uint32_t restore(Life life);

  const Life& operator[](uint32_t life) const { return lives_[life]; }
  uint32_t size() const { return static_cast<uint32_t>(lives_.size()); }

 private:
  struct Ends {
    uint32_t newest = kNone, oldest = kNone;
  };
  uint32_t add(const Life& life);

  FlatMap<uint64_t, Ends> ends_;  // by handle
  std::vector<Life> lives_;
};

}  // namespace streamscope::record
