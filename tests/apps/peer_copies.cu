// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Copies between the memory of two devices, by both kinds of calls and in both directions, once a
// graph exists. Needs two devices that reach each other's memory.
#include <vector>

#include "counted.h"

namespace {

constexpr int kRounds = 10;
constexpr int kCount = 1 << 18;

__global__ void fill(int* values, int value) {
  values[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

struct Place {
  cudaStream_t stream;
  int* values;
};

Place place_on(int device, int peer) {
  Place place{};
  CALL(cudaSetDevice, device);
  CALL(cudaDeviceEnablePeerAccess, peer, 0);
  CALL(cudaStreamCreateWithFlags, &place.stream, cudaStreamNonBlocking);
  CALL(cudaMalloc, reinterpret_cast<void**>(&place.values), kCount * sizeof(int));
  return place;
}

void launch_graph(cudaStream_t stream, int* values) {
  counted::Capture capture(stream);
  counted::launch(fill, kCount / 256, 256, stream, values, -1);
  cudaGraph_t graph = capture.end();
  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate, &executable, graph, 0);
  CALL(cudaGraphLaunch, executable, stream);
  CALL(cudaStreamSynchronize, stream);
}

// Fills on one device, copies to the other, and sees there what was filled in.
void exchange(int from, const Place& source, int to, const Place& target, int round) {
  constexpr size_t kBytes = kCount * sizeof(int);
  CALL(cudaSetDevice, from);
  counted::launch(fill, kCount / 256, 256, source.stream, source.values, round);
  if (round % 2 == 0) {
    CALL(cudaMemcpyPeerAsync, target.values, to, source.values, from, kBytes, source.stream);
  } else {
    CALL(cudaMemcpyAsync, target.values, source.values, kBytes, cudaMemcpyDefault, source.stream);
  }
  CALL(cudaStreamSynchronize, source.stream);
  std::vector<int> seen(kCount);
  CALL(cudaSetDevice, to);
  CALL(cudaMemcpyAsync, seen.data(), target.values, kBytes, cudaMemcpyDeviceToHost, target.stream);
  CALL(cudaStreamSynchronize, target.stream);
  for (int value : seen) counted::expect("value on the other device", round, value);
}

}  // namespace

int main() {
  counted::require_device();
  int devices = 0, reaches = 0, reached = 0;
  CALL(cudaGetDeviceCount, &devices);
  if (devices < 2) counted::skip("needs two devices");
  CALL(cudaDeviceCanAccessPeer, &reaches, 0, 1);
  CALL(cudaDeviceCanAccessPeer, &reached, 1, 0);
  if (reaches == 0 || reached == 0) counted::skip("the devices do not reach each other");
  const Place first = place_on(0, 1), second = place_on(1, 0);
  CALL(cudaSetDevice, 0);
  launch_graph(first.stream, first.values);
  for (int round = 0; round < kRounds; ++round) {
    exchange(0, first, 1, second, round);
    exchange(1, second, 0, first, round + kRounds);
  }
  counted::note("between_devices", 2.0 * kRounds);
  counted::report("peer_copies");
  return 0;
}
