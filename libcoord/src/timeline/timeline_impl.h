// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The implementation of a TimelineSignal. timeline.cpp is its public interface, with construction
// and destruction; the rest is in
//   timeline_signal.cpp  signals by the host and streams, and checks of what was reached
//   timeline_wait.cpp    waits of the host and streams
//   timeline_notify.cpp  reports to a profiler and the deadlock search
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "coord/event_pool.h"
#include "coord/observer.h"
#include "coord/timeline.h"
#include "coordinator/wait_graph.h"
#include "host/poller.h"
#include "observer.h"
#include "timeline_word.h"

namespace coord {

/// A word value that satisfies every 64-bit memory wait: they compare signed.
inline constexpr std::uint64_t kPoison = 0x7fff'ffff'ffff'ffff;

class TimelineSignal::Impl {
 public:
  Impl(std::optional<Device> device, const TimelineOptions& options);
  Impl(std::optional<Device> device, const std::string& share_name);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void signal(std::uint64_t value);
  void signal(StreamRef stream, std::uint64_t value);
  bool try_wait(std::uint64_t value);
  bool wait(std::uint64_t value, std::int64_t limit_ns);
  void wait(StreamRef stream, std::uint64_t value);
  void fail(const std::exception_ptr& error);
  std::string share_name() const;

  TimelineWord& word() noexcept { return *word_; }
  std::uint64_t signaled() const noexcept {
    return std::max(word_->completed.load(), word_->promised.load());
  }

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// A promised value: reached once its event, if it has one, and all earlier points are.
  struct Point {
    std::uint64_t value;
    EventRef event;
    StreamId stream;
    std::uint64_t order;
  };
  struct StreamWait {
    std::uint64_t value;
    StreamId stream;
    std::uint64_t order;
  };
  struct HostWait {
    std::uint64_t value;
    std::uint64_t thread;
  };

  void start(const EventPoolOptions& events);
  /// Reports an act of the stream, or else the calling thread, to a profiler. Without one it costs
  /// a branch.
  void notify(coord_timeline_act act, std::uint64_t value,
              const StreamRef* stream = nullptr) const {
    if (observer().timeline_act != nullptr) [[unlikely]]
      notify_act(act, value, stream);
  }
  void notify_act(coord_timeline_act act, std::uint64_t value, const StreamRef* stream) const;
  /// Of the device; 0 without one, and if the observer takes the time.
  [[nodiscard]] std::int64_t time_ns() const;
  void signal_in_order(std::uint64_t value);
  [[noreturn]] void refuse(std::uint64_t value, std::uint64_t signaled) const;
  bool block(std::uint64_t value, std::int64_t limit_ns);
  void map(int file);
  const Device& require_device(const char* call) const;
  void throw_failure();
  bool refresh();
  void reach(std::uint64_t value);
  void forget_passed();
  void open_gates();
  PollResult poll_once();
  void notify_waits(WaitGraph& graph);
  void note_failure(const std::exception_ptr& error);
  bool peer_is_gone() const;

  static std::uint64_t next_number() noexcept;

  const std::uint64_t number_ = next_number();
  std::string name_, share_name_;
  const bool imported_;
  TimelineWord* word_ = nullptr;
  bool mapped_ = false;
  std::atomic<std::uint64_t> signaled_here_{0};  // by the host; the word may be larger

  std::mutex mutex_;
  std::optional<Device> device_;
  std::unique_ptr<EventPool> events_;
  std::deque<Point> points_;  // by value, not reached yet
  HostBuffer<std::uint64_t> gate_;
  bool gate_used_ = false;
  std::vector<StreamWait> gates_;  // streams that wait for the word
  std::vector<StreamWait> waits_;  // streams that wait for events, until reached
  std::vector<HostWait> host_waits_;
  std::exception_ptr error_;
  std::unique_ptr<PollClient> poller_;
  std::unique_ptr<WaitGraphSource> source_;
};

}  // namespace coord
