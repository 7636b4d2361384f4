// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Counts what a test program does with CUDA, so that a recording of it can be checked against the
// program's own numbers.
//
// Every call that matters goes through CALL, TRY or launch(); report() prints one JSON line with
// the number of calls by name and by meaning (launches, copies, records, ...). Calls made while
// this thread captures a graph count apart
// ("captured_..."), because nothing runs on the device for them. Needs no CUDA headers by itself.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace counted {

inline constexpr int kSkipped = 77;    // exit code: no GPU here
inline constexpr int kNotReady = 600;  // the expected answer of a query

/// What a call counts as in the report, by its name without suffixes.
struct Meaning {
  std::string_view call;
  const char* field;
};
inline constexpr Meaning kMeanings[] = {
    {"cudaLaunchKernel", "launches"},
    {"cuLaunchKernel", "launches"},
    {"cudaMemcpy", "sync_copies"},
    {"cudaMemcpyAsync", "copies"},
    {"cudaMemcpyPeerAsync", "copies"},
    {"cuMemcpyHtoDAsync", "copies"},
    {"cuMemcpyDtoHAsync", "copies"},
    {"cudaMemsetAsync", "memsets"},
    {"cuMemsetD32Async", "memsets"},
    {"cudaEventRecord", "records"},
    {"cudaEventRecordWithFlags", "records"},
    {"cuEventRecord", "records"},
    {"cudaStreamWaitEvent", "waits"},
    {"cuStreamWaitEvent", "waits"},
    {"cudaDeviceSynchronize", "device_syncs"},
    {"cuCtxSynchronize", "device_syncs"},
    {"cudaStreamSynchronize", "stream_syncs"},
    {"cuStreamSynchronize", "stream_syncs"},
    {"cudaEventSynchronize", "event_syncs"},
    {"cuEventSynchronize", "event_syncs"},
    {"cudaStreamQuery", "stream_queries"},
    {"cuStreamQuery", "stream_queries"},
    {"cudaEventQuery", "event_queries"},
    {"cuEventQuery", "event_queries"},
    {"cudaLaunchHostFunc", "host_functions"},
    {"cudaGraphLaunch", "graph_launches"},
    {"cuStreamWaitValue32", "memory_waits"},
    {"cuStreamWriteValue32", "memory_writes"},
    {"cudaMallocAsync", "async_allocations"},
    {"cudaFreeAsync", "async_frees"},
    {"nvtxRangePushA", "ranges"},
    {"nvtxMarkA", "marks"},
};

struct Call {
  std::atomic<uint64_t> made{0};
  std::atomic<uint64_t> captured{0};
};

inline thread_local bool capturing = false;

struct State {
  std::mutex mutex;
  std::map<std::string, Call, std::less<>> calls;
  std::vector<std::pair<std::string, std::string>> notes;
};
inline State& state() {
  static State* only = new State;  // outlives all static destructors
  return *only;
}

inline Call& entry(std::string_view name) {
  std::lock_guard lock(state().mutex);
  return state().calls.try_emplace(std::string(name)).first->second;
}

inline void add(Call& call, uint64_t count = 1) {
  (capturing ? call.captured : call.made).fetch_add(count, std::memory_order_relaxed);
}

/// Counts `count` calls of `name` at once, for loops too tight to count one by one.
inline void add(std::string_view name, uint64_t count) { add(entry(name), count); }

/// Puts `"key": value` into the report; `value` is JSON.
inline void note(std::string key, std::string value) {
  std::lock_guard lock(state().mutex);
  state().notes.emplace_back(std::move(key), std::move(value));
}
inline void note(std::string key, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.15g", value);
  note(std::move(key), std::string(text));
}

/// Forgets what was counted so far. Entries stay: call sites refer to them.
inline void reset() {
  std::lock_guard lock(state().mutex);
  for (auto& [name, call] : state().calls) call.made = call.captured = 0;
}

[[noreturn]] inline void fail(const char* what, long long expected, long long got) {
  std::fprintf(stderr, "FAIL %s: expected %lld, got %lld\n", what, expected, got);
  std::exit(1);
}

/// Ends the program if a result of its own work is wrong.
inline void expect(const char* what, long long expected, long long got) {
  if (expected != got) fail(what, expected, got);
}

[[noreturn]] inline void skip(const char* why) {
  std::fprintf(stderr, "SKIP: %s\n", why);
  std::exit(kSkipped);
}

/// Value of `name` on the command line, or `fallback`.
inline long long option(int argc, char** argv, std::string_view name, long long fallback) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (name == argv[i]) return std::atoll(argv[i + 1]);
  }
  return fallback;
}
inline bool flag(int argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i) {
    if (name == argv[i]) return true;
  }
  return false;
}

/// Prints the JSON line. Call it last, when everything was verified.
inline void report(const char* app) {
  std::lock_guard lock(state().mutex);
  std::map<std::string, uint64_t> fields;
  for (const Meaning& meaning : kMeanings) {
    fields[meaning.field];
    fields[std::string("captured_") + meaning.field];
  }
  for (const auto& [name, call] : state().calls) {
    for (const Meaning& meaning : kMeanings) {
      if (meaning.call != name) continue;
      fields[meaning.field] += call.made;
      fields[std::string("captured_") + meaning.field] += call.captured;
    }
  }
  fields["syncs"] = fields["device_syncs"] + fields["stream_syncs"] + fields["event_syncs"];
  fields["queries"] = fields["stream_queries"] + fields["event_queries"];
  std::string line = std::string("{\"app\": \"") + app + "\", \"ok\": true";
  for (const auto& [field, value] : fields) line += ", \"" + field + "\": " + std::to_string(value);
  for (const auto& [key, value] : state().notes) line += ", \"" + key + "\": " + value;
  line += ", \"calls\": {";
  const char* comma = "";
  for (const auto& [name, call] : state().calls) {
    if (call.made + call.captured == 0) continue;
    line += comma + ("\"" + name + "\": ") + std::to_string(call.made + call.captured);
    comma = ", ";
  }
  line += "}}\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

/// Keeps the calling thread on one CPU, for measurements; threads that CUDA or a collector started
/// before stay free.
inline void pin_this_thread() {
  cpu_set_t allowed;
  if (pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed) != 0) return;
  for (int cpu = CPU_SETSIZE - 1; cpu > 0; --cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    pthread_setaffinity_np(pthread_self(), sizeof only, &only);
    return;
  }
}

template <class Result>
void check(Result result, const char* call, const char* file, int line) {
  if (static_cast<int>(result) == 0) return;
  std::fprintf(stderr, "FAIL %s:%d: %s: expected 0, got %d\n", file, line, call,
               static_cast<int>(result));
  std::exit(1);
}

}  // namespace counted

/// Counts and makes a call; yields its result. The name is converted to text here and below, at the
/// outermost macro, because CUDA's headers define some names as macros (cuMemAlloc is
/// cuMemAlloc_v2).
#define TRY(call, ...) COUNTED_CALL(, call, #call, __VA_ARGS__)
/// The same for a function of a table, as in TRY_ON(driver., cuInit, 0).
#define TRY_ON(object, call, ...) COUNTED_CALL(object, call, #call, __VA_ARGS__)

/// Counts and makes a call; ends the program unless it succeeds.
#define CALL(call, ...) \
  ::counted::check(COUNTED_CALL(, call, #call, __VA_ARGS__), #call, __FILE__, __LINE__)
#define CALL_ON(object, call, ...) \
  ::counted::check(COUNTED_CALL(object, call, #call, __VA_ARGS__), #call, __FILE__, __LINE__)

#define COUNTED_CALL(object, call, name, ...)                       \
  ([&] {                                                            \
    static ::counted::Call& counted_entry = ::counted::entry(name); \
    ::counted::add(counted_entry);                                  \
    return object call(__VA_ARGS__);                                \
  }())

#ifdef __CUDACC__
#include <cuda_runtime.h>

namespace counted {

/// Ends the program as skipped where there is no GPU.
inline void require_device() {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) skip(cudaGetErrorString(error));
}

/// Launches `kernel` with <<<>>> and counts it.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
            Arguments... arguments) {
  static Call& call = entry("cudaLaunchKernel");
  add(call);
  kernel<<<grid, block, 0, stream>>>(arguments...);
  check(cudaGetLastError(), "kernel launch", __FILE__, __LINE__);
}

/// Captures what this thread puts into `stream` until end().
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    CALL(cudaStreamBeginCapture, stream_, cudaStreamCaptureModeThreadLocal);
    capturing = true;
  }
  cudaGraph_t end() {
    capturing = false;
    cudaGraph_t graph = nullptr;
    CALL(cudaStreamEndCapture, stream_, &graph);
    return graph;
  }

 private:
  cudaStream_t stream_;
};

}  // namespace counted
#endif
