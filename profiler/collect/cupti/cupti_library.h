// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// libcupti as found at run time: it is not linked, so the library loads on machines without CUDA.
#pragma once

#include <cuda.h>
#include <cupti.h>

namespace streamscope::collect {

// The functions we use. If a required one is missing, the library cannot be used; optional ones are
// null then.
#define STREAMSCOPE_CUPTI_REQUIRED(X)  \
  X(cuptiGetVersion)                   \
  X(cuptiSubscribe)                    \
  X(cuptiUnsubscribe)                  \
  X(cuptiEnableCallback)               \
  X(cuptiGetResultString)              \
  X(cuptiActivityRegisterCallbacks)    \
  X(cuptiActivityEnable)               \
  X(cuptiActivityDisable)              \
  X(cuptiActivityFlushAll)             \
  X(cuptiActivityGetNextRecord)        \
  X(cuptiActivityGetNumDroppedRecords) \
  X(cuptiGetContextId)                 \
  X(cuptiGetDeviceId)                  \
  X(cuptiGetStreamIdEx)
// The types of optional ones are written out: the toolkit of the build may be older than the
// library loaded at run time.
#define STREAMSCOPE_CUPTI_OPTIONAL(X)                              \
  X(cuptiActivityRegisterTimestampCallback, uint64_t(CUPTIAPI*)()) \
  X(cuptiActivityEnableAllSyncRecords, uint8_t)                    \
  X(cuptiActivityEnableCudaEventDeviceTimestamps, uint8_t)         \
  X(cuptiActivityEnableDriverApi, CUpti_CallbackId, uint8_t)       \
  X(cuptiSetThreadIdType, CUpti_ActivityThreadIdType)              \
  X(cuptiGetGraphId, CUgraph, uint32_t*)                           \
  X(cuptiGetGraphExecId, CUgraphExec, uint32_t*)                   \
  X(cuptiGetGraphNodeId, CUgraphNode, uint64_t*)

/// Function pointers into one copy of libcupti; null pointers until load_cupti().
struct CuptiFunctions {
#define STREAMSCOPE_POINTER(name) decltype(&::name) name;
  STREAMSCOPE_CUPTI_REQUIRED(STREAMSCOPE_POINTER)
#undef STREAMSCOPE_POINTER
#define STREAMSCOPE_POINTER(name, ...) CUptiResult(CUPTIAPI* name)(__VA_ARGS__);
  STREAMSCOPE_CUPTI_OPTIONAL(STREAMSCOPE_POINTER)
#undef STREAMSCOPE_POINTER
  void* cuptiSubscribe_v2;  // since 13.0; its types are not in older headers
  uint32_t version;         // as reported by the loaded library, e.g. 130001
};
extern constinit CuptiFunctions cupti;

/// Finds libcupti: a copy already in the process, then STREAMSCOPE_CUPTI, next to libcudart, by its
/// names, in the toolkit's folders. False with a static text in `cause` if none can be used. Call
/// once.
bool load_cupti(const char** cause);

/// Subscribes. 0 on success, else CUPTI's code; `other` then names the other subscriber, if CUPTI
/// knows it.
CUptiResult subscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, char* other,
                      size_t other_size);

}  // namespace streamscope::collect
