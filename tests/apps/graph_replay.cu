// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Graphs: one captured from a fork-join by events, one built node by node; both replayed. The
// report lists nodes and edges as CUDA itself reports them.
//   graph_replay [--replays N]
// With --chain N: a chain of N kernels of about 1 us, and what a launch of it costs (time until the
// call returns, and until the graph is done).
//   graph_replay --chain 200 [--replays N]
#include <algorithm>
#include <chrono>
#include <vector>

#include "counted.h"

namespace {

__global__ void add(int* value, int amount) { *value += amount; }
__global__ void spin(int cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
void count_call(void* data) { *static_cast<int*>(data) += 1; }

/// {"nodes": [kind, ...], "edges": [[from, to], ...]} with indices into `nodes`.
std::string describe(cudaGraph_t graph) {
  size_t node_count = 0;
  CALL(cudaGraphGetNodes, graph, nullptr, &node_count);
  std::vector<cudaGraphNode_t> nodes(node_count);
  CALL(cudaGraphGetNodes, graph, nodes.data(), &node_count);
  size_t edge_count = 0;
#if CUDART_VERSION >= 13000
  CALL(cudaGraphGetEdges, graph, nullptr, nullptr, nullptr, &edge_count);
#else
  CALL(cudaGraphGetEdges, graph, nullptr, nullptr, &edge_count);
#endif
  std::vector<cudaGraphNode_t> from(edge_count), to(edge_count);
#if CUDART_VERSION >= 13000
  std::vector<cudaGraphEdgeData> data(edge_count);
  CALL(cudaGraphGetEdges, graph, from.data(), to.data(), data.data(), &edge_count);
#else
  CALL(cudaGraphGetEdges, graph, from.data(), to.data(), &edge_count);
#endif
  std::string text = "{\"nodes\": [";
  for (size_t i = 0; i < nodes.size(); ++i) {
    cudaGraphNodeType type;
    CALL(cudaGraphNodeGetType, nodes[i], &type);
    text += (i ? ", " : "") + std::to_string(static_cast<int>(type));
  }
  text += "], \"edges\": [";
  auto index = [&](cudaGraphNode_t node) {
    return std::to_string(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  };
  for (size_t i = 0; i < edge_count; ++i) {
    text += (i ? ", [" : "[") + index(from[i]) + ", " + index(to[i]) + "]";
  }
  return text + "]}";
}

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int measure_chain(int length, int replays) {
  cudaStream_t stream;
  CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  counted::Capture capture(stream);
  for (int i = 0; i < length; ++i) counted::launch(spin, 1, 32, stream, 1700);
  cudaGraph_t graph = capture.end();
  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate, &executable, graph, 0);
  counted::pin_this_thread();
  std::vector<double> launched, done;
  constexpr int kWarmUp = 20;
  for (int i = 0; i < kWarmUp + replays; ++i) {
    const auto start = std::chrono::steady_clock::now();
    CALL(cudaGraphLaunch, executable, stream);
    const double launch_us = microseconds_since(start);
    CALL(cudaStreamSynchronize, stream);
    if (i < kWarmUp) continue;
    launched.push_back(launch_us);
    done.push_back(microseconds_since(start));
  }
  counted::note("launch_us", median(launched));
  counted::note("done_us", median(done));
  counted::note("graph_kernels", static_cast<double>(length) * (kWarmUp + replays));
  counted::report("graph_chain");
  return 0;
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, std::vector<cudaGraphNode_t> after, int* value,
                           int amount) {
  void* arguments[] = {&value, &amount};
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(add);
  parameters.gridDim = parameters.blockDim = dim3(1);
  parameters.kernelParams = arguments;
  cudaGraphNode_t node;
  CALL(cudaGraphAddKernelNode, &node, graph, after.data(), after.size(), &parameters);
  return node;
}

}  // namespace

int main(int argc, char** argv) {
  const int chain = static_cast<int>(counted::option(argc, argv, "--chain", 0));
  const int replays = static_cast<int>(counted::option(argc, argv, "--replays", chain ? 300 : 50));
  counted::require_device();
  if (chain) return measure_chain(chain, replays);

  cudaStream_t trunk, branch;
  CALL(cudaStreamCreateWithFlags, &trunk, cudaStreamNonBlocking);
  CALL(cudaStreamCreateWithFlags, &branch, cudaStreamNonBlocking);
  cudaEvent_t forked, joined;
  CALL(cudaEventCreateWithFlags, &forked, cudaEventDisableTiming);
  CALL(cudaEventCreateWithFlags, &joined, cudaEventDisableTiming);
  int *device = nullptr, *host = nullptr;
  int host_calls = 0;
  CALL(cudaMalloc, reinterpret_cast<void**>(&device), 4 * sizeof(int));
  CALL(cudaHostAlloc, reinterpret_cast<void**>(&host), 4 * sizeof(int), cudaHostAllocDefault);

  // memset -> add -> {add -> add (branch), add (trunk)} -> add -> {copy -> host function}
  counted::Capture capture(trunk);
  CALL(cudaMemsetAsync, device, 0, 4 * sizeof(int), trunk);
  counted::launch(add, 1, 1, trunk, device, 1);
  CALL(cudaEventRecord, forked, trunk);
  CALL(cudaStreamWaitEvent, branch, forked, 0);
  counted::launch(add, 1, 1, branch, device + 1, 10);
  counted::launch(add, 1, 1, branch, device + 1, 10);
  CALL(cudaEventRecord, joined, branch);
  counted::launch(add, 1, 1, trunk, device + 2, 100);
  CALL(cudaStreamWaitEvent, trunk, joined, 0);
  counted::launch(add, 1, 1, trunk, device, 1);
  CALL(cudaMemcpyAsync, host, device, 4 * sizeof(int), cudaMemcpyDeviceToHost, trunk);
  CALL(cudaLaunchHostFunc, trunk, count_call, &host_calls);
  cudaGraph_t captured = capture.end();
  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate, &executable, captured, 0);
  for (int i = 0; i < replays; ++i) CALL(cudaGraphLaunch, executable, trunk);
  CALL(cudaStreamSynchronize, trunk);
  counted::expect("trunk's sum of the last replay", 2, host[0]);
  counted::expect("branch's sum of the last replay", 20, host[1]);
  counted::expect("side sum of the last replay", 100, host[2]);
  counted::expect("host function calls", replays, host_calls);

  // A diamond with a tail, built without capture.
  cudaGraph_t built;
  CALL(cudaGraphCreate, &built, 0);
  cudaGraphNode_t top = add_kernel(built, {}, device + 3, 1);
  cudaGraphNode_t left = add_kernel(built, {top}, device, 1);
  cudaGraphNode_t right = add_kernel(built, {top}, device + 1, 1);
  cudaGraphNode_t bottom = add_kernel(built, {left, right}, device + 3, 1);
  add_kernel(built, {bottom}, device + 3, 1);
  cudaGraphExec_t built_executable;
  CALL(cudaGraphInstantiate, &built_executable, built, 0);
  CALL(cudaMemsetAsync, device, 0, 4 * sizeof(int), trunk);
  for (int i = 0; i < replays; ++i) CALL(cudaGraphLaunch, built_executable, trunk);
  CALL(cudaMemcpyAsync, host, device, 4 * sizeof(int), cudaMemcpyDeviceToHost, trunk);
  CALL(cudaStreamSynchronize, trunk);
  counted::expect("sum of the built graph", 3LL * replays, host[3]);

  counted::note("graphs", "[" + describe(captured) + ", " + describe(built) + "]");
  counted::note("graph_kernels", 10.0 * replays);  // five each
  counted::note("graph_copies", replays);
  counted::note("graph_memsets", replays);
  counted::note("graph_host_functions", replays);
  CALL(cudaGraphExecDestroy, executable);
  CALL(cudaGraphExecDestroy, built_executable);
  CALL(cudaGraphDestroy, captured);
  CALL(cudaGraphDestroy, built);
  counted::report("graph_replay");
}
