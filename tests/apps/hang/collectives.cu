// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Two communicators over two GPUs, used in opposite order: each GPU runs a collective that waits
// for the other one.
//
//   collectives [PATH-OF-LIBNCCL]      hangs; exit code 77 without NCCL or a second GPU
//
// NCCL is loaded at run time and the few functions needed are declared here, so no header of it is
// required.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace hang {

constexpr int kSkipped = 77, kRanks = 2;
constexpr size_t kCount = 1 << 20;
constexpr int kFloat = 7, kSum = 0;  // ncclFloat32, ncclSum

using Communicator = struct ncclComm*;

struct Nccl {
  int (*init_all)(Communicator*, int, const int*);
  int (*all_reduce)(const void*, void*, size_t, int, int, Communicator, cudaStream_t);
  const char* (*error_string)(int);
};

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "collectives: %s: %s\n", what, cudaGetErrorString(error));
  std::_Exit(1);
}
#define CHECK(call) ::hang::check(call, #call)

Nccl load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "SKIPPED: no NCCL: %s\n", dlerror());
    std::exit(kSkipped);
  }
  Nccl nccl;
  nccl.init_all = reinterpret_cast<decltype(nccl.init_all)>(dlsym(library, "ncclCommInitAll"));
  nccl.all_reduce = reinterpret_cast<decltype(nccl.all_reduce)>(dlsym(library, "ncclAllReduce"));
  nccl.error_string =
      reinterpret_cast<decltype(nccl.error_string)>(dlsym(library, "ncclGetErrorString"));
  return nccl;
}

struct Rank {
  cudaStream_t stream;
  float* memory;
};

void reduce(const Nccl& nccl, Communicator communicator, const Rank& rank) {
  const int result =
      nccl.all_reduce(rank.memory, rank.memory, kCount, kFloat, kSum, communicator, rank.stream);
  if (result == 0) return;
  std::fprintf(stderr, "collectives: ncclAllReduce: %s\n", nccl.error_string(result));
  std::_Exit(1);
}

__attribute__((noinline)) void wait_for_stream(cudaStream_t stream) {
  CHECK(cudaStreamSynchronize(stream));
}

void run(const Nccl& nccl) {
  const int devices[kRanks] = {0, 1};
  Communicator one[kRanks], other[kRanks];
  if (nccl.init_all(one, kRanks, devices) != 0 || nccl.init_all(other, kRanks, devices) != 0) {
    std::fprintf(stderr, "collectives: ncclCommInitAll failed\n");
    std::_Exit(1);
  }
  Rank ranks[kRanks];
  for (int i = 0; i < kRanks; ++i) {
    CHECK(cudaSetDevice(i));
    CHECK(cudaStreamCreateWithFlags(&ranks[i].stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(reinterpret_cast<void**>(&ranks[i].memory), kCount * sizeof(float)));
  }
  // In one order first: the first use of a communicator connects its ranks, on the host.
  std::atomic<int> connected{0};
  const auto of_rank = [&](int rank) {
    CHECK(cudaSetDevice(rank));
    reduce(nccl, one[rank], ranks[rank]);
    reduce(nccl, other[rank], ranks[rank]);
    wait_for_stream(ranks[rank].stream);
    for (++connected; connected < kRanks;) std::this_thread::yield();
    reduce(nccl, rank == 0 ? one[rank] : other[rank], ranks[rank]);
    reduce(nccl, rank == 0 ? other[rank] : one[rank], ranks[rank]);
    wait_for_stream(ranks[rank].stream);
  };
  std::thread second(of_rank, 1);
  of_rank(0);
  second.join();
}

}  // namespace hang

int main(int argc, char** argv) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < hang::kRanks) {
    std::fprintf(stderr, "SKIPPED: needs two GPUs, there are %d\n", count);
    return hang::kSkipped;
  }
  hang::run(hang::load(argc > 1 ? argv[1] : "libnccl.so.2"));
  return 0;
}
