// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stand-in libcupti.so.13. Its version is FAKE_CUPTI_VERSION, if set; it refuses the first
// subscriber in favor of the tool FAKE_OTHER_SUBSCRIBER, if set, and registering buffers with code
// 39 if FAKE_REFUSE_BUFFERS is set (only from the second time on, if it is "again"). It refuses
// resource callbacks if FAKE_REFUSE_RESOURCES is set.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fake.h"

namespace {

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<CUpti_CallbackFunc> callback{nullptr};
  void* userdata = nullptr;
  std::set<std::pair<int, CUpti_CallbackId>> callbacks;
  std::set<CUpti_ActivityKind> kinds;
  std::set<CUpti_CallbackId> driver_calls;
  std::set<CUpti_CallbackId> left_driver_calls;
  std::atomic<CUpti_BuffersCallbackRequestFunc> request{nullptr};
  std::atomic<CUpti_BuffersCallbackCompleteFunc> complete{nullptr};
  CUpti_TimestampCallbackFunc timestamp = nullptr;
  std::vector<std::vector<char>> records;
  std::atomic<uint32_t> next_correlation{1};
  size_t dropped = 0;
  bool flush_blocked = false;
  bool flushing = false;
  std::chrono::milliseconds delivery_takes{0};
  unsigned flushes[2] = {0, 0};
  std::string log;
};

State& state() {
  static State* made = new State;  // outlives every exit handler
  return *made;
}

// CUDA's exit handlers, which take a while. From then on CUPTI crashes if a kind is switched.
std::atomic<bool> cuda_ends{false};
void prepare_end() {
  if (std::getenv("FAKE_SLOW_END") == nullptr) return;
  std::atexit([] {
    cuda_ends = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  });
}
void crash_if_cuda_ends() {
  if (cuda_ends) std::abort();
}

// Delivers a callback if it is enabled now.
bool deliver(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  CUpti_CallbackFunc callback;
  {
    std::lock_guard lock(state().mutex);
    if (!state().callbacks.contains({domain, id})) return false;
    callback = state().callback;
  }
  if (callback == nullptr) return false;
  callback(state().userdata, domain, id, data);
  return true;
}

void log(const std::string& what) {
  std::lock_guard lock(state().mutex);
  state().log += what + " ";
}

uint32_t version() {
  const char* set = std::getenv("FAKE_CUPTI_VERSION");
  return set != nullptr ? static_cast<uint32_t>(std::strtoul(set, nullptr, 10)) : 130001;
}

// Bytes of a record in the layout of the faked version.
size_t record_size(uint32_t kind) {
  const bool v12_8 = version() >= 26, v13 = version() >= 130000;
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return v13 ? 216 : 208;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return v12_8 ? 96 : 88;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return 96;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return 88;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return v12_8 ? 56 : 40;
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return v12_8 ? 56 : 24;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return 56;
    default:
      return 40;  // API records and the like
  }
}

// In as many buffers as it takes.
void hand_over(const std::vector<std::vector<char>>& records) {
  if (records.empty() || state().request == nullptr) return;
  uint8_t* buffer = nullptr;
  size_t size = 0, limit = 0, used = 0;
  auto complete = [&] {
    if (buffer != nullptr) state().complete.load()(nullptr, 0, buffer, size, used);
    buffer = nullptr;
    used = 0;
  };
  for (const std::vector<char>& record : records) {
    if (buffer != nullptr && used + record.size() > size) complete();
    if (buffer == nullptr) state().request.load()(&buffer, &size, &limit);
    if (buffer == nullptr) {
      std::lock_guard lock(state().mutex);
      ++state().dropped;
      continue;
    }
    std::memcpy(buffer + used, record.data(), record.size());
    used += record.size();
  }
  complete();
}

}  // namespace

FAKE_API CUptiResult cuptiGetVersion(uint32_t* value) {
  static std::once_flag prepared;  // the collector asks before it begins
  std::call_once(prepared, prepare_end);
  *value = version();
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "CUPTI_ERROR_FAKE";
  return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                    void* userdata) {
  if (std::getenv("FAKE_OTHER_SUBSCRIBER") != nullptr || state().callback != nullptr)
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  log("subscribe");
  state().callback = callback;
  state().userdata = userdata;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&state());
  return CUPTI_SUCCESS;
}
#ifndef FAKE_CUPTI_12
FAKE_API CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber,
                                       CUpti_CallbackFunc callback, void* userdata,
                                       CUpti_SubscriberParams* params) {
  if (const char* other = std::getenv("FAKE_OTHER_SUBSCRIBER")) {
    std::snprintf(params->oldSubscriberName, params->oldSubscriberSize, "CUPTI for %s", other);
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  return cuptiSubscribe(subscriber, callback, userdata);
}
#endif
FAKE_API CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  log("unsubscribe:" + std::to_string(fake_enabled_callbacks()));
  state().callback = nullptr;
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle,
                                         CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && version() < 130000 && id >= 487)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && on != 0 &&
      std::getenv("FAKE_REFUSE_RESOURCES") != nullptr)
    return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  std::lock_guard lock(state().mutex);
  if (on != 0) {
    state().callbacks.insert({domain, id});
  } else {
    state().callbacks.erase({domain, id});
  }
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
  const char* refuse = std::getenv("FAKE_REFUSE_BUFFERS");
  if (refuse != nullptr && (std::strcmp(refuse, "again") != 0 || state().request != nullptr))
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  log("register");
  state().request = request;
  state().complete = complete;
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  crash_if_cuda_ends();
  log("enable:" + std::to_string(kind));
  std::lock_guard lock(state().mutex);
  state().kinds.insert(kind);
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  crash_if_cuda_ends();
  log("disable:" + std::to_string(kind));
  std::lock_guard lock(state().mutex);
  state().kinds.erase(kind);
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t on) {
  if (std::getenv("FAKE_NO_DRIVER_CALLS") != nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  std::lock_guard lock(state().mutex);
  if (on != 0 && !state().left_driver_calls.contains(id)) state().driver_calls.insert(id);
  // CUPTI 13.0 does not reliably report again what was switched off.
  if (on == 0 && state().driver_calls.erase(id) != 0) state().left_driver_calls.insert(id);
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  log("timestamp");
  state().timestamp = function;
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t on) {
  log("all-syncs:" + std::to_string(on));
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t on) {
  log("event-times:" + std::to_string(on));
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }

FAKE_API CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid,
                                                CUpti_Activity** record) {
  uint8_t* next = *record == nullptr
                      ? buffer
                      : reinterpret_cast<uint8_t*>(*record) + record_size((*record)->kind);
  if (next + 4 > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t,
                                                       size_t* dropped) {
  fake_expect_alive(context, "cuptiActivityGetNumDroppedRecords");
  std::lock_guard lock(state().mutex);
  *dropped = state().dropped;
  state().dropped = 0;
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  std::vector<std::vector<char>> records;
  std::chrono::milliseconds pause{0};
  {
    std::unique_lock lock(state().mutex);
    ++state().flushes[flag & 1];
    if (state().flushing) return CUPTI_SUCCESS;  // leaves it to the other
    state().changed.wait(lock, [] { return !state().flush_blocked; });
    state().flushing = true;
    if ((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == 0) pause = state().delivery_takes;
    records.swap(state().records);
  }
  std::this_thread::sleep_for(pause);
  hand_over(records);
  std::lock_guard lock(state().mutex);
  state().flushing = false;
  return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiFinalize() {
  log("finalize");
  return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiGetContextId(CUcontext context, uint32_t* id) {
  fake_expect_alive(context, "cuptiGetContextId");
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context) & 0xff);
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* id) {
  fake_expect_alive(context, "cuptiGetDeviceId");
  *id = 0;
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
                                        uint32_t* id) {
  fake_expect_alive(context, "cuptiGetStreamIdEx");
  fake_expect_alive(stream, "cuptiGetStreamIdEx");
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  *id = handle == 0 ? (per_thread != 0 ? 16 : 7) : static_cast<uint32_t>(handle & 0xffff);
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  fake_expect_alive(graph, "cuptiGetGraphId");
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(graph));
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t* id) {
  fake_expect_alive(exec, "cuptiGetGraphExecId");
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(exec));
  return CUPTI_SUCCESS;
}
FAKE_API CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  fake_expect_alive(node, "cuptiGetGraphNodeId");
  *id = reinterpret_cast<uintptr_t>(node);
  return CUPTI_SUCCESS;
}

// The interface for scripts.

FAKE_API void fake_enter(FakeCall* call, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                         const void* parameters, const char* symbol, CUcontext context,
                         const FakeCall* outer) {
  call->domain = domain;
  call->id = id;
  call->correlation_data = 0x1234567812345678;  // garbage, as CUPTI guarantees nothing
  call->result = 0;
  call->data = {};
  call->data.functionName = "fake";
  call->data.functionParams = parameters;
  call->data.functionReturnValue = &call->result;
  call->data.symbolName = symbol;
  call->data.context = context;
  call->data.contextUid = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context) & 0xff);
  call->data.correlationData = &call->correlation_data;
  call->data.correlationId =
      outer != nullptr ? outer->data.correlationId : state().next_correlation++;
  call->data.callbackSite = CUPTI_API_ENTER;
  deliver(domain, id, &call->data);
}

FAKE_API void fake_exit(FakeCall* call, int32_t result) {
  call->result = result;
  call->data.callbackSite = CUPTI_API_EXIT;
  deliver(call->domain, call->id, &call->data);
}

FAKE_API void fake_resource(CUpti_CallbackId id, const CUpti_ResourceData* data) {
  deliver(CUPTI_CB_DOMAIN_RESOURCE, id, data);
}

FAKE_API void fake_fatal_error(const char* message) {
  CUpti_StateData data{};
  data.notification.result = CUPTI_ERROR_UNKNOWN;
  data.notification.message = message;
  deliver(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
}

FAKE_API void fake_activity(const void* record, size_t size, bool foreign) {
  uint32_t kind;
  std::memcpy(&kind, record, sizeof kind);
  std::lock_guard lock(state().mutex);
  const bool enabled =
      kind == CUPTI_ACTIVITY_KIND_DRIVER
          ? state().driver_calls.contains(static_cast<const CUpti_ActivityAPI*>(record)->cbid)
          : state().kinds.contains(static_cast<CUpti_ActivityKind>(kind));
  if (!foreign && !enabled) return;
  std::vector<char> bytes(record_size(kind),
                          '\xee');  // what a version does not have must not be read
  std::memcpy(bytes.data(), record, std::min(size, bytes.size()));
  state().records.push_back(std::move(bytes));
}

FAKE_API size_t fake_hold_buffers() {
  size_t first = 0, held = 0;
  for (;;) {
    uint8_t* buffer = nullptr;
    size_t size = 0, limit = 0;
    state().request.load()(&buffer, &size, &limit);
    if (first == 0) first = size;
    if (size >= first && held < 10'000) {
      ++held;
      continue;
    }
    state().complete.load()(nullptr, 0, buffer, size, 0);
    return held;
  }
}

FAKE_API void fake_deliver() {
  std::vector<std::vector<char>> records;
  {
    std::lock_guard lock(state().mutex);
    records.swap(state().records);
  }
  hand_over(records);
}

FAKE_API void fake_slow_delivery(unsigned ms) {
  std::lock_guard lock(state().mutex);
  state().delivery_takes = std::chrono::milliseconds(ms);
}
FAKE_API void fake_drop(size_t count) {
  std::lock_guard lock(state().mutex);
  state().dropped += count;
}
FAKE_API void fake_block_flush(bool blocked) {
  std::lock_guard lock(state().mutex);
  state().flush_blocked = blocked;
  state().changed.notify_all();
}
FAKE_API bool fake_kind_enabled(CUpti_ActivityKind kind) {
  std::lock_guard lock(state().mutex);
  return state().kinds.contains(kind);
}
FAKE_API bool fake_callback_enabled(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  std::lock_guard lock(state().mutex);
  return state().callback != nullptr && state().callbacks.contains({domain, id});
}
FAKE_API unsigned fake_enabled_callbacks() {
  std::lock_guard lock(state().mutex);
  return static_cast<unsigned>(state().callbacks.size());
}
FAKE_API unsigned fake_flushes(bool forced) {
  std::lock_guard lock(state().mutex);
  return state().flushes[forced ? 1 : 0];
}
FAKE_API const char* fake_log() { return state().log.c_str(); }
FAKE_API uint64_t fake_timestamp() {
  return state().timestamp != nullptr ? state().timestamp() : 0;
}
FAKE_API CUpti_CallbackFunc fake_callback() { return state().callback; }
