// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What is known about each item of a trace: its time, kind and names, and what it belongs to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host_frames.h"
#include "item.h"
#include "timeline/timeline_layout.h"
#include "trace/packed.h"

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
  kPythonFunction,  ///< in samples of a thread, as all below
  kNativeFunction,
  kRuns,
  kWaits,
  kWaitsForLock,
};
inline constexpr size_t kCategoryCount = 24;
std::string_view to_string(Category category);  // "kernel", "copy to device", ...

/// A group of libcoord operations: an operation that contains others.
struct OperationGroup {
  Id operation = kNoId;
  size_t members = 0;  ///< including those of nested groups
};

/// Ops that began and never ended.
std::vector<Id> never_ended_ops(const trace::Trace& trace);

/// Of a trace that outlives it. Thread-safe: all const.
class ItemFacts {
 public:
  /// What never ended lasts until `end_ns`. `usual` is where the program does what it is for: the
  /// rows of functions are made for it.
  ItemFacts(const trace::Trace& trace, Ns end_ns, TimeRange usual);

  /// Interval in which the item is drawn; for an op without device times, that of its call.
  std::optional<TimeRange> time(Item item) const;
  /// True if its start is known but not its end: a hang, or the end of the recording.
  bool never_ended(Item item) const;
  Category category(Item item) const;
  /// Short text for a bar: "gemm", "HtoD 4 MiB".
  std::string label(Item item) const;
  /// Full name: demangled signature, API function, ...
  std::string name(Item item) const;
  /// Text of the trace, safe to show: no control characters and none that change text direction.
  std::string text(Id string) const;
  std::string stream_name(Id stream) const;
  std::string thread_name(Id thread) const;
  std::string event_name(Id event) const;

  /// What samples of threads say.
  const HostFrames& host_frames() const { return host_frames_; }

  /// The op's call on the host, or nothing.
  Item call_of(Id op) const;
  /// First op issued by a call, or kNoId.
  Id op_of(Item call) const;
  /// The op that ran a task on a device, or kNoId.
  Id op_of_task(Id task) const;
  /// Name of an op's operation (libcoord), or kNoId.
  Id operation_of(Id op) const { return operation_of_[op]; }
  /// Groups of libcoord operations, in order of registration.
  const std::vector<OperationGroup>& groups() const { return groups_; }
  /// True if the op belongs to an operation of the group, or of a group within it.
  bool is_in_group(Id op, Id group) const;

  /// Which names contain a text, ignoring case; by string id. Empty for an empty text.
  std::vector<bool> names_with(std::string_view text) const;
  bool has_name(Item item, const std::vector<bool>& names) const;

 private:
  void link_ops();
  void find_groups();
  Id name_id(Item item) const;
  Category category_of_samples(Id run) const;

  const trace::Trace& trace_;
  Ns end_ns_;
  HostFrames host_frames_;
  std::vector<std::string> short_names_;   // by string id
  Packed<Id> op_of_call_;                  // by api_call
  Packed<Id> operation_of_;                // by op
  std::vector<TimeRange> operation_span_;  // by operation, of its ops; unknown if it has none
  std::vector<OperationGroup> groups_;
  std::vector<Id> task_run_ops_;  // by task_run
};

}  // namespace streamscope::viewer
