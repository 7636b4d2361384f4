// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The Compute Sanitizer's library (libsanitizer-public.so of the CUDA toolkit) as found at run
// time: the few functions and structs that observing accesses needs. Its interface belongs to a
// version of the toolkit, and the toolkit of the build machine often lacks its headers, so they are
// described here, as of CUDA 13.0.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace streamscope::collect {

using SanitizerStream = struct SanitizerStreamRecord*;
using SanitizerLaunch = struct SanitizerLaunchRecord*;
using SanitizerSubscriber = struct SanitizerSubscriberRecord*;
using SanitizerCallback = void (*)(void* user, int domain, uint32_t id, const void* data);

enum SanitizerDomain : int { kResourceDomain = 3, kLaunchDomain = 5, kGraphDomain = 10 };
enum SanitizerResourceId : uint32_t {
  kContextCreated = 3,
  kContextDestroyStarts = 4,
  kModuleLoaded = 9,
  kModuleUnloadStarts = 10,
};
enum SanitizerLaunchId : uint32_t { kLaunchBegins = 1 };
enum SanitizerGraphId : uint32_t { kNodeLaunchBegins = 4 };
enum SanitizerInstruction : int {
  kGlobalAccess = 3,
  kCopyToShared = 14,  // LDGSTS
  kBulkRead = 30,
  kBulkWrite = 35,
  kBulkReduction = 37,
};

struct SanitizerContextData {
  CUcontext context;
  CUdevice device;
};
struct SanitizerModuleData {
  CUcontext context;
  CUmodule module;
  size_t code_bytes;
  const char* code;
  void* library;
};
struct SanitizerLaunchData {
  CUcontext context;
  CUstream stream;
  SanitizerStream own_stream;
  CUmodule module;
  CUfunction function;
  const char* name;
  uint32_t grid[3], block[3], cluster[3];
  uint64_t number;
  SanitizerLaunch launch;
};
static_assert(offsetof(SanitizerLaunchData, launch) == 96);
struct SanitizerNodeData {
  CUgraphExec graph;
  uint32_t launch_number;
  CUgraphNode node;
  CUgraphNodeType type;
  SanitizerLaunchData launch;  // of kernel nodes
};
static_assert(offsetof(SanitizerNodeData, launch) == 32);

#define STREAMSCOPE_SANITIZER_FUNCTIONS(X)                                                     \
  X(sanitizerSubscribe, SanitizerSubscriber*, SanitizerCallback, void*)                        \
  X(sanitizerUnsubscribe, SanitizerSubscriber)                                                 \
  X(sanitizerEnableDomain, uint32_t, SanitizerSubscriber, int)                                 \
  X(sanitizerAddPatches, const void*, CUcontext)                                               \
  X(sanitizerPatchInstructions, int, CUmodule, const char*)                                    \
  X(sanitizerPatchModule, CUmodule)                                                            \
  X(sanitizerUnpatchModule, CUmodule)                                                          \
  X(sanitizerSetLaunchCallbackData, SanitizerLaunch, CUfunction, SanitizerStream, const void*) \
  X(sanitizerAlloc, CUcontext, void**, size_t)                                                 \
  X(sanitizerAllocHost, CUcontext, void**, size_t)                                             \
  X(sanitizerMemset, void*, int, size_t, SanitizerStream)                                      \
  X(sanitizerMemcpyHostToDeviceAsync, void*, const void*, size_t, SanitizerStream)             \
  X(sanitizerStreamSynchronize, SanitizerStream)

/// Functions return 0 if they succeed.
struct SanitizerFunctions {
#define STREAMSCOPE_POINTER(name, ...) int (*name)(__VA_ARGS__);
  STREAMSCOPE_SANITIZER_FUNCTIONS(STREAMSCOPE_POINTER)
#undef STREAMSCOPE_POINTER
};
extern constinit SanitizerFunctions sanitizer;

/// Loads it: named in STREAMSCOPE_SANITIZER, or that of a toolkit. Null if it can be used, else why
/// not. Not thread-safe.
const char* load_sanitizer();

}  // namespace streamscope::collect
