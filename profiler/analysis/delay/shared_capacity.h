// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Capacity of a device's multiprocessors and copy engines, on one of the two clocks of a replay.
// For replay.h and branches.h.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "analysis/stream_ops.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {

inline constexpr Ns kNever = std::numeric_limits<Ns>::min() / 2;  // before everything

/// How long a record with timing keeps its stream busy, and how long it keeps the device from
/// starting other work; on an H200.
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

/// How much of a resource an op uses, on both clocks; 0 to 1.
struct Share {
  double was = 0, now = 0;
};

/// An op that uses part of a shared resource, on one clock.
struct CapacityUser {
  Ns start, end;
  Ns priority;  ///< CUDA's: lower is more urgent
  Ns started;   ///< in the recording
  double share;
};

/// A resource that several ops share, on one clock. It keeps those of its users that end last: more
/// than run at once.
class SharedCapacity {
 public:
  /// The first instant from `at` on at which `share` of it is free. Users that run at `at` are
  /// never interrupted; users that start later are overtaken if they have lower priority.
  Ns room(Ns at, double share, Ns priority) const {
    Taken taken(*this, at);
    taken.add(marked(taken.first, &CapacityUser::start, at));
    if (taken.leaves(share)) return at;
    // Users that start later with the same or higher priority, by start: nearly the order of ends.
    std::array<uint8_t, kUsers> later;
    size_t count = 0;
    for (size_t i = taken.first; i < end_; ++i) {
      if (users_[i].start <= at || users_[i].priority > priority) continue;
      size_t place = count++;
      for (; place > 0 && users_[later[place - 1]].start > users_[i].start; --place)
        later[place] = later[place - 1];
      later[place] = static_cast<uint8_t>(i);
    }
    for (size_t next = 0; !taken.leaves(share);) {
      taken.go_on();
      for (; next < count && users_[later[next]].start <= taken.now; ++next)
        taken.add(uint64_t{1} << (later[next] - taken.first));
    }
    return taken.now;
  }
  /// The same, but after all users that began before `started` in the recording: for an engine that
  /// runs its work in order.
  Ns turn(Ns at, double share, Ns started) const {
    Taken taken(*this, at);
    taken.add(marked(taken.first, &CapacityUser::started, started - 1));
    while (!taken.leaves(share)) taken.go_on();
    return taken.now;
  }
  void use(const CapacityUser& user) {
    if (user.share == 0) return;
    if (end_ - begin_ == kUsers) ++begin_;
    if (end_ == users_.size()) {
      std::copy(users_.begin() + static_cast<ptrdiff_t>(begin_), users_.end(), users_.begin());
      end_ -= std::exchange(begin_, 0);
    }
    size_t place = end_++;  // most users end after all others, or nearly so
    for (; place > begin_ && users_[place - 1].end > user.end; --place)
      users_[place] = users_[place - 1];
    users_[place] = user;
  }

 private:
  static constexpr size_t kUsers = 64;
  static constexpr double kRounding = 1e-6;

  // The users from `first` on whose `what` is at most `most`; bit n is the user at first + n.
  uint64_t marked(size_t first, Ns CapacityUser::*what, Ns most) const {
    uint64_t result = 0;
    for (size_t i = first; i < end_; ++i)
      result |= uint64_t{users_[i].*what <= most} << (i - first);
    return result;
  }

  // What is in use at an instant that advances.
  struct Taken {
    Taken(const SharedCapacity& all, Ns at) : room(all), first(all.end_), now(at) {
      while (first > room.begin_ && room.users_[first - 1].end > at) --first;
      next = first;
    }
    // Adds those of the users that have not ended yet.
    void add(uint64_t more) {
      more &= next - first < kUsers ? ~uint64_t{0} << (next - first) : 0;
      users |= more;
      for (; more != 0; more &= more - 1)
        share += room.users_[first + static_cast<size_t>(std::countr_zero(more))].share;
    }
    bool leaves(double wanted) const { return users == 0 || share + wanted <= 1 + kRounding; }
    // Advances to the next end of a user.
    void go_on() {
      now = room.users_[first + static_cast<size_t>(std::countr_zero(users))].end;
      for (; next < room.end_ && room.users_[next].end <= now; ++next) {
        const uint64_t user = uint64_t{1} << (next - first);
        if ((users & user) == 0) continue;
        users &= ~user;
        share -= room.users_[next].share;
      }
    }

    const SharedCapacity& room;
    size_t first, next = 0;  // the first user that ends after the beginning; the first after `now`
    Ns now;
    uint64_t users = 0;  // bit n is the user at first + n
    double share = 0;
  };

  std::array<CapacityUser, 2 * kUsers> users_;  // [begin_, end_), by end
  size_t begin_ = 0, end_ = 0;
};

/// The time stamps that a device takes for records of events with timing: one after the other, and
/// no work starts meanwhile.
class Stamps {
 public:
  /// Takes a time stamp after `done` and the call; `done` then waits for it. With the change only
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
  /// Delays a start that falls into a time stamp.
  void delay(Twin& start) const {
    if (free_.was == kNever) return;
    for (size_t i = 0; i < kRemembered; ++i) {  // oldest first
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

/// How much of a device kernels fill: by block count and how many blocks fit on a multiprocessor.
class DeviceShares {
 public:
  explicit DeviceShares(const Trace& trace);
  /// 0 to 1; 0 if unknown. `device`: a row of the table.
  double of(Id launch_shape, Id device) const {
    return launch_shape < shapes_ ? shares_[device * shapes_ + launch_shape] : 0;
  }

 private:
  size_t shapes_;
  std::vector<double> shares_;  // by device, then shape
};

}  // namespace streamscope::analysis
