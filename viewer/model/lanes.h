// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The lanes of a trace, from top to bottom, with rows of intervals, and where each item is in them.
// Packed; views query them and keep no copies. The theme defines how things look.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "counters.h"
#include "item_facts.h"
#include "timeline/timeline_layout.h"

namespace streamscope::viewer {

enum class LaneKind : uint8_t {
  kProcess,
  kDevice,
  kStream,
  kGpuRanges,  ///< NVTX ranges at the time the device did the work issued in them
  kCopies,     ///< copies of one direction on all streams: the work of a copy engine
  kCounter,    ///< a value over time
  kOperations,
  kTaskQueue,   ///< a libcoord queue; under a device if the device ran its tasks
  kTaskWorker,  ///< what ran the tasks: a multiprocessor or a host thread
  kHost,
  kThread,
  kSamples,  ///< what samples of the thread above it say
};
enum class BandKind : uint8_t {
  kRanges,
  kCalls,
  kOps,
  kOperations,
  kGpuRanges,
  kCopies,
  kTasks,
  kStates,    ///< whether a sampled thread ran
  kFunctions  ///< that it was in
};

/// True for lanes that contain only other lanes.
constexpr bool is_group(LaneKind kind) {
  return kind == LaneKind::kProcess || kind == LaneKind::kDevice || kind == LaneKind::kTaskQueue ||
         kind == LaneKind::kHost;
}

/// True for bands that repeat items of another lane.
constexpr bool is_repeated(BandKind kind) {
  return kind == BandKind::kGpuRanges || kind == BandKind::kCopies;
}

/// One row of a lane and what it contains.
struct Band {
  BandKind kind;
  Row row;
};

/// A horizontal strip of the timeline; lanes form a tree, listed in the order of display.
struct Lane {
  LaneKind kind;
  int depth = 0;            ///< in the tree
  int parent = -1;          ///< index of the lane above in the tree
  Id object = kNoId;        ///< process, device, stream, thread, task queue or worker
  std::string title;        ///< "copies", "GPU 0", ...
  std::string detail;       ///< "non-blocking, priority -1"
  double busy_share = -1;   ///< of the extent; negative if not applicable
  bool host_times = false;  ///< device times are unknown: ops are shown when the host issued them
  Counter counter;          ///< of a kCounter, which has no bands
  std::vector<Band> bands;  ///< top to bottom
  /// Event records and stream waits, as instants: on a stream when its work reaches them, on a
  /// thread when they are called.
  Row records, passed_waits;
  Row waits;  ///< streams: time spent waiting for events; item = the event_wait
  Row path;   ///< streams: ops on the critical path
};

struct Place {
  size_t lane = 0, band = 0, index = 0;
};

/// What a time range contains.
struct Sums {
  struct Entry {
    int64_t count = 0;
    Ns busy_ns = 0;
  };
  std::array<Entry, kCategoryCount> by_category;
  std::vector<std::pair<size_t, Entry>> by_stream;  ///< lane, ops
};

/// Made by LaneBuilder. Thread-safe: all const.
class LaneSet {
 public:
  bool empty() const { return lanes_.empty(); }
  size_t size() const { return lanes_.size(); }
  const Lane& operator[](size_t lane) const { return lanes_[lane]; }
  auto begin() const { return lanes_.begin(); }
  auto end() const { return lanes_.end(); }

  /// Lane of an item that has one, whether or not its time is known.
  std::optional<size_t> of(Item item) const;
  /// Where an item is drawn; nothing if its time or place is unknown.
  std::optional<Place> place(Item item) const;
  Item at(const Place& place) const;
  /// Short text for an item with the stream or thread it is on: "gemm on copies".
  std::string label_with_stream(Item item) const;

  /// True if any stream has a wait to show.
  bool has_waits() const { return has_waits_; }
  /// The categories that occur in the lanes.
  bool has(Category category) const { return present_[static_cast<size_t>(category)]; }
  Sums sums(TimeRange range) const;
  /// The first items in the lanes that have one of the names, by time; at most `limit`.
  std::vector<Item> items_with(const std::vector<bool>& names, size_t limit) const;

 private:
  friend class LaneBuilder;
  LaneSet(const trace::Trace& trace, const ItemFacts& items);
  /// The worker, or on a GPU the multiprocessor, whose lane contains the task.
  trace::Small worker_of(Id task) const;

  using ByObject = std::vector<std::optional<size_t>>;  // lanes by the id of their object

  const trace::Trace& trace_;
  const ItemFacts& items_;
  std::vector<Lane> lanes_;
  bool has_waits_ = false;
  std::array<bool, kCategoryCount> present_{};
  ByObject of_stream_, of_thread_, samples_of_thread_;
  ByObject operations_of_process_;
  std::map<std::pair<Id, trace::Small>, size_t> of_task_worker_;  // by queue, and worker or SM
};

}  // namespace streamscope::viewer
