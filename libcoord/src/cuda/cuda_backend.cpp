// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "cuda/cuda_backend.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "codes.h"
#include "coord/event.h"
#include "cuda/busy_kernel.h"
#include "cuda/current.h"
#include "cuda/driver.h"
#include "cuda/handles.h"
#include "host/ticks.h"
#include "nvtx.h"

namespace coord::cuda {

namespace {

int attribute(CUdevice_attribute which, CUdevice device) {
  int value = 0;
  driver().device_get_attribute(&value, which, device);
  return value;
}

unsigned event_flags(EventClass event_class) {
  if (event_class == EventClass::kTiming) return CU_EVENT_DEFAULT;
  return event_class == EventClass::kBlockingSync ? CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC
                                                  : CU_EVENT_DISABLE_TIMING;
}

/// By CaptureMode.
constexpr CUstreamCaptureMode kCaptureModes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                                 CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                                 CU_STREAM_CAPTURE_MODE_RELAXED};

CUstreamCaptureMode to_cuda(CaptureMode mode) {
  return kCaptureModes[static_cast<std::size_t>(mode)];
}

using Function = std::function<void()>;

void CUDA_CB call_once(void* data) noexcept {
  const std::unique_ptr<Function> function(static_cast<Function*>(data));
  (*function)();
}

void CUDA_CB call_again(void* data) noexcept { (*static_cast<Function*>(data))(); }
void CUDA_CB delete_function(void* data) noexcept { delete static_cast<Function*>(data); }

class CudaBackend final : public Backend {
 public:
  /// Through the device's primary context.
  explicit CudaBackend(int ordinal) : owns_context_(true) {
    driver().device_get(&device_, ordinal);
    driver().primary_context_retain(&context_, device_);
    prepare();
  }
  /// Through a context that the program keeps alive.
  explicit CudaBackend(CUcontext context) : context_(context) {
    const Current current(context_);
    driver().context_get_device(&device_);
    prepare();
  }
  ~CudaBackend() override { close(); }
  CudaBackend(const CudaBackend&) = delete;
  CudaBackend& operator=(const CudaBackend&) = delete;

  [[nodiscard]] const DeviceProperties& properties() const noexcept override { return properties_; }

  [[nodiscard]] TimeNs now() override { return {monotonic_ns()}; }

  NativeStream create_stream(int priority, bool non_blocking, std::string_view name) override {
    const Current current(context_);
    CUstream stream = nullptr;
    driver().stream_create(&stream, non_blocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT,
                           priority);
    const auto handle = reinterpret_cast<NativeStream>(stream);
    if (!name.empty()) nvtx::name_stream(handle, std::string(name).c_str());
    return handle;
  }

  void destroy_stream(NativeStream stream) noexcept override {
    quietly([&] { driver().stream_destroy(to_stream(stream)); });
  }

  bool query_stream(NativeStream stream) override {
    const Current current(context_);
    return check_ready(driver().stream_query.raw(to_stream(stream)), "cuStreamQuery");
  }

  void synchronize_stream(NativeStream stream) override {
    const Current current(context_);
    driver().stream_synchronize(to_stream(stream));
  }

  void synchronize_device() override {
    const Current current(context_);
    driver().context_synchronize();
  }

  NativeEvent create_event(EventClass event_class, std::string_view name) override {
    const Current current(context_);
    CUevent event = nullptr;
    driver().event_create(&event, event_flags(event_class));
    const auto handle = reinterpret_cast<NativeEvent>(event);
    if (!name.empty()) nvtx::name_event(handle, std::string(name).c_str());
    return handle;
  }

  void destroy_event(NativeEvent event) noexcept override {
    quietly([&] { driver().event_destroy(to_event(event)); });
  }

  void record(NativeStream stream, NativeEvent event) override {
    check(of_stream(stream,
                    [&] { return driver().event_record.raw(to_event(event), to_stream(stream)); }),
          "cuEventRecord");
  }

  void wait(NativeStream stream, NativeEvent event) override {
    const auto call = [&] {
      return driver().stream_wait_event.raw(to_stream(stream), to_event(event),
                                            CU_EVENT_WAIT_DEFAULT);
    };
    check(of_stream(stream, call), "cuStreamWaitEvent");
  }

  bool query_event(NativeEvent event) override {
    return check_ready(
        of_handle_(context_, [&] { return driver().event_query.raw(to_event(event)); }),
        "cuEventQuery");
  }

  void synchronize_event(NativeEvent event) override {
    const Current current(context_);
    driver().event_synchronize(to_event(event));
  }

  Nanoseconds elapsed(NativeEvent start, NativeEvent end) override {
    const Current current(context_);
    float milliseconds = 0;
    driver().event_elapsed_time(&milliseconds, to_event(start), to_event(end));
    return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6));
  }

  void* allocate(std::size_t bytes, bool on_host) override {
    const Current current(context_);
    if (on_host) {
      void* address = nullptr;
      driver().host_memory_allocate(&address, bytes,
                                    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
      std::fill_n(static_cast<std::byte*>(address), bytes, std::byte{0});
      return address;
    }
    CUdeviceptr address = 0;
    driver().memory_allocate(&address, bytes);
    return to_pointer(address);
  }

  void* allocate_managed(std::size_t bytes) override {
    const Current current(context_);
    CUdeviceptr address = 0;
    driver().managed_memory_allocate(&address, bytes, CU_MEM_ATTACH_GLOBAL);
    return to_pointer(address);
  }

  MemoryKind memory_kind(const void* address) override {
    const Current current(context_);
    // For memory that CUDA does not know, it returns "invalid value".
    const auto ask = [&](void* answer, CUpointer_attribute which) {
      return driver().pointer_get_attribute.raw(answer, which, to_device(address)) == CUDA_SUCCESS;
    };
    unsigned managed = 0, type = 0;
    if (ask(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED) && managed != 0) return MemoryKind::kManaged;
    if (!ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)) return MemoryKind::kPageable;
    return type == CU_MEMORYTYPE_HOST     ? MemoryKind::kPinned
           : type == CU_MEMORYTYPE_DEVICE ? MemoryKind::kDevice
                                          : MemoryKind::kPageable;
  }

  void release(void* address, bool on_host) noexcept override {
    quietly([&] {
      if (on_host) {
        driver().host_memory_free(address);
      } else {
        driver().memory_free(to_device(address));
      }
    });
  }

  void copy(NativeStream stream, void* to, const void* from, std::size_t bytes,
            CopyDirection direction) override {
    const Current current(context_);
    switch (direction) {
      case CopyDirection::kHostToDevice:
        return driver().copy_to_device(to_device(to), from, bytes, to_stream(stream));
      case CopyDirection::kDeviceToHost:
        return driver().copy_to_host(to, to_device(from), bytes, to_stream(stream));
      case CopyDirection::kDeviceToDevice:
        return driver().copy_in_device(to_device(to), to_device(from), bytes, to_stream(stream));
    }
  }

  void memset(NativeStream stream, void* to, std::uint8_t value, std::size_t bytes) override {
    const Current current(context_);
    driver().memset(to_device(to), value, bytes, to_stream(stream));
  }

  void prefetch(NativeStream stream, void* address, std::size_t bytes, bool to_host) override {
    const Current current(context_);
    driver().memory_prefetch(to_device(address), bytes, to_host ? CU_DEVICE_CPU : device_,
                             to_stream(stream));
  }

  void launch(NativeStream stream, const KernelSpec& kernel) override {
    const Current current(context_);
    std::uint64_t duration_ns = static_cast<std::uint64_t>(kernel.duration.count());
    Transform transform = kernel.transform;
    const std::uint64_t* spin_address = kernel.spin_address;
    std::uint64_t spin_value = kernel.spin_value;
    void* arguments[] = {&duration_ns,     &transform.input,  &transform.output, &transform.count,
                         &transform.scale, &transform.offset, &spin_address,     &spin_value};
    driver().launch_kernel(busy_kernel_, kernel.blocks, 1, 1, kBusyKernelThreads, 1, 1,
                           shared_bytes(kernel.blocks_per_sm), to_stream(stream), arguments,
                           nullptr);
  }

  void host_function(NativeStream stream, std::function<void()> function) override {
    const Current current(context_);
    auto held = std::make_unique<Function>(std::move(function));
    if (capture_status(stream) == CaptureStatus::kActive)
      return capture_host_function(stream, std::move(held));
    driver().launch_host_function(to_stream(stream), call_once, held.get());
    (void)held.release();  // call_once owns it now
  }

  void wait_value(NativeStream stream, const std::uint64_t* address, std::uint64_t value) override {
    const Current current(context_);
    driver().stream_wait_value(to_stream(stream), to_device(address), value,
                               CU_STREAM_WAIT_VALUE_GEQ);
  }

  void write_value(NativeStream stream, std::uint64_t* address, std::uint64_t value) override {
    const Current current(context_);
    driver().stream_write_value(to_stream(stream), to_device(address), value,
                                CU_STREAM_WRITE_VALUE_DEFAULT);
  }

  void* allocate_async(NativeStream stream, std::size_t bytes) override {
    const Current current(context_);
    CUdeviceptr address = 0;
    driver().memory_allocate_async(&address, bytes, to_stream(stream));
    return to_pointer(address);
  }

  void free_async(NativeStream stream, void* address) override {
    const Current current(context_);
    driver().memory_free_async(to_device(address), to_stream(stream));
  }

  [[nodiscard]] bool can_reach(const Backend& other) const noexcept override {
    // Without peer access the driver copies through the host.
    return dynamic_cast<const CudaBackend*>(&other) != nullptr;
  }

  void copy_peer(NativeStream stream, void* to, Backend& to_device_of, const void* from,
                 Backend& from_device_of, std::size_t bytes) override {
    const Current current(context_);
    driver().copy_peer(to_device(to), dynamic_cast<CudaBackend&>(to_device_of).context_,
                       to_device(from), dynamic_cast<CudaBackend&>(from_device_of).context_, bytes,
                       to_stream(stream));
  }

  void begin_capture(NativeStream stream, CaptureMode mode) override {
    const Current current(context_);
    driver().capture_begin(to_stream(stream), to_cuda(mode));
  }

  NativeGraph end_capture(NativeStream stream) override {
    const Current current(context_);
    CUgraph graph = nullptr;
    driver().capture_end(to_stream(stream), &graph);
    return reinterpret_cast<NativeGraph>(graph);
  }

  CaptureStatus capture_status(NativeStream stream) override {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    check(
        of_stream(stream, [&] { return driver().capture_status.raw(to_stream(stream), &status); }),
        "cuStreamIsCapturing");
    return status == CU_STREAM_CAPTURE_STATUS_ACTIVE        ? CaptureStatus::kActive
           : status == CU_STREAM_CAPTURE_STATUS_INVALIDATED ? CaptureStatus::kInvalidated
                                                            : CaptureStatus::kNone;
  }

  CaptureMode exchange_capture_mode(CaptureMode mode) override {
    CUstreamCaptureMode exchanged = to_cuda(mode);
    driver().capture_exchange_mode(&exchanged);
    return static_cast<CaptureMode>(std::ranges::find(kCaptureModes, exchanged) - kCaptureModes);
  }

  GraphShape graph_shape(NativeGraph graph) override {
    const Current current(context_);
    GraphShape shape;
    driver().graph_get_nodes(to_graph(graph), nullptr, &shape.nodes);
    driver().graph_get_edges(to_graph(graph), nullptr, nullptr, &shape.edges);
    return shape;
  }

  void destroy_graph(NativeGraph graph) noexcept override {
    quietly([&] { driver().graph_destroy(to_graph(graph)); });
  }

  NativeExecutable instantiate(NativeGraph graph) override {
    const Current current(context_);
    CUgraphExec executable = nullptr;
    driver().graph_instantiate(&executable, to_graph(graph), 0);
    return reinterpret_cast<NativeExecutable>(executable);
  }

  void launch_graph(NativeExecutable executable, NativeStream stream) override {
    const Current current(context_);
    driver().graph_launch(to_executable(executable), to_stream(stream));
  }

  void destroy_executable(NativeExecutable executable) noexcept override {
    quietly([&] { driver().graph_exec_destroy(to_executable(executable)); });
  }

  void enter() override {
    refuse_fork();
    driver().context_push(context_);
  }

  void leave() noexcept override {
    CUcontext popped = nullptr;
    driver().context_pop.raw(&popped);
  }

 private:
  /// Common part of the constructors. Closes if it fails.
  void prepare() {
    try {
      const Current current(context_);
      describe();
      // Now, because loading a module later would wait for running work and break a capture.
      driver().module_load(&module_, kBusyKernelPtx);
      driver().module_get_function(&busy_kernel_, module_, kBusyKernelName);
      allow_shared_memory();
    } catch (...) {
      close();
      throw;
    }
  }

  /// A node that runs with each launch of the graph, which then owns the function.
  void capture_host_function(NativeStream stream, std::unique_ptr<Function> function) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = nullptr;
    driver().capture_info(to_stream(stream), &status, nullptr, &graph, nullptr, nullptr);
    CUuserObject owner = nullptr;
    driver().user_object_create(&owner, function.get(), delete_function, 1,
                                CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    Function* const held = function.release();
    if (const CUresult result =
            driver().graph_retain_user_object.raw(graph, owner, 1, CU_GRAPH_USER_OBJECT_MOVE);
        result != CUDA_SUCCESS) {
      driver().user_object_release.raw(owner, 1);
      check(result, "cuGraphRetainUserObject");
    }
    driver().launch_host_function(to_stream(stream), call_again, held);
  }

  /// Allows blocks of the kernel to use all shared memory; see shared_bytes().
  void allow_shared_memory() {
    shared_per_sm_ = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device_);
    shared_per_block_ = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device_);
    driver().function_set_attribute(busy_kernel_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    shared_per_block_);
    // Always the same split between cache and shared memory: changing it drains the device.
    driver().function_set_attribute(busy_kernel_,
                                    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100);
  }

  /// Shared memory per block, so that at most `blocks` of them fit on a multiprocessor.
  [[nodiscard]] unsigned shared_bytes(unsigned blocks) const {
    constexpr int kReservedPerBlock = 1024;
    if (blocks == 0) return 0;
    return static_cast<unsigned>(std::clamp(
        shared_per_sm_ / static_cast<int>(blocks) - kReservedPerBlock, 0, shared_per_block_));
  }

  /// For destructors: a driver that is gone or has failed needs no cleanup.
  template <typename Function>
  void quietly(Function function) noexcept {
    try {
      const Current current(context_);
      function();
    } catch (const Error&) {
    }
  }

  void close() noexcept {
    if (module_ != nullptr) {
      quietly([&] { driver().module_unload(module_); });
    }
    if (owns_context_ && !forked()) driver().primary_context_release.raw(device_);
  }

  void describe() {
    char name[256] = {};
    driver().device_get_name(name, sizeof name, device_);
    std::size_t bytes = 0;
    driver().device_total_mem(&bytes, device_);
    unsigned long long context_id = 0;
    driver().context_get_id(context_, &context_id);
    driver().context_stream_priorities(&properties_.least_priority, &properties_.greatest_priority);
    CUuuid uuid{};
    driver().device_get_uuid(&uuid, device_);
    properties_.uuid = "GPU";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
      if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) properties_.uuid += '-';
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
      properties_.uuid += digits;
    }
    const char* connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    properties_.max_connections =
        connections != nullptr ? std::clamp(std::atoi(connections), 1, 32) : 8;
    properties_.name = name;
    properties_.ordinal = static_cast<std::uint32_t>(device_);  // CUDA's ordinals are its devices
    properties_.context = static_cast<std::uint32_t>(context_id);  // same as CUPTI's number
    properties_.compute_capability = static_cast<std::uint32_t>(
        10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_) +
        attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device_));
    properties_.sm_count =
        static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_));
    properties_.copy_engines =
        static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, device_));
    properties_.memory_bytes = bytes;
  }

  template <typename Call>
  CUresult of_stream(NativeStream stream, Call call) {
    if (stream > kPerThreadStream) return of_handle_(context_, call);
    const Current current(context_);  // determines the context of a default stream
    return call();
  }

  const bool owns_context_ = false;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  HandleCalls of_handle_;
  CUmodule module_ = nullptr;
  CUfunction busy_kernel_ = nullptr;
  int shared_per_sm_ = 0, shared_per_block_ = 0;
  DeviceProperties properties_;
};

}  // namespace

int device_count(std::string& why_none) {
  if (!driver().why_not.empty()) {
    why_none = driver().why_not;
    return 0;
  }
  int count = 0;
  if (driver().device_get_count.raw(&count) != CUDA_SUCCESS || count == 0)
    why_none = "the driver reports no GPU";
  return count;
}

std::unique_ptr<Backend> open(int ordinal) { return std::make_unique<CudaBackend>(ordinal); }

std::unique_ptr<Backend> open(CUctx_st* context) {
  if (std::string why_none; device_count(why_none) == 0)
    throw make_error(kCodeNoDevice, "Device::of_context", why_none);
  if (context == nullptr)
    throw make_error(kCodeInvalidHandle, "Device::of_context", "the context is null");
  return std::make_unique<CudaBackend>(context);
}

}  // namespace coord::cuda
