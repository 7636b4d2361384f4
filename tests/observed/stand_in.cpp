// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "stand_in.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "collect/calls/call_table.h"
#include "collect/observed/gpu_code.h"
#include "collect/observed/observer.h"
#include "collect/process/asking.h"
#include "collect/process/driver.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"

namespace streamscope::collect {

// What the files under test need of the collector.
constinit Session session;
constinit DriverFunctions cuda = {};
constinit SanitizerFunctions sanitizer = {};
constinit thread_local ThreadSlot thread_slot = {};
bool find_cuda() { return true; }
const char* load_sanitizer() { return nullptr; }
int64_t monotonic_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}
bool start_thread(const char*, void* (*body)(void*), void* argument) {
  std::thread([=] { body(argument); }).detach();
  return true;
}
Asking::Asking(uint64_t, uint64_t) : allowed_(true) {}
Asking::~Asking() { allowed_ = false; }
bool RoomInRing::wait_for(uint64_t) { return !stuck_ && thread_.ring.valid(); }
extern "C" {
const char streamscope_patches[1] = {};
const char streamscope_reader[1] = {};
}

namespace {

using test::ThreadStream;

// Kept until the process ends: the observer's thread runs as long.
struct Everything {
  std::mutex mutex;
  std::filesystem::path rings;
  std::deque<ThreadState> threads;
  std::vector<ring::Consumer> consumers;
  std::vector<std::string> losses;
  SanitizerCallback callback = nullptr;
  bool enabled[16] = {};
  std::set<CUmodule> patched;
  std::multimap<CUcontext, void*> memory;
  std::atomic<size_t> most_host_bytes = 4096;
  std::atomic<bool> refuses_kernels = false;
  std::map<SanitizerLaunch, const void*> data;
  std::deque<std::atomic<bool>> events;
  std::deque<ThreadStream> streams;
  std::atomic<uint32_t> next_call{1};
  std::atomic<uintptr_t> next_handle{0x10000};
  ring::Control control{};
};
Everything& all() {
  static auto& everything = *new Everything;
  return everything;
}

thread_local CUcontext current = nullptr;

ThreadState* new_thread(uint64_t capacity) {
  Everything& a = all();
  std::lock_guard lock(a.mutex);
  if (a.rings.empty()) {
    a.rings = std::filesystem::temp_directory_path() /
              ("streamscope-observed-" + std::to_string(::getpid()));
    std::filesystem::create_directory(a.rings);
    std::atexit([] { std::filesystem::remove_all(all().rings); });
  }
  ThreadState* const state = &a.threads.emplace_back();
  int error = 0;
  state->ring = ring::Producer::create(a.rings.c_str(), static_cast<uint32_t>(a.consumers.size()),
                                       capacity, ring::ClockKind::kMonotonic, &error);
  if (!state->ring.valid()) throw std::runtime_error("no ring");
  for (const auto& entry : std::filesystem::directory_iterator(a.rings)) {
    std::string why;
    bool known = false;
    for (const ring::Consumer& consumer : a.consumers) known |= consumer.file() == entry.path();
    if (!known) a.consumers.push_back(*ring::Consumer::open(entry.path(), &why));
  }
  return state;
}

void* allocate(size_t bytes) {
  const size_t whole = (bytes + 4095) / 4096 * 4096;
  void* const memory = std::aligned_alloc(4096, whole);
  return memory;
}
template <class T>
T* pointer(CUdeviceptr address) {
  return reinterpret_cast<T*>(address);
}

const auto kReport = reinterpret_cast<CUfunction>(uintptr_t{1});
const auto kClear = reinterpret_cast<CUfunction>(uintptr_t{2});

void run_report(const TouchTable* table, TouchReport* report) {
  const auto* launches =
      reinterpret_cast<const TouchLaunch*>(reinterpret_cast<const char*>(table) + kLaunchesOffset);
  for (uint32_t i = 0; i < report->launch_count; ++i) report->launches[i].flags = launches[i].flags;
  report->has_spilled = has_spilled(*table);
  for (uint64_t i = report->begin; i < report->end; ++i)
    report_slot(*table, table->slots[i], *report);
}
void run_clear(TouchTable* table, const TouchTable& empty, uint32_t launch_count) {
  std::memset(static_cast<void*>(empty.slots), 0, empty.capacity * sizeof(TouchSlot));
  std::memset(reinterpret_cast<char*>(table) + kLaunchesOffset, 0,
              launch_count * sizeof(TouchLaunch));
  *table = empty;
}

void make_driver() {
  cuda.cuCtxGetCurrent = [](CUcontext* context) {
    *context = current;
    return CUDA_SUCCESS;
  };
  cuda.cuCtxPushCurrent = [](CUcontext context) {
    current = context;
    return CUDA_SUCCESS;
  };
  cuda.cuCtxPopCurrent = [](CUcontext* context) {
    *context = current;
    return CUDA_SUCCESS;
  };
  cuda.cuEventCreate = [](CUevent* event, unsigned) {
    std::lock_guard lock(all().mutex);
    *event = reinterpret_cast<CUevent>(&all().events.emplace_back(false));
    return CUDA_SUCCESS;
  };
  cuda.cuEventRecord = [](CUevent event, CUstream stream) {
    auto* const done = reinterpret_cast<std::atomic<bool>*>(event);
    *done = false;
    ThreadStream::of(stream).run([done] { *done = true; });
    return CUDA_SUCCESS;
  };
  cuda.cuEventQuery = [](CUevent event) {
    return *reinterpret_cast<std::atomic<bool>*>(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  };
  cuda.cuStreamQuery = [](CUstream stream) {
    return ThreadStream::of(stream).is_idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  };
  cuda.cuStreamCreate = [](CUstream* stream, unsigned) {
    std::lock_guard lock(all().mutex);
    *stream = all().streams.emplace_back().handle();
    return CUDA_SUCCESS;
  };
  cuda.cuStreamSynchronize = [](CUstream stream) {
    ThreadStream::of(stream).synchronize();
    return CUDA_SUCCESS;
  };
  cuda.cuModuleLoadData = [](CUmodule*, const void* image) {
    return image == streamscope_reader ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
  };
  cuda.cuModuleGetFunction = [](CUfunction* function, CUmodule, const char* name) {
    *function = std::strcmp(name, "streamscope_report") == 0 ? kReport : kClear;
    return CUDA_SUCCESS;
  };
  cuda.cuMemAlloc = [](CUdeviceptr* memory, size_t bytes) {
    *memory = reinterpret_cast<CUdeviceptr>(allocate(bytes));
    return CUDA_SUCCESS;
  };
  cuda.cuMemsetD8Async = [](CUdeviceptr memory, unsigned char value, size_t bytes,
                            CUstream stream) {
    ThreadStream::of(stream).run([=] { std::memset(pointer<void>(memory), value, bytes); });
    return CUDA_SUCCESS;
  };
  // Pageable memory is staged in one direction, and the call waits in the other.
  cuda.cuMemcpyHtoDAsync = [](CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    const auto* bytes_of = static_cast<const char*>(from);
    ThreadStream::of(stream).run([to, staged = std::vector<char>(bytes_of, bytes_of + bytes)] {
      std::memcpy(pointer<void>(to), staged.data(), staged.size());
    });
    return CUDA_SUCCESS;
  };
  cuda.cuMemcpyDtoHAsync = [](void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    ThreadStream::of(stream).run([=] { std::memcpy(to, pointer<void>(from), bytes); });
    ThreadStream::of(stream).synchronize();
    return CUDA_SUCCESS;
  };
  cuda.cuLaunchKernel = [](CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, unsigned, CUstream stream, void** parameters, void**) {
    if (all().refuses_kernels) return CUDA_ERROR_LAUNCH_FAILED;
    auto* const table = *static_cast<TouchTable**>(parameters[0]);
    if (function == kReport) {
      auto* const into = *static_cast<TouchReport**>(parameters[1]);
      ThreadStream::of(stream).run([=] { run_report(table, into); });
    } else {
      const TouchTable empty = *static_cast<TouchTable*>(parameters[1]);
      const uint32_t launch_count = *static_cast<uint32_t*>(parameters[2]);
      ThreadStream::of(stream).run([=] { run_clear(table, empty, launch_count); });
    }
    return CUDA_SUCCESS;
  };
}

void make_sanitizer() {
  sanitizer.sanitizerSubscribe = [](SanitizerSubscriber*, SanitizerCallback callback, void*) {
    all().callback = callback;
    return 0;
  };
  sanitizer.sanitizerUnsubscribe = [](SanitizerSubscriber) { return 0; };
  sanitizer.sanitizerEnableDomain = [](uint32_t enable, SanitizerSubscriber, int domain) {
    all().enabled[domain] = enable != 0;
    return 0;
  };
  sanitizer.sanitizerAddPatches = [](const void* patches, CUcontext) {
    return patches == streamscope_patches ? 0 : 1;
  };
  sanitizer.sanitizerPatchInstructions = [](int, CUmodule, const char*) { return 0; };
  sanitizer.sanitizerPatchModule = [](CUmodule module) {
    std::lock_guard lock(all().mutex);
    all().patched.insert(module);
    return 0;
  };
  sanitizer.sanitizerUnpatchModule = [](CUmodule module) {
    std::lock_guard lock(all().mutex);
    return all().patched.erase(module) == 1 ? 0 : 1;
  };
  sanitizer.sanitizerSetLaunchCallbackData = [](SanitizerLaunch launch, CUfunction, SanitizerStream,
                                                const void* data) {
    std::lock_guard lock(all().mutex);
    all().data[launch] = data;
    return 0;
  };
  sanitizer.sanitizerAlloc = [](CUcontext context, void** memory, size_t bytes) {
    *memory = allocate(bytes);
    std::lock_guard lock(all().mutex);
    all().memory.emplace(context, *memory);
    return 0;
  };
  sanitizer.sanitizerAllocHost = [](CUcontext context, void** memory, size_t bytes) {
    return bytes > all().most_host_bytes ? 1 : sanitizer.sanitizerAlloc(context, memory, bytes);
  };
  sanitizer.sanitizerMemset = [](void* memory, int value, size_t bytes, SanitizerStream) {
    std::memset(memory, value, bytes);
    return 0;
  };
  sanitizer.sanitizerMemcpyHostToDeviceAsync = [](void* to, const void* from, size_t bytes,
                                                  SanitizerStream) {
    std::memcpy(to, from, bytes);
    return 0;
  };
  sanitizer.sanitizerStreamSynchronize = [](SanitizerStream) { return 0; };
}

void call_back(int domain, uint32_t id, const void* data) {
  if (all().enabled[domain]) all().callback(nullptr, domain, id, data);
}

constexpr CallFacts facts_of(CallKind kind) { return {.id = ring::CallId{0}, .kind = kind}; }
const CallEntry kLaunchEntry = {facts_of(CallKind::kLaunch)},
                kGraphEntry = {facts_of(CallKind::kGraphLaunch)};

}  // namespace

ThreadState* make_thread_state() { return thread_slot.state = new_thread(1 << 16); }
ThreadState* own_thread_state(uint64_t capacity) { return new_thread(capacity); }
void report_loss(ring::Loss, uint64_t, const char* why, uint64_t, uint64_t) {
  std::lock_guard lock(all().mutex);
  all().losses.push_back(why);
}

Program::Program(const std::string& cubin)
    : context_(all().next_handle += 16), module_(all().next_handle += 16) {
  static std::once_flag once;
  std::call_once(once, [] {
    make_driver();
    make_sanitizer();
    all().control.ring_records = 1 << 16;
    session.control = &all().control;
    session.state = SessionState::kRunning;
    session.collecting_since = 0;
    if (observing_obstacle() != nullptr || !start_observing())
      throw std::runtime_error("observing does not start");
  });
  const SanitizerContextData context_data{context(), 0};
  call_back(kResourceDomain, kContextCreated, &context_data);
  const SanitizerModuleData module_data{context(), reinterpret_cast<CUmodule>(module_),
                                        cubin.size(), cubin.data(), nullptr};
  call_back(kResourceDomain, kModuleLoaded, &module_data);
  current = context();
}

Program::~Program() {
  report_touched();
  const SanitizerContextData data{context(), 0};
  call_back(kResourceDomain, kContextDestroyStarts, &data);
  std::lock_guard lock(all().mutex);
  const auto [begin, end] = all().memory.equal_range(context());
  for (auto memory = begin; memory != end; ++memory) std::free(memory->second);
  all().memory.erase(begin, end);
  all().most_host_bytes = 4096;
  all().refuses_kernels = false;
}

void Program::have_host_memory() { all().most_host_bytes = SIZE_MAX; }
void Program::refuse_kernels() { all().refuses_kernels = true; }

uint32_t Program::launch(ThreadStream& stream, const char* name,
                         const std::vector<Kernel>& kernels) {
  ThreadState& thread = *this_thread();
  current = context();
  const bool is_graph = kernels.size() > 1;
  const auto handle = reinterpret_cast<uint64_t>(stream.handle());
  observe_before_launch(handle);
  thread.open_number = all().next_call++;
  thread.begin = ticks();
  thread.open_entry = is_graph ? &kGraphEntry : &kLaunchEntry;
  for (const Kernel& kernel : kernels) {
    SanitizerNodeData node{.type = CU_GRAPH_NODE_TYPE_KERNEL};
    SanitizerLaunchData& launch = node.launch;
    launch.context = context();
    launch.stream = stream.handle();
    launch.module = reinterpret_cast<CUmodule>(module_);
    launch.function =
        reinterpret_cast<CUfunction>(module_ + 1 + std::hash<std::string_view>()(name) % 65536);
    launch.name = name;
    for (uint32_t* size : {launch.grid, launch.block}) size[0] = size[1] = size[2] = 1;
    launch.block[0] = 64;
    launch.launch = reinterpret_cast<SanitizerLaunch>(all().next_handle += 16);
    if (is_graph) {
      call_back(kGraphDomain, kNodeLaunchBegins, &node);
    } else {
      call_back(kLaunchDomain, kLaunchBegins, &launch);
    }
    TouchLaunch* place = nullptr;
    {
      std::lock_guard lock(all().mutex);
      place = static_cast<TouchLaunch*>(const_cast<void*>(all().data[launch.launch]));
    }
    stream.run([kernel, place] { kernel(place); });
  }
  thread.open_entry = nullptr;
  observe_after_launch();
  return thread.open_number;
}

std::vector<ring::AccessRecord> Program::reported() {
  std::lock_guard lock(all().mutex);
  std::vector<ring::AccessRecord> found;
  for (ring::Consumer& consumer : all().consumers) {
    const auto pending = consumer.pending();
    for (size_t i = 0; i < pending.size(); ++i) {
      if (pending[i].head.kind == ring::RecordKind::kAccess)
        found.push_back(ring::as<ring::AccessRecord>(pending[i]));
    }
    consumer.release(pending.size());
  }
  return found;
}

std::vector<std::string> Program::losses() {
  std::lock_guard lock(all().mutex);
  return std::exchange(all().losses, {});
}

size_t Program::patched() {
  std::lock_guard lock(all().mutex);
  return all().patched.size();
}

}  // namespace streamscope::collect
