// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/table_reader.h"

#include <algorithm>

#include "collect/observed/gpu_code.h"
#include "collect/process/driver.h"

namespace streamscope::collect {

namespace {

constexpr uint32_t kMostReported = 1 << 18;  // at once: runs, and granules

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

void count_slots(Contents& contents) {
  for (TouchLaunch& launch : contents.launches) launch.slots = 0;
  for (const TouchRun& run : contents.runs)
    contents.launches[launch_of(run.first)].slots += run.granules;
  for (const TouchSlot& slot : contents.granules) ++contents.launches[launch_of(slot.key)].slots;
}

}  // namespace

bool TableReader::make() {
  CUmodule module = nullptr;
  empty_ = {.most_runs = kMostReported, .most_granules = kMostReported};
  return cuda.cuModuleLoadData(&module, streamscope_reader) == CUDA_SUCCESS &&
         cuda.cuModuleGetFunction(&report_, module, "streamscope_report") == CUDA_SUCCESS &&
         cuda.cuModuleGetFunction(&clear_, module, "streamscope_clear") == CUDA_SUCCESS &&
         allocate(&empty_.runs, kMostReported) && allocate(&empty_.granules, kMostReported) &&
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

bool TableReader::report_slots(const TouchTable* from, TouchReport& report) {
  report.run_count = report.granule_count = 0;
  return cuda.cuMemcpyHtoDAsync(address(report_at_), &report, sizeof report, stream_) ==
             CUDA_SUCCESS &&
         launch(report_, stream_, from, report_at_) &&
         cuda.cuMemcpyDtoHAsync(&report, address(report_at_), sizeof report, stream_) ==
             CUDA_SUCCESS &&
         cuda.cuStreamSynchronize(stream_) == CUDA_SUCCESS;
}

bool TableReader::take(TouchTable* from, const TouchTable& empty, uint64_t at_once,
                       TouchReport& report, Contents& contents) {
  for (uint64_t begin = 0; begin < empty.capacity;) {
    report.begin = begin;
    report.end = std::min(begin + at_once, empty.capacity);
    if (!report_slots(from, report)) return false;
    if (std::max(report.run_count, report.granule_count) > kMostReported) {
      at_once = kMostReported;  // no slot is reported twice
      continue;
    }
    if (!fetch(contents.runs, report.runs, report.run_count, stream_) ||
        !fetch(contents.granules, report.granules, report.granule_count, stream_))
      return false;
    begin = report.end;
  }
  return launch(clear_, stream_, from, empty, report.launch_count);
}

bool TableReader::read(const Table& table, Contents& contents) {
  if (stream_ == nullptr && !make()) return false;
  TouchReport report = empty_, of_spill = empty_;
  report.launch_count = static_cast<uint32_t>(table.launches.size());
  // A large table mostly has long runs, and each part costs a synchronization that launches wait
  // for. A spill has what is scattered.
  contents.complete = take(table.device, table.header, table.header.capacity, report, contents) &&
                      (report.has_spilled == 0 ||
                       take(table.header.spill, table.spill, kMostReported, of_spill, contents)) &&
                      fetch(contents.launches, report.launches, report.launch_count, stream_) &&
                      cuda.cuStreamSynchronize(stream_) == CUDA_SUCCESS;
  if (contents.complete) count_slots(contents);
  return contents.complete;
}

}  // namespace streamscope::collect
