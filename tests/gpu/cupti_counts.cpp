// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI's own counts of a program's work, to compare recordings with. Loaded into any CUDA program
// by CUDA_INJECTION64_PATH; each process writes one JSON line into CUPTI_COUNTS_FOLDER/PID.json
// when it exits. With CUPTI_COUNTS_NODES, nodes of graphs are counted one by one instead of
// launches.
#include <cupti.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr size_t kBufferBytes = 4 << 20;

std::atomic<uint64_t> kernels, copies, memsets, graph_launches, dropped;

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(4096, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *max_records = 0;
}

void CUPTIAPI count_buffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                           size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        ++kernels;
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY:
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        ++copies;
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        ++memsets;
        break;
      case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        ++graph_launches;
        break;
      default:
        break;
    }
  }
  size_t lost = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
  std::free(buffer);
}

void write_counts() {
  const char* folder = std::getenv("CUPTI_COUNTS_FOLDER");
  if (!folder || cuptiActivityFlushAll(1) != CUPTI_SUCCESS) return;
  const std::string path = std::string(folder) + "/" + std::to_string(getpid()) + ".json";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return;
  std::fprintf(file,
               "{\"kernel\": %llu, \"memcpy\": %llu, \"memset\": %llu, \"graph_launch\": %llu,"
               " \"dropped\": %llu}\n",
               static_cast<unsigned long long>(kernels), static_cast<unsigned long long>(copies),
               static_cast<unsigned long long>(memsets),
               static_cast<unsigned long long>(graph_launches),
               static_cast<unsigned long long>(dropped));
  std::fclose(file);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (cuptiActivityRegisterCallbacks(give_buffer, count_buffer) != CUPTI_SUCCESS) return 0;
  for (CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                  CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET}) {
    if (cuptiActivityEnable(kind) != CUPTI_SUCCESS) return 0;
  }
  if (!std::getenv("CUPTI_COUNTS_NODES") &&
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) != CUPTI_SUCCESS)
    return 0;
  std::atexit(write_counts);
  return 1;
}
