// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "nsys_objects.h"

#include <algorithm>

namespace streamscope::import {
namespace {

using trace::ForeignRow;

constexpr Int kStreamNull = 3, kStreamNonBlocking = 2, kStreamDefault = 1;

}  // namespace

void NsysObjects::read() {
  read_devices();
  read_contexts();
  read_streams();
}

Id NsysObjects::process(Int global) {
  const Int key = global >> 24;
  const auto known = processes_.find(key);
  if (known != processes_.end()) return known->second;
  // Two machines of one session may use the same process id.
  Int pid = key & 0xffffff;
  const bool taken = std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
    return (other.first & 0xffffff) == pid;
  });
  const Id id = assembly_.process(taken ? key : pid);
  trace::Process& row = assembly_.process_row(id);
  row.os_pid = static_cast<Small>(pid);
  row.collector_id = assembly_.intern(origin_);
  processes_.emplace(key, id);
  return id;
}

Id NsysObjects::process_of_row(const ForeignRow& row, int global_pid) {
  if (!row.is_null(global_pid)) return process(row.integer(global_pid));
  // Reduced exports lack the column; usually there is one process.
  if (assembly_.only_process() != kNoId) return assembly_.only_process();
  return process(0);
}

Id NsysObjects::process_by_pid(Int pid) {
  for (const auto& [key, id] : processes_) {
    if ((key & 0xffffff) == (pid & 0xffffff)) return id;
  }
  return process(pid << 24);
}

Id NsysObjects::thread(Int global) {
  // Neighbors usually ran in the same thread.
  if (global == last_thread_key_ && last_thread_ != kNoId) return last_thread_;
  const auto [known, is_new] = threads_.try_emplace(global, kNoId);
  if (is_new) known->second = assembly_.thread(process(global), global & 0xffffff);
  last_thread_key_ = global;
  last_thread_ = known->second;
  return last_thread_;
}

Id NsysObjects::find_thread(Int global) const {
  const auto known = threads_.find(global);
  return known == threads_.end() ? kNoId : known->second;
}

// Devices have a number in each process (deviceId) and one in the machine.
void NsysObjects::read_devices() {
  tables_.each("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}, [&](const ForeignRow& used) {
    gpu_of_[{used.integer(2), used.integer(1)}] = used.integer(0);
  });
  tables_.each("TARGET_INFO_GPU",
               {"id", "name", "uuid", "smCount", "totalMemory", "asyncEngines", "computeMajor",
                "computeMinor", "cuDevice"},
               [&](const ForeignRow& row) {
                 trace::Device gpu{.name_id = assembly_.intern(row.text(1)),
                                   .sm_count = small(row, 3),
                                   .copy_engines = small(row, 5),
                                   .memory_bytes = row.integer(4, kNoInt),
                                   .simulated = 0};
                 if (!row.text(2).empty()) gpu.uuid_id = assembly_.intern(row.text(2));
                 if (!row.is_null(6))
                   gpu.compute_capability =
                       static_cast<Small>((row.integer(6) & 0xff) * 10 + (row.integer(7) & 0xff));
                 gpus_.emplace(row.integer(0), gpu);
                 if (!row.is_null(8)) gpu_by_ordinal_.emplace(row.integer(8), row.integer(0));
               });
}

Id NsysObjects::device(Id process, Int ordinal) {
  const Int pid = assembly_.process_row(process).os_pid;
  Int gpu = ordinal;
  if (const auto mapped = gpu_of_.find({pid, ordinal}); mapped != gpu_of_.end()) {
    gpu = mapped->second;
  } else if (const auto same = gpu_by_ordinal_.find(ordinal); same != gpu_by_ordinal_.end()) {
    gpu = same->second;
  }
  const Id id = assembly_.device(
      static_cast<Int>(static_cast<uint64_t>(gpu) << 16 ^ static_cast<uint64_t>(ordinal)));
  trace::Device& row = assembly_.device_row(id);
  if (row.ordinal != kNoSmall) return id;
  if (const auto known = gpus_.find(gpu); known != gpus_.end()) row = known->second;
  row.ordinal = static_cast<Small>(ordinal);
  return id;
}

Id NsysObjects::context(Id process, Int native, Int ordinal) {
  const auto [known, is_new] = contexts_.try_emplace(
      {process, native, native == 0 || native == kNoInt ? ordinal : 0}, kNoId);
  if (is_new) {
    known->second =
        assembly_.context(process, native, ordinal == kNoInt ? kNoId : device(process, ordinal));
  } else if (ordinal != kNoInt && assembly_.context_row(known->second).device_id == kNoId) {
    assembly_.context_row(known->second).device_id = device(process, ordinal);
  }
  return known->second;
}

Id NsysObjects::stream(Id process, Int native_context, Int ordinal, Int native) {
  const Id in = context(process, native_context, ordinal);
  const Id id = assembly_.stream(in, native);
  if (null_streams_.contains({in, native})) add_null_stream(in, native);
  return id;
}

void NsysObjects::add_null_stream(Id in, Int native) {
  null_streams_.insert({in, native});
  trace::Stream& row = assembly_.stream_row(assembly_.stream(in, native));
  row.kind = trace::kLegacyStream;
  row.handle = 0;
}

void NsysObjects::read_contexts() {
  tables_.each("TARGET_INFO_CUDA_CONTEXT_INFO",
               {"processId", "contextId", "deviceId", "nullStreamId"}, [&](const ForeignRow& row) {
                 const Id in = context_of_row(row, row.integer(2));
                 if (!row.is_null(3)) add_null_stream(in, row.integer(3));
               });
  tables_.each("TARGET_INFO_CUDA_NULL_STREAM", {"processId", "contextId", "deviceId", "streamId"},
               [&](const ForeignRow& row) {
                 add_null_stream(context_of_row(row, row.integer(2)), row.integer(3));
               });
}

void NsysObjects::read_streams() {
  tables_.each("TARGET_INFO_CUDA_STREAM",
               {"processId", "contextId", "streamId", "priority", "flag"},
               [&](const ForeignRow& stream) {
                 const Id in = context_of_row(stream, kNoInt);
                 const Id id = assembly_.stream(in, stream.integer(2));
                 trace::Stream& row = assembly_.stream_row(id);
                 // Stored unsigned: 4294967295 is -1.
                 row.priority = static_cast<Small>(static_cast<uint32_t>(stream.integer(3)));
                 const Int flag = stream.integer(4);
                 if (flag == kStreamNull) {
                   add_null_stream(in, stream.integer(2));
                 } else if (row.kind == trace::kUnknownStream) {
                   if (flag == kStreamDefault) row.kind = trace::kBlockingStream;
                   if (flag == kStreamNonBlocking) row.kind = trace::kNonBlockingStream;
                 }
               });
  tables_.each("TARGET_INFO_NVTX_CUDA_STREAM", {"processId", "contextId", "streamId", "name"},
               [&](const ForeignRow& row) {
                 const Id in = context_of_row(row, kNoInt);
                 assembly_.stream_row(assembly_.stream(in, row.integer(2))).name_id =
                     assembly_.intern(row.text(3));
               });
}

// Processes and threads without traced activity are left out: a session lists all of the machine.
void NsysObjects::finish(const std::unordered_map<Int, std::string>& strings) {
  for (const auto& [id, ordinal] : device_of_idle_) {
    trace::Context& row = assembly_.context_row(id);
    if (row.device_id == kNoId) row.device_id = device(row.process_id, ordinal);
  }
  tables_.each("PROCESSES", {"globalPid", "name"}, [&](const ForeignRow& row) {
    const auto known = processes_.find(row.integer(0) >> 24);
    if (known != processes_.end() && !row.text(1).empty())
      assembly_.process_row(known->second).name_id = assembly_.intern(row.text(1));
  });
  tables_.each("ThreadNames", {"globalTid", "nameId"}, [&](const ForeignRow& row) {
    const auto known = threads_.find(row.integer(0));
    const auto name = strings.find(row.integer(1, -1));
    if (known != threads_.end() && name != strings.end())
      assembly_.thread_row(known->second).name_id = assembly_.intern(name->second);
  });
}

}  // namespace streamscope::import
