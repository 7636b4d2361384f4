// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// libcoord: coordination of work on CUDA streams, on a GPU or on a simulated device.
//
//   #include <coord/coord.h>
//
//   coord::Device device = coord::Device::open();   // a GPU if there is one, else the simulator
//   coord::Coordinator coordinator(device);
//   coord::Stream copies = device.create_stream({.name = "copies"});
//   coord::Stream math = device.create_stream({.name = "math"});
//   coord::DeviceBuffer<float> batch = device.allocate<float>(host_batch.size());
//
//   auto load = coordinator.submit(
//       {.type = coord::OperationType::kMemoryTransfer, .stream = copies, .description = "load"},
//       [&](coord::StreamRef stream) { stream.copy_to_device(batch, host_batch); });
//   auto scale = coordinator.submit(   // waits on the device, not here
//       {.stream = math, .after = {load}, .description = "scale"},
//       [&](coord::StreamRef stream) { launch_scale(stream.native(), batch.data()); });
//   coordinator.on_complete(scale, [](coord::Outcome) { /* on a thread of libcoord */ });
//   coordinator.wait(scale);
//
// Headers:
//   device.h       opening devices; making streams, events, memory
//   stream.h       work: copies, kernels, host functions, waits for events and memory
//   event.h        points in a stream's order that others can wait for
//   event_pool.h   a pool of events
//   coordinator.h  operations with dependencies, which become the fewest possible waits
//   stream_pool.h  streams to lease, idle ones first
//   task_queue.h   tasks for threads of the host; task_queue.cuh, not included here, for warps
//   allocator.h    device memory that is reused as soon as the order of streams allows
//   barrier.h      a point that several streams pass together
//   stream_profiler.h  time that the work of streams takes on the device
//   stream_group.h streams that depend on each other as a whole, fed by several threads
//   deadline_queue.h  work for a stream, earliest deadline first
//   fork_join.h    from one stream to several and back, without a Coordinator
//   timeline.h     a number that host and streams signal and wait for, in any order
//   waiter.h       callbacks when a stream has passed a point
//   executor.h     the threads that run them
//   deadlock.h     the wait graph, and whether its waits can end
//   graph.h        captured work that is launched with one call
//   kernel.h       kernels that run on every backend
//   sim.h          settings of the simulated device; explore.h, not included here, tries all orders
//   error.h        the exception type
//   observer.h     the C interface for a profiler
#pragma once

#include "coord/allocator.h"
#include "coord/barrier.h"
#include "coord/coordinator.h"
#include "coord/deadline_queue.h"
#include "coord/deadlock.h"
#include "coord/device.h"
#include "coord/error.h"
#include "coord/event.h"
#include "coord/event_pool.h"
#include "coord/executor.h"
#include "coord/fork_join.h"
#include "coord/graph.h"
#include "coord/kernel.h"
#include "coord/memory.h"
#include "coord/operation.h"
#include "coord/repeated.h"
#include "coord/sim.h"
#include "coord/stream.h"
#include "coord/stream_group.h"
#include "coord/stream_pool.h"
#include "coord/stream_profiler.h"
#include "coord/task_queue.h"
#include "coord/task_ring.h"
#include "coord/timeline.h"
#include "coord/types.h"
#include "coord/waiter.h"
