// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collect/process/bus_errors.h"
#include "collect/process/memory.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"
#include "collect/process/writer_process.h"
#include "collect/stacks/stacks.h"
#ifdef STREAMSCOPE_WITH_CUPTI
#include "collect/calls/call_recorder.h"
#include "collect/calls/objects.h"
#include "collect/confirm/chosen_order.h"
#include "collect/cupti/activities.h"
#include "collect/cupti/callbacks.h"
#include "collect/cupti/cupti_library.h"
#include "collect/cupti/resources.h"
#include "collect/interposed/interposed_calls.h"
#include "collect/interposed/lookups.h"
#include "collect/nvtx/other_tool.h"
#include "collect/observed/observer.h"
#include "collect/observed/tensor_maps.h"
#include "collect/process/asking.h"
#include "collect/process/driver.h"
#include "collect/process/gate.h"
#endif

namespace streamscope::collect {
namespace {

constexpr const char* kInjectionVariables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};

constinit std::atomic<bool> cuda_started{false};
constinit std::atomic<bool> exit_watched{false};
constinit bool cuda_injection_taken = false;  // the variable names another tool's library
constinit bool under_another_tool = false;    // which keeps the driver for itself

#ifdef STREAMSCOPE_WITH_CUPTI
// The source of calls that was chosen for this process.
constinit bool started_late = false;
constinit bool interposes = false;
constinit const char* missing_cupti =
    nullptr;  // why CUPTI cannot be used; null: it can, or no need
constinit char chosen_text[192] = {};

// Another tool has the driver's injection point, and with it CUPTI.
bool is_cupti_taken() { return cuda_injection_taken || under_another_tool; }

void stop_wrappers() {
  stop_interposed();
  stop_device_times_on_demand();
  stop_activities();
}

bool needs_device_times() { return session.control->tier != Tier::kStructure; }

bool needs_callbacks() {
  const ring::Control& control = *session.control;
  return ring::needs_callbacks(control.tier, control.graphs, control.with);
}

// Why no wrappers can see the calls; null if they can.
const char* obstacle_to_wrappers() {
  if (session.control->source == ring::CallSource::kCupti) return "--source cupti";
  if (started_late) return "recording began after CUDA was in use";
  if (!can_interpose()) return "the program does not look functions up through this library";
  if (!can_be_recorded()) return "this version of the driver lacks what that needs";
  return nullptr;
}

// Device times of a recording on demand, which CUPTI reports from the first start on.
bool starts_times_later() {
  return session.control->on_demand != 0 && needs_device_times() && !needs_callbacks() &&
         !is_cupti_taken() && obstacle_to_wrappers() == nullptr;
}

// Why calls cannot be interposed here; null if they can.
const char* obstacle() {
  if (const char* why = obstacle_to_wrappers()) return why;
  if (starts_times_later()) return nullptr;
  if (is_cupti_taken() || missing_cupti != nullptr) return nullptr;
  if (needs_callbacks()) return "the times of events and graph nodes need callbacks";
  return needs_device_times() && !can_correlate_calls()
             ? "this version of CUPTI cannot name the calls of device work"
             : nullptr;
}

// At cuInit: by then a CUDA runtime has fetched its functions, wrapped or not.
const char* choose_source() {
  missing_cupti = nullptr;
  if (is_cupti_taken()) {
    missing_cupti = "another tool uses CUPTI in this process";
  } else if (starts_times_later()) {
    // Loaded and asked for numbers, CUPTI costs every call of the driver something.
  } else if (needs_device_times() || needs_callbacks() || obstacle() != nullptr) {
    const char* cause = nullptr;
    if (!load_cupti(&cause)) missing_cupti = cause;
  }
  const char* why = obstacle();
  interposes = why == nullptr;
  const char* times = missing_cupti != nullptr ? "no cupti" : collector_text();
  if (interposes && !needs_device_times()) {
    std::snprintf(chosen_text, sizeof chosen_text, "interposed");
  } else if (starts_times_later()) {
    std::snprintf(chosen_text, sizeof chosen_text, "interposed, cupti on demand");
  } else if (interposes) {
    std::snprintf(chosen_text, sizeof chosen_text, "interposed, %s", times);
  } else {
    std::snprintf(chosen_text, sizeof chosen_text, "%s (not interposed: %s)", times, why);
  }
  return chosen_text;
}

void observe_accesses() {
  const char* why = observing_obstacle();
  if (why == nullptr && !start_observing()) why = "another tool uses the Compute Sanitizer";
  if (why == nullptr) return;
  report_to_user("the accesses of kernels are not recorded", why, "see streamscope doctor");
  report_loss(ring::Loss::kNotObserved, 1, why);
}

void start_wrappers() {
  const bool has_times = needs_device_times() && missing_cupti == nullptr;
  if ((session.control->with & ring::kWithAccesses) != 0) observe_accesses();
  if (session.control->chosen_order.mode != ring::OrderMode::kNone) start_chosen_order();
  start_interposed(has_times && !starts_times_later() ? &cupti_numbering() : nullptr);
  session.detach.store(stop_wrappers);
  if (!needs_device_times()) return;
  if (starts_times_later()) {
    session.start_device_times.store(start_device_times_on_demand);
    return;
  }
  if (has_times) return start_device_times();
  const bool is_taken = is_cupti_taken();
  report_to_user(
      "GPU times are not recorded", missing_cupti,
      is_taken ? "use --tier structure beside another tool" : "name it in STREAMSCOPE_CUPTI");
  report_loss(is_taken ? ring::Loss::kOtherSubscriber : ring::Loss::kNoCupti, 1, missing_cupti);
}
#endif

void at_exit() {
#ifdef STREAMSCOPE_WITH_CUPTI
  finish_chosen_order();
  finish_observing();
  about_to_end(kAllHandles);  // by CUDA's exit handlers
  end_windows();
  finish_activities();
#endif
}

void end_recording() {
#ifdef STREAMSCOPE_WITH_CUPTI
  end_session(dropped_activities());
#else
  end_session(0);
#endif
}

void in_child_after_fork() {
#ifdef STREAMSCOPE_WITH_CUPTI
  forget_calls_after_fork();
  forget_objects_after_fork();
  forget_driver_after_fork();
  forget_interposed_after_fork();
  forget_cupti_after_fork();
  chosen_text[0] = '\0';
  forget_activities_after_fork();
  forget_observing_after_fork();
  forget_tensor_maps_after_fork();
  forget_chosen_order_after_fork();
  forget_resources_after_fork();
  forget_questions_after_fork();
  forget_other_tool_after_fork();
#endif
  forget_bus_errors_after_fork();
  forget_stacks_after_fork();
  forget_memory_after_fork();
  forget_session_after_fork();
  cuda_started.store(false, std::memory_order_relaxed);
}

// Runs no destructors, not even ours.
void leave_quickly() {
  at_exit();
  end_recording();
}

// Exit handlers run in reverse order: registered at the first use of CUDA, ours runs before the
// CUDA runtime's.
void watch_exit() {
  if (exit_watched.exchange(true)) return;
  std::atexit(at_exit);
  std::at_quick_exit(leave_quickly);
}

bool same_file(const char* one, const char* other) {
  char* resolved = ::realpath(one, nullptr);
  const bool same = std::strcmp(resolved != nullptr ? resolved : one, other) == 0;
  std::free(resolved);
  return same;
}

// A tool that starts the program to record. Under nsys the program has nsys's own variables.
bool is_other_tool() {
  for (const char* name : {"ncu", "nv-nsight-cu-cli", "nsys", "compute-sanitizer"})
    if (std::strcmp(program_invocation_short_name, name) == 0) return true;
  return false;
}

// Then the program refuses to go on where a library is named that would share the driver.
bool is_under_ncu() { return std::getenv("NV_COMPUTE_PROFILER_PERFWORKS_DIR") != nullptr; }

void name_in(const char* variable, const char* path) {
  const char* value = std::getenv(variable);
  const bool is_ours = value != nullptr && *value != '\0' && same_file(value, path);
  if (is_other_tool() || (variable == kInjectionVariables[0] && is_under_ncu())) {
    under_another_tool = true;
    if (is_ours) unset_environment(variable);
  } else if (value == nullptr || *value == '\0') {
    set_environment(variable, path);
  } else if (variable == kInjectionVariables[0]) {
    cuda_injection_taken = !is_ours;
#ifdef STREAMSCOPE_WITH_CUPTI
  } else if (!is_ours) {
    // NVTX loads one library: ours, which then loads the other.
    set_environment(kOtherNvtxVariable, value);
    set_environment(variable, path);
#endif
  }
}

// Another tool must find the variable as it is without us.
void restore_other_nvtx() {
  const char* other = std::getenv(kOtherNvtxVariable);
  if (other == nullptr || !is_other_tool()) return;
  if (std::getenv(kInjectionVariables[1]) == nullptr)
    set_environment(kInjectionVariables[1], other);
  unset_environment(kOtherNvtxVariable);
}

// True if this is a second copy of the library, which the driver has loaded into a link namespace
// of its own: a process has one recorder.
[[maybe_unused]] bool is_second_copy() {
  Lmid_t own = LM_ID_BASE;
  void* library = ::dlopen(library_path(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr || ::dlinfo(library, RTLD_DI_LMID, &own) != 0 || own == LM_ID_BASE)
    return false;
  return ::dlmopen(LM_ID_BASE, library_path(), RTLD_LAZY | RTLD_NOLOAD) != nullptr;
}

__attribute__((constructor)) void loaded() {
  session.clock = ring::best_clock();
  note_standard_error();
  const char* path = library_path();
  if (path[0] == '\0') return;
  for (const char* variable : kInjectionVariables) name_in(variable, path);
  restore_other_nvtx();
  for (const char* variable : {ring::kRingsVariable, ring::kRankVariable})
    reserve_environment(variable);
  remember_folder();
  ::pthread_atfork(nullptr, nullptr, in_child_after_fork);
#ifdef STREAMSCOPE_WITH_CUPTI
  if (cuda_in_use()) record_cuda(true);
#endif
}

__attribute__((destructor)) void unloading() {
  end_recording();
  if (running()) session.state.store(SessionState::kEnded, std::memory_order_release);
  if (cuda_injection_taken &&
      session.state.load(std::memory_order_relaxed) == SessionState::kIdle &&
      ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr)
    report_to_user("not recorded", "CUDA_INJECTION64_PATH names another tool's library",
                   "unset it");
}

}  // namespace

bool record_coord() {
  if (!start_session([] { return "libcoord"; })) return false;
  if (session.control->stacks != ring::StackMode::kNone) prepare_stacks();
  watch_exit();
#ifdef STREAMSCOPE_WITH_CUPTI
  correlate_coord_calls();
#endif
  return true;
}

void record_cuda([[maybe_unused]] bool late) {
#ifdef STREAMSCOPE_WITH_CUPTI
  if (cuda_started.exchange(true)) return;
  if (is_second_copy())
    return report_to_user("calls of a library are not recorded",
                          "it was opened in a namespace of its own", "open it with dlopen");
  started_late = late;
  if (!start_session(choose_source)) return;
  watch_exit();
  // libcoord may have started the session.
  if (chosen_text[0] == '\0') report_collector(choose_source());
  if (interposes) return start_wrappers();
  if (session.control->source == ring::CallSource::kInterposed)
    report_to_user("calls are not seen by wrappers", obstacle(), "leave out --source");
  if (missing_cupti == nullptr) {
    if (start_cupti(late) == CuptiStart::kOk) session.detach.store(stop_cupti);
    return;
  }
  report_to_user("CUDA calls and GPU times are not recorded", missing_cupti,
                 "name it in STREAMSCOPE_CUPTI");
  report_loss(ring::Loss::kNoCupti, 1, missing_cupti);
#endif
}

void driver_initialized() {
#ifdef STREAMSCOPE_WITH_CUPTI
  if (cuda_started.load(std::memory_order_relaxed)) return;
  if (can_interpose()) record_cuda(false);
#endif
}

}  // namespace streamscope::collect

/// The CUDA driver calls this from cuInit when CUDA_INJECTION64_PATH names this library.
extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  using namespace streamscope::collect;
  // A tool that was loaded after us may have named its own.
  name_in(kInjectionVariables[1], library_path());
  record_cuda(false);
  return 1;
}
