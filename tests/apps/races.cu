// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Races of which the accesses are known without observing kernels: copies, memsets, kernels that
// read through pointers to const, what libcoord's operations declare, and accesses that host code
// declares.
#include <coord/coord.h>

#include <thread>
#include <vector>

#include "race_cases.h"

namespace {

using namespace races;

__global__ void consume(const float* from, float* to, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i] + 1;
}
template <class T>
__global__ void scale(const T* from, T* to, T factor) {
  to[threadIdx.x] = factor * from[threadIdx.x];
}

void read(const void* from, void* to, cudaStream_t stream) {
  counted::launch(consume, 1, 64, stream, static_cast<const float*>(from), static_cast<float*>(to),
                  64);
}
void touch(const void* memory, coord::Access access, size_t bytes = kBytes) {
  coord::host_access({memory, bytes}, access);
}

constexpr char kRead[] = "consume", kHost[] = "host code";

const Case kCases[] = {
    // Events.
    {"missing_wait", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.a, s);
       record(w.events[0], s);
       if (fixed) wait(t, w.events[0]);
       copy(w.b, w.a, t);
     }},
    {"wait_before_record", kRace, kUp, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       if (!fixed) wait(t, w.events[0]);
       up(w.a, w.host, s);
       record(w.events[0], s);
       if (fixed) wait(t, w.events[0]);
       copy(w.b, w.a, t);
     }},
    {"wait_for_another_event", kRace, kSet, kDown,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.a, s);
       record(w.events[0], s);
       set(w.b, t);
       record(w.events[1], t);
       wait(u, w.events[fixed ? 0 : 1]);
       down(w.host, w.a, u);
     }},
    {"record_before_the_work", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       if (!fixed) record(w.events[0], s);
       set(w.a, s);
       if (fixed) record(w.events[0], s);
       wait(t, w.events[0]);
       copy(w.b, w.a, t);
     }},
    {"event_recorded_again", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.a, s);
       record(w.events[0], s);
       set(w.c, u);
       record(w.events[fixed ? 1 : 0], u);
       wait(t, w.events[0]);
       copy(w.b, w.a, t);
     }},
    {"double_buffer_without_way_back", kRace, kUp, kDown,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       for (int i = 0; i < 4; ++i) {
         if (fixed && i > 0) wait(s, w.events[1]);
         up(w.a, w.host, s);
         order(s, t, w.events[0]);
         down(w.other_host, w.a, t);
         record(w.events[1], t);
       }
     }},
    {"fork_without_join", kRace, kCopy, kSet,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.a, s);
       order(s, t, w.events[0]);
       copy(w.b, w.a, t);
       if (fixed) order(t, s, w.events[1]);
       set(w.b, s);
     }},
    {"join_of_one_of_two", kRace, kCopy, kDown,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       record(w.events[0], s);
       for (int i = 1; i < 3; ++i) {
         wait(w.streams[i], w.events[0]);
         copy(i == 1 ? w.b : w.c, w.a, w.streams[i]);
       }
       order(t, s, w.events[1]);
       if (fixed) order(u, s, w.events[2]);
       down(w.host, w.c, s);
     }},
    {"chain_with_a_gap", kRace, kSet, kDown,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.a, s);
       if (fixed) order(s, t, w.events[0]);
       set(w.b, t);
       order(t, u, w.events[1]);
       down(w.host, w.a, u);
     }},
    // What overlaps.
    {"two_memsets", kRace, kSet, kSet,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.a, s);
       if (fixed) order(s, t, w.events[0]);
       set(w.a, t);
     }},
    {"halves_that_overlap", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.a, s, fixed ? kHalf : kHalf + 64);
       copy(w.b, static_cast<char*>(w.a) + kHalf, t, kHalf);
     }},
    {"rows_of_a_plane", kRace, kSet, kSet,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       CALL(cudaMemset2DAsync, w.a, 1024, 0, 512, 32, s);
       CALL(cudaMemset2DAsync, static_cast<char*>(w.a) + (fixed ? 512 : 256), 1024, 0, 512, 32, t);
     }},
    {"columns_copied", kRace, kCopy, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       CALL(cudaMemcpy2DAsync, w.a, 1024, w.b, 1024, 512, 16, cudaMemcpyDeviceToDevice, s);
       CALL(cudaMemcpy2DAsync, static_cast<char*>(w.a) + (fixed ? 512 : 0), 1024, w.c, 512, 512, 16,
            cudaMemcpyDeviceToDevice, t);
     }},
    {"boxes", kRace, kCopy, kSet,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       cudaMemcpy3DParms box{};
       box.srcPtr = make_cudaPitchedPtr(w.b, 64, 64, 16);
       box.dstPtr = make_cudaPitchedPtr(w.a, 64, 64, 16);
       box.extent = make_cudaExtent(64, 8, 4);
       box.kind = cudaMemcpyDeviceToDevice;
       CALL(cudaMemcpy3DAsync, &box, s);
       // The upper half of the first slice is not part of the box.
       set(static_cast<char*>(w.a) + (fixed ? 8 * 64 : 7 * 64), t, 8 * 64);
     }},
    {"copy_between_devices", kRace, kSet, "memcpy",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.a, s);
       if (fixed) order(s, t, w.events[0]);
       CALL(cudaMemcpyPeerAsync, w.b, 0, w.a, 0, kBytes, t);
     }},
    // Memory kinds.
    {"pinned_memory", kRace, kDown, kUp,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       down(w.host, w.a, s);
       if (fixed) order(s, t, w.events[0]);
       up(w.b, w.host, t);
     }},
    {"managed_memory", kRace, kSet, "memcpy",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.managed, s);
       if (fixed) order(s, t, w.events[0]);
       copy(w.a, w.managed, t);
     }},
    {"mapped_memory", kRace, kSet, kUp,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       void* mapped = nullptr;
       CALL(cudaHostAlloc, &mapped, kBytes, cudaHostAllocMapped);
       set(mapped, s);
       if (fixed) order(s, t, w.events[0]);
       up(w.a, mapped, t);
     }},
    {"registered_memory", kRace, kDown, kUp,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       static char memory[kBytes];
       CALL(cudaHostRegister, memory, kBytes, 0);
       down(memory, w.a, s);
       if (fixed) order(s, t, w.events[0]);
       up(w.b, memory, t);
     }},
    // Kernels whose parameters point there: their accesses are only possible.
    {"kernel_reads_before_upload", kRace, kUp, kRead,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       up(w.a, w.host, s);
       if (fixed) order(s, t, w.events[0]);
       read(w.a, w.b, t);
     },
     true},
    {"upload_while_kernel_reads", kRace, kRead, kUp,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       read(w.a, w.b, s);
       if (fixed) order(s, t, w.events[0]);
       up(w.a, w.host, t);
     },
     true},
    {"memset_while_kernel_reads", kRace, kRead, kSet,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       read(w.a, w.b, s);
       if (fixed) order(s, t, w.events[0]);
       set(w.a, t);
     },
     true},
    {"template_kernel", kRace, "scale", kSet,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       counted::launch(scale<float>, 1, 64, s, static_cast<const float*>(w.a),
                       static_cast<float*>(w.b), 2.0f);
       if (fixed) order(s, t, w.events[0]);
       set(w.a, t);
     },
     true},
    // Default streams.
    {"non_blocking_beside_legacy", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       set(w.a, cudaStreamLegacy);
       copy(w.b, w.a, fixed ? w.blocking : w.streams[0]);
     }},
    {"legacy_after_non_blocking", kRace, kUp, kCopy,
     [](World& w, bool fixed) {
       up(w.a, w.host, fixed ? w.blocking : w.streams[0]);
       copy(w.b, w.a, cudaStreamLegacy);
     }},
    {"synchronous_memset", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       CALL(cudaMemset, w.a, 1, kBytes);  // asynchronous to the host nevertheless
       copy(w.b, w.a, fixed ? w.blocking : w.streams[0]);
     }},
    {"per_thread_beside_non_blocking", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       set(w.a, cudaStreamPerThread);
       if (fixed) order(cudaStreamPerThread, w.streams[0], w.events[0]);
       copy(w.b, w.a, w.streams[0]);
     }},
    {"per_thread_beside_legacy", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       set(w.a, fixed ? cudaStreamPerThread : w.streams[0]);
       copy(w.b, w.a, cudaStreamLegacy);
     }},
    {"per_thread_streams_of_two_threads", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       std::thread([&] {
         set(w.a, cudaStreamPerThread);
         record(w.events[0], cudaStreamPerThread);
       }).join();
       if (fixed) wait(cudaStreamPerThread, w.events[0]);
       copy(w.b, w.a, cudaStreamPerThread);
     }},
    // Synchronizations.
    {"synchronizes_another_stream", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.a, s);
       CALL(cudaStreamSynchronize, fixed ? s : u);
       copy(w.b, w.a, t);
     }},
    {"synchronizes_an_early_event", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       if (!fixed) record(w.events[0], s);
       set(w.a, s);
       if (fixed) record(w.events[0], s);
       CALL(cudaEventSynchronize, w.events[0]);
       copy(w.b, w.a, t);
     }},
    {"polls_another_stream", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.a, s);
       while (TRY(cudaStreamQuery, fixed ? s : u) == cudaErrorNotReady) {
       }
       copy(w.b, w.a, t);
     }},
    {"device_synchronized_too_early", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       if (!fixed) CALL(cudaDeviceSynchronize);
       set(w.a, s);
       if (fixed) CALL(cudaDeviceSynchronize);
       copy(w.b, w.a, t);
     }},
    {"synchronous_copy_within_the_device", kRace, kCopy, kDown,
     [](World& w, bool fixed) {
       CALL(cudaMemcpy, w.b, w.a, kBytes, cudaMemcpyDeviceToDevice);  // does not wait
       if (fixed) CALL(cudaStreamSynchronize, cudaStreamLegacy);
       down(w.host, w.b, w.streams[0]);
     }},
    {"another_thread_goes_on", kRace, kSet, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       std::thread([&, s = s] {
         set(w.a, s);
         if (fixed) CALL(cudaStreamSynchronize, s);
       }).join();
       copy(w.b, w.a, t);
     }},
    // Graphs.
    {"graph_beside_stream", kRace, kGraph, kCopy,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       const auto graph = captured(s, [&, s = s] { set(w.a, s); });
       CALL(cudaGraphLaunch, graph, s);
       if (fixed) order(s, t, w.events[0]);
       copy(w.b, w.a, t);
     }},
    {"two_graphs", kRace, kGraph, kGraph,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       const auto writes = captured(s, [&, s = s] { up(w.a, w.host, s); });
       const auto reads = captured(t, [&, t = t] { copy(w.b, w.a, t); });
       CALL(cudaGraphLaunch, writes, s);
       if (fixed) order(s, t, w.events[0]);
       CALL(cudaGraphLaunch, reads, t);
     }},
    {"kernel_in_a_graph", kRace, kGraph, kUp,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       const auto graph = captured(s, [&, s = s] { read(w.a, w.b, s); });
       CALL(cudaGraphLaunch, graph, s);
       if (fixed) order(s, t, w.events[0]);
       up(w.a, w.host, t);
     },
     true},
    // What operations of libcoord declare.
    {"declared_by_operations", kRace, "coord_busy", "coord_busy",
     [](World& w, bool fixed) {
       const coord::Device device = coord::Device::open("cuda");
       const coord::Stream first = device.create_stream(), second = device.create_stream();
       coord::Coordinator coordinator(device, {.polled = true});
       const coord::MemoryRange range(w.a, kBytes);
       const auto launch = [](coord::StreamRef stream) {
         stream.launch({.name = "work", .duration = std::chrono::milliseconds(2)});
       };
       const auto producer = coordinator.submit(
           {.stream = first, .writes = {range}, .description = "produce"}, launch);
       std::vector<coord::OperationHandle> after;
       if (fixed) after.push_back(producer);
       coordinator.wait(coordinator.submit(
           {.stream = second, .after = after, .reads = {range}, .description = "consume"}, launch));
     }},
    {"declared_beside_a_memset", kRace, "coord_busy", kSet,
     [](World& w, bool fixed) {
       const coord::Device device = coord::Device::open("cuda");
       const coord::Stream first = device.create_stream(), second = device.create_stream();
       coord::Coordinator coordinator(device, {.polled = true});
       const auto done = coordinator.submit(
           {.stream = first, .reads = {{w.a, kBytes}}, .description = "read"},
           [](coord::StreamRef stream) {
             stream.launch({.name = "work", .duration = std::chrono::milliseconds(2)});
           });
       if (fixed) coordinator.order_after(second, done);
       second.memset(w.a, 0, kBytes);
       device.synchronize();
     }},
    // Stream-ordered memory.
    {"used_before_allocation", kEarly, kSet, "",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       void* memory = allocate(s);
       if (fixed) order(s, t, w.events[0]);
       set(memory, t);
       order(t, s, w.events[1]);
       release(memory, s);
     }},
    {"filled_before_allocation", kEarly, kUp, "",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       void* memory = allocate(s);
       CALL(cudaStreamSynchronize, fixed ? s : u);
       up(memory, w.host, t);
       order(t, s, w.events[1]);
       release(memory, s);
     }},
    {"allocated_on_the_legacy_stream", kEarly, kSet, "",
     [](World& w, bool fixed) {
       void* memory = allocate(cudaStreamLegacy);
       if (fixed) order(cudaStreamLegacy, w.blocking, w.events[0]);
       set(memory, w.blocking);
       release(memory, w.blocking);
     }},
    {"freed_in_another_stream", kLate, kSet, "",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       void* memory = allocate(s);
       order(s, t, w.events[0]);
       set(memory, t);
       if (fixed) order(t, s, w.events[1]);
       release(memory, s);
     }},
    {"freed_after_an_early_record", kLate, kCopy, "",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       void* memory = allocate(s);
       order(s, t, w.events[0]);
       if (!fixed) record(w.events[1], t);
       copy(memory, w.a, t);
       if (fixed) record(w.events[1], t);
       wait(s, w.events[1]);
       release(memory, s);
     }},
    {"freed_before_a_kernel_is_done", kLate, kRead, "",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       void* memory = allocate(s);
       order(s, t, w.events[0]);
       read(memory, w.b, t);
       if (fixed) order(t, s, w.events[1]);
       release(memory, s);
     },
     true},
    {"pool_memory_freed_by_the_host", kLate, kSet, "",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       void* memory = allocate(s);
       set(memory, s);
       if (fixed) CALL(cudaStreamSynchronize, s);
       CALL(cudaFree, memory);
     }},
    // Host code.
    {"host_reads_too_early", kHostRace, kDown, kHost,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       down(w.host, w.a, s);
       if (fixed) CALL(cudaStreamSynchronize, s);
       touch(w.host, coord::Access::kRead);
     }},
    {"host_overwrites_the_source", kHostRace, kUp, kHost,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       up(w.a, w.host, s);
       if (fixed) CALL(cudaStreamSynchronize, s);
       touch(w.host, coord::Access::kWrite);
     }},
    {"host_synchronizes_another_stream", kHostRace, kDown, kHost,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       down(w.host, w.a, s);
       CALL(cudaStreamSynchronize, fixed ? s : t);
       touch(w.host, coord::Access::kRead);
     }},
    {"host_synchronizes_an_early_event", kHostRace, kDown, kHost,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       if (!fixed) record(w.events[0], s);
       down(w.host, w.a, s);
       if (fixed) record(w.events[0], s);
       CALL(cudaEventSynchronize, w.events[0]);
       touch(w.host, coord::Access::kRead);
     }},
    {"host_writes_managed_memory", kHostRace, kSet, kHost,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set(w.managed, s);
       if (fixed) CALL(cudaStreamSynchronize, s);
       touch(w.managed, coord::Access::kWrite);
     }},
    {"host_reads_what_a_graph_writes", kHostRace, kGraph, kHost,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       const auto graph = captured(s, [&, s = s] { down(w.host, w.a, s); });
       CALL(cudaGraphLaunch, graph, s);
       if (fixed) CALL(cudaStreamSynchronize, s);
       touch(w.host, coord::Access::kRead);
     }},
    {"host_reads_what_another_thread_copies", kHostRace, kDown, kHost,
     [](World& w, bool fixed) {
       std::thread([&] {
         down(w.host, w.a, w.streams[0]);
         if (fixed) CALL(cudaStreamSynchronize, w.streams[0]);
       }).join();
       touch(w.host, coord::Access::kRead);
     }},
};

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, kCases); }
