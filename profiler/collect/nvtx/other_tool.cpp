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

constinit std::atomic<NvtxFunctionPointer> other_functions[kNvtxModules][kMaxNvtxFunctions] = {};

namespace {

constinit std::mutex attaching_other;
constinit thread_local bool attaches_other = false;  // the other tool may use NVTX itself
constinit bool is_other_loaded = false;
constinit void* other_library = nullptr;
constinit std::atomic<bool> other_attached{false};

// Functions of each module that we implement: those with smaller ids.
constexpr unsigned kImplemented[NVTX_CB_MODULE_SIZE] = {
    0, NVTX_CBID_CORE_SIZE, NVTX_CBID_CUDA_SIZE, 0, NVTX_CBID_CUDART_SIZE, NVTX_CBID_CORE2_SIZE, 0};
static_assert(NVTX_CB_MODULE_CUDA == 2 && NVTX_CB_MODULE_CUDART == 4 && NVTX_CB_MODULE_CORE2 == 5);
static_assert(NVTX_CBID_CORE_SIZE <= kMaxNvtxFunctions &&
              NVTX_CBID_CORE2_SIZE <= kMaxNvtxFunctions);

// What the other tool sees of the copy of NVTX that is being initialized. The mutex is held.
constexpr unsigned kMaxShownTable = 64;
constinit NvtxGetExportTableFunc_t real_get_table = nullptr;
constinit NvtxFunctionPointer* shown_tables[NVTX_CB_MODULE_SIZE][kMaxShownTable] = {};
constinit NvtxFunctionPointer written_functions[NVTX_CB_MODULE_SIZE][kMaxNvtxFunctions] = {};

int NVTX_API get_function_table(NvtxCallbackModule module, NvtxFunctionTable* table,
                                unsigned* size) {
  const auto* real =
      static_cast<const NvtxExportTableCallbacks*>(real_get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable found = nullptr;
  unsigned functions = 0;
  if (real == nullptr || real->GetModuleFunctionTable(module, &found, &functions) == 0) return 0;
  const auto index = static_cast<unsigned>(module);
  if (index < NVTX_CB_MODULE_SIZE && kImplemented[index] != 0 && found != nullptr) {
    functions = std::min(functions, kMaxShownTable);
    for (unsigned id = 0; id < functions; ++id)
      shown_tables[index][id] = found[id] != nullptr && id != 0 && id < kImplemented[index]
                                    ? &written_functions[index][id]
                                    : found[id];
    found = shown_tables[index];
  }
  if (table != nullptr) *table = found;
  if (size != nullptr) *size = functions;
  return 1;
}

constexpr NvtxExportTableCallbacks kShownCallbacks = {sizeof(NvtxExportTableCallbacks),
                                                      get_function_table};

const void* NVTX_API get_export_table(uint32_t id) {
  return id == NVTX_ETID_CALLBACKS ? &kShownCallbacks : real_get_table(id);
}

// The mutex is held.
void load_other() {
  if (is_other_loaded) return;
  is_other_loaded = true;
  const char* path = ::secure_getenv(kOtherNvtxVariable);
  if (path != nullptr && *path != '\0') other_library = ::dlopen(path, RTLD_LAZY);  // as NVTX does
}

// Not by the address of our own entry point: that of a preloaded tool may stand for it.
bool is_our_own(NvtxFunctionPointer entry) {
  Dl_info theirs{}, ours{};
  return ::dladdr(reinterpret_cast<void*>(entry), &theirs) != 0 &&
         ::dladdr(reinterpret_cast<void*>(&is_our_own), &ours) != 0 &&
         theirs.dli_fbase == ours.dli_fbase;
}

NvtxFunctionPointer entry_of_other(const char* name) {
  if (other_library == nullptr) return nullptr;
  const auto entry = reinterpret_cast<NvtxFunctionPointer>(::dlsym(other_library, name));
  return entry != nullptr && !is_our_own(entry) ? entry : nullptr;
}

// Handles: found by their address, never removed. The newest comes first, as handles are reused.
struct KnownHandle {
  const void* owner;
  const void* handle;
  const void* kept;
  KnownHandle* next;
};
constexpr size_t kHandleBuckets = 256;
constinit std::atomic<KnownHandle*> known_handles[kHandleBuckets] = {};

std::atomic<KnownHandle*>& handles_like(const void* handle) {
  return known_handles[(reinterpret_cast<uintptr_t>(handle) * 0x9e3779b97f4a7c15ull) >> 56];
}
static_assert(kHandleBuckets == size_t{1} << (64 - 56));

}  // namespace

void attach_other_tool(NvtxGetExportTableFunc_t get_table) {
  if (attaches_other) return;
  std::lock_guard lock(attaching_other);
  const bool is_first = !is_other_loaded;
  load_other();
  auto* initialize = reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(
      entry_of_other("InitializeInjectionNvtx2"));
  if (initialize == nullptr) return;
  if (!is_first && !other_attached.load(std::memory_order_relaxed)) return;
  real_get_table = get_table;
  attaches_other = true;
  const bool takes_part = initialize(get_export_table) != 0;
  attaches_other = false;
  if (!takes_part) return;
  for (unsigned module = 0; module < NVTX_CB_MODULE_SIZE; ++module) {
    for (unsigned id = 0; id < kImplemented[module]; ++id)
      other_functions[module][id].store(written_functions[module][id], std::memory_order_release);
  }
  other_attached.store(true, std::memory_order_release);
}

bool has_other_tool() { return other_attached.load(std::memory_order_acquire); }

NvtxFunctionPointer other_entry_point(const char* name) {
  if (attaches_other) return nullptr;
  std::lock_guard lock(attaching_other);
  load_other();
  return entry_of_other(name);
}

void keep_for_handle(const void* owner, const void* handle, const void* kept) {
  auto* entry = static_cast<KnownHandle*>(permanent_memory(sizeof(KnownHandle)));
  if (entry == nullptr) return;
  std::atomic<KnownHandle*>& bucket = handles_like(handle);
  *entry = {owner, handle, kept, bucket.load(std::memory_order_relaxed)};
  while (!bucket.compare_exchange_weak(entry->next, entry, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
}

const void* kept_for_handle(const void* owner, const void* handle) {
  const KnownHandle* entry = handles_like(handle).load(std::memory_order_acquire);
  while (entry != nullptr && (entry->handle != handle || entry->owner != owner))
    entry = entry->next;
  return entry != nullptr ? entry->kept : nullptr;
}

void forget_other_tool_after_fork() { new (&attaching_other) std::mutex; }

}  // namespace streamscope::collect
