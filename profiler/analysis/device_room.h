// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Room on a device's multiprocessors and copy engines, on the two clocks of a replay; for replay.h
// and nobody else.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "timeline.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {

inline constexpr Ns kNever = std::numeric_limits<Ns>::min() / 2;  // before everything

/// What a record with timing keeps its stream busy, and the device from starting other work; of an
/// H200.
inline constexpr Ns kTimedRecordNs = 1'950;
inline constexpr Ns kTimedRecordBlocksNs = 2'850;

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

/// Something that several ops share. It remembers the last few users that take a part of it: more
/// than run at once.
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
    if (share.was == 0 && share.now == 0) return;
    if (count_ == kUsers) {
      forget(by_end_was_);
      forget(by_end_now_);
      --count_;
    }
    users_[next_] = {start, end, priority, share};
    insert(by_end_was_, &Twin::was);
    insert(by_end_now_, &Twin::now);
    ++count_;
    next_ = (next_ + 1) % kUsers;
  }

 private:
  static constexpr size_t kUsers = 64;
  static constexpr double kRounding = 1e-6;

  struct User {
    Twin start, end, priority;
    Share share;
  };
  using Order = std::array<uint8_t, kUsers>;  // users, that which ends last first

  // Takes out the oldest user, in whose place the next one will be.
  void forget(Order& order) {
    const auto end = order.begin() + count_;
    std::copy(std::find(order.begin(), end, next_) + 1, end, std::find(order.begin(), end, next_));
  }
  // Most end after all others, or nearly so.
  void insert(Order& order, Ns Twin::*clock) {
    size_t place = 0;
    while (place < count_ && users_[order[place]].end.*clock > users_[next_].end.*clock) ++place;
    std::copy_backward(order.begin() + place, order.begin() + count_, order.begin() + count_ + 1);
    order[place] = static_cast<uint8_t>(next_);
  }

  template <class Counts>
  Twin on_both(const Twin& at, const Share& share, Counts counts) const {
    if (count_ == 0) return at;
    return {on(by_end_was_, &Twin::was, &Share::was, at.was, share.was, counts),
            on(by_end_now_, &Twin::now, &Share::now, at.now, share.now, counts)};
  }
  template <class Counts>
  Ns on(const Order& order, Ns Twin::*clock, double Share::*part, Ns at, double share,
        Counts counts) const {
    for (;;) {
      double used = 0;
      Ns first_end = std::numeric_limits<Ns>::max();
      for (size_t i = 0; i < count_; ++i) {
        const User& user = users_[order[i]];
        if (user.end.*clock <= at) break;
        if (!counts(user, clock, at)) continue;
        used += user.share.*part;
        first_end = std::min(first_end, user.end.*clock);
      }
      if (used == 0 || used + share <= 1 + kRounding) return at;
      at = first_end;
    }
  }

  std::array<User, kUsers> users_;
  Order by_end_was_, by_end_now_;
  size_t next_ = 0, count_ = 0;
};

/// The time stamps that a device takes for records of events with timing: one after the other, and
/// nothing starts meanwhile.
class Stamps {
 public:
  /// Takes one once `done` and the call have come; `done` then waits for it. With the change only
  /// if `still_taken`.
  void take(Twin& done, const Twin& call, bool still_taken) {
    Twin begin = done;
    begin.wait_for(call);
    begin.wait_for(free_);
    if (!still_taken) begin.now = kNever;
    begins_[next_] = begin;
    next_ = (next_ + 1) % kRemembered;
    free_.wait_for(after(begin, kTimedRecordBlocksNs));
    done.wait_for(after(begin, kTimedRecordNs));
  }
  /// Delays what would start during one.
  void delay(Twin& start) const {
    if (free_.was == kNever) return;
    for (size_t i = 0; i < kRemembered; ++i) {  // from the oldest on
      const Twin& begin = begins_[(next_ + i) % kRemembered];
      for (Ns Twin::*clock : {&Twin::was, &Twin::now}) {
        if (start.*clock >= begin.*clock && start.*clock < begin.*clock + kTimedRecordBlocksNs)
          start.*clock = trace::sum_of(begin.*clock, kTimedRecordBlocksNs);
      }
    }
  }

 private:
  static constexpr size_t kRemembered = 64;

  static Twin after(const Twin& begin, Ns length) {
    return {trace::sum_of(begin.was, length),
            begin.now == kNever ? kNever : trace::sum_of(begin.now, length)};
  }

  std::array<Twin, kRemembered> begins_;
  Twin free_;
  size_t next_ = 0;
};

/// How much of a device a kernel fills: by its blocks, and how many of them a multiprocessor holds.
double share_of_device(const Trace& trace, Id op, Id device);

}  // namespace streamscope::analysis
