// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A trace as the views need it: lanes with rows of intervals, dependencies of every op, names and
// facts of every item.
//
// Made once, on a worker, from a trace::Trace; immutable once shown. Data that grows with the trace
// is packed once the analyses are done. Views query it and keep no copies. The analysis defines
// what an edge is and how it is found; the theme defines how things look.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/delay/wait_groups.h"
#include "counters.h"
#include "insights.h"
#include "item.h"
#include "report/sections/info.h"
#include "timeline/timeline_layout.h"
#include "trace/reader.h"
#include "waits.h"

namespace streamscope::viewer {

/// What an item is, for colors, legends and sums.
enum class Category : uint8_t {
  kKernel = 0,
  kCopyToDevice,
  kCopyToHost,
  kCopyOnDevice,
  kMemset,
  kHostFunction,
  kMemoryWait,
  kMemoryWrite,
  kGraphLaunch,
  kLaunchCall,
  kCopyCall,
  kRecordCall,
  kWaitCall,
  kBlockingCall,
  kOtherCall,
  kRange,
  kOperation,
  kBarrier,
  kTask,
};
inline constexpr size_t kCategoryCount = 19;
std::string_view to_string(Category category);  // "kernel", "copy to device", ...

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
  kThread
};
enum class BandKind : uint8_t { kRanges, kCalls, kOps, kOperations, kGpuRanges, kCopies, kTasks };

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

/// An ordering edge between two ops, as the inspector shows it and the timeline draws it.
struct Dependency {
  trace::EdgeKind kind;
  Id from_op, to_op;
  Id record, wait;  ///< kNoId if the edge is not an event's
};

/// A group of libcoord operations: an operation that contains others.
struct OperationGroup {
  Id operation = kNoId;
  size_t members = 0;  ///< including those of nested groups
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

/// Thread-safe: all const.
class TraceModel {
 public:
  /// The ops of a sketch are cells of the pyramid (sketch.h), which have no names and cannot be
  /// selected. If there are more than `derive_up_to` ops and the trace has derived tables, they
  /// replace the analyses.
  explicit TraceModel(trace::Trace trace, bool is_sketch = false,
                      size_t derive_up_to = kDeriveUpTo);

  bool is_sketch() const { return is_sketch_; }
  /// Unique per model in the process, so that views know which one they prepared.
  uint64_t serial() const { return serial_; }
  /// Results of the analyses; empty for a sketch.
  const Insights& insights() const { return insights_; }

  /// The trace as read, without derived data.
  const trace::Trace& trace() const { return trace_; }
  /// From the first to the last known instant; never empty.
  TimeRange extent() const { return extent_; }
  /// From the first to the last work on a device; the extent if no device time is known.
  TimeRange work() const { return work_; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  /// What `streamscope info` reports about the trace: state, counts, losses. For a sketch, about
  /// what it contains.
  const report::Info& info() const { return info_; }
  /// Things drawn in lanes.
  size_t item_count() const { return item_count_; }
  /// True if any stream has a wait to show.
  bool has_waits() const { return has_waits_; }

  /// Where an item is drawn; nothing if its time or place is unknown.
  std::optional<Place> place(Item item) const;
  Item item_at(const Place& place) const;
  /// Lane of an item that has one, whether or not its time is known.
  std::optional<size_t> lane_of(Item item) const;
  /// Interval in which the item is drawn; for an op without device times, that of its call.
  std::optional<TimeRange> time(Item item) const;
  /// True if its start is known but not its end: a hang, or the end of the recording.
  bool never_ended(Item item) const;
  /// Ops that began and never ended.
  std::vector<Id> never_ended_ops() const;
  Category category(Item item) const;
  /// The categories that occur in the lanes.
  const std::array<bool, kCategoryCount>& present() const { return present_; }
  /// Short text for a bar: "gemm", "HtoD 4 MiB".
  std::string label(Item item) const;
  /// The same with the stream or thread it is on: "gemm on copies".
  std::string label_with_stream(Item item) const;
  /// Full name: demangled signature, API function, ...
  std::string name(Item item) const;
  /// Text of the trace, safe to show: no control characters and none that change text direction.
  std::string text(Id string) const;
  std::string stream_name(Id stream) const;
  std::string thread_name(Id thread) const;
  std::string event_name(Id event) const;

  /// Ops ordered before (after) `op` by an event, the host, a graph, ...; all except stream order.
  std::span<const uint32_t> incoming(Id op) const;  ///< indexes for dependency()
  std::span<const uint32_t> outgoing(Id op) const;
  const Dependency& dependency(uint32_t index) const { return dependencies_[index]; }
  size_t dependency_count() const { return dependencies_.size(); }
  /// Edges that the item takes part in: as an op at either end, a record, or a wait.
  std::vector<uint32_t> dependencies_of(Item item) const;
  /// How much later the op at the end of the edge started because of it; 0 if the awaited work was
  /// already done.
  Ns waited_ns(uint32_t dependency) const { return waited_ns_[dependency]; }
  /// Why an op started after its stream was free, in order of time; empty if it did not.
  std::vector<analysis::WaitPart> why_late(Id op) const { return why_late_.of(op); }
  /// Groups of similar waits, the longest first.
  const std::vector<analysis::WaitGroup>& wait_groups() const { return wait_groups_; }
  /// The single waits that `wait_groups` groups: the longest first, at most `count`; with a range,
  /// only waits of ops that began in it.
  std::vector<analysis::WaitPart> longest_waits(size_t count,
                                                std::optional<TimeRange> range = {}) const;

  /// The op's call on the host, or nothing.
  Item call_of(Id op) const;
  /// First op issued by a call, or kNoId.
  Id op_of(Item call) const;
  /// Name of an op's operation (libcoord), or kNoId.
  Id operation_of(Id op) const;
  /// Groups of libcoord operations, in order of registration.
  const std::vector<OperationGroup>& groups() const { return groups_; }
  /// True if the op belongs to an operation of the group, or of a group within it.
  bool is_in_group(Id op, Id group) const;
  /// The newest record of an event at an instant, or kNoId; only for events created while this was
  /// recorded.
  Id last_record(Id event, Ns at) const;

  Sums sums(TimeRange range) const;

  /// Which names contain a text, ignoring case; by string id. Empty for an empty text.
  std::vector<bool> names_with(std::string_view text) const;
  bool has_name(Item item, const std::vector<bool>& names) const;
  /// The first items in the lanes that have one of the names, by time; at most `limit`.
  std::vector<Item> items_with(const std::vector<bool>& names, size_t limit) const;

  /// How busy the devices are over time, for overviews: the mean number of concurrent kernels
  /// (copies) in each bucket of the extent.
  static constexpr size_t kActivityBuckets = 2048;
  struct Activity {
    std::vector<float> kernels, copies;
  };
  const Activity& activity() const { return activity_; }

  /// How full a pool was over time.
  struct PoolCurve {
    Counter in_use;
    Counter made;  ///< in use or free
  };
  /// In the order of Insights::pools; empty for a sketch.
  const std::vector<PoolCurve>& pool_curves() const { return pool_curves_; }

 private:
  void find_extent();
  void build();
  void link_ops();
  void analyze(size_t derive_up_to);
  void take_derived();
  void find_groups();
  void link_dependencies();
  void find_pool_holders();
  void make_lanes();
  void add_streams(Id process, int parent);
  void add_gpu_ranges(Id process, Id device, int parent);
  void add_copies(std::span<const Id> streams, int parent);
  void add_device_counters(std::span<const Id> streams, int parent);
  void measure_pools();
  void add_pools(Id process, int parent);
  void add_counter(Counter counter, std::string title, std::string detail, int parent);
  void add_operations(Id process, int parent);
  void link_tasks();
  void add_tasks(Id process, Id device, int parent);
  /// The worker, or on a GPU the multiprocessor, whose lane contains the task.
  trace::Small worker_of(Id task) const;
  void add_threads(Id process, int parent);
  void add_waits();
  void add_path();
  void measure_activity();
  void fill_stream(Lane& lane, std::span<const Id> ops);
  size_t add_lane(Lane lane);
  Id name_id(Item item) const;

  trace::Trace trace_;
  bool is_sketch_ = false;
  uint64_t serial_ = 0;
  Insights insights_;
  Activity activity_;
  std::vector<PoolCurve> pool_curves_;
  TimeRange extent_, work_;
  report::Info info_;
  std::vector<Lane> lanes_;
  size_t item_count_ = 0;
  bool has_waits_ = false;
  std::array<bool, kCategoryCount> present_{};
  std::vector<std::string> short_names_;  // by string id
  std::vector<Dependency> dependencies_;
  // By op, record or wait: the dependencies that it takes part in.
  struct Index {
    Packed<uint32_t> offsets;
    std::vector<uint32_t> rows;
    std::span<const uint32_t> of(Id key) const;
  };
  /// Groups `rows` rows by one of `keys` keys; a row may have none.
  template <class KeyOf>
  static Index index_by(size_t keys, size_t rows, KeyOf key_of);
  Index incoming_, outgoing_, by_record_, by_wait_;
  Index records_of_event_;     // event_records by time; empty unless events are counted
  std::vector<Ns> waited_ns_;  // by dependency
  WaitParts why_late_;
  std::vector<analysis::WaitGroup> wait_groups_;
  Packed<Id> operation_of_;  // by op
  std::vector<OperationGroup> groups_;
  std::vector<TimeRange> operation_span_;       // by operation, of its ops; unknown if it has none
  Packed<Id> op_of_call_;                       // by api_call
  std::vector<int> stream_lane_, thread_lane_;  // lane by id, -1 = none
  std::vector<int> operations_lane_;            // lane by process, -1 = none
  std::vector<Id> task_run_ops_;                // by task_run
  std::vector<std::vector<Id>> tasks_of_queue_;
  std::map<std::pair<Id, trace::Small>, size_t> task_lane_;  // by queue, and worker or SM
};

}  // namespace streamscope::viewer
