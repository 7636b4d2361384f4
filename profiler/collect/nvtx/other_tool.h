// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Another tool's NVTX library. NVTX loads one library, so ours passes every call on.
//
// The program gets the other tool's handles and ids: it also uses them in calls that only the
// other tool gets, such as those of NVTX's extensions.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <atomic>

namespace streamscope::collect {

/// Loads the library that kOtherNvtxVariable names and initializes it for this copy of NVTX: it
/// gets places of ours for the functions that we implement, NVTX's own for all others. Thread-safe.
void attach_other_tool(NvtxGetExportTableFunc_t get_table);

/// The other tool's library has been initialized; constant from the first call of NVTX on.
bool has_other_tool();

constexpr unsigned kMaxNvtxFunctions = 16;
/// NVTX's extension for payloads, beside its modules.
constexpr auto kExtensionForPayloads = static_cast<NvtxCallbackModule>(NVTX_CB_MODULE_SIZE);
constexpr unsigned kNvtxModules = NVTX_CB_MODULE_SIZE + 1;
extern constinit std::atomic<NvtxFunctionPointer> other_functions[kNvtxModules][kMaxNvtxFunctions];

/// The other tool's function; null if it has none.
template <class Function>
Function* other_function(NvtxCallbackModule module, unsigned id) {
  return reinterpret_cast<Function*>(other_functions[module][id].load(std::memory_order_acquire));
}

/// Another entry point of its library; null if it has none or is ours. Thread-safe.
NvtxFunctionPointer other_entry_point(const char* name);

/// What we keep for a handle of the other tool, `owner` being the domain of a registered string.
/// Thread-safe.
void keep_for_handle(const void* owner, const void* handle, const void* kept);
const void* kept_for_handle(const void* owner, const void* handle);

void forget_other_tool_after_fork();

}  // namespace streamscope::collect
