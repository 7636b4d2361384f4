// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The implementation of a StreamProfiler: stream_profiler.cpp times pieces of work,
// stream_profiler_report.cpp sums them up.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "coord/event_pool.h"
#include "coord/stream_profiler.h"
#include "device_state.h"

namespace coord {

/// Maps device events to one time axis, in ns, using marks recorded close to them: CUDA returns the
/// time between two events as milliseconds in 32-bit floating point, which is too coarse over
/// seconds. Thread-safe.
class DeviceAxis {
 public:
  struct Mark {
    PooledEvent event;
    std::shared_ptr<Mark> before;  // until `position_ns` is known
    std::optional<std::int64_t> position_ns;
  };

  DeviceAxis(const Device& device, EventPool& events);
  /// A recently recorded mark.
  [[nodiscard]] std::shared_ptr<Mark> recent_mark();
  /// Position of an event that the device has passed; empty until it has passed the mark.
  [[nodiscard]] std::optional<std::int64_t> position_ns(Mark& mark, EventRef event);
  /// Time between two records with nothing in between.
  [[nodiscard]] Nanoseconds empty() const noexcept { return empty_; }
  /// Event records made for the axis.
  [[nodiscard]] std::uint64_t records() const { return stream_.metrics().records; }

 private:
  [[nodiscard]] std::optional<std::int64_t> settle(Mark& mark);

  const Device device_;
  EventPool& events_;
  const Stream stream_;
  Nanoseconds empty_{0};
  std::mutex mutex_;
  std::shared_ptr<Mark> newest_;
  TimeNs marked_;
};

/// When a piece of work ran.
struct Interval {
  std::int64_t begin_ns, end_ns;
  bool copies, computes;
};

/// The newest intervals of all streams. Thread-safe.
class History {
 public:
  explicit History(std::size_t most) : most_(most) {}
  void add(const Interval& interval);
  [[nodiscard]] std::vector<Interval> all() const;

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::deque<Interval> intervals_;
};

/// A watched stream and the results of its work.
class WatchedStream final : public StreamMeter {
 public:
  WatchedStream(const StreamProfilerOptions& options, StreamRef stream, StreamState& state,
                EventPool& events, DeviceAxis& axis, History& history);
  ~WatchedStream() override { unwatch(); }

  [[nodiscard]] StreamId id() const noexcept { return stream_.id(); }
  [[nodiscard]] bool watched() const noexcept { return state_.meter.load() == this; }
  void watch();
  void unwatch() noexcept;

  void measure(const Work& work, const std::function<void()>& call) override;
  void begin_section();
  void end_section() noexcept;

  [[nodiscard]] StreamReport report();
  [[nodiscard]] std::uint64_t records() const noexcept { return records_.load(); }

 private:
  /// A section has no kind.
  using Kind = std::optional<WorkKind>;
  struct Timed {
    Kind kind;
    std::size_t bytes = 0;
    PooledEvent start, end;
    std::shared_ptr<DeviceAxis::Mark> mark;
  };

  [[nodiscard]] bool alive() const noexcept { return state_.id.load() == stream_.id().value; }
  [[nodiscard]] WorkTimes& times_of(Kind kind) {
    return kind.has_value() ? report_.work[static_cast<std::size_t>(*kind)] : report_.sections;
  }
  [[nodiscard]] std::optional<Timed> begin(Kind kind, std::size_t bytes);
  void end(std::optional<Timed>& timed);
  void record(EventRef event);
  void count(const Work& work);
  void collect();
  bool collect_one(const Timed& timed);

  const StreamProfilerOptions& options_;
  const StreamRef stream_;
  StreamState& state_;
  EventPool& events_;
  DeviceAxis& axis_;
  History& history_;
  // For calls on the stream:
  std::uint64_t number_ = 0;  // pieces
  std::uint64_t begun_ = 0;   // pieces to be timed
  std::uint64_t operations_before_ = 0;
  bool in_section_ = false;
  std::optional<Timed> section_;
  std::atomic<std::uint64_t> records_{0};

  std::mutex collecting_;  // held during device queries; taken before `mutex_`
  std::mutex mutex_;
  std::deque<Timed> pending_;
  StreamReport report_;  // its sums
  std::int64_t begin_ns_ = 0, end_ns_ = 0;
};

class StreamProfiler::Impl {
 public:
  Impl(const Device& device, const StreamProfilerOptions& options);

  void watch(StreamRef stream, StreamState& state);
  /// Throws kInvalidHandle if the stream was never watched.
  WatchedStream& find(StreamRef stream, const char* call);
  [[nodiscard]] ProfileReport report();

 private:
  const Device device_;
  const StreamProfilerOptions options_;
  EventPool events_;
  DeviceAxis axis_;
  History history_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<WatchedStream>> streams_;
};

}  // namespace coord
