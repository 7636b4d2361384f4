// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which work runs when, on the simulated devices that share one virtual clock.
//
// The engine handles operations, their order and the resources they need; sim_backend.h handles
// calls, handles, host costs and observers. An operation becomes ready when the previous one in its
// stream and all others it waits for have ended; it starts when its resource is free. Everything is
// decided by (time, order of submission), so equal programs give equal runs.
//
// A controlled engine has no clock: it offers the operations that can run next, and its driver
// chooses (explore.cpp).
//
// Thread-compatible: machine.h holds the lock.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "coord/sim.h"

namespace coord::sim {

enum class OpKind : std::uint8_t {
  kKernel,
  kCopyToDevice,
  kCopyToHost,
  kCopyInDevice,
  kCopyPeer,
  kMemset,
  kHostFunction,
  kMemoryWait,
  kMemoryWrite,
  // The rest are marks in a stream: they take no time and no resource.
  kRecord,
  kWait,      // for operations of other streams
  kAllocate,  // stream-ordered memory is valid from here on
  kFree,
  kGraphBegin,
  kGraphEnd,
};

/// Text for messages.
[[nodiscard]] const char* describe(OpKind kind) noexcept;

/// Identifies an operation, even after it has ended and its slot was reused.
struct OpRef {
  std::uint32_t slot = 0;
  std::uint64_t serial = 0;  // 0: no operation
};

/// Memory that an operation accesses, for race detection.
struct Access {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  bool writes = false;
};

/// A submitter's description of an operation.
struct OpSpec {
  OpKind kind = OpKind::kKernel;
  bool timed = false;      // a record with timing
  bool in_graph = false;   // ordered only by what it waits for, not by its stream
  bool computes = false;   // runs code of the program, which may access any memory
  bool fills_bus = false;  // a copy to or from the host limited only by the bus
  int priority = 0;        // kernels; lower is more urgent
  std::uint32_t stream = 0;
  std::int64_t called_ns = 0;     // entry of the call
  std::int64_t earliest_ns = 0;   // earliest arrival at the device
  std::int64_t duration_ns = 0;   // of a kernel: of each of its blocks
  std::uint32_t blocks = 1;       // kernels
  std::uint32_t block_units = 1;  // share of each block in a multiprocessor's kUnitsPerSm
  std::uint32_t correlation_id = 0;
  std::uint32_t memory_kinds = 0;
  std::uint64_t bytes = 0;
  std::string_view name{};
  std::uint64_t* address = nullptr;  // memory waits and writes, kernels that spin
  std::uint64_t value = 0;
  std::uint32_t event = 0;  // records: which event, and which of its records
  std::uint64_t version = 0;
  std::function<void()> work{};    // run when the operation starts
  std::vector<Access> accesses{};  // filled for controlled engines, and for an observer
};

struct Op : OpSpec {
  std::uint64_t serial = 0;
  std::uint32_t unmet = 0;  // operations that must end first
  std::uint32_t blocks_left = 0, blocks_running = 0;
  std::uint32_t channel = 0;
  bool ready = false;  // no unmet dependency and the launch has arrived
  std::int64_t ready_ns = 0;
  std::int64_t begin_ns = -1;
  std::int64_t end_ns = -1;
  std::uint64_t awaited = 0;  // waits: serial of the record
  // The last work that it is or represents.
  std::int64_t work_end_ns = -1;
  std::uint32_t work_correlation_id = 0;
  std::int64_t reached_ns = -1;
  std::vector<OpHistory::Hold> holds;     // only if its history is needed
  std::uint32_t next_in_stream = 0;       // Engine::kNoSlot if last
  std::vector<std::uint32_t> successors;  // in other streams
};

/// Thrown by an operation to fail its device with a CUDA code.
struct DeviceFault : std::runtime_error {
  DeviceFault(int fault_code, const std::string& why) : runtime_error(why), code(fault_code) {}
  int code;
};

class Engine {
 public:
  static constexpr std::uint32_t kUnitsPerSm = 16;

  /// All `devices` devices are configured by `config`. `ended` is called for each ended operation,
  /// in order of end times.
  Engine(const Config& config, std::uint32_t devices, bool controlled,
         std::function<void(const Op&)> ended);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Streams are numbered from 0 and never reused.
  std::uint32_t add_stream(std::uint32_t device, int priority, std::string_view name);
  [[nodiscard]] std::string_view stream_name(std::uint32_t stream) const {
    return streams_[stream].name;
  }
  [[nodiscard]] int stream_priority(std::uint32_t stream) const {
    return streams_[stream].priority;
  }
  /// The stream's last operation.
  [[nodiscard]] OpRef tail(std::uint32_t stream) const { return streams_[stream].tail; }
  /// Operations in the stream that have not ended; marks do not count.
  [[nodiscard]] std::uint32_t depth(std::uint32_t stream) const { return streams_[stream].depth; }

  /// Appends an operation to its stream; it also waits for `after`.
  OpRef submit(OpSpec spec, std::span<const OpRef> after);

  [[nodiscard]] bool done(OpRef op) const {
    return op.serial == 0 || ops_[op.slot].serial != op.serial;
  }
  [[nodiscard]] const Op& op(std::uint32_t slot) const { return ops_[slot]; }
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }
  /// Counts all events; unchanged means that nothing happened.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Memory waits and spinning kernels that have not ended.
  [[nodiscard]] std::uint32_t pending_memory_waits() const { return pending_memory_waits_; }
  /// Why the devices failed; empty if they have not. Failed devices have dropped all their work.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] int failure_code() const { return failure_code_; }
  void fail(int code, const std::string& why);

  /// Runs everything that happens until `until_ns`. No effect if controlled.
  void advance(std::int64_t until_ns);
  /// Advances until `op` has ended. False if it can never end. Not for controlled engines.
  bool run_until(OpRef op);
  /// Advances by one step; false if there is none.
  bool run_step();
  /// Releases memory waits whose value a host thread has stored meanwhile.
  void recheck_memory();

  /// Controlled engines: slots of the operations that can run, except perhaps for a value in memory
  /// or a resource.
  [[nodiscard]] const std::vector<std::uint32_t>& ready() const { return ready_; }
  [[nodiscard]] bool can_perform(std::uint32_t slot) const;
  /// Whether it would start to spin without ending.
  [[nodiscard]] bool would_spin(std::uint32_t slot) const;
  /// Performs one of them.
  void perform(std::uint32_t slot);
  /// The two halves of perform() for a host function, whose work the caller runs between them.
  void begin_host_function(std::uint32_t slot);
  void end_host_function(std::uint32_t slot);

  /// For devices on which nothing more can happen: what the first operation of each stream waits
  /// for, and the cycle among them if there is one.
  [[nodiscard]] std::string explain_stuck() const;
  /// Slots of the operations that have not ended, by stream and order.
  [[nodiscard]] std::vector<std::uint32_t> pending() const;
  [[nodiscard]] std::uint32_t device_of(std::uint32_t stream) const {
    return streams_[stream].device;
  }

 private:
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
  static constexpr std::uint32_t kNoChannel = ~std::uint32_t{0};

  struct Stream {
    std::string name;
    std::uint32_t device = 0;
    int priority = 0;
    OpRef tail;
    std::uint32_t depth = 0;
    std::uint32_t channel = kNoChannel;  // queue of its operations that have not reached the device
    std::uint32_t in_channel = 0;        // how many are in the queue
  };
  enum class Happening : std::uint8_t { kReady, kArrive, kEnd };
  struct Event {
    std::int64_t time_ns;
    std::uint64_t order;
    std::uint32_t slot;
    std::uint32_t blocks;  // kEnd of some of a kernel's blocks
    Happening what;
    auto operator<=>(const Event&) const = default;  // by time and order
  };
  struct Fifo {
    std::uint32_t capacity = 1;
    std::uint32_t in_use = 0;
    std::deque<std::uint32_t> waiting;
  };
  struct WaitingKernel {
    int priority;
    std::uint64_t order;
    std::uint32_t slot;
    auto operator<=>(const WaitingKernel&) const = default;  // by priority and order
  };
  struct Device {
    std::uint32_t units_in_use = 0, kernels_running = 0;
    std::priority_queue<WaitingKernel, std::vector<WaitingKernel>, std::greater<>> waiting_kernels;
    /// Grids, memory writes and timestamps pass the front end one at a time.
    std::int64_t front_end_free_ns = 0;
    /// The hardware queues: operations that have been submitted and are not ready yet, in order. A
    /// queue whose first operation is not ready blocks those behind it.
    std::vector<std::deque<std::uint32_t>> channels;
    std::uint32_t last_channel = 0;
    /// By OpKind: of each kind of copy, and of host functions.
    std::array<Fifo, static_cast<std::size_t>(OpKind::kHostFunction) + 1> fifos;
    Fifo& fifo(OpKind kind) { return fifos[static_cast<std::size_t>(kind)]; }
  };
  struct Spinning {
    std::uint32_t slot;
    std::uint32_t blocks;
  };
  /// Waits of a stuck device: stream -> streams that must proceed first, with the reason as text.
  struct Blocked {
    std::uint32_t stream;
    std::string reason;
    std::vector<std::uint32_t> waits_for;
  };

  void schedule(std::int64_t time_ns, std::uint32_t slot, Happening what, std::uint32_t blocks = 0);
  void step();
  void run_marks();
  void make_ready(std::uint32_t slot);
  void reach_device(std::uint32_t slot);
  void begin(std::uint32_t slot);
  void start(std::uint32_t slot);
  void end_blocks(std::uint32_t slot, std::uint32_t blocks);
  void finish(std::uint32_t slot);
  void satisfy(std::uint32_t slot, const Op& by);
  void notify_history(const Op& op) const;
  void start_waiting_kernels(Device& device);
  /// Whether it takes a slot in a hardware queue. Graph nodes do not.
  [[nodiscard]] static bool queues(const Op& op);
  void take_channel(std::uint32_t slot);
  Device& device_for(const Op& op) { return devices_[streams_[op.stream].device]; }
  [[nodiscard]] const Device& device_for(const Op& op) const {
    return devices_[streams_[op.stream].device];
  }
  Fifo* fifo_of(const Op& op);
  [[nodiscard]] std::int64_t pass_front_end(Device& device, std::int64_t cost_ns);
  void share_bus(Op& op);
  [[nodiscard]] std::string_view keep(std::string_view name);
  [[nodiscard]] std::int64_t gap_before(const Op& op) const;
  [[nodiscard]] std::int64_t jittered(std::int64_t duration_ns);
  [[nodiscard]] std::vector<Blocked> blocked_streams() const;

  const Calibration calibration_;
  const std::uint32_t sm_units_, concurrent_kernels_;
  const double jitter_;
  const bool controlled_;
  std::uint64_t random_state_;
  std::function<void(const Op&)> ended_;
  const std::function<void(const OpHistory&)> notify_history_;

  std::int64_t now_ns_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t next_serial_ = 1;
  std::uint64_t next_order_ = 0;
  std::string failure_;
  int failure_code_ = 0;
  std::uint32_t pending_memory_waits_ = 0;

  std::deque<Op> ops_;
  std::vector<std::uint32_t> free_ops_;
  std::deque<Stream> streams_;
  std::vector<Device> devices_;
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_set<std::string, TextHash, std::equal_to<>>
      names_;  // keeps texts alive after their submitters end
  std::string_view last_name_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> happenings_;
  std::vector<std::uint32_t> marks_;              // ready now, in order
  std::vector<std::uint32_t> open_memory_waits_;  // started, value not reached
  std::vector<Spinning> spinning_;                // the same for kernels, with their blocks
  std::vector<std::uint32_t> ready_;              // controlled only
};

}  // namespace coord::sim
