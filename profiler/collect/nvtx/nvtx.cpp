// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// NVTX ranges, marks and names, through our own NVTX injection table (not CUPTI's).
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>

#include "collect/calls/bits.h"
#include "collect/nvtx/callback.h"
#include "collect/nvtx/ranges.h"

namespace streamscope::collect {
namespace {

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

/// The entry point of NVTX's version 2, of which we record nothing.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx(
    NvtxGetExportTableFunc_t get_table) {
  auto* other = reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(
      streamscope::collect::other_entry_point("InitializeInjectionNvtx"));
  return other != nullptr ? other(get_table) : 0;
}
