// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/nvtx/nvtx.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>

#include "collect/calls/bits.h"
#include "collect/coord/coord_observer.h"
#include "collect/nvtx/nccl_call.h"
#include "collect/nvtx/other_tool.h"
#include "collect/nvtx/wide_text.h"
#include "collect/process/gate.h"
#include "collect/process/memory.h"
#include "collect/process/session.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ring::TextHash;

constexpr size_t kMaxTextBytes = 4096;
constexpr size_t kMaxOpenStarts = 64;

// What nvtxDomainHandle_t and nvtxStringHandle_t point to. Never freed: programs keep handles after
// they were destroyed.
struct Name {
  size_t bytes;
  char text[1];  // variable length
};

Name* new_name(std::string_view text) {
  auto* name = static_cast<Name*>(permanent_memory(sizeof(Name) + text.size()));
  if (name == nullptr) return nullptr;
  name->bytes = text.size();
  std::memcpy(name->text, text.data(), text.size());
  name->text[text.size()] = '\0';
  return name;
}

// Where another tool made the handle, ours is kept for it. Domains have no owner.
constexpr char kNoOwner = 0;

template <class Handle>
Handle new_handle(const void* owner, std::optional<Handle> others, std::string_view text) {
  Name* name = new_name(text);
  const auto handle = others.value_or(reinterpret_cast<Handle>(name));
  if (has_other_tool() && name != nullptr && handle != nullptr)
    keep_for_handle(owner, handle, name);
  return handle;
}

std::string_view text_of(const void* owner, const void* handle) {
  if (handle != nullptr && has_other_tool()) handle = kept_for_handle(owner, handle);
  const auto* name = static_cast<const Name*>(handle);
  return name != nullptr ? std::string_view(name->text, name->bytes) : std::string_view();
}
std::string_view name_of_domain(const void* domain) { return text_of(&kNoOwner, domain); }

std::string_view bounded(const char* text) {
  return text != nullptr ? std::string_view(text, ::strnlen(text, kMaxTextBytes))
                         : std::string_view();
}

struct Act {
  const void* domain = nullptr;
  std::string_view text;
  uint64_t payload = 0;  // of a collective: its communicator
  NcclCall nccl;
  uint32_t color = 0;
  uint16_t category = 0;
};

// Calls `use` with the range or mark that `attributes` describe; the text lives only during the
// call.
template <class Use>
auto with_act(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes, Use use) {
  Act act;
  act.domain = domain;
  if (attributes == nullptr || attributes->size < sizeof *attributes) return use(act);
  const StructuredPayload* data = nullptr;
  act.category = static_cast<uint16_t>(std::min<uint32_t>(attributes->category, 0xffff));
  if (attributes->colorType == NVTX_COLOR_ARGB) act.color = attributes->color;
  switch (attributes->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
    case NVTX_PAYLOAD_TYPE_FLOAT:
      act.payload = attributes->payload.uiValue;
      break;
    case NVTX_PAYLOAD_TYPE_INT32:
      act.payload = static_cast<uint64_t>(int64_t{attributes->payload.iValue});
      break;
    case NVTX_PAYLOAD_UNKNOWN:
      break;
    case kStructuredPayload:
      data = reinterpret_cast<const StructuredPayload*>(attributes->payload.ullValue);
      if (data != nullptr && data->bytes != nullptr && data->size >= sizeof act.payload)
        std::memcpy(&act.payload, data->bytes, sizeof act.payload);
      break;
    default:
      act.payload = attributes->payload.ullValue;
      break;
  }
  const auto use_text = [&](std::string_view text) {
    act.text = text;
    if (name_of_domain(domain) == "NCCL") {
      act.nccl = nccl_call(text, data != nullptr ? *data : StructuredPayload{});
      if (act.nccl.is_collective) act.payload = act.nccl.communicator;
    }
    return use(act);
  };
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return use_text(bounded(attributes->message.ascii));
    case NVTX_MESSAGE_TYPE_UNICODE:
      return use_text(Narrow(attributes->message.unicode).view());
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return use_text(text_of(domain, attributes->message.registered));
    default:
      return use(act);
  }
}

template <class Use>
auto with_text(const char* text, Use use) {
  Act act;
  act.text = bounded(text);
  return use(act);
}

template <class Use>
auto with_text(const wchar_t* text, Use use) {
  Narrow narrow(text);
  Act act;
  act.text = narrow.view();
  return use(act);
}

// The range that delimits what is recorded (--capture-range nvtx:NAME or nvtx:NAME@DOMAIN).

thread_local int depth = 0;                // push/pop ranges open in this thread
thread_local uint64_t matched_depths = 0;  // bit d: the range at depth d is the delimiting one
thread_local uint64_t counted_depths = 0;  // bit d: its end shows progress
constexpr uint64_t kCounted = 1;           // bit of our id of a start/end range: the same

// Ids of open start/end ranges, as many as there is room for.
class OpenStarts {
 public:
  bool add(uint64_t id) { return replace(0, id); }
  bool remove(uint64_t id) { return replace(id, 0); }

 private:
  bool replace(uint64_t before, uint64_t after) {
    std::lock_guard lock(mutex_);
    for (uint64_t& slot : ids_) {
      if (slot != before) continue;
      slot = after;
      return true;
    }
    return false;
  }
  std::mutex mutex_;
  uint64_t ids_[kMaxOpenStarts] = {};
};
constinit OpenStarts matched_starts;  // the delimiting ones
constinit OpenStarts counted_starts;  // whose ends show progress, where ids are another tool's

bool delimits(const Act& act) {
  if (!running() || session.control->capture_range != ring::CaptureRange::kNvtx) return false;
  const std::string_view wanted = session.control->capture_range_name;
  if (act.text == wanted) return true;
  const size_t at = wanted.rfind('@');
  return at != wanted.npos && act.text == wanted.substr(0, at) &&
         name_of_domain(act.domain) == wanted.substr(at + 1);
}

// Records.

bool recording() { return running() && collecting(); }

void push_record(RecordKind kind, const Act& act, uint64_t begin, uint64_t id,
                 ThreadState& thread) {
  ring::RangeRecord record{};
  record.kind = kind;
  if (coord_is_simulated()) record.flags = ring::kVirtualTime;
  record.category = act.category;
  record.color = act.color;
  record.begin = begin;
  record.name = send_text(thread, act.text);
  record.domain = send_text(thread, name_of_domain(act.domain));
  record.id = id;
  if (act.nccl.is_collective && kind == RecordKind::kRangePush) {
    record.flags |= ring::kCollective;
    record.id = act.nccl.peer;
    record.bytes = act.nccl.bytes;
  }
  record.tid = thread.tid;
  record.operation = name_of_domain(act.domain) == "coord" ? thread.operation() : ring::kNone32;
  record.payload = act.payload;
  thread.push(record);
}

// In a process with simulated devices, ranges are on the clock of the thread's calls.
void record(RecordKind kind, const Act& act, uint64_t id = 0) {
  const uint64_t begin = ticks();
  ThreadState* thread = this_thread();
  if (thread == nullptr) return;
  report_pending_ranges(*thread);
  push_record(kind, act, coord_is_simulated() ? thread->virtual_now : begin, id, *thread);
}

void remember(const Act& act) {
  PendingRanges* pending = pending_ranges(true);
  if (pending == nullptr) return;
  if (pending->count == kMaxPendingRanges) {
    ++pending->overflow;
    return;
  }
  PendingRange& range = pending->ranges[pending->count++];
  range = {};
  range.begin = ticks();
  range.payload = act.payload;
  range.bytes = act.nccl.bytes;
  range.peer = act.nccl.peer;
  range.is_collective = act.nccl.is_collective;
  range.color = act.color;
  range.category = act.category;
  range.domain = act.domain;
  range.text_bytes = static_cast<uint16_t>(std::min(act.text.size(), sizeof range.text));
  std::memcpy(range.text, act.text.data(), range.text_bytes);
}

// True if a remembered range ended here, so that nothing must be recorded.
bool forget(const void* domain) {
  PendingRanges* pending = pending_ranges(false);
  if (pending == nullptr) return false;
  if (pending->overflow > 0) {
    --pending->overflow;
    return true;
  }
  for (uint32_t i = pending->count; i-- > 0;) {
    if (pending->ranges[i].domain != domain) continue;
    std::copy(pending->ranges + i + 1, pending->ranges + pending->count, pending->ranges + i);
    --pending->count;
    return true;
  }
  return false;
}

int range_push(const Act& act) {
  if (depth < 64 && delimits(act)) {
    matched_depths |= uint64_t{1} << depth;
    capture_range_opened();
  }
  if (depth < 64 && shows_progress(act.text)) counted_depths |= uint64_t{1} << depth;
  if (recording()) {
    record(RecordKind::kRangePush, act);
  } else {
    remember(act);
  }
  return depth++;
}

int range_pop(const void* domain) {
  if (depth == 0) return NVTX_NO_PUSH_POP_TRACKING;
  --depth;
  Act act;
  act.domain = domain;
  if (recording() || (!forget(domain) && running())) record(RecordKind::kRangePop, act);
  if (depth < 64 && (counted_depths >> depth & 1) != 0) {
    counted_depths &= ~(uint64_t{1} << depth);
    session.range_ends.fetch_add(1, std::memory_order_relaxed);
  }
  if (depth < 64 && (matched_depths >> depth & 1) != 0) {
    matched_depths &= ~(uint64_t{1} << depth);
    capture_range_closed();
  }
  return depth;
}

// Ids of ours that another tool gets too must not be its own.
constexpr uint64_t kOursAmongOthers = uint64_t{0x5353} << 48;

uint64_t new_range_id(bool counted) {
  static constinit std::atomic<uint64_t> next_id{2};
  return next_id.fetch_add(2, std::memory_order_relaxed) | (counted ? kCounted : 0) |
         (has_other_tool() ? kOursAmongOthers : 0);
}

nvtxRangeId_t range_start(std::optional<nvtxRangeId_t> others, const Act& act) {
  const bool counted = shows_progress(act.text);
  const uint64_t id = others.value_or(0) != 0 ? *others : new_range_id(counted);
  if (counted && has_other_tool()) counted_starts.add(id);
  if (delimits(act) && matched_starts.add(id)) capture_range_opened();
  if (recording()) record(RecordKind::kRangeStart, act, id);
  return id;
}

void range_end(const void* domain, nvtxRangeId_t id) {
  Act act;
  act.domain = domain;
  if (has_other_tool() ? counted_starts.remove(id) : (id & kCounted) != 0)
    session.range_ends.fetch_add(1, std::memory_order_relaxed);
  if (running()) record(RecordKind::kRangeEnd, act, id);
  if (!running() || session.control->capture_range != ring::CaptureRange::kNvtx) return;
  if (matched_starts.remove(id)) capture_range_closed();
}

void mark(const Act& act) {
  if (recording()) record(RecordKind::kMark, act);
}

void name_object(ring::ObjectKind kind, uint64_t object, std::string_view text) {
  if (!running()) return;
  ThreadState* thread = this_thread();
  if (thread == nullptr) return;
  ring::NameRecord name{};
  name.kind = RecordKind::kName;
  name.object_kind = static_cast<uint8_t>(kind);
  name.context = ring::kNone32;
  name.object = object;
  name.name = send_text(*thread, text);
  name.begin = ticks();
  thread->push(name);
}

// Handlers. Where a result is an id or a handle, the first parameter is what another tool answered.

void NVTX_API mark_ex(const nvtxEventAttributes_t* attributes) {
  with_act(nullptr, attributes, mark);
}
template <class Char>
void NVTX_API mark_text(const Char* text) {
  with_text(text, mark);
}
nvtxRangeId_t range_start_ex(std::optional<nvtxRangeId_t> others,
                             const nvtxEventAttributes_t* attributes) {
  return with_act(nullptr, attributes, [&](const Act& act) { return range_start(others, act); });
}
template <class Char>
nvtxRangeId_t range_start_text(std::optional<nvtxRangeId_t> others, const Char* text) {
  return with_text(text, [&](const Act& act) { return range_start(others, act); });
}
void NVTX_API range_end_plain(nvtxRangeId_t id) { range_end(nullptr, id); }
int NVTX_API range_push_ex(const nvtxEventAttributes_t* attributes) {
  return with_act(nullptr, attributes, range_push);
}
template <class Char>
int NVTX_API range_push_text(const Char* text) {
  return with_text(text, range_push);
}
int NVTX_API range_pop_plain() { return range_pop(nullptr); }
template <ring::ObjectKind kKind, class Handle, class Char>
void NVTX_API name_text(Handle handle, const Char* text) {
  with_text(text, [handle](const Act& act) { name_object(kKind, bits(handle), act.text); });
}

void NVTX_API domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  with_act(domain, attributes, mark);
}
nvtxRangeId_t domain_range_start(std::optional<nvtxRangeId_t> others, nvtxDomainHandle_t domain,
                                 const nvtxEventAttributes_t* attributes) {
  return with_act(domain, attributes, [&](const Act& act) { return range_start(others, act); });
}
void NVTX_API domain_range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  range_end(domain, id);
}
int NVTX_API domain_range_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return with_act(domain, attributes, range_push);
}
int NVTX_API domain_range_pop(nvtxDomainHandle_t domain) { return range_pop(domain); }

// A resource that represents a stream, event or other CUDA object is a way of naming it.
nvtxResourceHandle_t resource_create(std::optional<nvtxResourceHandle_t> others,
                                     nvtxDomainHandle_t domain,
                                     nvtxResourceAttributes_t* attributes) {
  const nvtxResourceHandle_t handle = others.value_or(nullptr);
  if (attributes == nullptr) return handle;
  constexpr uint32_t kCudaClass = 4, kCudaRuntimeClass = 5;
  const auto type = static_cast<uint32_t>(attributes->identifierType);
  const uint32_t resource_class = type >> 16, index = type & 0xffff;
  std::string_view text;
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII) text = bounded(attributes->message.ascii);
  if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
    text = text_of(domain, attributes->message.registered);
  const uint64_t object = attributes->identifier.ullValue;
  if (resource_class == kCudaClass && index == 3)
    name_object(ring::ObjectKind::kStream, object, text);
  if (resource_class == kCudaClass && index == 4)
    name_object(ring::ObjectKind::kEvent, object, text);
  if (resource_class == kCudaRuntimeClass && index == 1)
    name_object(ring::ObjectKind::kStream, object, text);
  if (resource_class == kCudaRuntimeClass && index == 2)
    name_object(ring::ObjectKind::kEvent, object, text);
  return handle;
}
void NVTX_API resource_destroy(nvtxResourceHandle_t) {}
template <class Char>
void NVTX_API domain_name_category(nvtxDomainHandle_t, uint32_t category, const Char* text) {
  name_text<ring::ObjectKind::kCategory>(category, text);
}
template <class Char>
nvtxDomainHandle_t domain_create(std::optional<nvtxDomainHandle_t> others, const Char* text) {
  return with_text(text, [&](const Act& act) { return new_handle(&kNoOwner, others, act.text); });
}
template <class Char>
nvtxStringHandle_t register_string(std::optional<nvtxStringHandle_t> others,
                                   nvtxDomainHandle_t domain, const Char* text) {
  return with_text(text, [&](const Act& act) { return new_handle(domain, others, act.text); });
}
void NVTX_API domain_destroy(nvtxDomainHandle_t) {}
void NVTX_API initialize(const void*) {}

// What NVTX calls: a handler, and the other tool's function, whose result the program gets.
template <NvtxCallbackModule kModule, unsigned kId, auto kHandler>
struct Callback;
template <NvtxCallbackModule kModule, unsigned kId, class... Args, void (*kHandler)(Args...)>
struct Callback<kModule, kId, kHandler> {
  static void NVTX_API call(Args... args) {
    kHandler(args...);
    if (auto* other = other_function<void NVTX_API(Args...)>(kModule, kId)) other(args...);
  }
};
template <NvtxCallbackModule kModule, unsigned kId, class... Args, int (*kHandler)(Args...)>
struct Callback<kModule, kId, kHandler> {
  static int NVTX_API call(Args... args) {
    const int own = kHandler(args...);
    auto* other = other_function<int NVTX_API(Args...)>(kModule, kId);
    return other != nullptr ? other(args...) : own;
  }
};
template <NvtxCallbackModule kModule, unsigned kId, class Result, class... Args,
          Result (*kHandler)(std::optional<Result>, Args...)>
struct Callback<kModule, kId, kHandler> {
  static Result NVTX_API call(Args... args) {
    auto* other = other_function<Result NVTX_API(Args...)>(kModule, kId);
    return kHandler(other != nullptr ? std::optional<Result>(other(args...)) : std::nullopt,
                    args...);
  }
};

struct Handler {
  unsigned id;
  NvtxFunctionPointer function;
};

template <NvtxCallbackModule kModule, unsigned kId, auto kHandler>
Handler handler() {
  return {kId, reinterpret_cast<NvtxFunctionPointer>(&Callback<kModule, kId, kHandler>::call)};
}

template <size_t kCount>
bool install(const NvtxExportTableCallbacks& exports, NvtxCallbackModule module,
             const Handler (&handlers)[kCount]) {
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (exports.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return false;
  for (const Handler& each : handlers) {
    if (each.id < size && table[each.id] != nullptr) *table[each.id] = each.function;
  }
  return true;
}

bool install_all(const NvtxExportTableCallbacks& exports) {
  using ring::ObjectKind;
  constexpr NvtxCallbackModule kCore = NVTX_CB_MODULE_CORE, kCore2 = NVTX_CB_MODULE_CORE2,
                               kCuda = NVTX_CB_MODULE_CUDA, kRuntime = NVTX_CB_MODULE_CUDART;
  const Handler core[] = {
      handler<kCore, NVTX_CBID_CORE_MarkEx, mark_ex>(),
      handler<kCore, NVTX_CBID_CORE_MarkA, mark_text<char>>(),
      handler<kCore, NVTX_CBID_CORE_MarkW, mark_text<wchar_t>>(),
      handler<kCore, NVTX_CBID_CORE_RangeStartEx, range_start_ex>(),
      handler<kCore, NVTX_CBID_CORE_RangeStartA, range_start_text<char>>(),
      handler<kCore, NVTX_CBID_CORE_RangeStartW, range_start_text<wchar_t>>(),
      handler<kCore, NVTX_CBID_CORE_RangeEnd, range_end_plain>(),
      handler<kCore, NVTX_CBID_CORE_RangePushEx, range_push_ex>(),
      handler<kCore, NVTX_CBID_CORE_RangePushA, range_push_text<char>>(),
      handler<kCore, NVTX_CBID_CORE_RangePushW, range_push_text<wchar_t>>(),
      handler<kCore, NVTX_CBID_CORE_RangePop, range_pop_plain>(),
      handler<kCore, NVTX_CBID_CORE_NameCategoryA,
              name_text<ObjectKind::kCategory, uint32_t, char>>(),
      handler<kCore, NVTX_CBID_CORE_NameCategoryW,
              name_text<ObjectKind::kCategory, uint32_t, wchar_t>>(),
      handler<kCore, NVTX_CBID_CORE_NameOsThreadA,
              name_text<ObjectKind::kThread, uint32_t, char>>(),
      handler<kCore, NVTX_CBID_CORE_NameOsThreadW,
              name_text<ObjectKind::kThread, uint32_t, wchar_t>>(),
  };
  const Handler core2[] = {
      handler<kCore2, NVTX_CBID_CORE2_DomainMarkEx, domain_mark>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainRangeStartEx, domain_range_start>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainRangeEnd, domain_range_end>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainRangePushEx, domain_range_push>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainRangePop, domain_range_pop>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainResourceCreate, resource_create>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainResourceDestroy, resource_destroy>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainNameCategoryA, domain_name_category<char>>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainNameCategoryW, domain_name_category<wchar_t>>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainRegisterStringA, register_string<char>>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainRegisterStringW, register_string<wchar_t>>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainCreateA, domain_create<char>>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainCreateW, domain_create<wchar_t>>(),
      handler<kCore2, NVTX_CBID_CORE2_DomainDestroy, domain_destroy>(),
      handler<kCore2, NVTX_CBID_CORE2_Initialize, initialize>(),
  };
  const Handler cuda[] = {
      handler<kCuda, NVTX_CBID_CUDA_NameCuDeviceA, name_text<ObjectKind::kDevice, int, char>>(),
      handler<kCuda, NVTX_CBID_CUDA_NameCuDeviceW, name_text<ObjectKind::kDevice, int, wchar_t>>(),
      handler<kCuda, NVTX_CBID_CUDA_NameCuContextA, name_text<ObjectKind::kContext, void*, char>>(),
      handler<kCuda, NVTX_CBID_CUDA_NameCuContextW,
              name_text<ObjectKind::kContext, void*, wchar_t>>(),
      handler<kCuda, NVTX_CBID_CUDA_NameCuStreamA, name_text<ObjectKind::kStream, void*, char>>(),
      handler<kCuda, NVTX_CBID_CUDA_NameCuStreamW,
              name_text<ObjectKind::kStream, void*, wchar_t>>(),
      handler<kCuda, NVTX_CBID_CUDA_NameCuEventA, name_text<ObjectKind::kEvent, void*, char>>(),
      handler<kCuda, NVTX_CBID_CUDA_NameCuEventW, name_text<ObjectKind::kEvent, void*, wchar_t>>(),
  };
  const Handler runtime[] = {
      handler<kRuntime, NVTX_CBID_CUDART_NameCudaDeviceA,
              name_text<ObjectKind::kDevice, int, char>>(),
      handler<kRuntime, NVTX_CBID_CUDART_NameCudaDeviceW,
              name_text<ObjectKind::kDevice, int, wchar_t>>(),
      handler<kRuntime, NVTX_CBID_CUDART_NameCudaStreamA,
              name_text<ObjectKind::kStream, void*, char>>(),
      handler<kRuntime, NVTX_CBID_CUDART_NameCudaStreamW,
              name_text<ObjectKind::kStream, void*, wchar_t>>(),
      handler<kRuntime, NVTX_CBID_CUDART_NameCudaEventA,
              name_text<ObjectKind::kEvent, void*, char>>(),
      handler<kRuntime, NVTX_CBID_CUDART_NameCudaEventW,
              name_text<ObjectKind::kEvent, void*, wchar_t>>(),
  };
  const bool installed = install(exports, kCore, core);
  install(exports, kCore2, core2);
  install(exports, kCuda, cuda);
  install(exports, kRuntime, runtime);
  return installed;
}

}  // namespace

void report_pending_ranges(ThreadState& thread) {
  PendingRanges* pending = pending_ranges(false);
  if (pending == nullptr || pending->count == 0) return;
  for (uint32_t i = 0; i < pending->count; ++i) {
    const PendingRange& range = pending->ranges[i];
    Act act;
    act.domain = range.domain;
    act.text = {range.text, range.text_bytes};
    act.payload = range.payload;
    act.nccl = {range.is_collective, range.payload, range.bytes, range.peer};
    act.color = range.color;
    act.category = range.category;
    push_record(RecordKind::kRangePush, act,
                coord_is_simulated() ? thread.virtual_now : range.begin, 0, thread);
  }
  // Ranges beyond the limit were not kept; their ends are recorded without beginnings, and the
  // writer drops them.
  pending->count = pending->overflow = 0;
}

}  // namespace streamscope::collect

/// NVTX calls this once for each part of the program that has its own copy of NVTX.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* exports =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (exports == nullptr || exports->struct_size < sizeof *exports) return 0;
  streamscope::collect::attach_other_tool(get_table);
  return streamscope::collect::install_all(*exports) ? 1 : 0;
}

/// Entry points for NVTX's extensions and for its version 2, of which we record nothing.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    void* module) {
  auto* other = reinterpret_cast<int (*)(void*)>(
      streamscope::collect::other_entry_point("InitializeInjectionNvtxExtension"));
  return other != nullptr ? other(module) : 0;
}
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx(
    NvtxGetExportTableFunc_t get_table) {
  auto* other = reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(
      streamscope::collect::other_entry_point("InitializeInjectionNvtx"));
  return other != nullptr ? other(get_table) : 0;
}
