// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Virtual time of one simulated device: which work runs when.
//
// The engine knows operations, their order and the resources they need; it knows nothing of calls,
// handles, costs on the host or observers (sim_backend.h does). An operation becomes ready when the
// one before it in its stream and all others it waits for have ended; it starts when its resource
// is free. Everything is decided by (time, order of submission), so equal programs give equal runs.
//
// Thread-compatible: sim_backend.h holds the lock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "coord/sim.h"

namespace coord::sim {

enum class OpKind : std::uint8_t {
  kKernel,
  kCopyToDevice,
  kCopyToHost,
  kCopyInDevice,
  kMemset,
  kHostFunction,
  kMemoryWait,
  kMemoryWrite,
  kRecord,  // marks a point; takes no time
  kWait,    // waits for operations of other streams; takes no time
};

/// Names an operation, also after it has ended and its slot has been used again.
struct OpRef {
  std::uint32_t slot = 0;
  std::uint64_t serial = 0;  // 0: no operation
};

/// What a submitter says about an operation.
struct OpSpec {
  OpKind kind = OpKind::kKernel;
  std::uint32_t stream = 0;
  std::int64_t earliest_ns = 0;  // when it can have reached the device
  std::int64_t duration_ns = 0;
  std::uint32_t blocks = 1;  // kernels
  std::uint32_t correlation_id = 0;
  std::uint64_t bytes = 0;
  std::uint32_t memory_kinds = 0;
  std::string_view name{};
  std::uint64_t* address = nullptr;  // memory waits and writes
  std::uint64_t value = 0;
  std::uint32_t event = 0;  // records: whose, and which of its records
  std::uint64_t version = 0;
  std::function<void()> work{};  // run when the operation starts
};

struct Op : OpSpec {
  std::uint64_t serial = 0;
  std::uint32_t unmet = 0;  // operations that must end first
  std::int64_t ready_ns = 0;
  std::int64_t begin_ns = -1;
  std::int64_t end_ns = -1;
  std::uint32_t next_in_stream = 0;       // Engine::kNoSlot if last
  std::vector<std::uint32_t> successors;  // in other streams
};

class Engine {
 public:
  /// `ended` is told each operation that has ended, in order of their ends.
  Engine(const Config& config, std::function<void(const Op&)> ended);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Streams are numbered from 0 and never reused.
  std::uint32_t add_stream(int priority, std::string_view name);
  [[nodiscard]] std::string_view stream_name(std::uint32_t stream) const {
    return streams_[stream].name;
  }
  /// The stream's last operation.
  [[nodiscard]] OpRef tail(std::uint32_t stream) const { return streams_[stream].tail; }

  /// Appends an operation to its stream; it also waits for `after`.
  OpRef submit(OpSpec spec, std::span<const OpRef> after);

  [[nodiscard]] bool done(OpRef op) const {
    return op.serial == 0 || ops_[op.slot].serial != op.serial;
  }
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }
  /// Counts everything that happened; unchanged means that nothing did.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint32_t pending_memory_waits() const { return pending_memory_waits_; }
  /// Why the device failed; empty while it is well. A failed device has dropped all its work.
  [[nodiscard]] const std::string& failure() const { return failure_; }

  /// Lets everything happen that happens until `until_ns`.
  void advance(std::int64_t until_ns);
  /// Advances until `op` has ended. False if it cannot: nothing more would ever happen.
  bool run_until(OpRef op);
  /// Lets memory waits go on whose value a host thread has stored meanwhile.
  void recheck_memory();

  /// For a device on which nothing more can happen: each stream with what its first operation waits
  /// for, and the cycle among them if there is one.
  [[nodiscard]] std::string explain_stuck() const;
  /// Calls `function` with each operation that has not ended, by stream.
  void for_each_pending(const std::function<void(const Op&)>& function) const;

 private:
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

  struct Stream {
    std::string name;
    int priority = 0;
    OpRef tail;
    std::uint32_t head = kNoSlot;  // first that has not ended
  };
  enum class Happening : std::uint8_t { kReady, kEnd };
  struct Event {
    std::int64_t time_ns;
    std::uint64_t order;
    std::uint32_t slot;
    Happening what;
    bool operator>(const Event& other) const {
      return std::tie(time_ns, order) > std::tie(other.time_ns, other.order);
    }
  };
  /// Waits of a stuck device: stream -> streams that must go on first, with the reason in words.
  struct Blocked {
    std::uint32_t stream;
    std::string reason;
    std::vector<std::uint32_t> waits_for;
  };

  void schedule(std::int64_t time_ns, std::uint32_t slot, Happening what);
  void step();
  void make_ready(std::uint32_t slot);
  void start(std::uint32_t slot);
  void finish(std::uint32_t slot);
  void satisfy(std::uint32_t slot);
  void start_waiting_kernels();
  void fail(const std::string& why);
  [[nodiscard]] std::string_view keep(std::string_view name);
  [[nodiscard]] std::int64_t gap_before(OpKind kind) const;
  [[nodiscard]] std::int64_t jittered(std::int64_t duration_ns);
  [[nodiscard]] std::vector<Blocked> blocked_streams() const;

  const Calibration calibration_;
  const std::uint32_t sm_count_, concurrent_kernels_, copy_engines_per_direction_;
  const double jitter_;
  std::uint64_t random_state_;
  std::function<void(const Op&)> ended_;

  std::int64_t now_ns_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t next_serial_ = 1;
  std::uint64_t next_order_ = 0;
  std::string failure_;
  std::uint32_t pending_memory_waits_ = 0;

  std::deque<Op> ops_;
  std::vector<std::uint32_t> free_ops_;
  std::deque<Stream> streams_;
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_set<std::string, TextHash, std::equal_to<>>
      names_;  // texts outlive their submitters here
  std::priority_queue<Event, std::vector<Event>, std::greater<>> happenings_;

  // Resources: what is in use, and who waits for it.
  std::uint32_t sms_in_use_ = 0, kernels_running_ = 0;
  std::set<std::tuple<int, std::uint64_t, std::uint32_t>>
      waiting_kernels_;  // priority, arrival, slot
  struct Fifo {
    std::uint32_t in_use = 0;
    std::deque<std::uint32_t> waiting;
  };
  Fifo to_device_, to_host_, host_executor_;
  Fifo* fifo_of(OpKind kind);
  [[nodiscard]] std::uint32_t fifo_capacity(OpKind kind) const;
  std::vector<std::uint32_t> open_memory_waits_;  // started, value not reached
};

}  // namespace coord::sim
