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

// Names after the prefix cuda, cu, hip, sim (our simulated devices) or __cuda and before _v2, _v3.
// Copies and memsets are recognized by the parts of their names.
constexpr Row kRows[] = {
    {"LaunchKernel", CallKind::kLaunch},
    {"LaunchKernelEx", CallKind::kLaunch},
    {"LaunchKernelExC", CallKind::kLaunch},
    {"LaunchCooperativeKernel", CallKind::kLaunch},
    {"LaunchGrid", CallKind::kLaunch},
    {"LaunchGridAsync", CallKind::kLaunch},
    {"Launch", CallKind::kLaunch},
    {"LaunchByPtr", CallKind::kLaunch},
    {"ModuleLaunchKernel", CallKind::kLaunch},
    {"ModuleLaunchKernelExt", CallKind::kLaunch},
    {"ExtLaunchKernel", CallKind::kLaunch},
    {"ExtModuleLaunchKernel", CallKind::kLaunch},
    {"HccModuleLaunchKernel", CallKind::kLaunch},
    {"ModuleLaunchCooperativeKernel", CallKind::kLaunch},
    {"LaunchHostFunc", CallKind::kHostFunction},
    {"StreamAddCallback", CallKind::kHostFunction},
    {"EventCreate", CallKind::kEventCreate},
    {"EventCreateWithFlags", CallKind::kEventCreate},
    {"IpcOpenEventHandle", CallKind::kEventCreate},
    {"EventDestroy", CallKind::kEventDestroy},
    {"EventRecord", CallKind::kEventRecord},
    {"EventRecordWithFlags", CallKind::kEventRecord},
    {"EventQuery", CallKind::kEventQuery},
    {"EventSynchronize", CallKind::kEventSynchronize},
    {"EventElapsedTime", CallKind::kEventElapsedTime},
    {"CtxRecordEvent", CallKind::kContextRecord},
    {"CtxWaitEvent", CallKind::kContextWait},
    {"GreenCtxRecordEvent", CallKind::kContextRecord},
    {"GreenCtxWaitEvent", CallKind::kContextWait},
    {"StreamWaitEvent", CallKind::kStreamWait},
    {"StreamCreate", CallKind::kStreamCreate},
    {"StreamCreateWithFlags", CallKind::kStreamCreate},
    {"StreamCreateWithPriority", CallKind::kStreamCreate},
    {"GreenCtxStreamCreate", CallKind::kStreamCreate},
    {"StreamDestroy", CallKind::kStreamDestroy},
    {"StreamQuery", CallKind::kStreamQuery},
    {"StreamSynchronize", CallKind::kStreamSynchronize},
    {"DeviceSynchronize", CallKind::kDeviceSynchronize},
    {"ThreadSynchronize", CallKind::kDeviceSynchronize},
    {"CtxSynchronize", CallKind::kDeviceSynchronize},
    {"StreamWaitValue", CallKind::kMemoryWait},
    {"StreamWriteValue", CallKind::kMemoryWrite},
    {"StreamWaitValue32", CallKind::kMemoryWait},
    {"StreamWaitValue64", CallKind::kMemoryWait},
    {"StreamWriteValue32", CallKind::kMemoryWrite},
    {"StreamWriteValue64", CallKind::kMemoryWrite},
    {"StreamBatchMemOp", CallKind::kMemoryBatch},
    {"Malloc", CallKind::kMalloc},
    {"MallocManaged", CallKind::kMalloc},
    {"MallocHost", CallKind::kMalloc},
    {"MallocPitch", CallKind::kMalloc},
    {"Malloc3D", CallKind::kMalloc},
    {"MallocArray", CallKind::kMalloc},
    {"Malloc3DArray", CallKind::kMalloc},
    {"MallocMipmappedArray", CallKind::kMalloc},
    {"HostAlloc", CallKind::kMalloc},
    {"HostMalloc", CallKind::kMalloc},
    {"HostRegister", CallKind::kMalloc},
    {"ExtMallocWithFlags", CallKind::kMalloc},
    {"MemAlloc", CallKind::kMalloc},
    {"MemAllocManaged", CallKind::kMalloc},
    {"MemAllocPitch", CallKind::kMalloc},
    {"MemAllocHost", CallKind::kMalloc},
    {"MemHostAlloc", CallKind::kMalloc},
    {"MemHostRegister", CallKind::kMalloc},
    {"IpcOpenMemHandle", CallKind::kMalloc},
    {"ExternalMemoryGetMappedBuffer", CallKind::kMalloc},
    {"GraphicsResourceGetMappedPointer", CallKind::kMalloc},
    {"MemPoolImportPointer", CallKind::kMalloc},
    {"GraphAddMemAllocNode", CallKind::kMalloc},
    {"GetSymbolAddress", CallKind::kMalloc},
    {"LibraryGetGlobal", CallKind::kMalloc},
    {"LibraryGetManaged", CallKind::kMalloc},
    {"ModuleGetGlobal", CallKind::kMalloc},
    {"MemMap", CallKind::kMalloc},
    {"IpcCloseMemHandle", CallKind::kFree},
    {"MemUnmap", CallKind::kFree},
    {"Free", CallKind::kFree},
    {"FreeHost", CallKind::kFree},
    {"HostFree", CallKind::kFree},
    {"FreeArray", CallKind::kFree},
    {"FreeMipmappedArray", CallKind::kFree},
    {"HostUnregister", CallKind::kFree},
    {"MemFree", CallKind::kFree},
    {"MemFreeHost", CallKind::kFree},
    {"MemHostUnregister", CallKind::kFree},
    {"MallocAsync", CallKind::kMallocAsync},
    {"MallocFromPoolAsync", CallKind::kMallocAsync},
    {"MemAllocAsync", CallKind::kMallocAsync},
    {"MemAllocFromPoolAsync", CallKind::kMallocAsync},
    {"FreeAsync", CallKind::kFreeAsync},
    {"MemFreeAsync", CallKind::kFreeAsync},
    {"GraphInstantiate", CallKind::kGraphInstantiate},
    {"GraphInstantiateWithFlags", CallKind::kGraphInstantiate},
    {"GraphInstantiateWithParams", CallKind::kGraphInstantiate},
    {"GraphLaunch", CallKind::kGraphLaunch},
    {"GraphExecDestroy", CallKind::kGraphDestroy},
    {"StreamBeginCapture", CallKind::kCaptureBegin},
    {"StreamBeginCaptureToGraph", CallKind::kCaptureBegin},
    {"StreamEndCapture", CallKind::kCaptureEnd},
    {"ProfilerStart", CallKind::kProfilerStart},
    {"ProfilerStop", CallKind::kProfilerStop},
    {"DeviceReset", CallKind::kDeviceReset},
    {"DevicePrimaryCtxReset", CallKind::kDeviceReset},
    {"LibraryLoadData", CallKind::kModuleLoad},
    {"LibraryLoadFromFile", CallKind::kModuleLoad},
    {"ModuleLoad", CallKind::kModuleLoad},
    {"ModuleLoadData", CallKind::kModuleLoad},
    {"ModuleLoadDataEx", CallKind::kModuleLoad},
    {"ModuleLoadFatBinary", CallKind::kModuleLoad},
};

bool is_number(std::string_view text) {
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  }
  return !text.empty();
}

// Removes "_v" and digits from the end; false if there are none.
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
  if (name.starts_with("Memcpy")) return asynchronous ? CallKind::kMemcpyAsync : CallKind::kMemcpy;
  if (name.starts_with("Memset")) return asynchronous ? CallKind::kMemsetAsync : CallKind::kMemset;
  return CallKind::kOther;
}

}  // namespace streamscope::import
