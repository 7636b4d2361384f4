// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Another tool's NVTX library: prints each call that it gets, with handles and ids of its own.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSync.h>

#include <cstdio>
#include <cstdlib>
#include <type_traits>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

int depth = 100;
uintptr_t next_handle = 0xd000;

template <class Handle>
Handle new_handle() {
  return reinterpret_cast<Handle>(next_handle += 0x10);
}
uintptr_t bits(const void* handle) { return reinterpret_cast<uintptr_t>(handle); }

void mark(const char* text) { std::printf("tool: mark %s\n", text); }
int push(const char* text) {
  std::printf("tool: push %s\n", text);
  return depth++;
}
int pop() {
  std::printf("tool: pop\n");
  return --depth;
}
nvtxRangeId_t start(const char* text) {
  std::printf("tool: start %s\n", text);
  return bits(new_handle<void*>());
}
void end(nvtxRangeId_t id) { std::printf("tool: end %lx\n", id); }
nvtxDomainHandle_t create_domain(const char* text) {
  std::printf("tool: domain %s\n", text);
  return new_handle<nvtxDomainHandle_t>();
}
nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char* text) {
  std::printf("tool: string %s in %lx\n", text, bits(domain));
  return new_handle<nvtxStringHandle_t>();
}
int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  std::printf("tool: push %lx in %lx\n", bits(attributes->message.registered), bits(domain));
  return depth++;
}
int domain_pop(nvtxDomainHandle_t domain) {
  std::printf("tool: pop in %lx\n", bits(domain));
  return --depth;
}
void name_stream(void* stream, const char* text) {
  std::printf("tool: stream %lx is %s\n", bits(stream), text);
}
nvtxSyncUser_t create_sync(nvtxDomainHandle_t domain, const nvtxSyncUserAttributes_t*) {
  std::printf("tool: sync in %lx\n", bits(domain));
  return new_handle<nvtxSyncUser_t>();
}

uint64_t register_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* schema) {
  std::printf("tool: schema %s in %lx\n", schema->name, bits(domain));
  return 77;
}
int pop_with_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, size_t count) {
  std::printf("tool: pop with %zu of schema %lu in %lx\n", count, payload->schemaId, bits(domain));
  return --depth;
}

template <class Function>
void put(NvtxFunctionTable table, unsigned id, Function* function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

// A tool that is preloaded may name its library itself.
__attribute__((constructor)) void loaded() {
  if (const char* path = std::getenv("FAKE_TOOL_NAMES")) setenv("NVTX_INJECTION64_PATH", path, 1);
}

}  // namespace

EXPORTED int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  if (std::getenv("FAKE_TOOL_REFUSES") != nullptr) return 0;
  const auto* exports =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable core = nullptr, core2 = nullptr, runtime = nullptr, sync = nullptr;
  unsigned size = 0;
  if (exports->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size) == 0 ||
      size < NVTX_CBID_CORE_SIZE ||
      exports->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &core2, nullptr) == 0 ||
      exports->GetModuleFunctionTable(NVTX_CB_MODULE_CUDART, &runtime, nullptr) == 0 ||
      exports->GetModuleFunctionTable(NVTX_CB_MODULE_SYNC, &sync, nullptr) == 0)
    return 0;
  put(core, NVTX_CBID_CORE_MarkA, mark);
  put(core, NVTX_CBID_CORE_RangePushA, push);
  put(core, NVTX_CBID_CORE_RangePop, pop);
  put(core, NVTX_CBID_CORE_RangeStartA, start);
  put(core, NVTX_CBID_CORE_RangeEnd, end);
  put(core2, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  put(core2, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  put(core2, NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  put(core2, NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  put(runtime, NVTX_CBID_CUDART_NameCudaStreamA, name_stream);
  put(sync, NVTX_CBID_SYNC_DomainSyncUserCreate, create_sync);
  const auto* version =
      static_cast<const NvtxExportTableVersionInfo*>(get_table(NVTX_ETID_VERSIONINFO));
  std::printf("tool: NVTX %s\n", version != nullptr && version->version >= 2 ? "3" : "?");
  return 1;
}

EXPORTED int InitializeInjectionNvtx(NvtxGetExportTableFunc_t) { return 42; }
EXPORTED int InitializeInjectionNvtxExtension(void* module) {
  const auto& info = *static_cast<const nvtxExtModuleInfo_t*>(module);
  if (info.structSize < sizeof info) return *static_cast<int*>(module) + 1;
  if (std::getenv("FAKE_TOOL_REFUSES") != nullptr || info.moduleId != NVTX_EXT_PAYLOAD_MODULEID)
    return 0;
  info.segments->functionSlots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
      reinterpret_cast<intptr_t>(&register_schema);
  info.segments->functionSlots[NVTX3EXT_CBID_nvtxRangePopPayload] =
      reinterpret_cast<intptr_t>(&pop_with_payload);
  return 1;
}
