// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/table_reader.h"

#include <algorithm>

#include "collect/observed/gpu_code.h"
#include "collect/process/driver.h"

namespace streamscope::collect {

namespace {

constexpr uint32_t kMostSlots = 1 << 18;  // read at once

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
  empty_ = {.most_runs = kMostSlots, .most_granules = kMostSlots};
  return cuda.cuModuleLoadData(&module, streamscope_reader) == CUDA_SUCCESS &&
         cuda.cuModuleGetFunction(&report_, module, "streamscope_report") == CUDA_SUCCESS &&
         cuda.cuModuleGetFunction(&clear_, module, "streamscope_clear") == CUDA_SUCCESS &&
         allocate(&empty_.runs, kMostSlots) && allocate(&empty_.granules, kMostSlots) &&
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

bool TableReader::read_slots(const TouchTable* from, TouchReport& report, Contents& contents) {
  return cuda.cuMemcpyHtoDAsync(address(report_at_), &report, sizeof report, stream_) ==
             CUDA_SUCCESS &&
         launch(report_, stream_, from, report_at_) &&
         cuda.cuMemcpyDtoHAsync(&report, address(report_at_), sizeof report, stream_) ==
             CUDA_SUCCESS &&
         cuda.cuStreamSynchronize(stream_) == CUDA_SUCCESS &&
         fetch(contents.runs, report.runs, report.run_count, stream_) &&
         fetch(contents.granules, report.granules, report.granule_count, stream_);
}

bool TableReader::take(TouchTable* from, const TouchTable& empty, TouchReport& report,
                       Contents& contents) {
  for (uint64_t begin = 0; begin < empty.capacity; begin += kMostSlots) {
    report.begin = begin;
    report.end = std::min(begin + kMostSlots, empty.capacity);
    report.run_count = report.granule_count = 0;
    if (!read_slots(from, report, contents)) return false;
  }
  return launch(clear_, stream_, from, empty, report.launch_count);
}

bool TableReader::read(const Table& table, Contents& contents) {
  if (stream_ == nullptr && !make()) return false;
  TouchReport report = empty_, of_spill = empty_;
  report.launch_count = static_cast<uint32_t>(table.launches.size());
  contents.complete =
      cuda.cuMemsetD8Async(address(report.launches), 0, report.launch_count * sizeof(TouchLaunch),
                           stream_) == CUDA_SUCCESS &&
      take(table.device, table.header, report, contents) &&
      (report.has_spilled == 0 || take(table.header.spill, table.spill, of_spill, contents)) &&
      fetch(contents.launches, report.launches, report.launch_count, stream_) &&
      cuda.cuStreamSynchronize(stream_) == CUDA_SUCCESS;
  return contents.complete;
}

}  // namespace streamscope::collect
