// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Scenarios about the process: start and end, pauses, NVTX, libcoord, forks.
#include <coord/observer.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSync.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <thread>
#include <vector>

#include "child.h"
#include "support/nccl_range.h"

namespace child {
namespace {

using streamscope::test::push_nccl;

const auto kStreamA = handle<cudaStream_t>(0xa00a);
const auto kEvent = handle<cudaEvent_t>(0xe00e);

void start() {
  cuInit(0);
  create_context();
}

// The test creates this file when it has done its part.
void wait_for_file(const std::string& path) {
  for (int i = 0; i < 1000 && access(path.c_str(), F_OK) != 0; ++i) pause_ms(10);
}

/// What libcoord finds by itself; null if there is no observer.
const coord_observer* find_observer() {
  const auto find =
      reinterpret_cast<coord_observer_function>(dlsym(RTLD_DEFAULT, COORD_OBSERVER_SYMBOL));
  return find != nullptr ? find() : nullptr;
}

pid_t fork_calmly() {
#if defined(__SANITIZE_ADDRESS__)
  // GCC 12's allocator for it does not survive a fork in the middle of another thread's allocation,
  // such as that of the collector's thread at its start.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
#endif
  return fork();
}

int no_cuda(const Arguments&) {
  nvtxRangePushA("only nvtx");
  nvtxRangePop();
  return 0;
}

int simple(const Arguments&) {
  start();
  launch(kStreamA);
  return 0;
}

// The library is loaded by dlopen after CUDA and a context exist.
int late(const Arguments& arguments) {
  cuInit(0);
  if (dlopen(arguments[0].c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) return 1;
  launch(kStreamA);
  launch(kStreamA);
  return 0;
}

int late_before_cuda(const Arguments& arguments) {
  if (dlopen(arguments[0].c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) return 1;
  return simple({});
}

volatile sig_atomic_t children_signalled = 0;

// A writer is started inside; the program must not notice a child.
int own_writer(const Arguments&) {
  struct sigaction action {};
  action.sa_handler = [](int) { children_signalled = 1; };
  sigaction(SIGCHLD, &action, nullptr);
  start();
  launch(kStreamA);
  pause_ms(50);
  if (children_signalled != 0) return 1;
  if (waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) return 2;
  const char* rings = std::getenv("STREAMSCOPE_RINGS");
  return rings != nullptr && *rings == '/' ? 0 : 3;
}

int forks(const Arguments& arguments) {
  start();
  launch(kStreamA);
  const int parent = getpid();
  pid_t pid = fork();
  if (pid == 0) {
    nvtxMarkA("in the child");
    record(kEvent, kStreamA);  // CUDA is unusable here, but callbacks of a broken program may come
    if (!arguments.empty()) {
      execl(arguments[0].c_str(), arguments[0].c_str(), "simple", nullptr);
      _exit(9);
    }
    _exit(getpid() == parent ? 1 : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  launch(kStreamA);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// Another program replaces this process, in the middle of its recording.
int executes(const Arguments& arguments) {
  start();
  launch(kStreamA);
  execl(arguments[0].c_str(), arguments[0].c_str(), "simple", nullptr);
  return 9;
}

// A process that used only libcoord forks, and the child uses CUDA for the first time.
int fork_then_cuda(const Arguments&) {
  if (find_observer() == nullptr) return 1;
  pid_t pid = fork_calmly();
  if (pid == 0) {
    start();
    launch(kStreamA);
    exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// Work before, between and after the switches of the test.
int paused(const Arguments& arguments) {
  start();
  create_event(kEvent);
  run_kernel(kStreamA, "while paused");
  say("one");
  wait_for_file(arguments[0]);
  pause_ms(50);
  run_kernel(kStreamA, "while collecting");
  return 0;
}

// Works until recording was switched off and on again three times. Prints the number of steps.
int cost_windows(const Arguments&) {
  constexpr int kSwitches = 7;  // of device times, which go on before calls do
  start();
  int switches = 0;
  uint32_t steps = 0;
  bool has_times = true;
  while (steps < 10'000 && switches < kSwitches) {
    nvtxRangePushA("step");
    run_kernel(kStreamA, "step");
    create_event(handle<cudaEvent_t>(0xe100 + steps));
    nvtxRangePop();
    ++steps;
    pause_ms(1);
    const bool times = fake_kind_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    switches += times != has_times;
    has_times = times;
    if (!fake_kind_enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) return 2;
  }
  say(std::to_string(steps).c_str());
  return switches == kSwitches ? 0 : 1;
}

int cost_of_steps(const Arguments&) {
  start();
  for (int step = 0; step < 24; ++step) {
    nvtxRangePushA(("step#" + std::to_string(step)).c_str());
    run_kernel(kStreamA, "step");
    pause_ms(20);
    nvtxRangePop();
  }
  return 0;
}

int cost_of_run(const Arguments&) {
  constexpr uint32_t kSteps = 250;
  start();
  for (uint32_t step = 0; step < kSteps; ++step) {
    run_kernel(kStreamA, "step");
    create_event(handle<cudaEvent_t>(0xe100 + step));
    pause_ms(1);
  }
  say(std::to_string(kSteps).c_str());
  return 0;
}

int profiler_range(const Arguments&) {
  start();
  launch(kStreamA, "before");
  const char none = 0;
  runtime(RUNTIME_ID(cudaProfilerStart_v4000), none);
  launch(kStreamA, "inside");
  runtime(RUNTIME_ID(cudaProfilerStop_v4000), none);
  launch(kStreamA, "after");
  return 0;
}

int nvtx_range(const Arguments&) {
  start();
  launch(kStreamA, "before");
  nvtxRangePushA("step");
  launch(kStreamA, "inside");
  nvtxRangePushA("step");
  nvtxRangePop();
  launch(kStreamA, "still inside");
  nvtxRangePop();
  launch(kStreamA, "after");
  nvtxRangeId_t id = nvtxRangeStartA("step 2/24");
  launch(kStreamA, "inside again");
  nvtxRangeEnd(id);
  nvtxRangePushA("steps");  // another name
  launch(kStreamA, "after again");
  nvtxRangePop();
  return 0;
}

int nvtx(const Arguments&) {
  nvtxRangePushA("open at start");
  nvtxRangePushA("closed before start");
  nvtxRangePop();
  start();
  nvtxDomainHandle_t domain = nvtxDomainCreateA("my domain");
  nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "registered");
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = 7;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = 0xff102030;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  attributes.payload.ullValue = 99;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = text;
  if (nvtxDomainRangePushEx(domain, &attributes) != 1) return 1;  // one is open already
  if (nvtxDomainRangePop(domain) != 1) return 2;
  nvtxMarkW(L"gr\u00f6\u00dfe");
  nvtxRangeId_t id = nvtxRangeStartA("across threads");
  std::thread([id] { nvtxRangeEnd(id); }).join();
  nvtxRangePop();
  nvtxNameCudaStreamA(kStreamA, "copies");
  nvtxNameCudaEventA(kEvent, "done");
  nvtxNameOsThreadA(static_cast<uint32_t>(gettid()), "the main thread");
  return 0;
}

int nccl(const Arguments&) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  push_nccl(domain, "ncclAllReduce", {0x1f, 4096, 0});  // before recording begins
  start();
  push_nccl(domain, "ncclSend", {0x1f, 64, 3});
  push_nccl(domain, "ncclCommDestroy", {0x1f, 8, 0});
  push_nccl(nvtxDomainCreateA("mine"), "ncclSend", {0x1f, 64, 3});
  for (int i = 0; i < 3; ++i) nvtxDomainRangePop(domain);
  return 0;
}

// Ranges that end with a payload, as those of NCCL's functions that make communicators do.
int nvtx_payloads(const Arguments&) {
  struct Joined {
    uint64_t communicator;
    int rank_count, rank, device;
  } const joined{0x1f, 8, 3, 0};
  const auto push = [](nvtxDomainHandle_t domain, const char* name) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    return nvtxDomainRangePushEx(domain, &attributes);
  };
  const auto payload = [&](uint64_t schema) {
    return nvtxPayloadData_t{NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + schema, sizeof joined, &joined};
  };
  nvtxDomainHandle_t nccl = nvtxDomainCreateA("NCCL"), mine = nvtxDomainCreateA("mine");
  const nvtxPayloadData_t of_rank = payload(11), of_split = payload(13);
  start();
  push(nccl, "ncclCommInitRankConfig");
  if (nvtxRangePopPayload(nccl, &of_rank, 1) != 0) return 1;
  push(nccl, "ncclCommSplit");
  if (nvtxRangePopPayload(nccl, &of_split, 1) != 0) return 2;
  push(mine, "of another library");
  if (nvtxRangePushPayload(mine, &of_rank, 1) != 1) return 3;
  if (nvtxRangePopPayload(mine, &of_rank, 1) != 1) return 4;
  if (nvtxDomainRangePop(mine) != 0) return 5;
  nvtxMarkPayload(mine, &of_rank, 1);
  const nvtxRangeId_t id = nvtxRangeStartPayload(mine, &of_rank, 1);
  nvtxRangeEndPayload(mine, id, &of_rank, 1);
  return id == 0 ? 6 : nvtxDomainIsEnabled(mine) == 0 ? 7 : 0;
}

// Ranges around calls of a simulated device.
int simulated_range(const Arguments&) {
  const coord_observer* const observer = find_observer();
  coord_device_facts device{};
  device.simulated = 1;
  device.context = 1;
  observer->device(&device);
  coord_sim_call call{};
  call.name = "simLaunchKernel";
  call.context = 1;
  nvtxRangePushA("first");
  for (int i = 0; i < 2; ++i) {
    call.begin_ns = 100 * i + 7;
    call.end_ns = 100 * i + 9;
    ++call.correlation_id;
    observer->sim_call(&call);
    nvtxRangePushA("inner");
  }
  for (int i = 0; i < 3; ++i) nvtxRangePop();
  return 0;
}

int coord(const Arguments&) {
  const coord_observer* const observer = find_observer();
  if (observer == nullptr || observer->version != COORD_OBSERVER_VERSION) return 1;
  coord_device_facts device{};
  device.simulated = 1;
  device.context = 1;
  device.name = "Simulated H200";
  device.uuid = "SIM-0";
  observer->device(&device);
  coord_stream_facts stream{};
  stream.context = 1;
  stream.stream = 4;
  stream.handle = 40;
  stream.kind = 3;
  stream.name = "math";
  observer->stream(&stream);
  const uint32_t dependencies[] = {0};
  coord_operation_facts operation{};
  operation.operation = 1;
  operation.context = 1;
  operation.stream = 40;
  operation.parent = COORD_NONE;
  operation.dependency_count = 1;
  operation.dependencies = dependencies;
  operation.time_ns = 5;
  operation.name = "gemm";
  operation.call_site = "main.cpp:3 main";
  observer->operation_registered(&operation);
  observer->operation_begin(1, 6);
  coord_sim_call call{};
  call.name = "simLaunchKernel";
  call.correlation_id = 1;
  call.context = 1;
  call.begin_ns = 7;
  call.end_ns = 9;
  call.stream = 40;
  observer->sim_call(&call);
  observer->operation_end(1, 10);
  call.correlation_id = 2;
  observer->sim_call(&call);
  call.name = "simUnheardOf";
  observer->sim_call(&call);
  call.name = "simEventQuery";
  call.result = 600;
  for (int i = 0; i < 100; ++i) {
    ++call.correlation_id;
    call.begin_ns = call.end_ns;
    call.end_ns += 2;
    observer->sim_call(&call);
  }
  call.result = 0;
  coord_sim_op op{};
  op.kind = COORD_SIM_KERNEL;
  op.correlation_id = 1;
  op.context = 1;
  op.stream = 4;
  op.begin_ns = 0;  // virtual time starts at 0
  op.end_ns = 50;
  op.name = "gemm_kernel";
  op.grid[0] = op.block[0] = 1;
  observer->sim_op(&op);
  op.kind = COORD_SIM_HOST_FUNCTION;
  op.begin_ns = 60;
  op.end_ns = -1;  // hangs
  observer->sim_op(&op);
  observer->operation_stamp(1, COORD_OPERATION_COMPLETED, COORD_CLOCK_VIRTUAL, 50);
  observer->dependency(1, 0, 0, 1);
  observer->mark("here", 51);

  // Two that begin as soon as they are registered, from one call site with their own names.
  const coord_dependency_facts on[] = {{1, 0, COORD_ELIDED_SAME_STREAM}, {0, 1, COORD_WAITED}};
  coord_operation_begin_facts begun{};
  begun.context = 1;
  begun.stream = 40;
  begun.parent = COORD_NONE;
  begun.clock = COORD_CLOCK_VIRTUAL;
  begun.dependency_count = 2;
  begun.dependencies = on;
  begun.file = "main.cpp";
  begun.line = 7;
  begun.function = "main";
  for (uint32_t i : {2u, 3u, 4u}) {
    begun.operation = i;
    begun.registered = 40 + 10 * i;
    begun.begun = 41 + 10 * i;
    begun.name_bytes = i == 4 ? 64 : 4;
    begun.name =
        i == 4 ? "a name that is longer than what the collector remembers of names" : "axpy";
    const uint64_t end = 45 + 10 * i;
    if (i == 3) {
      const uint32_t kind = observer->operation_kind(&begun);
      if (kind == 0) return 1;
      *observer->operation_of_kind(kind, i, begun.registered, begun.begun, nullptr, 0) = end;
    } else {  // the end is reported separately
      (void)observer->operation_entered(&begun);
      observer->operation_stamp(i, COORD_OPERATION_SUBMITTED, COORD_CLOCK_VIRTUAL, end);
    }
    call.name = "simLaunchKernel";
    observer->sim_call(&call);  // belongs to no operation anymore
    begun.dependency_count = 0;
  }
  uint32_t completed[14];
  for (uint32_t i = 0; i < 14; ++i) completed[i] = i;
  observer->operations_completed(completed, 14, COORD_CLOCK_VIRTUAL, 89);
  const coord_timeline_facts timeline{9, 0, 3, "steps"};
  observer->timeline(&timeline);
  coord_timeline_act_facts act{};
  act.timeline = 9;
  act.act = COORD_TIMELINE_SIGNAL;
  act.context = 1;
  act.stream = 40;
  act.value = 4;
  act.time_ns = 90;
  observer->timeline_act(&act);
  const coord_barrier_arrival_facts arrival{4, 1, 40, 85};
  observer->barrier_arrival(&arrival);

  const coord_task_queue_facts queue{3, 8, 1, 0, "warps"};
  observer->task_queue(&queue);
  observer->task_run(3, 6);
  uint32_t clock = COORD_NONE;
  const uint64_t began = observer->task_stamp(&clock);
  call.correlation_id = 77;
  call.begin_ns = 100;
  call.end_ns = 120;
  observer->sim_call(&call);
  std::vector<coord_task> ran(5000, {11, 5, 25, 1, COORD_NONE, 2, 0});
  ran[0].begin = began;
  ran[0].end = observer->task_stamp(&clock);
  coord_tasks_facts tasks{3, COORD_NONE, clock, 1, ran.data(), 0, 0, 0};
  if (clock != COORD_CLOCK_VIRTUAL || observer->tasks(&tasks) != 1) return 1;
  tasks = {3, 6, 0, 4999, ran.data() + 1, 0, 0, 0};
  const uint32_t room = observer->tasks(&tasks);  // the ring is smaller
  return room > 0 && room < 4999 ? 0 : 1;
}

// Operations reported by the number of their kind, the last of them in a forked child.
int coord_kinds(const Arguments&) {
  const coord_observer* const observer = find_observer();
  if (observer == nullptr) return 1;
  coord_operation_begin_facts facts{};
  const uint64_t now = observer->task_stamp(&facts.clock);
  facts.type = COORD_OPERATION_REDUCTION;
  facts.priority = COORD_PRIORITY_HIGH;
  facts.context = 1;
  facts.stream = 40;
  facts.parent = COORD_NONE;
  facts.line = 7;
  facts.name = "step";
  facts.name_bytes = 4;
  facts.file = "main.cpp";
  facts.function = "main";
  const uint32_t kind = observer->operation_kind(&facts);
  facts.line = 8;
  const uint32_t another = observer->operation_kind(&facts);
  const char long_name[] = "a name that is longer than what the collector keeps of names of kinds";
  facts.name = long_name;
  facts.name_bytes = sizeof long_name - 1;
  if (kind == 0 || another == 0 || kind == another || observer->operation_kind(&facts) != 0)
    return 2;
  const coord_dependency_facts on[] = {{0, 1, COORD_WAITED}};
  for (uint32_t i : {0u, 1u, 2u}) {
    uint64_t* const end =
        observer->operation_of_kind(kind, i, now + 10 * i, now + 10 * i + 1, on, i == 1 ? 1 : 0);
    if (end == nullptr) return 3;
    std::atomic_ref(*end).store(now + 10 * i + 2, std::memory_order_release);
  }
  // So long after it that its end is reported separately.
  (void)observer->operation_of_kind(another, 3, now + (uint64_t{1} << 33),
                                    now + (uint64_t{1} << 33), nullptr, 0);
  observer->operation_end(3, 0);
  const pid_t pid = fork_calmly();
  if (pid == 0) {
    // Nothing is recorded here yet.
    if (observer->operation_of_kind(kind, 4, now, now, nullptr, 0) != nullptr) _exit(4);
    start();
    for (uint32_t i : {5u, 6u}) {
      uint64_t* const end =
          observer->operation_of_kind(i == 5 ? kind : another, i, now + i, now + i, nullptr, 0);
      if (end == nullptr) _exit(5);
      std::atomic_ref(*end).store(now + i, std::memory_order_release);
    }
    exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 6;
}

// An operation that one thread begins and another one ends, within one of its own.
int coord_threads(const Arguments&) {
  const coord_observer* const observer = find_observer();
  if (observer == nullptr) return 1;
  const auto call = [&](uint32_t number) {
    coord_sim_call facts{};
    facts.name = "simLaunchKernel";
    facts.correlation_id = number;
    observer->sim_call(&facts);
  };
  observer->operation_begin(1, 0);
  call(1);
  std::thread([&] {
    observer->operation_begin(2, 0);
    observer->operation_end(1, 0);
    call(2);
    observer->operation_end(2, 0);
  }).join();
  call(3);
  return 0;
}

volatile sig_atomic_t bus_errors_handled = 0;
void on_bus_error(int) { bus_errors_handled = bus_errors_handled + 1; }
void on_bus_error_once(int, siginfo_t*, void*) { bus_errors_handled = bus_errors_handled + 10; }

// Accesses a file of the program that is truncated.
[[noreturn]] void touch_a_file_cut_off() {
  FILE* file = std::tmpfile();
  if (file == nullptr || ftruncate(fileno(file), 4096) != 0) _exit(1);
  void* base = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  if (base == MAP_FAILED || ftruncate(fileno(file), 0) != 0) _exit(1);
  *static_cast<volatile char*>(base) = 1;
  _exit(1);
}

// The signal that ends a child.
int ending_of(void (*work)()) {
  const pid_t child = fork_calmly();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) return 0;
  return WTERMSIG(status);
}

// The program sees and gets its own handler of SIGBUS, whenever it was set.
int bus_handlers(const Arguments&) {
  signal(SIGBUS, on_bus_error);
  start();
  launch(kStreamA);
  raise(SIGBUS);
  struct sigaction seen {};
  sigaction(SIGBUS, nullptr, &seen);
  if (bus_errors_handled != 1 || seen.sa_handler != on_bus_error) return 1;
  struct sigaction once {};
  once.sa_sigaction = on_bus_error_once;
  once.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  if (sigaction(SIGBUS, &once, &seen) != 0 || seen.sa_handler != on_bus_error) return 2;
  raise(SIGBUS);
  sigaction(SIGBUS, nullptr, &seen);
  if (bus_errors_handled != 11 || seen.sa_handler != SIG_DFL) return 3;
  if (ending_of(touch_a_file_cut_off) != SIGBUS) return 4;
  if (ending_of([] { raise(SIGBUS); }) != SIGBUS) return 5;
  if (signal(SIGBUS, SIG_IGN) != SIG_DFL) return 6;
  raise(SIGBUS);
  if (signal(SIGBUS, on_bus_error) != SIG_IGN) return 7;
  raise(SIGBUS);
  return bus_errors_handled == 12 ? 0 : 8;
}

// Truncates every file of the recording, shortly before the end if there is an argument.
int cut_off(const Arguments& arguments) {
  start();
  launch(kStreamA);
  for (const auto& entry : std::filesystem::directory_iterator(std::getenv("STREAMSCOPE_RINGS"))) {
    if (truncate(entry.path().c_str(), 0) != 0) return 1;
  }
  for (int i = 0; i < 5000; ++i) launch(kStreamA);
  if (!arguments.empty()) return 0;
  pause_ms(100);
  for (int i = 0; i < 5000; ++i) launch(kStreamA);
  return 0;
}

// The writer orders collectors to stop recording.
int stopped(const Arguments& arguments) {
  start();
  launch(kStreamA);
  say("one");
  wait_for_file(arguments[0]);
  pause_ms(100);
  launch(kStreamA);
  say(fake_log());
  return fake_enabled_callbacks() == 0 ? 0 : 1;
}

constexpr Scenario kScenarios[] = {
    {"no-cuda", no_cuda},
    {"simple", simple},
    {"late", late},
    {"late-before-cuda", late_before_cuda},
    {"own-writer", own_writer},
    {"forks", forks},
    {"executes", executes},
    {"fork-then-cuda", fork_then_cuda},
    {"paused", paused},
    {"cost-windows", cost_windows},
    {"cost-of-steps", cost_of_steps},
    {"cost-of-run", cost_of_run},
    {"profiler-range", profiler_range},
    {"nvtx-range", nvtx_range},
    {"nvtx", nvtx},
    {"nccl", nccl},
    {"nvtx-payloads", nvtx_payloads},
    {"simulated-range", simulated_range},
    {"coord", coord},
    {"coord-kinds", coord_kinds},
    {"coord-threads", coord_threads},
    {"stopped", stopped},
    {"bus-handlers", bus_handlers},
    {"cut-off", cut_off},
};

}  // namespace
}  // namespace child

std::span<const child::Scenario> process_scenarios() { return child::kScenarios; }
