// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program of the driver API for the tests of interposition: `collect_interposed_child SCENARIO`.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "collect/cupti/decode.h"
#include "fake/calls_of_every_type.h"

extern "C" {
decltype(cuMemHostAlloc) cuMemHostAlloc_v2;
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)
#define CALL_ID_DRIVER(cbid, name, per_thread) decltype(name) cbid;
#include "call_ids.inc"
#undef CALL_ID_DRIVER
#undef CALL_ID_RUNTIME
uint64_t fake_calls();
uint64_t fake_arguments();
void fake_set_result(int32_t result);
void fake_run_inside(void (*inside)());
void fake_set_context(CUcontext context);
void* fake_function(const char* name);
void fake_set_graph(const CUgraphNode* nodes, size_t count);
void fake_set_captured(CUgraphNode node);
}

namespace {

namespace collect = streamscope::collect;
using fake::argument;
using fake::check;

constexpr fake::Witness kDriver{fake_calls, fake_arguments, fake_set_result};

template <class... Args>
void call_only(CUresult (*function)(Args...)) {
  function(argument<Args>()...);
}

// The stand-in answers queries in its own way.
bool is_query(std::string_view name) { return name == "cuStreamQuery" || name == "cuEventQuery"; }

template <class Function>
void call_found(const char* name, void* found, int32_t result) {
  auto* function = reinterpret_cast<Function*>(found);
  if (is_query(name)) return call_only(function);
  fake::call(kDriver, name, function, result);
}

using Find = void* (*)(const char* name);

void* library() {
  static void* const handle = dlopen("libcuda.so.1", RTLD_NOW);
  return handle;
}
void* find_by_dlsym(const char* name) { return dlsym(library(), name); }
void* find_by_version(const char* name) { return dlvsym(library(), name, "FAKE"); }
void* find_by_default(const char* name) { return dlsym(RTLD_DEFAULT, name); }
void* find_by_address(const char* name) {
  using GetAddress =
      CUresult(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  static auto* const get = reinterpret_cast<GetAddress*>(dlsym(library(), "cuGetProcAddress_v2"));
  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  get(name, &function, 2000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  return function;
}

// Prints line of calls.def, variant and result of each.
int every_function(Find find) {
  int32_t result = 0;
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)
#define CALL_ID_DRIVER(cbid, name, per_thread)                                  \
  if (std::string_view(#cbid) != "cuMemHostAlloc_v2") {                         \
    std::printf("%s %d %d\n", #name, per_thread, is_query(#cbid) ? 0 : result); \
    call_found<decltype(::name)>(#cbid, find(#cbid), result);                   \
    result = result == 0 ? CUDA_ERROR_INVALID_VALUE : 0;                        \
  }
#include "call_ids.inc"
#undef CALL_ID_DRIVER
  return 0;
}

// By the program's own references.
void* find_linked(const char* name) {
  static const std::map<std::string_view, void*> all = {
#define CALL_ID_DRIVER(cbid, name, per_thread) {#cbid, reinterpret_cast<void*>(&::cbid)},
#include "call_ids.inc"
#undef CALL_ID_DRIVER
#undef CALL_ID_RUNTIME
  };
  return all.at(name);
}

auto* const kStream = reinterpret_cast<CUstream>(uintptr_t{0xa00a});
auto* const kEvent = reinterpret_cast<CUevent>(uintptr_t{0xe00e});
auto* const kFirstKernel = reinterpret_cast<CUfunction>(uintptr_t{0xf001});
auto* const kSecondKernel = reinterpret_cast<CUfunction>(uintptr_t{0xf002});

CUresult launch(CUfunction kernel) {
  return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, kStream, nullptr, nullptr);
}

// Calls whose order a test chooses: see Interposed.TheOrderOfTwoCallsIsChosen.
int launch_in_two_streams() {
  CUdeviceptr other = 0, memory = 0;
  cuMemAlloc_v2(&other, 64);
  cuMemAlloc_v2(&memory, 64);
  launch(kFirstKernel);
  auto* const second = reinterpret_cast<CUstream>(uintptr_t{0xb00b});
  return cuLaunchKernel(kSecondKernel, 1, 1, 1, 1, 1, 1, 0, second, nullptr, nullptr);
}

jmp_buf away;

// A call that is left in the middle must not hide those after it.
int leave_by_longjmp() {
  if (setjmp(away) == 0) {
    fake_run_inside([] { longjmp(away, 1); });
    cuEventRecord(kEvent, kStream);
    return 1;
  }
  return cuStreamWaitEvent(kStream, kEvent, 0) == 0 ? 0 : 1;
}

int leave_by_exception() {
  fake_run_inside([] { throw 7; });
  try {
    cuEventRecord(kEvent, kStream);
    return 1;
  } catch (int) {
  }
  return cuStreamWaitEvent(kStream, kEvent, 0) == 0 ? 0 : 1;
}

int call_inside_a_call() {
  fake_run_inside([] { cuEventRecord(kEvent, kStream); });
  launch(kFirstKernel);
  cuStreamWaitEvent(kStream, kEvent, 0);
  return 0;
}

// Calls after which nothing new is to be learned from others like them.
void get_under_way() {
  launch(kFirstKernel);
  cuEventRecord(kEvent, kStream);
  cuStreamWaitEvent(kStream, kEvent, 0);
}

int be_interrupted_in_a_call() {
  signal(SIGUSR1, [](int) { cuEventRecord(kEvent, kStream); });
  fake_run_inside([] { raise(SIGUSR1); });
  launch(kFirstKernel);
  cuStreamWaitEvent(kStream, kEvent, 0);
  return 0;
}

// The second call finds the driver gone.
int outlive_the_driver() {
  cuEventRecord(kEvent, kStream);
  fake_set_result(CUDA_ERROR_DEINITIALIZED);
  launch(kFirstKernel);
  cuStreamWaitEvent(kStream, kEvent, 0);
  return 0;
}

// During a launch, a capture begins in another stream, by another thread. Then one fails.
int capture_meanwhile() {
  static auto* const other = reinterpret_cast<CUstream>(uintptr_t{0xb00b});
  fake_run_inside([] {
    std::thread([] { cuStreamBeginCapture_v2(other, CU_STREAM_CAPTURE_MODE_GLOBAL); }).join();
  });
  launch(kFirstKernel);
  cuEventRecord(kEvent, kStream);
  CUgraph captured = nullptr;
  cuStreamEndCapture(other, &captured);
  fake_set_result(CUDA_ERROR_INVALID_VALUE);
  cuStreamWaitEvent(kStream, kEvent, 0);
  return 0;
}

// Recording stops during a record, by another thread, and begins again.
int stop_meanwhile() {
  cuProfilerStart();
  get_under_way();
  fake_run_inside([] { std::thread([] { cuProfilerStop(); }).join(); });
  cuEventRecord(kEvent, kStream);
  launch(kFirstKernel);
  cuProfilerStart();
  cuStreamWaitEvent(kStream, kEvent, 0);
  return 0;
}

// A stream of another context gets the handle of one that was destroyed.
int use_a_handle_again() {
  get_under_way();
  cuStreamDestroy_v2(kStream);
  fake_set_context(reinterpret_cast<CUcontext>(uintptr_t{0x7002}));
  get_under_way();
  return 0;
}

// On the default stream, which does not tell the context.
int launch_in_two_contexts() {
  const auto launch_there = [](uintptr_t context, int times) {
    fake_set_context(reinterpret_cast<CUcontext>(context));
    for (int i = 0; i < times; ++i)
      cuLaunchKernel(kFirstKernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  };
  launch_there(0x7001, 100);
  launch_there(0x7002, 2);
  launch_there(0x7001, 1);
  return 0;
}

int launch_two_kernels() {
  for (CUfunction kernel : {kFirstKernel, kSecondKernel, kFirstKernel}) launch(kernel);
  return 0;
}

// A graph twice under one handle, the second time with other nodes at the same handles.
int instantiate_two_graphs() {
  auto* const graph = reinterpret_cast<CUgraph>(uintptr_t{0x6001});
  CUgraphNode nodes[] = {reinterpret_cast<CUgraphNode>(uintptr_t{0x61}),
                         reinterpret_cast<CUgraphNode>(uintptr_t{0x62})};
  CUgraphExec executable = nullptr;
  fake_set_graph(nodes, 2);
  for (int i = 0; i < 2; ++i) cuGraphInstantiateWithFlags(&executable, graph, 0);
  cuGraphDestroy(graph);
  cuGraphInstantiateWithFlags(&executable, graph, 0);
  cuGraphDestroyNode(nodes[1]);
  cuGraphInstantiateWithFlags(&executable, graph, 0);
  cuGraphExecDestroy(executable);
  return 0;
}

// A launch, a record, which is no node, and a second launch.
int capture_a_graph() {
  auto* const graph = reinterpret_cast<CUgraph>(uintptr_t{0x6001});
  CUgraphNode nodes[] = {reinterpret_cast<CUgraphNode>(uintptr_t{0x61}),
                         reinterpret_cast<CUgraphNode>(uintptr_t{0x62})};
  cuStreamBeginCapture_v2(kStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  for (CUgraphNode node : nodes) {
    fake_set_captured(node);
    launch(kFirstKernel);
    cuEventRecord(kEvent, kStream);
  }
  fake_set_captured(nullptr);
  CUgraph captured = graph;
  cuStreamEndCapture(kStream, &captured);
  fake_set_graph(nodes, 2);
  CUgraphExec executable = nullptr;
  cuGraphInstantiateWithFlags(&executable, graph, 0);
  return 0;
}

// A stream that is created where no wrapper sees it, and one that is not.
int use_streams() {
  CUstream seen = nullptr, unseen = nullptr;
  cuStreamCreate(&seen, 0);
  cuEventRecord(kEvent, seen);
  auto* create = reinterpret_cast<decltype(&cuStreamCreate)>(fake_function("cuStreamCreate"));
  create(&unseen, 0);
  for (int i = 0; i < 3; ++i) cuEventRecord(kEvent, unseen);
  return 0;
}

// What a program that checks dlerror sees.
int look_up_with_errors() {
  dlerror();
  void* launches = dlsym(library(), "cuLaunchKernel");
  check(launches != nullptr && dlerror() == nullptr, "error after success", "dlsym");
  check(launches == dlsym(library(), "cuLaunchKernel"), "another pointer", "dlsym");
  check(launches == find_by_address("cuLaunchKernel"), "another pointer", "cuGetProcAddress");
  check(dlsym(library(), "cuNotThere") == nullptr && dlerror() != nullptr, "found", "cuNotThere");
  check(dlsym(RTLD_DEFAULT, "cuNotThere") == nullptr && dlerror() != nullptr, "found",
        "cuNotThere");
  check(dlsym(RTLD_NEXT, "cuLaunchKernel") != nullptr, "not found", "RTLD_NEXT");
  check(dlsym(RTLD_DEFAULT, "strlen") == dlsym(RTLD_NEXT, "strlen"), "differs", "strlen");
  return 0;
}

int call_in_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 500; ++n) cuEventRecord(kEvent, kStream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

// What CUPTI reports of the calls that are asked for, and of their work.
void report_launch(uint32_t correlation, uint64_t begin, uint64_t end) {
  using Activity = void(const void* record, size_t size, bool foreign);
  static auto* const cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  static auto* const report = reinterpret_cast<Activity*>(dlsym(cupti, "fake_activity"));
  collect::CallActivity call{};
  call.kind = collect::kActivityDriver;
  call.callback_id = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
  call.start = begin;
  call.end = end;
  call.thread = static_cast<uint32_t>(syscall(SYS_gettid));
  call.correlation_id = correlation;
  report(&call, sizeof call, false);
  collect::KernelActivity kernel{};
  kernel.kind = collect::kActivityConcurrentKernel;
  kernel.start = end;
  kernel.end = end + 1000;
  kernel.name = "first_kernel";
  kernel.correlation_id = correlation;
  report(&kernel, sizeof kernel, false);
}

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Launches whose numbers at CUPTI are not those of the calls.
int launch_with_device_times() {
  static uint64_t begin = 0, end = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    fake_run_inside([] {
      begin = now_ns();
      end = now_ns();
    });
    launch(kFirstKernel);
    report_launch(900 - i, begin, end);
  }
  return 0;
}

// Prints how often it went round, with four calls each and one inside another.
int call_for_a_while() {
  const uint64_t end_ns = now_ns() + 300'000'000;
  int rounds = 0;
  for (; now_ns() < end_ns; ++rounds) {
    CUevent event = nullptr;
    cuEventCreate(&event, 0);
    fake_run_inside([] { cuEventRecord(kEvent, kStream); });
    launch(kFirstKernel);
    cuStreamWaitEvent(kStream, kEvent, 0);
    cuEventDestroy(event);
    usleep(500);
  }
  std::printf("%d\n", rounds);
  return 0;
}

// Handles come and go while the calls on them are recorded in the middle only.
int record_a_range() {
  const auto work = [](CUstream stream, CUevent event) {
    cuLaunchKernel(kFirstKernel, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
    cuEventRecord(event, stream);
    cuStreamWaitEvent(kStream, event, 0);
  };
  CUstream stream = nullptr, second_stream = nullptr;
  CUevent event = nullptr, second_event = nullptr;
  cuStreamCreate(&stream, 0);
  cuEventCreate(&event, 0);
  work(stream, event);
  cuProfilerStart();
  work(stream, event);
  cuProfilerStop();
  work(stream, event);
  cuEventDestroy(event);
  cuEventCreate(&second_event, 0);
  cuStreamDestroy(stream);
  cuStreamCreate(&second_stream, 0);
  work(second_stream, second_event);
  return 0;
}

int launch_with_device_times_for_a_while() {
  const uint64_t end_ns = now_ns() + 300'000'000;
  for (uint32_t number = 1; now_ns() < end_ns; ++number) {
    const uint64_t begin = now_ns();
    launch(kFirstKernel);
    report_launch(number, begin, now_ns());
    usleep(500);
  }
  return 0;
}

// A library that stands for the driver has been loaded in its place.
int call_a_stand_in(const char* path) {
  void* const stand_in = dlopen(path, RTLD_NOW);
  check(stand_in != nullptr, "not loaded", path);
  using GetAddress =
      CUresult(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  auto* const get = reinterpret_cast<GetAddress*>(dlsym(stand_in, "cuGetProcAddress_v2"));
  void* found = nullptr;
  get("cuLaunchKernel", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr);
  reinterpret_cast<decltype(&cuLaunchKernel)>(found)(kFirstKernel, 1, 1, 1, 1, 1, 1, 0, kStream,
                                                     nullptr, nullptr);
  auto* const record = reinterpret_cast<decltype(&cuEventRecord)>(dlsym(stand_in, "cuEventRecord"));
  record(kEvent, kStream);
  auto* const records = reinterpret_cast<int (*)()>(dlsym(stand_in, "fake_injected_records"));
  check(records() == 1, "not called once", "the stand-in");
  return 0;
}

// CUDA does not survive a fork, but the child may call it and get an error.
int call_in_a_forked_child() {
  cuEventRecord(kEvent, kStream);
  const pid_t child = fork();
  if (child == 0) {
    fake_set_result(CUDA_ERROR_NOT_INITIALIZED);
    _exit(cuEventRecord(kEvent, kStream) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  cuEventRecord(kEvent, kStream);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// By a library that only its user sees, as Python loads PyTorch's.
int allocate_tensors(const char* file) {
  constexpr int8_t kCpu = 0, kCuda = 1;
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  check(library != nullptr, "tensors", "library");
  auto* const change =
      reinterpret_cast<void (*)(uint64_t, int64_t, int8_t)>(dlsym(library, "c10_change"));
  auto* const reported = reinterpret_cast<int64_t (*)()>(dlsym(library, "c10_reported"));
  check(change != nullptr && reported != nullptr, "tensors", "functions");
  cuInit(0);
  change(0x7000, 512, kCuda);
  change(0x9000, 64, kCpu);
  change(0x7000, -512, kCuda);
  change(0x7000, 1024, kCuda);
  check(reported() == 512 + 64 - 512 + 1024, "tensors", "the function of the library");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::string_view scenario = count > 1 ? arguments[1] : "";
  cuInit(0);
  constexpr std::string_view kUnderWay = "-under-way";
  if (scenario.ends_with(kUnderWay)) {
    get_under_way();
    scenario.remove_suffix(kUnderWay.size());
  }
  if (scenario == "linked") return every_function(find_linked);
  if (scenario == "dlsym") return every_function(find_by_dlsym);
  if (scenario == "dlvsym") return every_function(find_by_version);
  if (scenario == "default") return every_function(find_by_default);
  if (scenario == "address") return every_function(find_by_address);
  if (scenario == "longjmp") return leave_by_longjmp();
  if (scenario == "exception") return leave_by_exception();
  if (scenario == "nested") return call_inside_a_call();
  if (scenario == "interrupted") return be_interrupted_in_a_call();
  if (scenario == "driver-gone") return outlive_the_driver();
  if (scenario == "capture-meanwhile") return capture_meanwhile();
  if (scenario == "stop-meanwhile") return stop_meanwhile();
  if (scenario == "handle-again") return use_a_handle_again();
  if (scenario == "two-contexts") return launch_in_two_contexts();
  if (scenario == "stand-in") return call_a_stand_in(arguments[2]);
  if (scenario == "times") return launch_with_device_times();
  if (scenario == "times-for-a-while") return launch_with_device_times_for_a_while();
  if (scenario == "tensors") return allocate_tensors(arguments[2]);
  if (scenario == "kernels") return launch_two_kernels();
  if (scenario == "graphs") return instantiate_two_graphs();
  if (scenario == "capture") return capture_a_graph();
  if (scenario == "streams") return use_streams();
  if (scenario == "two-streams") return launch_in_two_streams();
  if (scenario == "errors") return look_up_with_errors();
  if (scenario == "for-a-while") return call_for_a_while();
  if (scenario == "range") return record_a_range();
  if (scenario == "threads") return call_in_threads();
  if (scenario == "fork") return call_in_a_forked_child();
  std::printf("no scenario %s\n", std::string(scenario).c_str());
  return 2;
}
