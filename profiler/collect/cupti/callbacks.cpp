// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/cupti/callbacks.h"

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "collect/calls/call_recorder.h"
#include "collect/calls/objects.h"
#include "collect/cupti/activities.h"
#include "collect/cupti/cupti_library.h"
#include "collect/cupti/resources.h"
#include "collect/process/driver.h"
#include "collect/process/gate.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"

namespace streamscope::collect {
namespace {

constinit CUpti_SubscriberHandle subscriber = nullptr;

// CUPTI gives entry and exit of a call one shared word. It holds the thread's state, tagged with
// the call, so that the exit needs no thread-local lookup and recognizes a word we did not write.
constexpr uint64_t kAddressBits = (uint64_t{1} << 48) - 1;

uint64_t pack(ThreadState* thread, uint32_t correlation_id) {
  return reinterpret_cast<uintptr_t>(thread) |
         static_cast<uint64_t>((correlation_id ^ 0x5353) & 0xffff) << 48;
}

ThreadState* unpack(uint64_t word, uint32_t correlation_id) {
  if ((word & kAddressBits) == 0 || word >> 48 != ((correlation_id ^ 0x5353) & 0xffff))
    return nullptr;
  return reinterpret_cast<ThreadState*>(word & kAddressBits);
}

// The table's size is checked too: a newer libcupti knows more ids.
const CallEntry* entry_of(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (id >= (runtime ? runtime_calls.size() : driver_calls.size())) return nullptr;
  const CallEntry& entry = runtime ? runtime_calls[id] : driver_calls[id];
  return entry.read != nullptr ? &entry : nullptr;
}

SeenCall seen(const CUpti_CallbackData& call) {
  return {.parameters = call.functionParams,
          .context = call.context,
          .context_id = call.context != nullptr ? call.contextUid : ring::kNone32,
          .number = call.correlationId};
}

// The entry of an outermost call. `thread`: null if it has no state yet.
[[gnu::noinline]] void on_enter(ThreadState* thread, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const CallEntry* entry = entry_of(domain, id);
  if (entry == nullptr) return;
  SeenCall entered = seen(call);
  if (entry->kind == CallKind::kLaunch) {
    if (thread == nullptr) thread = make_thread_state();
    if (thread != nullptr) entered.kernel = kernel_name(*thread, call.symbolName);
  }
  CallValues values;
  entry->read(call.functionParams, false, values);
  thread = begin_call(thread, *entry, *entry, values, entered);
  if (thread != nullptr) *call.correlationData = pack(thread, call.correlationId);
}

// The parameters of a kernel are known only to the driver's call, which may be inside the
// runtime's.
[[gnu::noinline]] void on_driver_launched(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const CallEntry* entry = entry_of(CUPTI_CB_DOMAIN_DRIVER_API, id);
  ThreadState* thread = existing_thread();
  if (entry != nullptr && entry->kind == CallKind::kLaunch && thread != nullptr &&
      call.functionReturnValue != nullptr &&
      *static_cast<const int32_t*>(call.functionReturnValue) == 0)
    report_launch(*thread, *entry, call.functionParams);
}

int32_t result_of(const CUpti_CallbackData& call) {
  return call.functionReturnValue != nullptr
             ? *static_cast<const int32_t*>(call.functionReturnValue)
             : 0;
}

// The exit of a call whose entry was recorded.
[[gnu::noinline]] void on_exit(const CUpti_CallbackData& call) {
  ThreadState* thread = unpack(*call.correlationData, call.correlationId);
  if (is_inside_a_call(thread) && thread->open_number == call.correlationId)
    end_call(*thread, *thread->open_entry, seen(call), result_of(call));
}

void on_state(CUpti_CallbackId id, const CUpti_StateData& data) {
  if (id != CUPTI_CBID_STATE_FATAL_ERROR) return;
  // CUPTI has finalized itself: it must not be called again.
  abandon_activities();
  subscriber = nullptr;
  const char* message =
      data.notification.message != nullptr ? data.notification.message : "no message";
  report_loss(ring::Loss::kCuptiFatal, 1, message);
  report_to_user("recording is incomplete from here on: CUPTI stopped", message,
                 "the program continues");
}

[[gnu::noinline]] void on_other(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
    if (id == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING)
      end_captured_stream(reinterpret_cast<uintptr_t>(resource.resourceHandle.stream));
    on_resource(id, resource);
  }
  if (domain == CUPTI_CB_DOMAIN_STATE) on_state(id, *static_cast<const CUpti_StateData*>(data));
}

// Most callbacks are of driver calls inside a runtime call: those return here, without even a stack
// frame.
void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) {
  if (!running()) return;
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API)
    return on_other(domain, id, data);
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_EXIT) {
    if (__builtin_expect(session.reads_parameters, 0) && domain == CUPTI_CB_DOMAIN_DRIVER_API)
      on_driver_launched(id, call);
    if (*call.correlationData != 0) on_exit(call);
    return;
  }
  *call.correlationData = 0;  // nested, ours, or not recorded
  ThreadState* thread = existing_thread();
  if (!is_inside_a_call(thread)) on_enter(thread, domain, id, call);
}

// An older libcupti rejects ids that it does not know; their calls do not exist there either.
CUptiResult switch_callbacks(bool enable) {
  const uint32_t on = enable ? 1 : 0;
  for (CUpti_CallbackId id = 0; id < runtime_calls.size(); ++id) {
    if (runtime_calls[id].read != nullptr)
      cupti.cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id);
  }
  for (CUpti_CallbackId id = 0; id < driver_calls.size(); ++id) {
    if (driver_calls[id].read != nullptr)
      cupti.cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  cupti.cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
  return switch_resource_callbacks(subscriber, enable);
}

constexpr char kAllLost[] = "CUDA calls and GPU times are not recorded";
constexpr char kTimesLost[] = "GPU times are not recorded";

const char* error_text(CUptiResult result) {
  const char* text = nullptr;
  if (cupti.cuptiGetResultString(result, &text) != CUPTI_SUCCESS || text == nullptr)
    text = "unknown CUPTI error";
  return text;
}

// `lost`: what is missing now.
CuptiStart refuse(const char* lost, CUptiResult result, const char* what, const char* other) {
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    char cause[160];
    std::snprintf(cause, sizeof cause, "%s already uses CUPTI in this process",
                  other[0] != '\0' ? other : "another profiling tool");
    report_to_user(lost, cause, "run the program without it");
    report_loss(ring::Loss::kOtherSubscriber, 1, other[0] != '\0' ? other : "unnamed");
    return CuptiStart::kOtherSubscriber;
  }
  char cause[160];
  std::snprintf(cause, sizeof cause, "%s: %s", what, error_text(result));
  report_to_user(lost, cause, "run `streamscope doctor`");
  report_loss(ring::Loss::kNoCupti, 1, cause);
  return CuptiStart::kFailed;
}

// On demand.

// A call that a wrapper records makes this call of the driver. The work of others is not reported.
void CUPTIAPI on_named_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                            const void* data) {
  if (!running() || domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite != CUPTI_API_ENTER) return;
  ThreadState* thread = existing_thread();
  if (!is_inside_a_call(thread) || thread->in_collector || !collects(thread->begin))
    return note_paused_correlation(call.correlationId);
  ring::CorrelationRecord record{};
  record.kind = ring::RecordKind::kCorrelation;
  record.call = driver_calls[id].id;
  record.correlation_id = call.correlationId;
  record.tid = thread->tid;
  record.call_number = thread->open_number;
  thread->push(record);
}

// Subscribes only while it is on, so that other tools can meanwhile. False, and reported, if that
// is not possible.
bool name_calls(bool on) {
  char other[128] = "";
  if (on) {
    const CUptiResult result = subscribe(&subscriber, on_named_call, other, sizeof other);
    if (result != CUPTI_SUCCESS) {
      subscriber = nullptr;
      refuse(kTimesLost, result, "cuptiSubscribe", other);
      return false;
    }
  }
  if (subscriber == nullptr) return true;
  for (CUpti_CallbackId id = 0; id < driver_calls.size(); ++id) {
    if (driver_calls[id].read != nullptr && is_correlated(driver_calls[id].kind))
      cupti.cuptiEnableCallback(on ? 1 : 0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  if (on) return true;
  cupti.cuptiUnsubscribe(subscriber);
  subscriber = nullptr;
  return true;
}

void pause_device_times_on_demand(bool pause) {
  if (!pause) name_calls(true);
  pause_activities(pause);
  if (pause) name_calls(false);
}

}  // namespace

CuptiStart start_cupti(bool late) {
  find_cuda();
  char other[128];
  CUptiResult result = subscribe(&subscriber, on_callback, other, sizeof other);
  if (result != CUPTI_SUCCESS) {
    subscriber = nullptr;
    return refuse(kAllLost, result, "cuptiSubscribe", other);
  }
  set_numbering(cupti_numbering());
  prepare_call_recorder(late);
  const char* step = "cuptiActivityRegisterCallbacks";
  // Subscribing alone does not protect the buffers: a second copy of libcupti refuses only here.
  if (session.control->tier > Tier::kStructure || session.control->with != 0)
    result =
        static_cast<CUptiResult>(start_activities(*session.control, late, CallNumbers::kCupti));
  if (result == CUPTI_SUCCESS) {
    step = "cuptiEnableCallback";
    result = switch_callbacks(true);
  }
  if (result == CUPTI_SUCCESS) return CuptiStart::kOk;
  stop_cupti();
  return refuse(kAllLost, result, step, other);
}

void start_device_times() {
  const auto result =
      static_cast<CUptiResult>(start_activities(*session.control, false, CallNumbers::kOwn));
  if (result == CUPTI_SUCCESS) return;
  stop_activities();
  refuse(kTimesLost, result, "cuptiActivityRegisterCallbacks", "");
}

void start_device_times_on_demand() {
  const char* cause = nullptr;
  if (!load_cupti(&cause)) {
    report_to_user(kTimesLost, cause, "name it in STREAMSCOPE_CUPTI");
    return report_loss(ring::Loss::kNoCupti, 1, cause);
  }
  if (!name_calls(true)) return;
  const auto result =
      static_cast<CUptiResult>(start_activities(*session.control, true, CallNumbers::kNamed));
  if (result == CUPTI_SUCCESS) {
    session.pause_device_times.store(pause_device_times_on_demand, std::memory_order_release);
    return;
  }
  stop_activities();
  name_calls(false);
  refuse(kTimesLost, result, "cuptiActivityRegisterCallbacks", "");
}

void stop_device_times_on_demand() { name_calls(false); }

bool holds_cupti() { return running() && subscriber != nullptr; }

void stop_cupti() {
  if (subscriber == nullptr) return;
  // Unsubscribing with callbacks enabled would leave their cost in every call of the program.
  stop_activities();
  switch_callbacks(false);
  cupti.cuptiUnsubscribe(subscriber);
  subscriber = nullptr;
}

const char* collector_text() {
  static constinit char text[64] = {};
  std::snprintf(text, sizeof text, "cupti %u", cupti.version);
  return text;
}

void forget_cupti_after_fork() { subscriber = nullptr; }

}  // namespace streamscope::collect
