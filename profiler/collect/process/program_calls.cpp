// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a program that knows of its recording calls; it looks these functions up by dlsym(). The
// Python package is such a program.
#include <time.h>

#include <cstring>

#include "collect/process/gate.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"
#ifdef STREAMSCOPE_WITH_CUPTI
#include "collect/cupti/activities.h"
#include "collect/nvtx/ranges.h"
#include "collect/observed/observer.h"
#include "collect/process/driver.h"
#endif

namespace streamscope::collect {
namespace {

constexpr long kPollNs = 200'000;

int64_t deadline_after(unsigned ms) { return monotonic_ns() + int64_t{ms} * 1'000'000; }

#ifdef STREAMSCOPE_WITH_CUPTI

// False for old drivers, and for libraries that take the driver's place.
bool can_use_primary_contexts() {
  return cuda.cuDeviceGet != nullptr && cuda.cuDevicePrimaryCtxGetState != nullptr &&
         cuda.cuDevicePrimaryCtxRetain != nullptr && cuda.cuDevicePrimaryCtxRelease != nullptr &&
         cuda.cuCtxPushCurrent != nullptr && cuda.cuCtxPopCurrent != nullptr;
}

// Waits for all work on the devices that the program uses, in their primary contexts and in the
// current one. Not while a graph is being captured, which that would break.
void synchronize() {
  if (session.active_captures.load() > 0 || !find_cuda() || cuda.cuCtxSynchronize == nullptr ||
      cuda.cuCtxGetCurrent == nullptr)
    return;
  CUcontext current = nullptr;
  if (cuda.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) cuda.cuCtxSynchronize();
  if (!can_use_primary_contexts()) return;
  int devices = 0;
  if (cuda.cuDeviceGetCount(&devices) != CUDA_SUCCESS) return;
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    CUdevice device = 0;
    unsigned flags = 0;
    int active = 0;
    CUcontext primary = nullptr;
    if (cuda.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS ||
        cuda.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || active == 0 ||
        cuda.cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS)
      continue;
    if (primary != current && cuda.cuCtxPushCurrent(primary) == CUDA_SUCCESS) {
      cuda.cuCtxSynchronize();
      cuda.cuCtxPopCurrent(&primary);
    }
    cuda.cuDevicePrimaryCtxRelease(device);
  }
}

// The work so far has ended, so that its times exist, and what its kernels touched is reported.
bool finish_work(ThreadState& thread, int64_t until) {
  thread.in_collector = true;
  synchronize();
  thread.in_collector = false;
  if (session.observes && !report_touched()) return false;
  const int64_t left_ms = (until - monotonic_ns()) / 1'000'000;
  return left_ms > 0 && flush_finished(static_cast<int>(left_ms));
}

#else

bool finish_work(ThreadState&, int64_t) { return true; }

#endif

// The writer answers once all records that exist by now are rows of the trace.
bool wait_until_stored(ring::RingHeader& ring, int64_t until) {
  const uint32_t asked = ring.store_asked.fetch_add(1, std::memory_order_acq_rel) + 1;
  while (running() && monotonic_ns() < until) {
    if (ring.stored.load(std::memory_order_acquire) == asked) return true;
    const timespec pause{0, kPollNs};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

}  // namespace
}  // namespace streamscope::collect

#define STREAMSCOPE_CALL extern "C" __attribute__((visibility("default")))

/// Has the flight recorder of this run write what it holds, soon; no effect without one.
STREAMSCOPE_CALL void streamscope_dump(void) {
  using namespace streamscope;
  if (!collect::running()) return;
  collect::ThreadState* thread = collect::this_thread();
  if (thread == nullptr) return;
  ring::CollectingRecord record{};
  record.kind = ring::RecordKind::kDump;
  record.begin = collect::ticks();
  thread->push(record);
}

/// Begins a range of the calling thread, as NVTX's function does. `name` is copied.
STREAMSCOPE_CALL void streamscope_range_push([[maybe_unused]] const char* name) {
#ifdef STREAMSCOPE_WITH_CUPTI
  using namespace streamscope::collect;
  Act act;
  act.text = bounded(name);
  range_push(act);
#endif
}

/// Ends the range that the calling thread began last, by this function or NVTX's.
STREAMSCOPE_CALL void streamscope_range_pop(void) {
#ifdef STREAMSCOPE_WITH_CUPTI
  streamscope::collect::range_pop(nullptr);
#endif
}

/// Waits until all work that the process has given its devices has ended, but not for simulated
/// devices, and is in the trace with everything else that the process has done so far. `trace` gets
/// the path of the trace. 0: so it is; 1: the process is not recorded, or not into a trace yet (it
/// has not used CUDA, or its recorder keeps the newest records only); 2: not within `timeout_ms`,
/// not counting the wait for the devices; 3: `trace` has too few bytes. Thread-safe.
STREAMSCOPE_CALL int streamscope_flush(char* trace, size_t trace_bytes, unsigned timeout_ms) {
  using namespace streamscope;
  if (!collect::running() || collect::session.control->flight_recorder != 0) return 1;
  collect::ThreadState* thread = collect::this_thread();
  if (thread == nullptr) return 1;
  const char* file = collect::session.control->trace_file;
  const size_t bytes = std::strlen(file) + 1;
  if (bytes > trace_bytes) return 3;
  const int64_t until = collect::deadline_after(timeout_ms);
  const bool is_stored = collect::finish_work(*thread, until) &&
                         collect::wait_until_stored(thread->ring.header(), until);
  if (!is_stored) return 2;
  std::memcpy(trace, file, bytes);
  return 0;
}
