// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Settings of the simulated device. For running a program in every order, see explore.h.
//
// A simulated device runs the same programs as a GPU, in virtual time: each call costs its host
// thread some virtual nanoseconds, each piece of work takes device time, and computed results are
// real. Time advances only inside calls: a host that polls memory without calling anything waits
// forever. With one host thread, a run is a function of the program and the Config; several host
// threads have their own virtual clocks, and the real machine decides which of them calls first.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coord/device.h"
#include "coord/export.h"
#include "coord/types.h"

namespace coord::sim {

/// Costs of calls and work. Nanoseconds unless the name says otherwise; calibration.cpp holds the
/// figures of an H200 with their sources.
struct Calibration {
  // Host side: time the calling thread spends.
  std::int64_t stream_create_ns, stream_destroy_ns, stream_query_ns;
  std::int64_t event_create_ns, event_destroy_ns, event_query_ns, event_elapsed_ns;
  std::int64_t record_ns, record_timing_ns, wait_ns;
  std::int64_t launch_ns, copy_ns, memset_ns, host_function_ns, write_value_ns, wait_value_ns;
  std::int64_t allocate_ns, release_ns, allocate_async_ns, free_async_ns;
  std::int64_t capture_ns;  // beginning or ending one
  std::int64_t graph_instantiate_ns, graph_instantiate_node_ns;
  std::int64_t graph_launch_ns, graph_launch_node_ns;
  std::int64_t synchronize_idle_ns;     // a synchronize that finds all work completed
  std::int64_t wake_spinning_ns;        // end of the work -> return of a spinning synchronize
  std::int64_t wake_blocking_ns;        // the same for events of class kBlockingSync
  std::int64_t pageable_bytes_per_us;   // copying into the staging buffer of a pageable copy
  std::int64_t pageable_staging_bytes;  // larger pageable copies to the device block the host

  // Device side.
  std::int64_t launch_latency_ns;     // entry of a call -> start of its work on an idle device
  std::int64_t successor_gap_ns;      // end of work -> start of work that waited for it
  std::int64_t graph_gap_ns;          // the same between nodes of a graph
  std::int64_t record_timing_gpu_ns;  // cost of a record with timing to its stream
  std::int64_t write_value_gpu_ns;
  // Time for which these keep the device from starting other work, in any stream.
  std::int64_t kernel_dispatch_ns, record_timing_dispatch_ns, write_value_dispatch_ns;
  std::int64_t memory_wait_release_ns;   // store -> the waiting stream resumes
  std::int64_t host_function_start_ns;   // ready -> the executor runs it
  std::int64_t host_function_return_ns;  // it returns -> the stream resumes
  std::int64_t copy_fixed_ns;            // added to bytes / bandwidth
  std::int64_t host_to_device_bytes_per_us, device_to_host_bytes_per_us, device_bytes_per_us,
      memset_bytes_per_us, peer_bytes_per_us;
  std::int64_t both_ways_percent;  // percent of the bandwidth to or from the host while both
                                   // directions are in use
  std::int64_t pageable_copy_bytes_per_us;  // bandwidth of copies that are staged
};

/// Figures of an H200.
[[nodiscard]] COORD_EXPORT const Calibration& h200() noexcept;

/// Makes a call fail: the `nth` (from 1) call with that name, or of all calls if the name is "*",
/// throws CUDA's error `code` and has no effect. Codes 700 to 721 permanently fail the device.
struct Injection {
  std::string call;  // as in traces: "simEventRecord"
  std::uint64_t nth = 1;
  int code = 999;
};

/// What an operation had to wait for, as the device knows it: the reference for tests of analyses
/// that see only a trace. Event records and waits are operations here, too.
struct OpHistory {
  struct Hold {
    bool event = false;          // a record waited for; else the legacy stream
    std::uint32_t by = 0;        // correlation id of the last work it covers; 0: none
    std::int64_t until_ns = -1;  // when that work ended
  };
  std::uint32_t correlation_id = 0;
  std::uint32_t stream = 0;     // as traces number them
  const char* kind = "";        // "kernel", "event wait", ...
  bool is_work = false;         // takes time on the device; records, waits and memory waits do not
  std::int64_t called_ns = 0;   // entry of the call
  std::int64_t reached_ns = 0;  // ready, except for capacity on the device or a free engine
  std::int64_t begin_ns = 0, end_ns = 0;
  std::vector<Hold> holds;  // waits for other streams
};

struct Config {
  std::string name = "Simulated H200";
  /// With `jitter` > 0, work takes up to that fraction longer, drawn from `seed`.
  std::uint64_t seed = 0;
  double jitter = 0;

  std::uint32_t sm_count = 132;
  std::uint32_t concurrent_kernels = 128;
  std::uint32_t copy_engines_per_direction = 1;
  std::uint64_t memory_bytes = 141ull << 30;
  /// Hardware queues, as CUDA_DEVICE_MAX_CONNECTIONS: kernels of streams that share a queue wait
  /// for each other. 1 to 32.
  std::uint32_t max_connections = 8;
  /// Limit of pending operations of one stream (not counting event records and waits) from which
  /// further calls on it block.
  std::uint32_t stream_queue_depth = 1020;
  std::vector<Injection> injections{};

  /// How long, in real time, a host wait blocks while nothing can proceed before this is a
  /// deadlock: gives other host threads time to store a value or to submit work.
  std::chrono::milliseconds deadlock_patience{50};

  Calibration calibration = h200();

  /// Called for every operation that has ended, in order of end times, under the device's lock: it
  /// must not call the device.
  std::function<void(const OpHistory&)> on_ended{};
};

/// Opens `count` simulated devices with the same `config` and one virtual clock: streams of one can
/// wait for events of another, and memory can be copied between them. A failure fails them all.
[[nodiscard]] COORD_EXPORT std::vector<Device> open_devices(const Config& config,
                                                            std::uint32_t count);

/// Adds an injection, counting calls from now. Throws kNotSupported if `device` is not simulated.
COORD_EXPORT void inject(const Device& device, const Injection& injection);

/// Advances the calling thread's virtual clock, as if it had computed for `duration`. Throws
/// kNotSupported if `device` is not simulated.
COORD_EXPORT void host_work(const Device& device, Nanoseconds duration);

}  // namespace coord::sim
