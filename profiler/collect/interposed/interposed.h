// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libstreamscope_calls.so, which consists of stubs only, knows of libstreamscope_inject.so.
// The stubs have the offsets in their code.
#pragma once

#include <atomic>
#include <cstddef>

struct StreamscopeLookups {
  std::atomic<void*> real_dlsym;  // libc's; null until prepare() ran
  std::atomic<void*> real_dlvsym;
  void (*prepare)();
  // For names that begin with "cu", except with RTLD_NEXT. Entered by a jump: the return address
  // is the program's.
  void* (*find)(void* library, const char* name);
  void* (*find_version)(void* library, const char* name, const char* version);
  void* get_address_v1;           // cuGetProcAddress
  void* get_address_v2;           // cuGetProcAddress_v2
  void* init;                     // cuInit
  std::atomic<void*> stub_dlsym;  // set by the stubs' library when it is loaded
};
static_assert(sizeof(StreamscopeLookups) == 72);

extern "C" {
__attribute__((visibility("default"))) extern StreamscopeLookups streamscope_lookups;
/// In the order of call_ids.inc: name and wrapper of each function.
struct StreamscopeWrapped {
  const char* name;  // as the driver exports it
  void* wrapper;
};
static_assert(sizeof(StreamscopeWrapped) == 16 && offsetof(StreamscopeWrapped, wrapper) == 8);
__attribute__((visibility("default"))) extern const StreamscopeWrapped streamscope_wrapped[];
/// The same for functions of the runtime, in the order of wrapped_runtime.inc.
__attribute__((
    visibility("default"))) extern const StreamscopeWrapped streamscope_wrapped_runtime[];
}
