// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libstreamscope_calls.so, which consists of stubs only, knows of libstreamscope_inject.so.
// The stubs have the offsets in their code.
#pragma once

#include <atomic>
#include <cstddef>

// Initialized before any constructor runs. clang does so too, but accepts no cast of a function's
// address where a constant is required.
#ifdef __clang__
#define STREAMSCOPE_CONSTINIT
#else
#define STREAMSCOPE_CONSTINIT constinit
#endif

struct StreamscopeLookups {
  std::atomic<void*> real_dlsym;  // libc's; null until prepare() ran
  std::atomic<void*> real_dlvsym;
  void (*prepare)();
  // For names that begin with "cu", except with RTLD_NEXT. Entered by a jump: the return address
  // is the program's.
  void* (*find)(void* library, const char* name);
  void* (*find_version)(void* library, const char* name, const char* version);
  std::atomic<void*> stub_dlsym;  // set by the stubs' library when it is loaded
};
static_assert(sizeof(StreamscopeLookups) == 48);

/// A function of the driver that is wrapped for what it changes, and not recorded.
struct StreamscopeFollowed {
  const char* name;  // as the driver exports it
  void* wrapper;
  std::atomic<void*> real;  // null until it is known
};
static_assert(sizeof(StreamscopeFollowed) == 24 && offsetof(StreamscopeFollowed, wrapper) == 8);

extern "C" {
__attribute__((visibility("default"))) extern StreamscopeLookups streamscope_lookups;
/// In the order of the stubs that name them.
__attribute__((visibility("default"))) extern StreamscopeFollowed streamscope_followed[];
/// Where a call of a function of the driver goes at present, to what records it or to the driver,
/// and the driver's own function, null until it is known. Together, as a call needs both.
struct StreamscopeWay {
  void* way;
  void* target;
};
static_assert(sizeof(StreamscopeWay) == 16 && offsetof(StreamscopeWay, way) == 0);
/// In the order of call_ids.inc.
__attribute__((visibility("default"))) extern StreamscopeWay streamscope_ways[];
/// Name and wrapper of a function.
struct StreamscopeWrapped {
  const char* name;  // as the driver exports it
  void* wrapper;
};
static_assert(sizeof(StreamscopeWrapped) == 16 && offsetof(StreamscopeWrapped, wrapper) == 8);
/// Functions of the driver, in the order of call_ids.inc.
extern const StreamscopeWrapped streamscope_wrapped[];
/// Functions of the runtime, in the order of wrapped_runtime.inc.
__attribute__((
    visibility("default"))) extern const StreamscopeWrapped streamscope_wrapped_runtime[];
}
