// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that links no driver and reaches it in unusual ways: `collect_loader SCENARIO [FILE]`.
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  const char* error = dlerror();
  std::printf("failed: %s: %s\n", what, error != nullptr ? error : "no error");
  std::exit(1);
}

void* const kEvent = reinterpret_cast<void*>(uintptr_t{0xe00e});
void* const kStream = reinterpret_cast<void*>(uintptr_t{0xa00a});

void* driver() { return dlopen("libcuda.so.1", RTLD_NOW); }

// Any function of the driver; handles are passed as pointers.
template <class... Args>
int call(const char* name, Args... args) {
  auto* function = reinterpret_cast<int (*)(Args...)>(dlsym(driver(), name));
  check(function != nullptr, name);
  return function(args...);
}
void init() { check(call("cuInit", 0u) == 0, "cuInit"); }
int record(void* stream) { return call("cuEventRecord", kEvent, stream); }

struct Plugin {
  explicit Plugin(void* library) {
    check(library != nullptr, "plugin");
    *reinterpret_cast<void**>(&init) = dlsym(library, "plugin_init");
    *reinterpret_cast<void**>(&create_stream) = dlsym(library, "plugin_create_stream");
    *reinterpret_cast<void**>(&record) = dlsym(library, "plugin_record");
    check(init != nullptr && create_stream != nullptr && record != nullptr, "plugin");
  }
  int (*init)();
  int (*create_stream)(void** stream);
  int (*record)(void* event, void* stream);
};

void use(const Plugin& plugin) {
  void* stream = nullptr;
  check(plugin.create_stream(&stream) == 0 && stream != nullptr, "plugin's stream");
  check(plugin.record(kEvent, stream) == 0, "plugin's record");
}

// What a library with RTLD_DEEPBIND creates, the program uses.
int use_a_stream_of_a_deep_plugin(const char* file) {
  init();
  const Plugin plugin(dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND));
  void* stream = nullptr;
  check(plugin.create_stream(&stream) == 0 && stream != nullptr, "plugin's stream");
  return record(stream) + record(stream);
}

int use_only_a_deep_plugin(const char* file) {
  const Plugin plugin(dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND));
  check(plugin.init() == 0, "plugin's cuInit");
  use(plugin);
  return 0;
}

int use_a_namespace(const char* file, bool program_too) {
  if (program_too) {
    init();
    record(kStream);
  }
  const Plugin plugin(dlmopen(LM_ID_NEWLM, file, RTLD_NOW | RTLD_LOCAL));
  check(plugin.init() == 0, "plugin's cuInit");
  use(plugin);
  if (program_too) record(kStream);
  return 0;
}

int load_a_runtime(const char* file) {
  void* runtime = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  check(runtime != nullptr, "runtime");
  init();
  using Synchronize = int(void*);
  auto* synchronize = reinterpret_cast<Synchronize*>(dlsym(runtime, "cudaStreamSynchronize"));
  check(synchronize != nullptr, "cudaStreamSynchronize");
  check(synchronize(kStream) == 0, "result");
  check(dlsym(runtime, "cudaStreamSynchronize") == reinterpret_cast<void*>(synchronize),
        "the same pointer again");
  check(dlsym(runtime, "cudaNotThere") == nullptr && dlerror() != nullptr, "an unknown name");
  auto* calls = reinterpret_cast<uint64_t (*)()>(dlsym(runtime, "fake_runtime_calls"));
  check(calls() == 1, "the runtime is reached once");
  return 0;
}

// The first one's pointers are wrapped, and both reach their own runtime.
int load_two_runtimes(const char* file, const char* copy) {
  init();
  for (const char* each : {file, copy, file}) {
    void* runtime = dlopen(each, RTLD_NOW | RTLD_LOCAL);
    check(runtime != nullptr, "runtime");
    auto* calls = reinterpret_cast<uint64_t (*)()>(dlsym(runtime, "fake_runtime_calls"));
    auto* synchronize = reinterpret_cast<int (*)()>(dlsym(runtime, "cudaDeviceSynchronize"));
    const uint64_t before = calls();
    check(synchronize() == 0 && calls() == before + 1, "its own runtime is reached once");
  }
  return 0;
}

int close_and_open_again() {
  void* library = driver();
  check(library != nullptr, "driver");
  using Record = int(void*, void*);
  void* const first = dlsym(library, "cuEventRecord");
  init();
  check(reinterpret_cast<Record*>(first)(kEvent, kStream) == 0, "record");
  dlclose(library);
  library = driver();
  check(library != nullptr, "driver again");
  check(dlsym(library, "cuEventRecord") == first, "the same pointer again");
  check(reinterpret_cast<Record*>(first)(kEvent, kStream) == 0, "record again");
  return 0;
}

void run_inside(void (*inside)()) { call("fake_run_inside", inside); }

int interrupt_a_call() {
  init();
  signal(SIGUSR1, [](int) { record(kStream); });
  run_inside([] { raise(SIGUSR1); });
  call("cuStreamWaitEvent", kStream, kEvent, 0u);
  record(kStream);
  return 0;
}

// Signals at any point of a call, the collector's own code included.
std::atomic<long> handled{0};
int interrupt_many_calls() {
  init();
  using Record = int(void*, void*);
  static auto* const record_event = reinterpret_cast<Record*>(dlsym(driver(), "cuEventRecord"));
  static auto* const synchronize =
      reinterpret_cast<int (*)(void*)>(dlsym(driver(), "cuStreamSynchronize"));
  record_event(kEvent, kStream);
  signal(SIGALRM, [](int) {
    synchronize(kStream);
    ++handled;
  });
  const itimerval often = {{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, nullptr);
  long made = 1;
  for (; handled < 2000 && made < 500000; ++made) record_event(kEvent, kStream);
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::printf("%ld %ld\n", made, handled.load());
  return 0;
}

int end_a_thread_inside_a_call() {
  init();
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        run_inside([] { pthread_exit(nullptr); });
        record(kStream);
        return kEvent;
      },
      nullptr);
  void* result = nullptr;
  pthread_join(thread, &result);
  check(result == nullptr, "the thread has ended inside");
  return record(kStream);
}

int compare_pointers() {
  using GetAddress = int(const char*, void**, int, uint64_t, int*);
  auto* get = reinterpret_cast<GetAddress*>(dlsym(driver(), "cuGetProcAddress_v2"));
  auto address = [&](const char* name, int version) {
    void* function = nullptr;
    check(get(name, &function, version, 0, nullptr) == 0, name);
    return function;
  };
  for (const char* name : {"cuEventRecord", "cuLaunchKernel", "cuStreamSynchronize", "cuInit"}) {
    void* const found = dlsym(driver(), name);
    check(found != nullptr && found == dlsym(driver(), name), name);
    check(found == dlvsym(driver(), name, "FAKE"), "dlvsym");
    check(found == dlsym(RTLD_DEFAULT, name) || dlsym(RTLD_DEFAULT, name) == nullptr, "default");
    check(found == address(name, 2000), "cuGetProcAddress");
  }
  check(address("cuEventElapsedTime", 12000) == dlsym(driver(), "cuEventElapsedTime_v2"),
        "the newer version");
  check(address("cuEventElapsedTime", 2000) == dlsym(driver(), "cuEventElapsedTime"),
        "the older version");
  check(address("cuEventElapsedTime", 2000) != address("cuEventElapsedTime", 12000),
        "versions differ");
  return 0;
}

int get_export_table() {
  auto* real = reinterpret_cast<void* (*)()>(dlsym(driver(), "fake_get_export_table"));
  void* const found = dlsym(driver(), "cuGetExportTable");
  check(found != nullptr && found == real(), "the driver's own function");
  const void* table = nullptr;
  check(call("cuGetExportTable", &table, static_cast<const void*>(nullptr)) == 0, "result");
  check(table == kEvent, "the driver's own table");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string scenario = count > 1 ? arguments[1] : "";
  const char* file = count > 2 ? arguments[2] : "";
  if (scenario == "deep-stream") return use_a_stream_of_a_deep_plugin(file);
  if (scenario == "deep-only") return use_only_a_deep_plugin(file);
  if (scenario == "namespace") return use_a_namespace(file, false);
  if (scenario == "namespace-too") return use_a_namespace(file, true);
  if (scenario == "runtime") return load_a_runtime(file);
  if (scenario == "two-runtimes") return load_two_runtimes(file, arguments[3]);
  if (scenario == "reopen") return close_and_open_again();
  if (scenario == "signal") return interrupt_a_call();
  if (scenario == "signals") return interrupt_many_calls();
  if (scenario == "thread-exit") return end_a_thread_inside_a_call();
  if (scenario == "pointers") return compare_pointers();
  if (scenario == "export-table") return get_export_table();
  std::printf("no scenario %s\n", scenario.c_str());
  return 2;
}
