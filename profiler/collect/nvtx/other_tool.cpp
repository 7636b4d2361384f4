// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/nvtx/other_tool.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "collect/process/memory.h"
#include "collect/process/writer_process.h"

namespace streamscope::collect {

constinit std::atomic<NvtxFunctionPointer> other_functions[NVTX_CB_MODULE_SIZE][kMaxNvtxFunctions] =
    {};

namespace {

constinit std::mutex attaching;
constinit thread_local bool attaches = false;  // the other tool may use NVTX itself
constinit bool loaded = false;
constinit void* library = nullptr;
constinit std::atomic<bool> attached{false};

// Functions of each module that we implement: those with smaller ids.
constexpr unsigned kImplemented[NVTX_CB_MODULE_SIZE] = {
    0, NVTX_CBID_CORE_SIZE, NVTX_CBID_CUDA_SIZE, 0, NVTX_CBID_CUDART_SIZE, NVTX_CBID_CORE2_SIZE, 0};
static_assert(NVTX_CB_MODULE_CUDA == 2 && NVTX_CB_MODULE_CUDART == 4 && NVTX_CB_MODULE_CORE2 == 5);
static_assert(NVTX_CBID_CORE_SIZE <= kMaxNvtxFunctions &&
              NVTX_CBID_CORE2_SIZE <= kMaxNvtxFunctions);

// What the other tool sees of the copy of NVTX that is being initialized. The mutex is held.
constexpr unsigned kMaxTable = 64;
constinit NvtxGetExportTableFunc_t real_get_table = nullptr;
constinit NvtxFunctionPointer* tables[NVTX_CB_MODULE_SIZE][kMaxTable] = {};
constinit NvtxFunctionPointer written[NVTX_CB_MODULE_SIZE][kMaxNvtxFunctions] = {};

int NVTX_API get_function_table(NvtxCallbackModule module, NvtxFunctionTable* table,
                                unsigned* size) {
  const auto* real =
      static_cast<const NvtxExportTableCallbacks*>(real_get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable found = nullptr;
  unsigned functions = 0;
  if (real == nullptr || real->GetModuleFunctionTable(module, &found, &functions) == 0) return 0;
  const auto index = static_cast<unsigned>(module);
  if (index < NVTX_CB_MODULE_SIZE && kImplemented[index] != 0 && found != nullptr) {
    functions = std::min(functions, kMaxTable);
    for (unsigned id = 0; id < functions; ++id)
      tables[index][id] = found[id] != nullptr && id != 0 && id < kImplemented[index]
                              ? &written[index][id]
                              : found[id];
    found = tables[index];
  }
  if (table != nullptr) *table = found;
  if (size != nullptr) *size = functions;
  return 1;
}

constexpr NvtxExportTableCallbacks kCallbacks = {sizeof(NvtxExportTableCallbacks),
                                                 get_function_table};

const void* NVTX_API get_export_table(uint32_t id) {
  return id == NVTX_ETID_CALLBACKS ? &kCallbacks : real_get_table(id);
}

// The mutex is held.
void load() {
  if (loaded) return;
  loaded = true;
  const char* path = ::secure_getenv(kOtherNvtxVariable);
  if (path != nullptr && *path != '\0') library = ::dlopen(path, RTLD_LAZY);  // as NVTX does
}

NvtxFunctionPointer entry_point(const char* name) {
  return library != nullptr ? reinterpret_cast<NvtxFunctionPointer>(::dlsym(library, name))
                            : nullptr;
}

// Not by the address of our own entry point: that of a preloaded tool may stand for it.
bool is_ours(NvtxInitializeInjectionNvtxFunc_t initialize) {
  Dl_info theirs{}, ours{};
  return ::dladdr(reinterpret_cast<void*>(initialize), &theirs) != 0 &&
         ::dladdr(reinterpret_cast<void*>(&is_ours), &ours) != 0 &&
         theirs.dli_fbase == ours.dli_fbase;
}

// Handles: found by their address, never removed. The newest comes first, as handles are reused.
struct Known {
  const void* owner;
  const void* handle;
  const void* kept;
  Known* next;
};
constexpr size_t kBuckets = 256;
constinit std::atomic<Known*> known[kBuckets] = {};

std::atomic<Known*>& bucket_of(const void* handle) {
  return known[(reinterpret_cast<uintptr_t>(handle) * 0x9e3779b97f4a7c15ull) >> 56];
}
static_assert(kBuckets == size_t{1} << (64 - 56));

}  // namespace

void attach_other_tool(NvtxGetExportTableFunc_t get_table) {
  if (attaches) return;
  std::lock_guard lock(attaching);
  const bool is_first = !loaded;
  load();
  auto* initialize =
      reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(entry_point("InitializeInjectionNvtx2"));
  if (initialize == nullptr || is_ours(initialize)) return;
  if (!is_first && !attached.load(std::memory_order_relaxed)) return;
  real_get_table = get_table;
  attaches = true;
  const bool takes_part = initialize(get_export_table) != 0;
  attaches = false;
  if (!takes_part) return;
  for (unsigned module = 0; module < NVTX_CB_MODULE_SIZE; ++module) {
    for (unsigned id = 0; id < kImplemented[module]; ++id)
      other_functions[module][id].store(written[module][id], std::memory_order_release);
  }
  attached.store(true, std::memory_order_release);
}

bool has_other_tool() { return attached.load(std::memory_order_acquire); }

NvtxFunctionPointer other_entry_point(const char* name) {
  if (attaches) return nullptr;
  std::lock_guard lock(attaching);
  load();
  return entry_point(name);
}

void keep_for_handle(const void* owner, const void* handle, const void* kept) {
  auto* entry = static_cast<Known*>(permanent_memory(sizeof(Known)));
  if (entry == nullptr) return;
  std::atomic<Known*>& bucket = bucket_of(handle);
  *entry = {owner, handle, kept, bucket.load(std::memory_order_relaxed)};
  while (!bucket.compare_exchange_weak(entry->next, entry, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
}

const void* kept_for_handle(const void* owner, const void* handle) {
  const Known* entry = bucket_of(handle).load(std::memory_order_acquire);
  while (entry != nullptr && (entry->handle != handle || entry->owner != owner))
    entry = entry->next;
  return entry != nullptr ? entry->kept : nullptr;
}

void forget_other_tool_after_fork() { new (&attaching) std::mutex; }

}  // namespace streamscope::collect
