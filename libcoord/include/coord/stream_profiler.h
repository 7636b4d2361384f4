// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Times the work of streams by the device's clock: two events around each piece of work of a
// watched stream time it; times are summed by stream and kind. Needs no annotations and no CUPTI.
//
// It sees work that libcoord calls enqueue; the program's own launches and library calls are timed
// if a Section encloses them. Captured work is not timed: the profiler adds nothing to graphs. To
// analyze a whole program and its waits, record it with streamscope instead. A piece's time begins
// when its stream is ready for it: waiting for a copy engine is part of it. A timed piece costs the
// host two records (about 2 us) and its stream about 4 us on the device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coord/device.h"
#include "coord/export.h"
#include "coord/stream.h"
#include "coord/types.h"

namespace coord {

struct StreamProfilerOptions {
  /// One in this many pieces of work of each stream is timed.
  std::uint32_t time_one_in = 1;
  /// Number of newest pieces kept with their times, to compute overlap between streams.
  std::size_t history = 1 << 16;
};

/// Pieces of work of one kind.
struct WorkTimes {
  std::uint64_t count = 0;  // given
  std::uint64_t bytes = 0;  // moved or set by them
  std::uint64_t timed = 0;  // timed pieces that have ended
  std::uint64_t timed_bytes = 0;
  Nanoseconds total{0}, shortest{0}, longest{0};  // of the timed pieces

  [[nodiscard]] Nanoseconds average() const noexcept {
    return timed == 0 ? Nanoseconds(0) : total / static_cast<std::int64_t>(timed);
  }
  /// 0 if nothing was moved.
  [[nodiscard]] double bytes_per_s() const noexcept {
    return total.count() == 0
               ? 0.0
               : 1e9 * static_cast<double>(timed_bytes) / static_cast<double>(total.count());
  }
};

/// What a stream has done since watching began.
struct StreamReport {
  StreamId stream;
  std::string name;
  int priority = 0;
  std::array<WorkTimes, kWorkKinds> work;  // by WorkKind
  WorkTimes sections;
  std::uint64_t operations = 0;
  /// All timed pieces, including sections.
  std::uint64_t timed = 0;
  Nanoseconds average_latency{0};  // from when its stream was ready to its end
  Nanoseconds busy{0};             // estimated from the timed pieces if not all are
  Nanoseconds span{0};             // from the start of the first timed piece to the end of the last
  std::size_t peak_memory_bytes = 0;
  /// Copies from or to pageable host memory, which are staged and may block the host.
  std::uint64_t pageable_copies = 0, pageable_bytes = 0;

  [[nodiscard]] const WorkTimes& of(WorkKind kind) const noexcept {
    return work[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] double utilization() const noexcept {
    return span.count() == 0
               ? 0.0
               : static_cast<double>(busy.count()) / static_cast<double>(span.count());
  }
};

/// All watched streams together. The times cover the pieces in the history.
struct ProfileReport {
  std::vector<StreamReport> streams;
  Nanoseconds span{0};        // from the start of the first piece to the end of the last
  Nanoseconds busy{0};        // some stream had work running
  Nanoseconds copying{0};     // a copy or prefetch was running, or waiting for an engine
  Nanoseconds overlapped{0};  // of that, during a kernel, graph or section of another stream
  double concurrency = 0;     // average number of streams with running work, while there is any
  std::uint64_t records = 0;  // event records made by the profiler so far

  /// A human-readable table.
  [[nodiscard]] COORD_EXPORT std::string text() const;
};

/// Thread-safe; but watching a stream, unwatching it and destroying the profiler count as calls on
/// the streams. Keeps its device open.
class COORD_EXPORT StreamProfiler {
 public:
  /// Measures the overhead of timing itself, to subtract it: a few records and one synchronization.
  explicit StreamProfiler(const Device& device, const StreamProfilerOptions& options = {});
  /// Ends all watching.
  ~StreamProfiler();
  StreamProfiler(const StreamProfiler&) = delete;
  StreamProfiler& operator=(const StreamProfiler&) = delete;

  /// Times later work of the stream. Throws kInvalidHandle if it belongs to another device,
  /// kNotPermitted if a profiler watches it already.
  void watch(StreamRef stream);
  /// Stops timing the stream; its results stay in the report. Throws kInvalidHandle if it is not
  /// watched.
  void unwatch(StreamRef stream);

  /// While it lives, all work enqueued on the stream, by any code, is one timed piece.
  /// Thread-compatible; ends before the profiler does.
  class COORD_EXPORT Section {
   public:
    ~Section();
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

   private:
    friend class StreamProfiler;
    explicit Section(void* watched);
    void* watched_;
  };
  /// Throws kInvalidHandle if the stream is not watched, kNotPermitted if it is in a section.
  [[nodiscard]] Section section(StreamRef stream);

  /// Results for work that has ended. Queries the device for the newest timed pieces; never blocks.
  /// Throws the device's error if it failed.
  [[nodiscard]] StreamReport report(StreamRef stream);
  [[nodiscard]] ProfileReport report();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coord
