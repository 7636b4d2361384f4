// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "api_calls.h"

#include <cctype>
#include <string>
#include <unordered_map>

namespace streamscope::import {
namespace {

struct Row {
  std::string_view name;
  CallKind kind;
};

// Names after the prefix cuda, cu, hip, sim (of our simulated devices) or __cuda and before _v2,
// _v3. Copies and memsets are recognized by the parts of their names.
constexpr Row kRows[] = {
    {"LaunchKernel", kLaunchCall},
    {"LaunchKernelEx", kLaunchCall},
    {"LaunchKernelExC", kLaunchCall},
    {"LaunchCooperativeKernel", kLaunchCall},
    {"LaunchGrid", kLaunchCall},
    {"LaunchGridAsync", kLaunchCall},
    {"Launch", kLaunchCall},
    {"LaunchByPtr", kLaunchCall},
    {"ModuleLaunchKernel", kLaunchCall},
    {"ModuleLaunchKernelExt", kLaunchCall},
    {"ExtLaunchKernel", kLaunchCall},
    {"ExtModuleLaunchKernel", kLaunchCall},
    {"HccModuleLaunchKernel", kLaunchCall},
    {"ModuleLaunchCooperativeKernel", kLaunchCall},
    {"LaunchHostFunc", kHostFunctionCall},
    {"StreamAddCallback", kHostFunctionCall},
    {"EventCreate", kEventCreateCall},
    {"EventCreateWithFlags", kEventCreateCall},
    {"IpcOpenEventHandle", kEventCreateCall},
    {"EventDestroy", kEventDestroyCall},
    {"EventRecord", kEventRecordCall},
    {"EventRecordWithFlags", kEventRecordCall},
    {"EventQuery", kEventQueryCall},
    {"EventSynchronize", kEventSynchronizeCall},
    {"EventElapsedTime", kEventElapsedTimeCall},
    {"CtxRecordEvent", kContextRecordCall},
    {"CtxWaitEvent", kContextWaitCall},
    {"GreenCtxRecordEvent", kContextRecordCall},
    {"GreenCtxWaitEvent", kContextWaitCall},
    {"StreamWaitEvent", kStreamWaitCall},
    {"StreamCreate", kStreamCreateCall},
    {"StreamCreateWithFlags", kStreamCreateCall},
    {"StreamCreateWithPriority", kStreamCreateCall},
    {"GreenCtxStreamCreate", kStreamCreateCall},
    {"StreamDestroy", kStreamDestroyCall},
    {"StreamQuery", kStreamQueryCall},
    {"StreamSynchronize", kStreamSynchronizeCall},
    {"DeviceSynchronize", kDeviceSynchronizeCall},
    {"ThreadSynchronize", kDeviceSynchronizeCall},
    {"CtxSynchronize", kDeviceSynchronizeCall},
    {"StreamWaitValue", kMemoryWaitCall},
    {"StreamWriteValue", kMemoryWriteCall},
    {"StreamWaitValue32", kMemoryWaitCall},
    {"StreamWaitValue64", kMemoryWaitCall},
    {"StreamWriteValue32", kMemoryWriteCall},
    {"StreamWriteValue64", kMemoryWriteCall},
    {"StreamBatchMemOp", kMemoryBatchCall},
    {"Malloc", kMallocCall},
    {"MallocManaged", kMallocCall},
    {"MallocHost", kMallocCall},
    {"MallocPitch", kMallocCall},
    {"Malloc3D", kMallocCall},
    {"MallocArray", kMallocCall},
    {"Malloc3DArray", kMallocCall},
    {"MallocMipmappedArray", kMallocCall},
    {"HostAlloc", kMallocCall},
    {"HostMalloc", kMallocCall},
    {"HostRegister", kMallocCall},
    {"ExtMallocWithFlags", kMallocCall},
    {"MemAlloc", kMallocCall},
    {"MemAllocManaged", kMallocCall},
    {"MemAllocPitch", kMallocCall},
    {"MemAllocHost", kMallocCall},
    {"MemHostAlloc", kMallocCall},
    {"MemHostRegister", kMallocCall},
    {"IpcOpenMemHandle", kMallocCall},
    {"ExternalMemoryGetMappedBuffer", kMallocCall},
    {"GraphicsResourceGetMappedPointer", kMallocCall},
    {"MemPoolImportPointer", kMallocCall},
    {"GraphAddMemAllocNode", kMallocCall},
    {"GetSymbolAddress", kMallocCall},
    {"LibraryGetGlobal", kMallocCall},
    {"LibraryGetManaged", kMallocCall},
    {"ModuleGetGlobal", kMallocCall},
    {"MemMap", kMallocCall},
    {"IpcCloseMemHandle", kFreeCall},
    {"MemUnmap", kFreeCall},
    {"Free", kFreeCall},
    {"FreeHost", kFreeCall},
    {"HostFree", kFreeCall},
    {"FreeArray", kFreeCall},
    {"FreeMipmappedArray", kFreeCall},
    {"HostUnregister", kFreeCall},
    {"MemFree", kFreeCall},
    {"MemFreeHost", kFreeCall},
    {"MemHostUnregister", kFreeCall},
    {"MallocAsync", kMallocAsyncCall},
    {"MallocFromPoolAsync", kMallocAsyncCall},
    {"MemAllocAsync", kMallocAsyncCall},
    {"MemAllocFromPoolAsync", kMallocAsyncCall},
    {"FreeAsync", kFreeAsyncCall},
    {"MemFreeAsync", kFreeAsyncCall},
    {"GraphInstantiate", kGraphInstantiateCall},
    {"GraphInstantiateWithFlags", kGraphInstantiateCall},
    {"GraphInstantiateWithParams", kGraphInstantiateCall},
    {"GraphLaunch", kGraphLaunchCall},
    {"GraphExecDestroy", kGraphDestroyCall},
    {"StreamBeginCapture", kCaptureBeginCall},
    {"StreamBeginCaptureToGraph", kCaptureBeginCall},
    {"StreamEndCapture", kCaptureEndCall},
    {"ProfilerStart", kProfilerStartCall},
    {"ProfilerStop", kProfilerStopCall},
    {"DeviceReset", kDeviceResetCall},
    {"DevicePrimaryCtxReset", kDeviceResetCall},
    {"LibraryLoadData", kModuleLoadCall},
    {"LibraryLoadFromFile", kModuleLoadCall},
    {"ModuleLoad", kModuleLoadCall},
    {"ModuleLoadData", kModuleLoadCall},
    {"ModuleLoadDataEx", kModuleLoadCall},
    {"ModuleLoadFatBinary", kModuleLoadCall},
};

bool is_number(std::string_view text) {
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  }
  return !text.empty();
}

// Takes "_v" and digits off the end; false if there is none.
bool drop_version(std::string_view& name) {
  const size_t at = name.rfind("_v");
  if (at == name.npos || at == 0 || !is_number(name.substr(at + 2))) return false;
  name = name.substr(0, at);
  return true;
}

void drop_suffix(std::string_view& name, std::string_view suffix) {
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
}

}  // namespace

std::string_view without_version(std::string_view name) {
  if (name.starts_with("cuda") || name.starts_with("__cuda")) {
    drop_version(name);
    drop_suffix(name, "_ptsz");
    drop_suffix(name, "_ptds");
    return name;
  }
  drop_suffix(name, "_ptsz");
  drop_suffix(name, "_ptds");
  return name;
}

CallKind call_kind(std::string_view name) {
  static const std::unordered_map<std::string_view, CallKind> kKinds = [] {
    std::unordered_map<std::string_view, CallKind> kinds;
    for (const Row& row : kRows) kinds.emplace(row.name, row.kind);
    return kinds;
  }();
  for (std::string_view prefix : {"__cuda", "cuda", "cu", "hip", "sim"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    break;
  }
  drop_version(name);
  if (const auto known = kKinds.find(name); known != kKinds.end()) return known->second;
  const bool asynchronous = name.find("Async") != name.npos || name.ends_with("WithStream");
  if (name.starts_with("Memcpy")) return asynchronous ? kMemcpyAsyncCall : kMemcpyCall;
  if (name.starts_with("Memset")) return asynchronous ? kMemsetAsyncCall : kMemsetCall;
  return kOtherCall;
}

}  // namespace streamscope::import
