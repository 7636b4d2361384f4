// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/table_reader.h"

#include <algorithm>

#include "collect/observed/gpu_code.h"
#include "collect/process/driver.h"

namespace streamscope::collect {

namespace {

constexpr uint32_t kMostRuns = 1 << 18, kMostGranules = 1 << 18;

CUdeviceptr address(const void* device) { return reinterpret_cast<CUdeviceptr>(device); }

template <class T>
bool allocate(T** memory, size_t count) {
  CUdeviceptr found = 0;
  if (cuda.cuMemAlloc(&found, count * sizeof(T)) != CUDA_SUCCESS) return false;
  *memory = reinterpret_cast<T*>(found);
  return true;
}

template <class T>
bool fetch(std::vector<T>& into, const T* from, size_t count, CUstream stream) {
  into.resize(count);
  return count == 0 || cuda.cuMemcpyDtoHAsync(into.data(), address(from), count * sizeof(T),
                                              stream) == CUDA_SUCCESS;
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

bool TableReader::read(const Table& table, Contents& contents) {
  if (stream_ == nullptr && !make()) return false;
  TouchReport report = empty_;
  report.launch_count = static_cast<uint32_t>(table.launches.size());
  if (cuda.cuMemsetD8Async(address(report.launches), 0, report.launch_count * sizeof(TouchLaunch),
                           stream_) != CUDA_SUCCESS ||
      cuda.cuMemcpyHtoDAsync(address(report_at_), &report, sizeof report, stream_) !=
          CUDA_SUCCESS ||
      !launch(report_, stream_, table.device, report_at_) ||
      cuda.cuMemcpyDtoHAsync(&report, address(report_at_), sizeof report, stream_) !=
          CUDA_SUCCESS ||
      cuda.cuStreamSynchronize(stream_) != CUDA_SUCCESS)
    return false;
  contents.complete = report.run_count <= kMostRuns && report.granule_count <= kMostGranules;
  return fetch(contents.runs, report.runs, std::min(report.run_count, kMostRuns), stream_) &&
         fetch(contents.granules, report.granules, std::min(report.granule_count, kMostGranules),
               stream_) &&
         fetch(contents.launches, report.launches, report.launch_count, stream_) &&
         launch(clear_, stream_, table.device, table.header) &&
         cuda.cuStreamSynchronize(stream_) == CUDA_SUCCESS;
}

}  // namespace streamscope::collect
