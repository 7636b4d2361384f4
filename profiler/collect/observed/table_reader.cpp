// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/table_reader.h"

#include <algorithm>

#include "collect/observed/gpu_code.h"
#include "collect/process/driver.h"

namespace streamscope::collect {

namespace {

constexpr uint32_t kMostRuns = 1 << 18, kMostGranules = 1 << 18;  // read at once
static_assert(kMostRuns >= kMostGranules);

CUdeviceptr address(const void* device) { return reinterpret_cast<CUdeviceptr>(device); }

template <class T>
bool allocate(T** memory, size_t count) {
  CUdeviceptr found = 0;
  if (cuda.cuMemAlloc(&found, count * sizeof(T)) != CUDA_SUCCESS) return false;
  *memory = reinterpret_cast<T*>(found);
  return true;
}

// Appends them.
template <class T>
bool fetch(std::vector<T>& into, const T* from, size_t count, CUstream stream) {
  const size_t before = into.size();
  into.resize(before + count);
  return count == 0 || cuda.cuMemcpyDtoHAsync(into.data() + before, address(from),
                                              count * sizeof(T), stream) == CUDA_SUCCESS;
}

template <class... Parameters>
bool launch(CUfunction kernel, CUstream stream, Parameters... parameters) {
  void* pointers[] = {&parameters...};
  return cuda.cuLaunchKernel(kernel, 512, 1, 1, 256, 1, 1, 0, stream, pointers, nullptr) ==
         CUDA_SUCCESS;
}

}  // namespace

bool TableReader::make() {
  CUmodule module = nullptr;
  empty_ = {.most_runs = kMostRuns, .most_granules = kMostGranules};
  return cuda.cuModuleLoadData(&module, streamscope_reader) == CUDA_SUCCESS &&
         cuda.cuModuleGetFunction(&report_, module, "streamscope_report") == CUDA_SUCCESS &&
         cuda.cuModuleGetFunction(&clear_, module, "streamscope_clear") == CUDA_SUCCESS &&
         allocate(&empty_.runs, kMostRuns) && allocate(&empty_.granules, kMostGranules) &&
         allocate(&empty_.launches, kMostLaunches) && allocate(&report_at_, 1) &&
         cuda.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
}

// After an error in a kernel, such as a failed assertion, every call in its context fails.
const char* TableReader::failure() const {
  const CUresult state = cuda.cuStreamQuery(stream_);
  return state == CUDA_SUCCESS || state == CUDA_ERROR_NOT_READY
             ? "the driver refuses to read them"
             : "an error in a kernel ended the context";
}

bool TableReader::read_part(const Table& table, uint64_t begin, uint64_t end, Contents& contents) {
  TouchReport report = empty_;
  report.launch_count = static_cast<uint32_t>(table.launches.size());
  report.begin = begin, report.end = end;
  if (cuda.cuMemcpyHtoDAsync(address(report_at_), &report, sizeof report, stream_) !=
          CUDA_SUCCESS ||
      !launch(report_, stream_, table.device, report_at_) ||
      cuda.cuMemcpyDtoHAsync(&report, address(report_at_), sizeof report, stream_) !=
          CUDA_SUCCESS ||
      cuda.cuStreamSynchronize(stream_) != CUDA_SUCCESS)
    return false;
  contents.complete = report.run_count <= kMostRuns && report.granule_count <= kMostGranules;
  return !contents.complete ||
         (fetch(contents.runs, report.runs, report.run_count, stream_) &&
          fetch(contents.granules, report.granules, report.granule_count, stream_));
}

bool TableReader::start(const Table& table) {
  return cuda.cuMemsetD8Async(address(empty_.launches), 0,
                              table.launches.size() * sizeof(TouchLaunch), stream_) == CUDA_SUCCESS;
}

bool TableReader::read(const Table& table, Contents& contents) {
  if (stream_ == nullptr && !make()) return false;
  if (!start(table) || !read_part(table, 0, table.header.capacity, contents)) return false;
  if (!contents.complete) {  // in parts that have room
    if (!start(table)) return false;
    for (uint64_t at = 0; at < table.header.capacity; at += kMostGranules) {
      const uint64_t end = std::min<uint64_t>(at + kMostGranules, table.header.capacity);
      if (!read_part(table, at, end, contents)) return false;
    }
  }
  return fetch(contents.launches, empty_.launches, table.launches.size(), stream_) &&
         launch(clear_, stream_, table.device, table.header) &&
         cuda.cuStreamSynchronize(stream_) == CUDA_SUCCESS;
}

}  // namespace streamscope::collect
