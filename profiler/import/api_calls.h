// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the functions of CUDA and HIP mean, by their names as other tools write them.
#pragma once

#include <string_view>

namespace streamscope::import {

/// Those kinds of api_call.kind that an import tells apart; a test compares them with the calls
/// that are recorded.
enum CallKind : unsigned char {
  kOtherCall = 0,
  kLaunchCall,
  kMemcpyCall,
  kMemcpyAsyncCall,
  kMemsetCall,
  kMemsetAsyncCall,
  kHostFunctionCall,
  kEventCreateCall,
  kEventDestroyCall,
  kEventRecordCall,
  kEventQueryCall,
  kEventSynchronizeCall,
  kEventElapsedTimeCall,
  kStreamWaitCall,
  kStreamCreateCall,
  kStreamDestroyCall,
  kStreamQueryCall,
  kStreamSynchronizeCall,
  kDeviceSynchronizeCall,
  kContextRecordCall,
  kContextWaitCall,
  kMemoryWaitCall,
  kMemoryWriteCall,
  kMemoryBatchCall,
  kMallocCall,
  kFreeCall,
  kMallocAsyncCall,
  kFreeAsyncCall,
  kGraphInstantiateCall,
  kGraphLaunchCall,
  kGraphDestroyCall,
  kCaptureBeginCall,
  kCaptureEndCall,
  kProfilerStartCall,
  kProfilerStopCall,
  kDeviceResetCall,
  kModuleLoadCall,
};

/// "cudaStreamWaitEvent" of "cudaStreamWaitEvent_v3020" or "cudaStreamWaitEvent_ptsz_v7000": the
/// name as the program wrote it. Versions of the driver's functions (cuMemcpyDtoH_v2) belong to the
/// name.
std::string_view without_version(std::string_view name);

/// Meaning of a function by its name without version; CUDA runtime, CUDA driver and HIP.
CallKind call_kind(std::string_view name);

inline bool is_record(CallKind kind) {
  return kind == kEventRecordCall || kind == kContextRecordCall;
}
inline bool is_wait(CallKind kind) { return kind == kStreamWaitCall || kind == kContextWaitCall; }

}  // namespace streamscope::import
