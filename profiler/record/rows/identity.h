// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which lifetime of a reused handle a call refers to.
//
// CUDA reuses the handles of destroyed streams and events (and addresses of freed memory),
// immediately and in any thread. A use has the handle from a creation that returned before the use
// began; so it refers to the newest lifetime whose creation was complete by then, in whatever order
// the calls are processed. Pure; used by the drain.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "record/drain/flat_map.h"

namespace streamscope::record {

/// All lifetimes of all handles of one kind in one process; a lifetime is identified by its dense
/// index. Times are ticks. Thread-compatible.
class HandleLives {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  struct Life {
    uint64_t handle = 0;
    bool creation_seen = false;   ///< else it began before recording
    uint64_t created = 0;         ///< end of the creation
    uint64_t destroying = 0;      ///< begin of the destruction, if that was seen
    uint64_t destroyed = kNever;  ///< end of the destruction
    uint32_t generation = 0;      ///< number of earlier lifetimes of this handle
    uint32_t previous = kNone;    ///< the previous lifetime
  };

  /// A lifetime begins in a creation that ended at `end`; if all that is known of it is a later
  /// destruction, which was read first, it is that one.
  uint32_t create(uint64_t handle, uint64_t end);
  /// The same for objects whose creation is reported twice, by its call and at a time within the
  /// call: if a lifetime that began from `begin` to `end` is known already, it is that one.
  uint32_t create_or_join(uint64_t handle, uint64_t begin, uint64_t end);
  /// The lifetime to which a call that began at `begin` refers. Starts one of unknown past if there
  /// is none.
  uint32_t use(uint64_t handle, uint64_t begin);
  /// When the handle's first lifetime began, 0 if none is known.
  uint64_t first_created(uint64_t handle) const;
  /// The lifetime to which a call that began at `begin` refers; kNone if there is none.
  uint32_t find(uint64_t handle, uint64_t begin) const;
  /// Ends the lifetime to which a destruction from `begin` to `end` refers, as use(), and returns
  /// it.
  uint32_t destroy(uint64_t handle, uint64_t begin, uint64_t end);

  /// Takes over a lifetime from an earlier writer; those of one handle are added by generation.
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
