// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "api_calls.h"

#include <unordered_map>
#include <vector>

namespace streamscope::import {
namespace {

struct Row {
  CallKind kind;
  std::vector<std::string_view> names;
};

// Names after the prefix cuda, cu, hip, sim (our simulated devices) or __cuda and before _v2, _v3.
// Copies and memsets are recognized by the parts of their names.
std::vector<Row> rows() {
  return {
      {CallKind::kLaunch,
       {"LaunchKernel", "LaunchKernelEx", "LaunchKernelExC", "LaunchCooperativeKernel",
        "LaunchGrid", "LaunchGridAsync", "Launch", "LaunchByPtr", "ModuleLaunchKernel",
        "ModuleLaunchKernelExt", "ExtLaunchKernel", "ExtModuleLaunchKernel",
        "HccModuleLaunchKernel", "ModuleLaunchCooperativeKernel"}},
      {CallKind::kHostFunction, {"LaunchHostFunc", "StreamAddCallback"}},
      {CallKind::kEventCreate, {"EventCreate", "EventCreateWithFlags", "IpcOpenEventHandle"}},
      {CallKind::kEventDestroy, {"EventDestroy"}},
      {CallKind::kEventRecord, {"EventRecord", "EventRecordWithFlags"}},
      {CallKind::kEventQuery, {"EventQuery"}},
      {CallKind::kEventSynchronize, {"EventSynchronize"}},
      {CallKind::kEventElapsedTime, {"EventElapsedTime"}},
      {CallKind::kContextRecord, {"CtxRecordEvent", "GreenCtxRecordEvent"}},
      {CallKind::kContextWait, {"CtxWaitEvent", "GreenCtxWaitEvent"}},
      {CallKind::kStreamWait, {"StreamWaitEvent"}},
      {CallKind::kStreamCreate,
       {"StreamCreate", "StreamCreateWithFlags", "StreamCreateWithPriority",
        "GreenCtxStreamCreate"}},
      {CallKind::kStreamDestroy, {"StreamDestroy"}},
      {CallKind::kStreamQuery, {"StreamQuery"}},
      {CallKind::kStreamSynchronize, {"StreamSynchronize"}},
      {CallKind::kDeviceSynchronize, {"DeviceSynchronize", "ThreadSynchronize", "CtxSynchronize"}},
      {CallKind::kMemoryWait, {"StreamWaitValue", "StreamWaitValue32", "StreamWaitValue64"}},
      {CallKind::kMemoryWrite, {"StreamWriteValue", "StreamWriteValue32", "StreamWriteValue64"}},
      {CallKind::kMemoryBatch, {"StreamBatchMemOp"}},
      {CallKind::kMalloc,
       {"Malloc", "MallocManaged", "MallocHost", "MallocPitch", "Malloc3D", "MallocArray",
        "Malloc3DArray", "MallocMipmappedArray", "HostAlloc", "HostMalloc", "HostRegister",
        "ExtMallocWithFlags"}},
      {CallKind::kMalloc,
       {"MemAlloc", "MemAllocManaged", "MemAllocPitch", "MemAllocHost", "MemHostAlloc",
        "MemHostRegister", "GraphAddMemAllocNode"}},
      {CallKind::kMalloc,
       {"IpcOpenMemHandle", "ExternalMemoryGetMappedBuffer", "GraphicsResourceGetMappedPointer",
        "MemPoolImportPointer", "GetSymbolAddress", "LibraryGetGlobal", "LibraryGetManaged",
        "ModuleGetGlobal", "MemMap"}},
      {CallKind::kFree,
       {"IpcCloseMemHandle", "MemUnmap", "Free", "FreeHost", "HostFree", "FreeArray",
        "FreeMipmappedArray", "HostUnregister", "MemFree", "MemFreeHost", "MemHostUnregister"}},
      {CallKind::kMallocAsync,
       {"MallocAsync", "MallocFromPoolAsync", "MemAllocAsync", "MemAllocFromPoolAsync"}},
      {CallKind::kFreeAsync, {"FreeAsync", "MemFreeAsync"}},
      {CallKind::kGraphInstantiate,
       {"GraphInstantiate", "GraphInstantiateWithFlags", "GraphInstantiateWithParams"}},
      {CallKind::kGraphLaunch, {"GraphLaunch"}},
      {CallKind::kGraphDestroy, {"GraphExecDestroy"}},
      {CallKind::kCaptureBegin, {"StreamBeginCapture", "StreamBeginCaptureToGraph"}},
      {CallKind::kCaptureEnd, {"StreamEndCapture"}},
      {CallKind::kProfilerStart, {"ProfilerStart"}},
      {CallKind::kProfilerStop, {"ProfilerStop"}},
      {CallKind::kDeviceReset, {"DeviceReset", "DevicePrimaryCtxReset"}},
      {CallKind::kModuleLoad,
       {"LibraryLoadData", "LibraryLoadFromFile", "ModuleLoad", "ModuleLoadData",
        "ModuleLoadDataEx", "ModuleLoadFatBinary"}},
  };
}

// Removes "_v" and digits from the end, if they are there.
void drop_version(std::string_view& name) {
  const size_t at = name.rfind("_v");
  if (at == name.npos || at == 0 || at + 2 == name.size()) return;
  if (name.find_first_not_of("0123456789", at + 2) == name.npos) name = name.substr(0, at);
}

void drop_suffix(std::string_view& name, std::string_view suffix) {
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
}

}  // namespace

std::string_view without_version(std::string_view name) {
  if (name.starts_with("cuda") || name.starts_with("__cuda")) drop_version(name);
  drop_suffix(name, "_ptsz");
  drop_suffix(name, "_ptds");
  return name;
}

CallKind call_kind(std::string_view name) {
  static const std::unordered_map<std::string_view, CallKind> kKinds = [] {
    std::unordered_map<std::string_view, CallKind> kinds;
    for (const Row& row : rows()) {
      for (const std::string_view function : row.names) kinds.emplace(function, row.kind);
    }
    return kinds;
  }();
  for (std::string_view prefix : {"__cuda", "cuda", "cu", "hip", "sim"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    break;
  }
  drop_version(name);
  if (const auto known = kKinds.find(name); known != kKinds.end()) return known->second;
  // hipMemcpyWithStream waits for its copy: PyTorch calls it where it copies and synchronizes in
  // CUDA.
  const bool asynchronous = name.find("Async") != name.npos;
  if (name.starts_with("Memcpy")) return asynchronous ? CallKind::kMemcpyAsync : CallKind::kMemcpy;
  if (name.starts_with("Memset")) return asynchronous ? CallKind::kMemsetAsync : CallKind::kMemset;
  return CallKind::kOther;
}

}  // namespace streamscope::import
