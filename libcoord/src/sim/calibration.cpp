// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Costs on an H200: the only place with figures of real hardware.
//
// Measured with CUDA 13.0, driver 580, on the machines of this project; medians. Those marked
// "estimate" were not measured in isolation and only give the order of magnitude.

#include "coord/sim.h"

namespace coord::sim {

const Calibration& h200() noexcept {
  static constexpr Calibration kH200{
      .stream_create_ns = 3000,   // estimate
      .stream_destroy_ns = 2000,  // estimate
      .stream_query_ns = 170,
      .event_create_ns = 181,
      .event_destroy_ns = 155,
      .event_query_ns = 356,
      .event_elapsed_ns = 400,  // estimate
      .record_ns = 221,
      .record_timing_ns = 1096,
      .wait_ns = 239,
      .launch_ns = 1500,  // 1300 to 2000 in loops
      .copy_ns = 1231,    // 4 KiB, page-locked
      .memset_ns = 1300,  // estimate: as a launch
      .host_function_ns = 1470,
      .write_value_ns = 739,
      .wait_value_ns = 714,
      .allocate_ns = 2000,       // estimate
      .release_ns = 2000,        // estimate
      .allocate_async_ns = 400,  // 806 for the pair
      .free_async_ns = 406,
      .capture_ns = 1000,                // estimate
      .graph_instantiate_ns = 5000,      // estimate
      .graph_instantiate_node_ns = 500,  // estimate
      .graph_launch_ns = 2200,           // 2.7 us for 1000 nodes, 2 to 4 us for 200
      .graph_launch_node_ns = 0,
      .synchronize_idle_ns = 322,
      .wake_spinning_ns = 4200,         // 4.0 to 4.4 us from the end of the gate
      .wake_blocking_ns = 39000,        // 38 to 40 us
      .pageable_bytes_per_us = 10'000,  // estimate: one core copying
      .pageable_staging_bytes = 128 * 1024,

      .launch_latency_ns =
          5000,  // kernel start minus launch entry on an idle device: minimum 4.6, median 7 us
      .successor_gap_ns = 1550,  // step of 3.5 us with a kernel of 2 us; 21.6 us with one of 20 us
      .graph_gap_ns = 530,       // 200 nodes of 1 us take 306 us
      .record_timing_gpu_ns = 1950,       // 5.4 - 3.5 us
      .write_value_gpu_ns = 2000,         // 5.5 - 3.5 us
      .kernel_dispatch_ns = 630,          // 16 streams of short kernels: 10.1 us per round
      .record_timing_dispatch_ns = 2850,  // with one record per kernel, a round takes 45.8 us
      .write_value_dispatch_ns = 1570,    // 8 streams: 17.7 us, of which 0.63 per kernel
      .memory_wait_release_ns = 1000,     // estimate: a third of the round trip of 3.0 us
      .host_function_start_ns = 15000,    // latency on an idle device
      .host_function_return_ns =
          25000,              // a host function after each kernel costs the stream 44 us in total
      .copy_fixed_ns = 1500,  // estimate
      .host_to_device_bytes_per_us = 55'000,  // estimate: PCIe 5.0 x16
      .device_to_host_bytes_per_us = 55'000,  // estimate
      .device_bytes_per_us = 2'000'000,       // estimate: HBM3e, read and write
      .memset_bytes_per_us = 3'000'000,       // estimate
      .peer_bytes_per_us = 390'000,           // estimate: NVLink 4, one direction
      .both_ways_percent = 91,                // 54.4 GB/s alone, 49.5 each when concurrent
      .pageable_copy_bytes_per_us = 10'000,   // estimate
  };
  return kH200;
}

}  // namespace coord::sim
