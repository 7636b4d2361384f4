// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that access memory without an order, one mistake each, and the same programs fixed:
//
//   APP --list               a JSON line per program: its name, the detector, the ops it is to name
//   APP NAME [--fixed]
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <string>

#include "counted.h"

namespace races {

inline constexpr size_t kBytes = 64 << 10, kHalf = kBytes / 2;

// Streams, events and memory of one program, created when it starts. Nothing runs before its work.
struct World {
  World() {
    for (cudaStream_t& stream : streams)
      CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
    CALL(cudaStreamCreate, &blocking);
    for (cudaEvent_t& event : events)
      CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);
    for (void** memory : {&a, &b, &c}) CALL(cudaMalloc, memory, kBytes);
    for (void** memory : {&host, &other_host}) CALL(cudaMallocHost, memory, kBytes);
    CALL(cudaMallocManaged, &managed, kBytes);
  }
  cudaStream_t streams[3], blocking;
  cudaEvent_t events[3];
  void *a = nullptr, *b = nullptr, *c = nullptr, *host = nullptr, *other_host = nullptr,
       *managed = nullptr;
};

inline void set(void* to, cudaStream_t stream, size_t bytes = kBytes) {
  CALL(cudaMemsetAsync, to, 1, bytes, stream);
}
inline void copy(void* to, const void* from, cudaStream_t stream, size_t bytes = kBytes) {
  CALL(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, stream);
}
inline void up(void* to, const void* from, cudaStream_t stream) {
  CALL(cudaMemcpyAsync, to, from, kBytes, cudaMemcpyHostToDevice, stream);
}
inline void down(void* to, const void* from, cudaStream_t stream) {
  CALL(cudaMemcpyAsync, to, from, kBytes, cudaMemcpyDeviceToHost, stream);
}
inline void record(cudaEvent_t event, cudaStream_t stream) { CALL(cudaEventRecord, event, stream); }
inline void wait(cudaStream_t stream, cudaEvent_t event) {
  CALL(cudaStreamWaitEvent, stream, event, 0);
}
inline void order(cudaStream_t first, cudaStream_t second, cudaEvent_t by) {
  record(by, first);
  wait(second, by);
}
inline void* allocate(cudaStream_t stream) {
  void* memory = nullptr;
  CALL(cudaMallocAsync, &memory, kBytes, stream);
  return memory;
}
inline void release(void* memory, cudaStream_t stream) { CALL(cudaFreeAsync, memory, stream); }
inline int* ints(void* memory, size_t offset = 0) { return static_cast<int*>(memory) + offset; }
/// Launches a kernel as one block of 64 threads.
template <class... Parameters, class... Arguments>
void go(cudaStream_t stream, void (*kernel)(Parameters...), Arguments... arguments) {
  counted::launch(kernel, 1, 64, stream, static_cast<Parameters>(arguments)...);
}
/// The second op is in another stream; fixed, it waits for the first.
void between(World& w, bool fixed, auto first, auto second) {
  auto [s, t, u] = w.streams;
  first(s);
  if (fixed) order(s, t, w.events[0]);
  second(t);
}
inline cudaGraphExec_t captured(cudaStream_t stream, const std::function<void()>& work) {
  counted::Capture capture(stream);
  work();
  cudaGraphExec_t executable = nullptr;
  CALL(cudaGraphInstantiate, &executable, capture.end(), 0);
  return executable;
}

struct Case {
  const char* name;
  const char* detector;
  const char* first;   // what the finding names, in either order
  const char* second;  // "" for a call of memory
  void (*run)(World& w, bool fixed);
  bool possible = false;  // known from a kernel's parameters only
  bool unsure = false;    // at most possible, however it is known
};

inline constexpr char kSet[] = "memset", kCopy[] = "memcpy DtoD", kUp[] = "memcpy HtoD",
                      kDown[] = "memcpy DtoH", kGraph[] = "graph launch";
inline constexpr char kRace[] = "stream-race", kHostRace[] = "host-race",
                      kEarly[] = "use-before-alloc", kLate[] = "use-after-free";

inline int run(int argc, char** argv, std::span<const Case> cases) {
  if (counted::flag(argc, argv, "--list")) {
    for (const Case& known : cases) {
      std::printf(
          "{\"case\": \"%s\", \"detector\": \"%s\", \"first\": \"%s\", \"second\": \"%s\", "
          "\"possible\": %s, \"unsure\": %s}\n",
          known.name, known.detector, known.first, known.second, known.possible ? "true" : "false",
          known.unsure ? "true" : "false");
    }
    return 0;
  }
  const char* name = argc > 1 ? argv[1] : cases.front().name;
  for (const Case& known : cases) {
    if (std::strcmp(known.name, name) != 0) continue;
    counted::require_device();
    World world;
    const bool fixed = counted::flag(argc, argv, "--fixed");
    known.run(world, fixed);
    const cudaError_t ended = cudaDeviceSynchronize();
    // Accesses of freed memory may fault; the recording until then counts.
    if (fixed) counted::check(ended, "cudaDeviceSynchronize", __FILE__, __LINE__);
    std::printf("{\"case\": \"%s\", \"ok\": true}\n", name);
    return 0;
  }
  std::fprintf(stderr, "no program %s; try --list\n", name);
  return 2;
}

}  // namespace races
