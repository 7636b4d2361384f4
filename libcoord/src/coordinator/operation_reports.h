// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A Coordinator's reports of its operations to a profiler. Nothing here changes what they do.
#pragma once

#include <cstdint>
#include <vector>

#include "clock_table.h"
#include "coord/operation.h"
#include "device_state.h"
#include "nvtx.h"
#include "observer.h"
#include "operation_record.h"
#include "wait_set.h"

namespace coord {

/// Without a profiler each function costs a branch. All but enter() and leave() are called under
/// the Coordinator's lock.
class OperationReports {
 public:
  /// By any profiler.
  [[nodiscard]] bool listened() const noexcept { return listened_; }

  /// An operation that does not begin at once. The others are reported when they begin.
  void registered(OperationRecord& record) const {
    if (is_observed()) notify_registered(record);
  }
  void dependency(const OperationRecord& record, OperationHandle on, bool inferred) const;
  /// Stores for enter() why each dependency needs a wait or not, before `waits` become part of the
  /// stream's clock.
  void note_elisions(OperationRecord& record, const WaitSet& waits,
                     const ClockTable& clocks) const {
    if (listened_ && is_observed()) find_elisions(record, waits, clocks);
  }
  /// From here on, the thread's calls belong to the operation.
  void enter(OperationRecord& record) {
    if (!listened_) [[likely]]
      return;
    if (nvtx_) nvtx::push(record.name());
    if (is_observed()) notify_begun(record);
  }
  /// Returns to the enclosing operation, if there is one.
  void leave(const OperationRecord& record) const {
    if (!listened_) [[likely]]
      return;
    if (nvtx_) nvtx::pop();
    if (is_observed()) notify_left(record);
  }
  /// The end of a submission: reports its state, and what leave() reports.
  void submitted(const OperationRecord& record) {
    if (listened_) [[unlikely]]
      notify_end_of_submission(record);
  }
  void new_state(const OperationRecord& record) {
    if (listened_ && is_observed()) [[unlikely]]
      notify_new_state(record);
  }
  /// One of several that have completed: all_completed() reports them together.
  void completed(const OperationRecord& record) {
    if (!listened_) [[likely]]
      return;
    if (completed_device_ != record.device) [[unlikely]]
      return notify_first_completed(record);
    completed_ids_.push_back(static_cast<std::uint32_t>(record.id.load(std::memory_order_relaxed)));
    completed_stamp_ = record.ended;
  }
  /// Call after the last of several operation ends.
  void all_completed() {
    if (completed_device_ != nullptr) [[unlikely]]
      notify_all_completed();
  }

 private:
  void notify_registered(OperationRecord& record) const;
  static void find_elisions(OperationRecord& record, const WaitSet& waits,
                            const ClockTable& clocks);
  void notify_begun(OperationRecord& record);
  void notify_begun_at_length(OperationRecord& record);
  void notify_announced_begun(OperationRecord& record);
  void notify_left(const OperationRecord& record) const;
  void notify_end_of_submission(const OperationRecord& record);
  void notify_new_state(const OperationRecord& record);
  void notify_first_completed(const OperationRecord& record);
  void notify_all_completed();

  std::vector<std::uint32_t> completed_ids_;       // about to be reported, all of one device
  const DeviceState* completed_device_ = nullptr;  // theirs; null if there are none
  std::uint64_t completed_stamp_ = 0;
  // Operations are NVTX ranges, for profilers without libcoord support.
  const bool nvtx_ = nvtx::listening() && !is_observed();
  const bool listened_ = nvtx_ || is_observed();
};

}  // namespace coord
