// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Attaches the collector after a graph was instantiated, then launches that graph and a new one. A
// collector that switches graph tracing on so late would crash here.
//   late_graph LIBRARY
#include <dlfcn.h>

#include "counted.h"

namespace {

__global__ void add(int* value) { *value += 1; }

cudaGraphExec_t make_graph(cudaStream_t stream, int* value) {
  counted::Capture capture(stream);
  for (int i = 0; i < 5; ++i) counted::launch(add, 1, 1, stream, value);
  cudaGraph_t graph = capture.end();
  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate, &executable, graph, 0);
  return executable;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: late_graph LIBRARY\n");
    return 2;
  }
  counted::require_device();
  cudaStream_t stream;
  CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  int* value = nullptr;
  CALL(cudaMalloc, reinterpret_cast<void**>(&value), sizeof(int));
  CALL(cudaMemsetAsync, value, 0, sizeof(int), stream);
  cudaGraphExec_t early = make_graph(stream, value);
  CALL(cudaGraphLaunch, early, stream);
  CALL(cudaStreamSynchronize, stream);

  // As the driver would at its start: load, then call the entry point for injected tools.
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    std::fprintf(stderr, "FAIL dlopen %s: %s\n", argv[1], dlerror());
    return 1;
  }
  auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (!initialize) {
    std::fprintf(stderr, "FAIL %s has no InitializeInjection\n", argv[1]);
    return 1;
  }
  counted::note("initialized", initialize());

  counted::reset();  // earlier work is not recorded
  for (int i = 0; i < 20; ++i) CALL(cudaGraphLaunch, early, stream);
  cudaGraphExec_t late = make_graph(stream, value);
  for (int i = 0; i < 20; ++i) CALL(cudaGraphLaunch, late, stream);
  int host = 0;
  CALL(cudaMemcpyAsync, &host, value, sizeof(int), cudaMemcpyDeviceToHost, stream);
  CALL(cudaStreamSynchronize, stream);
  counted::expect("additions", 5 * 41, host);
  counted::report("late_graph");
}
