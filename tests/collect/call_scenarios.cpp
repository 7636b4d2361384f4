// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Scenarios about what CUPTI reports: calls, resources, activities.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <barrier>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <thread>

#include "child.h"
#include "collect/cupti/decode.h"

namespace child {
namespace {

namespace layout = streamscope::collect;

const auto kStreamA = handle<cudaStream_t>(0xa00a);
const auto kStreamB = handle<cudaStream_t>(0xb00b);
const auto kEvent = handle<cudaEvent_t>(0xe00e);

void start() {
  cuInit(0);
  create_context();
}

int nested(const Arguments&) {
  start();
  cudaLaunchKernel_v7000_params launch_parameters{};
  launch_parameters.stream = kStreamA;
  runtime(RUNTIME_ID(cudaLaunchKernel_v7000), launch_parameters,
          {.symbol = "outer", .inside = [&](const FakeCall& outer) {
             cuLaunchKernel_params inner{};
             inner.hStream = kStreamA;
             driver(DRIVER_ID(cuLaunchKernel), inner, {.symbol = "inner", .outer = &outer});
           }});
  record(kEvent, kStreamA);
  return 0;
}

int direct_driver(const Arguments&) {
  start();
  cuLaunchKernel_params parameters{};
  parameters.hStream = kStreamA;
  driver(DRIVER_ID(cuLaunchKernel), parameters, {.symbol = "triton_kernel"});
  CUlaunchConfig config{};
  config.hStream = kStreamB;
  cuLaunchKernelEx_params extended{};
  extended.config = &config;
  driver(DRIVER_ID(cuLaunchKernelEx), extended, {.symbol = "triton_kernel"});
  return 0;
}

int inside_untraced(const Arguments&) {
  start();
  cudaMemPoolCreate_v11020_params untraced{};
  runtime(RUNTIME_ID(cudaMemPoolCreate_v11020), untraced, {.inside = [&](const FakeCall& outer) {
            cuMemAlloc_v2_params inner{};
            CUdeviceptr made = 0x1000;
            inner.dptr = &made;
            inner.bytesize = 64;
            driver(DRIVER_ID(cuMemAlloc_v2), inner, {.outer = &outer});
          }});
  return 0;
}

int launches(const Arguments&) {
  start();
  cudaLaunchKernel_v7000_params plain{};
  plain.stream = kStreamA;
  cudaLaunchConfig_t config{};
  config.stream = kStreamA;
  cudaLaunchKernelExC_v11060_params extended{};
  extended.config = &config;
  cudaLaunchCooperativeKernel_v9000_params cooperative{};
  cooperative.stream = kStreamA;
  runtime(RUNTIME_ID(cudaLaunchKernel_v7000), plain);
  runtime(RUNTIME_ID(cudaLaunchKernel_ptsz_v7000), plain);
  runtime(RUNTIME_ID(cudaLaunchKernelExC_v11060), extended);
  runtime(RUNTIME_ID(cudaLaunchKernelExC_ptsz_v11060), extended);
  runtime(RUNTIME_ID(cudaLaunchCooperativeKernel_v9000), cooperative);
  runtime(RUNTIME_ID(__cudaLaunchKernel_v13000), plain);
  return 0;
}

int copies(const Arguments&) {
  start();
  cudaMemcpyAsync_v3020_params async{};
  async.count = 4096;
  async.kind = cudaMemcpyHostToDevice;
  async.stream = kStreamA;
  runtime(RUNTIME_ID(cudaMemcpyAsync_v3020), async);
  cudaMemcpy2D_v3020_params plane{};
  plane.width = 10;
  plane.height = 20;
  plane.kind = cudaMemcpyDeviceToHost;
  runtime(RUNTIME_ID(cudaMemcpy2D_v3020), plane);
  cudaMemcpy3DParms box{};
  box.extent = {4, 5, 6};
  box.kind = cudaMemcpyDeviceToDevice;
  cudaMemcpy3DAsync_v3020_params volume{};
  volume.p = &box;
  volume.stream = kStreamB;
  runtime(RUNTIME_ID(cudaMemcpy3DAsync_v3020), volume);
  cuMemcpyDtoHAsync_v2_params down{};
  down.ByteCount = 77;
  down.hStream = kStreamA;
  driver(DRIVER_ID(cuMemcpyDtoHAsync_v2), down);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.WidthInBytes = 8;
  copy.Height = 9;
  cuMemcpy2DAsync_v2_params described{};
  described.pCopy = &copy;
  described.hStream = kStreamA;
  driver(DRIVER_ID(cuMemcpy2DAsync_v2), described);
  cudaMemsetAsync_v3020_params set{};
  set.devPtr = handle<void*>(0x5000);
  set.count = 256;
  set.stream = kStreamA;
  runtime(RUNTIME_ID(cudaMemsetAsync_v3020), set);
  return 0;
}

// The ends of copies: in one piece, in rows, without an address, refused, inside of a batch.
int accesses(const Arguments&) {
  start();
  cudaMemcpyAsync_v3020_params plain{};
  plain.src = handle<void*>(0x1000);
  plain.dst = handle<void*>(0x2000);
  plain.count = 4096;
  runtime(RUNTIME_ID(cudaMemcpyAsync_v3020), plain);
  runtime(RUNTIME_ID(cudaMemcpyAsync_v3020), plain, {.result = cudaErrorInvalidValue});
  cudaMemcpy2D_v3020_params plane{};
  plane.src = handle<void*>(0x1000);
  plane.spitch = 64;
  plane.dst = handle<void*>(0x2000);
  plane.dpitch = plane.width = 10;
  plane.height = 3;
  runtime(RUNTIME_ID(cudaMemcpy2D_v3020), plane);
  cudaMemcpyToSymbol_v3020_params symbol{};
  symbol.src = handle<void*>(0x1000);
  symbol.count = 8;
  runtime(RUNTIME_ID(cudaMemcpyToSymbol_v3020), symbol);
  cudaMemcpy3DParms box{};
  box.srcPtr = {handle<void*>(0x1000), 16, 16, 4};
  box.srcPos = {1, 2, 3};
  box.dstPtr = {handle<void*>(0x9000), 32, 32, 8};
  box.extent = {4, 2, 2};
  cudaMemcpy3DAsync_v3020_params volume{};
  volume.p = &box;
  runtime(RUNTIME_ID(cudaMemcpy3DAsync_v3020), volume);
  CUDA_MEMCPY2D described{};
  described.srcMemoryType = CU_MEMORYTYPE_HOST;
  described.srcHost = handle<void*>(0x1000);
  described.srcY = 2;
  described.srcPitch = 16;
  described.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  described.dstDevice = 0x2000;
  described.dstPitch = 32;
  described.WidthInBytes = 16;
  described.Height = 2;
  cuMemcpy2DAsync_v2_params driver_plane{};
  driver_plane.pCopy = &described;
  driver(DRIVER_ID(cuMemcpy2DAsync_v2), driver_plane);
  cudaMemset2DAsync_v3020_params set{};
  set.devPtr = handle<void*>(0x5000);
  set.pitch = 512;
  set.width = 100;
  set.height = 2;
  runtime(RUNTIME_ID(cudaMemset2DAsync_v3020), set);
  return 0;
}

// A copy and memsets of memory of several kinds: see cuPointerGetAttributes of the fake.
int synchronous_calls(const Arguments&) {
  start();
  cudaMemcpy_v3020_params copy{};
  copy.src = handle<void*>(0x1000);
  copy.dst = handle<void*>(0x2000);
  copy.count = 16;
  copy.kind = cudaMemcpyDefault;
  runtime(RUNTIME_ID(cudaMemcpy_v3020), copy);
  cudaMemset_v3020_params set{};
  set.devPtr = handle<void*>(0x5000);
  set.count = 16;
  runtime(RUNTIME_ID(cudaMemset_v3020), set);
  cudaMemsetAsync_v3020_params later{};
  later.devPtr = handle<void*>(0x5000);
  later.count = 16;
  runtime(RUNTIME_ID(cudaMemsetAsync_v3020), later);
  return 0;
}

// Parameters of kernels, which only the driver's call has, inside of the runtime's or alone.
int kernel_arguments(const Arguments&) {
  start();
  uint64_t pointer = 0x7f0000001000, number = 41;
  float scale = 2;
  uint64_t other = 0x7f0000002000;
  void* values[] = {&pointer, &scale, &number, &other};
  cuLaunchKernel_params inner{};
  inner.f = handle<CUfunction>(0xf00);
  inner.kernelParams = values;
  cudaLaunchKernel_v7000_params outer{};
  runtime(RUNTIME_ID(cudaLaunchKernel_v7000), outer,
          {.symbol = "outer", .inside = [&](const FakeCall& call) {
             driver(DRIVER_ID(cuLaunchKernel), inner, {.symbol = "inner", .outer = &call});
           }});
  struct {
    uint64_t pointer = 0x7f0000003000;
    float scale = 1;
    uint64_t number = 41, other = 0x7f0000004000;
  } packed;
  size_t bytes = 20;  // the last parameter is absent
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  inner.kernelParams = nullptr;
  inner.extra = extra;
  driver(DRIVER_ID(cuLaunchKernel), inner, {.symbol = "alone"});
  return 0;
}

void allocate(uintptr_t address, size_t bytes) {
  void* made = handle<void*>(address);
  const cudaMalloc_v3020_params parameters{&made, bytes};
  runtime(RUNTIME_ID(cudaMalloc_v3020), parameters);
}

// Structs by value: pointers in the middle of them, also in a buffer of parameters, and at the very
// end of what may be read.
int struct_arguments(const Arguments&) {
  start();
  constexpr size_t kLayout[][2] = {{0, 40}, {40, 4}, {44, 20}, {64, 8}};
  const auto function = handle<CUfunction>(0xf80);
  fake_set_parameters(function, kLayout, std::size(kLayout));
  const size_t page = 4096;
  auto* const pages = static_cast<unsigned char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + page, page, PROT_NONE);
  const uint64_t first[] = {0x7f0000001000, 41, 0x500000003, 0x302000010, 0x7f0000001000};
  auto* const at_end = pages + page - sizeof first;
  std::memcpy(at_end, first, sizeof first);
  float scale = 1;
  // Four bytes, then aligned words, of which the last does not fit.
  unsigned char packed[20] = {};
  const uint64_t in_packed[] = {0x7f0000002000, first[0]};
  std::memcpy(packed + 4, in_packed, sizeof in_packed);
  uint64_t unknown = 0x600000000000;  // a separate parameter may point anywhere
  void* values[] = {at_end, &scale, packed, &unknown};
  cuLaunchKernel_params parameters{};
  parameters.f = function;
  parameters.kernelParams = values;
  driver(DRIVER_ID(cuLaunchKernel), parameters, {.symbol = "nothing is allocated"});
  allocate(0x7f0000000000, size_t{100} << 20);
  allocate(0x302000000, 64);
  driver(DRIVER_ID(cuLaunchKernel), parameters, {.symbol = "allocated"});

  unsigned char buffer[72];
  std::memcpy(buffer, first, sizeof first);
  std::memcpy(buffer + 44, packed, sizeof packed);
  std::memcpy(buffer + 64, &unknown, sizeof unknown);
  size_t bytes = 60;  // ends within the second word of the third parameter
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  parameters.kernelParams = nullptr;
  parameters.extra = extra;
  driver(DRIVER_ID(cuLaunchKernel), parameters, {.symbol = "in a buffer"});
  return 0;
}

// More than is read or reported.
int huge_arguments(const Arguments& arguments) {
  start();
  allocate(0x7f0000000000, size_t{100} << 20);
  static uint64_t words[4000] = {};
  constexpr size_t kLayout[][2] = {{0, sizeof words}};
  const auto function = handle<CUfunction>(0xf90);
  fake_set_parameters(function, kLayout, 1);
  for (size_t i = 0; i < std::size(words); ++i)
    words[i] = arguments[0] == "many" || i == 1023 || i == 1024 ? 0x7f0000000000 + 8 * i : i;
  void* values[] = {words};
  cuLaunchKernel_params parameters{};
  parameters.f = function;
  parameters.kernelParams = values;
  for (int i = 0; i < 3; ++i) driver(DRIVER_ID(cuLaunchKernel), parameters, {.symbol = "huge"});
  return 0;
}

// Memory that comes and goes at its own addresses, or at those of freed memory.
int mapped_memory(const Arguments&) {
  start();
  cuMemMap_params map{};
  map.ptr = 0x7f0000001000;
  map.size = 4096;
  driver(DRIVER_ID(cuMemMap), map);
  cuMemUnmap_params unmap{};
  unmap.ptr = 0x7f0000001000;
  unmap.size = 8192;
  driver(DRIVER_ID(cuMemUnmap), unmap);
  void* opened = handle<void*>(0x2000);
  cudaIpcOpenMemHandle_v4010_params open{};
  open.devPtr = &opened;
  runtime(RUNTIME_ID(cudaIpcOpenMemHandle_v4010), open);
  cudaMemAllocNodeParams node{};
  node.dptr = handle<void*>(0x3000);
  node.bytesize = 64;
  cudaGraphAddMemAllocNode_v11040_params add{};
  runtime(RUNTIME_ID(cudaGraphAddMemAllocNode_v11040), add);
  add.nodeParams = &node;
  runtime(RUNTIME_ID(cudaGraphAddMemAllocNode_v11040), add);
  return 0;
}

int objects(const Arguments&) {
  start();
  create_event(kEvent, cudaEventDisableTiming);
  cudaEvent_t untouched = handle<cudaEvent_t>(0xbad);
  cudaEventCreate_v3020_params failing{&untouched};
  runtime(RUNTIME_ID(cudaEventCreate_v3020), failing, {.result = cudaErrorMemoryAllocation});
  create_stream(kStreamA, cudaStreamNonBlocking, -2);
  destroy_stream(kStreamA);
  create_stream(kStreamA, 0, 0);  // the handle is reused
  cudaEventQuery_v3020_params query{kEvent};
  runtime(RUNTIME_ID(cudaEventQuery_v3020), query, {.result = cudaErrorNotReady});
  return 0;
}

int polls(const Arguments&) {
  start();
  const cudaEventQuery_v3020_params event{kEvent};
  const cudaStreamQuery_v3020_params stream{kStreamA};
  const cuStreamQuery_params driver_stream{kStreamA};
  const auto not_ready = [&](int count) {
    for (int i = 0; i < count; ++i)
      runtime(RUNTIME_ID(cudaEventQuery_v3020), event, {.result = cudaErrorNotReady});
  };
  not_ready(1000);
  runtime(RUNTIME_ID(cudaEventQuery_v3020), event);
  not_ready(3);
  record(kEvent, kStreamA);
  not_ready(2);
  std::thread([&] { not_ready(5); }).join();
  for (int i = 0; i < 4; ++i)
    runtime(RUNTIME_ID(cudaStreamQuery_v3020), stream, {.result = cudaErrorNotReady});
  for (int i = 0; i < 4; ++i)
    driver(DRIVER_ID(cuStreamQuery), driver_stream, {.result = CUDA_ERROR_NOT_READY});
  for (int i = 0; i < 2; ++i)  // no answer of that kind is expected repeatedly
    runtime(RUNTIME_ID(cudaEventQuery_v3020), event, {.result = cudaErrorInvalidValue});
  return 0;
}

int per_thread_stream(const Arguments&) {
  start();
  const cudaEventRecord_v3020_params parameters{kEvent, nullptr};
  runtime(RUNTIME_ID(cudaEventRecord_ptsz_v7000), parameters);
  runtime(RUNTIME_ID(cudaEventRecord_ptsz_v7000), parameters);
  record(kEvent, handle<cudaStream_t>(2));
  std::thread([&] { runtime(RUNTIME_ID(cudaEventRecord_ptsz_v7000), parameters); }).join();
  return 0;
}

int kernel_names(const Arguments&) {
  start();
  char name[] = "_Z5firstv";
  for (int i = 0; i < 3; ++i) launch(kStreamA, name);
  std::thread([&] { launch(kStreamA, name); }).join();
  CUpti_ResourceData data{};
  fake_resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &data);
  std::strcpy(name, "_Z5otherv");  // another module's name at the same address
  launch(kStreamA, name);
  return 0;
}

int exit_without_entry(const Arguments&) {
  start();
  FakeCall call;
  const cudaEventRecord_v3020_params parameters{kEvent, kStreamA};
  fake_enter(&call, CUPTI_CB_DOMAIN_INVALID, 0, &parameters, nullptr, context(), nullptr);
  call.domain = CUPTI_CB_DOMAIN_RUNTIME_API;
  call.id = RUNTIME_ID(cudaEventRecord_v3020);
  fake_exit(&call, 0);  // its entry was never delivered: the shared word is garbage
  for (uint64_t word : {uint64_t{0}, ~uint64_t{0}}) {
    call.correlation_data = word;
    fake_exit(&call, 0);
  }
  wait(kStreamA, kEvent);
  return 0;
}

int dies_inside(const Arguments& arguments) {
  start();
  launch(kStreamA);
  cudaEventSynchronize_v3020_params parameters{kEvent};
  runtime(RUNTIME_ID(cudaEventSynchronize_v3020), parameters, {.inside = [&](const FakeCall&) {
            if (arguments.empty()) _exit(0);
            say("inside");
            pause_ms(20'000);
          }});
  return 0;
}

int threads(const Arguments&) {
  start();
  std::barrier both(2);
  auto work = [] {
    for (int i = 0; i < 100; ++i) {
      record(kEvent, kStreamA);
      wait(kStreamB, kEvent);
    }
  };
  auto work_together = [&] {
    record(kEvent, kStreamA);
    both.arrive_and_wait();
    work();
    both.arrive_and_wait();
  };
  std::thread one(work_together), two(work_together);
  one.join();
  two.join();
  std::thread(work).join();  // takes the ring of an ended thread
  return 0;
}

// A call while another thread loads a library, which ends only after the call: 0 if it did.
int call_while_loading(const Arguments& arguments) {
  start();
  int loading[2], called[2];
  if (pipe(loading) != 0 || pipe(called) != 0) return 2;
  setenv("SLOW_LIBRARY", (std::to_string(loading[1]) + " " + std::to_string(called[0])).c_str(), 1);
  void* library = nullptr;
  std::thread loader([&] { library = dlopen(arguments.at(0).c_str(), RTLD_NOW); });
  char byte = 0;
  if (read(loading[0], &byte, 1) != 1) return 2;
  launch(kStreamA);
  if (write(called[1], &byte, 1) != 1) return 2;
  loader.join();
  const auto* was_reported =
      library == nullptr ? nullptr : static_cast<int*>(dlsym(library, "slow_library_was_reported"));
  return was_reported != nullptr && *was_reported == 1 ? 0 : 1;
}

// A second thread finds no space for its ring.
int no_room(const Arguments&) {
  start();
  const rlimit none{1 << 14, 1 << 14};
  setrlimit(RLIMIT_FSIZE, &none);
  std::thread([] {
    launch(kStreamA);
    launch(kStreamA);
  }).join();
  launch(kStreamA);
  return 0;
}

// All kinds of activities, oldest correlation last and unfinished where CUPTI reports it so.
int activities(const Arguments& arguments) {
  start();
  const uint32_t id = launch(kStreamA, "_Z6kernelv");
  layout::KernelActivity kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.registers_per_thread = 32;
  kernel.start = 1000;
  kernel.end = 2000;
  kernel.context = 1;
  kernel.stream = 13;
  kernel.grid[0] = 4;
  kernel.grid[1] = kernel.grid[2] = kernel.block[1] = kernel.block[2] = 1;
  kernel.block[0] = 128;
  kernel.dynamic_shared_bytes = 48;
  kernel.correlation_id = id;
  kernel.name = "_Z6kernelv";
  kernel.channel = 5;
  fake_activity(&kernel, sizeof kernel, false);
  kernel.correlation_id = launch(kStreamA, "_Z6kernelv");
  kernel.start = kernel.end = 0;  // not finished
  fake_activity(&kernel, sizeof kernel, false);

  layout::MemcpyActivity copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copy_kind = 1;
  copy.source_kind = 2;
  copy.destination_kind = 3;
  copy.bytes = 4096;
  copy.start = 10;
  copy.end = 20;
  copy.context = 1;
  copy.stream = 13;
  copy.correlation_id = 77;
  fake_activity(&copy, sizeof copy, false);

  layout::MemsetActivity set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.bytes = 64;
  set.start = 5;
  set.end = 6;
  set.correlation_id = 78;
  fake_activity(&set, sizeof set, false);

  layout::GraphTraceActivity graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  graph.correlation_id = 79;
  graph.graph = 6;
  graph.start = 30;
  graph.end = 40;
  fake_activity(&graph, sizeof graph, false);

  layout::CudaEventActivity recorded{};
  recorded.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  recorded.correlation_id = 80;
  recorded.event = 3;
  recorded.sync_id = 9;
  fake_activity(&recorded, sizeof recorded, false);
  layout::SynchronizationActivity waited{};
  waited.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  waited.type = 2;
  waited.correlation_id = 81;
  waited.event = 3;
  waited.sync_id = 9;
  fake_activity(&waited, sizeof waited, false);

  layout::OverheadActivity overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overhead_kind = 6u << 16;
  overhead.object_kind = 2;
  overhead.thread = 4242;
  overhead.start = 100;
  overhead.end = 200;
  char bytes[56] = {};
  std::memcpy(bytes, &overhead, sizeof overhead);
  fake_activity(bytes, sizeof bytes, false);
  if (!arguments.empty() && arguments[0] == "drop") fake_drop(12);
  if (!arguments.empty() && arguments[0] == "die") {
    pause_ms(300);  // a plain flush comes in between
    _exit(3);
  }
  return 0;
}

int kinds(const Arguments&) {
  start();
  for (int kind : {1, 2, 3, 10, 17, 22, 36, 38, 51}) {
    if (fake_kind_enabled(static_cast<CUpti_ActivityKind>(kind))) say(std::to_string(kind).c_str());
  }
  say(fake_log());
  return 0;
}

// CUPTI refuses a part of the requests at the start. Nothing may stay, and others may use it.
int failed_start(const Arguments&) {
  start();
  run_kernel(kStreamA, "not recorded");
  for (int kind = 0; kind < 64; ++kind) {
    if (fake_kind_enabled(static_cast<CUpti_ActivityKind>(kind))) return 1;
  }
  if (fake_enabled_callbacks() != 0) return 2;
  say(fake_log());
  CUpti_SubscriberHandle subscriber;
  if (cuptiSubscribe(
          &subscriber, [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {},
          nullptr) != CUPTI_SUCCESS)
    return 3;
  return 0;
}

int enabled_callbacks(const Arguments&) {
  start();
  say(std::to_string(fake_enabled_callbacks()).c_str());
  for (int id : {17, 10, 28}) {  // cudaGetDevice and the like
    if (fake_callback_enabled(CUPTI_CB_DOMAIN_RUNTIME_API, static_cast<CUpti_CallbackId>(id)))
      return 1;
  }
  return fake_callback_enabled(CUPTI_CB_DOMAIN_DRIVER_API, 719) ? 1 : 0;  // cuKernelGetName
}

int flushes(const Arguments&) {
  start();
  pause_ms(150);
  const unsigned idle = fake_flushes(false);
  for (int i = 0; i < 10; ++i) {
    launch(kStreamA);
    pause_ms(20);
  }
  const unsigned busy = fake_flushes(false) - idle;
  if (idle != 0 || busy < 2) return 1;
  return fake_flushes(true) == 0 ? 0 : 2;
}

// Argument: "die" ends without exit handlers.
int blocked_flush(const Arguments& arguments) {
  start();
  launch(kStreamA);
  fake_block_flush(true);  // some thread hangs in cudaFree
  pause_ms(100);
  if (!arguments.empty()) _exit(3);
  return 0;
}

// Before anything is flushed.
int die_at_once(const Arguments&) {
  start();
  run_kernel(kStreamA, "before");
  signal(SIGUSR1, [](int) { _exit(3); });
  raise(SIGUSR1);
  return 1;
}

// A regular flush has taken the records, and has not delivered them when the program ends.
int slow_flush(const Arguments&) {
  start();
  run_kernel(kStreamA, "before");
  fake_slow_delivery(300);
  const unsigned before = fake_flushes(false);
  run_kernel(kStreamA, "in hand");
  for (int i = 0; i < 200 && fake_flushes(false) == before; ++i) pause_ms(10);
  run_kernel(kStreamA, "late");
  return fake_flushes(false) != before ? 0 : 1;
}

int foreign_activity(const Arguments&) {
  start();
  char bytes[40] = {};
  const uint32_t kind = CUPTI_ACTIVITY_KIND_RUNTIME;  // never enabled by us
  std::memcpy(bytes, &kind, sizeof kind);
  for (int i = 0; i < 3; ++i) {
    fake_activity(bytes, sizeof bytes, true);
    fake_deliver();
    pause_ms(30);
  }
  return 0;
}

// CUPTI holds all buffers that it can get, and more work arrives.
int held_buffers(const Arguments&) {
  start();
  const size_t held = fake_hold_buffers();
  if (held == 0 || held > 1000) return 1;  // their memory must be bounded
  run_kernel(kStreamA, "one too many");
  fake_deliver();
  return 0;
}

// Nobody reads what the decoder makes.
int activity_flood(const Arguments&) {
  start();
  for (int i = 0; i < 3000; ++i) run_kernel(kStreamA, "k");
  fake_deliver();
  return 0;
}

// torch.profiler in the middle of the run: Kineto subscribes first, is refused, and goes on without
// CUPTI.
int refused_profiler(const Arguments&) {
  start();
  run_kernel(kStreamA, "before");
  CUpti_SubscriberHandle subscriber;
  for (int i = 0; i < 2; ++i) {
    if (cuptiSubscribe(
            &subscriber, [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {},
            nullptr) != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
      return 1;
  }
  run_kernel(kStreamA, "after");
  return 0;
}

// A client whose copy of CUPTI refuses everything.
int refused_buffers(const Arguments&) {
  start();
  run_kernel(kStreamA, "before");
  if (cuptiActivityRegisterCallbacks(nullptr, nullptr) !=
      CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    return 1;
  run_kernel(kStreamA, "after");
  return 0;
}

// A profiler that does not subscribe, in the middle of the run; linked with libcupti.
int other_profiler(const Arguments&) {
  start();
  static char theirs[1 << 16];
  static int their_buffers = 0;
  run_kernel(kStreamA, "before");
  cuptiActivityRegisterCallbacks(
      [](uint8_t** buffer, size_t* size, size_t* records) {
        *buffer = reinterpret_cast<uint8_t*>(theirs);
        *size = sizeof theirs;
        *records = 0;
      },
      [](CUcontext, uint32_t, uint8_t*, size_t, size_t valid) { their_buffers += valid != 0; });
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  run_kernel(kStreamA, "theirs");
  pause_ms(60);  // our flusher must not steal it
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME);
  if (their_buffers != 0) return 1;
  cuptiActivityFlushAll(0);
  if (their_buffers != 1) return 2;
  run_kernel(kStreamA, "after");
  cuptiFinalize();
  run_kernel(kStreamA, "after teardown");
  if (std::strstr(fake_log(), "finalize") != nullptr) return 3;
  pause_ms(60);
  return 0;
}

int fatal_error(const Arguments&) {
  start();
  launch(kStreamA);
  fake_fatal_error("the device fell off the bus");
  launch(kStreamA);
  return fake_flushes(true) == 0 ? 0 : 1;
}

void graph_callback(CUpti_CallbackId id, uintptr_t graph, uintptr_t node, uintptr_t other,
                    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL, uintptr_t exec = 0) {
  CUpti_GraphData data{};
  data.graph = handle<CUgraph>(graph);
  data.node = handle<CUgraphNode>(node);
  data.nodeType = type;
  data.graphExec = handle<CUgraphExec>(exec);
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED)
    data.dependency = handle<CUgraphNode>(other);
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) data.originalNode = handle<CUgraphNode>(other);
  if (id == CUPTI_CBID_RESOURCE_GRAPH_CLONED) data.originalGraph = handle<CUgraph>(other);
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &data;
  fake_resource(id, &resource);
}

// What CUPTI 13.0 reports about a captured copy -> kernel chain and its instantiation.
int graphs(const Arguments&) {
  start();
  graph_callback(CUPTI_CBID_RESOURCE_GRAPH_CREATED, 5, 0, 0);
  graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, 5, 51, 0,
                 CU_GRAPH_NODE_TYPE_MEMCPY);
  graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 5, 51, 0);  // reports kernel, incorrectly
  const cudaLaunchKernel_v7000_params captured{};
  runtime(RUNTIME_ID(cudaLaunchKernel_v7000), captured,
          {.symbol = "captured", .inside = [](const FakeCall&) {
             graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, 5, 52, 0,
                            CU_GRAPH_NODE_TYPE_KERNEL);
             graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, 5, 52,
                            51);  // before the node exists
             graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 5, 52, 0);
           }});
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate_v12000_params instantiate{&executable, handle<cudaGraph_t>(5), 0};
  const auto inside = [](const FakeCall&) {
    // The clone that becomes the executable graph, with a node of the driver's own at its end.
    graph_callback(CUPTI_CBID_RESOURCE_GRAPH_CLONED, 6, 0, 5);
    for (uintptr_t node : {51, 52}) {
      graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 6, node + 10, 0);
      graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, 6, node + 10, node);
    }
    graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, 6, 62, 61);
    graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 6, 63, 0);
    graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, 6, 63, 62);
    graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, 6, 62, 61);  // once more
    // The internal second graph: never created, to be ignored.
    graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, 7, 71, 0,
                   CU_GRAPH_NODE_TYPE_KERNEL);
    graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, 7, 72, 0,
                   CU_GRAPH_NODE_TYPE_KERNEL);
    graph_callback(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, 7, 72, 71);
    graph_callback(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, 5, 0, 0, CU_GRAPH_NODE_TYPE_KERNEL, 6);
  };
  runtime(RUNTIME_ID(cudaGraphInstantiate_v12000), instantiate, {.inside = inside});
  return 0;
}

constexpr Scenario kScenarios[] = {
    {"nested", nested},
    {"direct-driver", direct_driver},
    {"inside-untraced", inside_untraced},
    {"launches", launches},
    {"copies", copies},
    {"accesses", accesses},
    {"synchronous-calls", synchronous_calls},
    {"kernel-arguments", kernel_arguments},
    {"struct-arguments", struct_arguments},
    {"huge-arguments", huge_arguments},
    {"mapped-memory", mapped_memory},
    {"objects", objects},
    {"polls", polls},
    {"per-thread-stream", per_thread_stream},
    {"kernel-names", kernel_names},
    {"exit-without-entry", exit_without_entry},
    {"dies-inside", dies_inside},
    {"threads", threads},
    {"call-while-loading", call_while_loading},
    {"no-room", no_room},
    {"activities", activities},
    {"kinds", kinds},
    {"failed-start", failed_start},
    {"enabled-callbacks", enabled_callbacks},
    {"flushes", flushes},
    {"blocked-flush", blocked_flush},
    {"die-at-once", die_at_once},
    {"slow-flush", slow_flush},
    {"foreign-activity", foreign_activity},
    {"held-buffers", held_buffers},
    {"activity-flood", activity_flood},
    {"refused-profiler", refused_profiler},
    {"refused-buffers", refused_buffers},
    {"other-profiler", other_profiler},
    {"fatal-error", fatal_error},
    {"graphs", graphs},
};

}  // namespace
}  // namespace child

std::span<const child::Scenario> call_scenarios() { return child::kScenarios; }
