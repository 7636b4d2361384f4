// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Room on a device's multiprocessors and copy engines, on the two clocks of a replay; for replay.h
// and nobody else.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "timeline.h"

namespace streamscope::analysis {

inline constexpr Ns kNever = std::numeric_limits<Ns>::min() / 2;  // before everything

/// An instant on both clocks: as recorded, and with the change.
struct Twin {
  Ns was = kNever, now = kNever;
  void wait_for(const Twin& other) {
    was = std::max(was, other.was);
    now = std::max(now, other.now);
  }
};

/// How much of a resource an op takes, on both clocks; 0 to 1.
struct Share {
  double was = 0, now = 0;
};

/// Something that several ops share. It remembers the last few users: more than run at once.
class DeviceRoom {
 public:
  /// The first instant from `at` on, on both clocks, at which `share` of it is free. What runs at
  /// `at` is never interrupted; what would start later is passed by if it is less urgent. CUDA's
  /// priorities: lower is more urgent.
  Twin room(const Twin& at, const Share& share, const Twin& priority) const {
    return on_both(at, share, [&](const User& user, Ns Twin::*clock, Ns now) {
      return user.start.*clock <= now &&
             (user.start.*clock <= at.*clock || user.priority.*clock <= priority.*clock);
    });
  }
  /// The same behind all that began before `started` in the recording: of an engine that takes its
  /// work in turn.
  Twin turn(const Twin& at, const Share& share, Ns started) const {
    return on_both(at, share,
                   [&](const User& user, Ns Twin::*, Ns) { return user.start.was < started; });
  }
  void use(const Twin& start, const Twin& end, Share share, Twin priority) {
    users_[next_] = {start, end, priority, share};
    next_ = (next_ + 1) % kUsers;
    count_ = std::min(count_ + 1, kUsers);
  }

 private:
  static constexpr size_t kUsers = 64;
  static constexpr double kRounding = 1e-6;

  struct User {
    Twin start, end, priority;
    Share share;
  };

  template <class Counts>
  Twin on_both(const Twin& at, const Share& share, Counts counts) const {
    if (count_ == 0) return at;
    return {on(&Twin::was, &Share::was, at.was, share.was, counts),
            on(&Twin::now, &Share::now, at.now, share.now, counts)};
  }
  template <class Counts>
  Ns on(Ns Twin::*clock, double Share::*part, Ns at, double share, Counts counts) const {
    for (;;) {
      double used = 0;
      Ns first_end = std::numeric_limits<Ns>::max();
      for (size_t i = 0; i < count_; ++i) {
        const User& user = users_[i];
        if (user.end.*clock <= at || !counts(user, clock, at)) continue;
        used += user.share.*part;
        first_end = std::min(first_end, user.end.*clock);
      }
      if (used == 0 || used + share <= 1 + kRounding) return at;
      at = first_end;
    }
  }

  std::array<User, kUsers> users_;
  size_t next_ = 0, count_ = 0;
};

/// How much of a device a kernel fills: by its blocks, and how many of them a multiprocessor holds.
double share_of_device(const Trace& trace, Id op, Id device);

}  // namespace streamscope::analysis
