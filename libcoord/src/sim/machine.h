// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Shared state of simulated devices with one clock: streams, events, memory, captures, graphs and
// the engine that runs their work. One lock guards everything.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "coord/backend.h"
#include "coord/event.h"
#include "coord/observer.h"
#include "coord/sim.h"
#include "sim/engine.h"
#include "sim/scheduler.h"

namespace coord::sim {

enum class StreamKind : std::uint32_t {
  kLegacy,
  kPerThread,
  kBlocking,
  kNonBlocking
};  // as the observer's

/// One lifetime of stream-ordered memory; use outside of it faults.
struct PoolBlock {
  bool live = false;
  bool freed = false;
};

struct StreamEntry {
  NativeStream handle = 0;
  StreamKind kind = StreamKind::kNonBlocking;
  std::uint32_t device = 0;
  std::int64_t last_call_ns = 0;  // end of the latest call on it, from any thread
  bool destroyed = false;
  std::uint64_t capture = 0;                  // 0: none
  std::vector<std::uint32_t> capture_tail{};  // nodes that the next one depends on
};

struct EventEntry {
  NativeEvent handle = 0;
  EventClass event_class{};
  std::uint32_t device = 0;
  std::uint64_t version = 0;      // records so far
  OpRef record;                   // the newest
  std::int64_t recorded_ns = -1;  // device time of the newest record, < 0 while pending
  std::int64_t last_call_ns = 0;
  bool destroyed = true;
  std::uint64_t capture = 0;  // of the newest record; 0: it was not captured
  std::vector<std::uint32_t> capture_tail{};
};

struct Range {
  void* address = nullptr;
  std::size_t bytes = 0;
  bool on_host = false;
  bool managed = false;        // also usable as host memory
  bool pages_on_host = false;  // of managed memory, after all earlier prefetches
  std::uint32_t device = 0;
  std::uint64_t trace_address = 0;     // what traces show: the same in every run
  std::shared_ptr<PoolBlock> block{};  // stream-ordered memory
  bool freed = false;                  // free_async was called
  OpRef freed_by{};
  std::uint32_t freed_in = 0;  // stream
};

struct GraphNode {
  OpSpec spec;
  std::string name;
  std::vector<std::uint32_t> after;
};
using GraphNodes = std::vector<GraphNode>;

struct Capture {
  CaptureMode mode{};
  std::uint64_t thread = 0;
  std::uint32_t origin = 0;
  std::uint32_t device = 0;
  bool invalid = false;
  std::vector<std::uint32_t> streams;
  GraphNodes nodes;
};

struct Executable {
  std::shared_ptr<const GraphNodes> nodes;
  OpRef last_end;
};

struct PendingInjection {
  Injection what;
  std::uint64_t seen = 0;
};

struct Machine {
  /// `scheduler` may be null; otherwise it must outlive the machine.
  Machine(const Config& machine_config, std::uint32_t devices, Scheduler* machine_scheduler);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Hooks of the profiler: none while orders are explored.
  [[nodiscard]] const coord_observer& hooks() const;

  std::uint32_t add_stream(std::uint32_t device, NativeStream handle, StreamKind kind, int priority,
                           std::string_view name, std::int64_t time_ns);
  void notify_stream(std::uint32_t stream, int priority, bool destroyed, std::int64_t time_ns);
  /// Throw kInvalidHandle.
  std::uint32_t find_stream(std::uint32_t device, NativeStream handle, const char* call);
  std::uint32_t find_event(NativeEvent handle, const char* call) const;

  [[nodiscard]] std::map<std::uintptr_t, Range>::const_iterator find_range(
      const void* address) const;
  [[nodiscard]] bool in_range(const void* address, std::size_t bytes, bool on_host) const;
  [[nodiscard]] std::uint64_t trace_address(const void* address) const;  // 0: not device memory
  /// The same; for host memory, its own address.
  [[nodiscard]] std::uint64_t observer_address(const void* address) const;

  /// Adds to `before` the operations of other streams that a call on `stream` must follow.
  void add_barrier(std::uint32_t stream, std::vector<OpRef>& before);
  /// Last operations of the streams that a query or synchronize of `stream` covers.
  [[nodiscard]] std::vector<OpRef> tails(std::uint32_t stream);
  [[nodiscard]] std::vector<OpRef> all_tails(std::uint32_t device) const;
  /// Whether all of them have ended.
  [[nodiscard]] bool ended(std::span<const OpRef> ops) const;
  /// Runs everything that happens until `time_ns`.
  void advance(std::int64_t time_ns);
  /// If anything waits for a value in memory, checks it before the host changes the value: a host
  /// store after `time_ns` must not release a wait before that time.
  void see_memory_until(std::int64_t time_ns);
  /// The injected error code for this call; 0 if none.
  int injected(const char* call);

  const Config config;
  Scheduler* const scheduler;
  std::mutex mutex;
  std::condition_variable submitted;  // wakes host waits that cannot be satisfied yet
  Engine engine;
  std::vector<std::uint32_t> contexts;  // by device: their numbers in traces

  std::deque<StreamEntry> streams;            // by engine stream; never reused
  std::vector<std::uint32_t> legacy_streams;  // by device
  std::unordered_map<NativeStream, std::uint32_t> stream_of_handle;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t>
      per_thread_streams;                        // by device and thread number
  std::vector<std::uint32_t> destroyed_streams;  // whose handles are not used again yet
  const std::uint64_t first_handle;  // all handles, and addresses in traces, are above it
  NativeStream next_stream_handle;
  std::vector<std::vector<std::uint32_t>> blocking_streams;  // by device
  std::deque<EventEntry> events;
  std::unordered_map<NativeEvent, std::uint32_t> event_of_handle;
  std::vector<std::uint32_t> free_events;
  std::map<std::uintptr_t, Range> memory;
  std::vector<void*> abandoned_memory;  // released while the devices were stuck
  std::vector<std::uint64_t> device_bytes_in_use;
  std::uint64_t next_trace_address;
  std::unordered_map<std::uint64_t, std::int64_t> host_clocks;  // by thread number

  std::uint64_t next_graph_id;  // shared by captures, graphs and executables
  std::map<std::uint64_t, Capture> captures;
  std::unordered_map<std::uint64_t, CaptureMode> capture_modes;  // by thread number
  std::unordered_map<NativeGraph, std::shared_ptr<const GraphNodes>> graphs;
  std::unordered_map<NativeExecutable, Executable> executables;
  std::unordered_map<std::uint64_t, std::int64_t> graph_begins_ns;  // of running launches

  std::vector<PendingInjection> injections;

 private:
  void on_ended(const Op& op);
  void notify_op(const Op& op, bool ended);
};

/// True while the calling thread runs work of a simulated device, which must not make calls.
bool inside_device() noexcept;

/// Marks the calling thread as such while the engine runs.
class InsideDevice {
 public:
  InsideDevice() noexcept;
  ~InsideDevice();
  InsideDevice(const InsideDevice&) = delete;
  InsideDevice& operator=(const InsideDevice&) = delete;
};

}  // namespace coord::sim
