// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tables and rows of an nsys export, as SQL.
#pragma once

#include <string>

namespace streamscope::test {

// Two threads of process 7, one stream each, an event recorded twice; columns as in 2026.
inline constexpr char kStrings[] = R"(
  CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
  INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaEventRecord_v3020'),
    (3, 'cudaStreamWaitEvent_v3020'), (4, 'cudaEventQuery_v3020'), (5, 'cudaStreamSynchronize_v3020'),
    (6, 'scale(float*)'), (7, 'HOME=/home/somebody SECRET_TOKEN=1'), (8, 'cudaMemcpy_v3020'), (9, 'a range');
)";
inline constexpr char kCalls[] = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, returnValue, callchainId);
)";
inline constexpr char kKernels[] = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName,
    shortName, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, graphNodeId);
)";
inline constexpr char kSyncs[] = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType,
    eventId, eventSyncId);
  CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp, deviceId, contextId, streamId, correlationId, globalPid, eventId, eventSyncId);
)";

inline constexpr long long kPid = 1LL << 48 | 7LL << 24;

// A call of the thread with this id, 10 ns long.
inline std::string call_row(long long start, int thread, int correlation, int name,
                            int result = 0) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(start) + "," +
         std::to_string(start + 10) + ",0," + std::to_string(kPid + thread) + "," +
         std::to_string(correlation) + "," + std::to_string(name) + "," + std::to_string(result) +
         ",NULL);";
}
inline std::string kernel_row(long long start, int stream, int correlation) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(start) + "," +
         std::to_string(start + 100) + ",0,1," + std::to_string(stream) + "," +
         std::to_string(correlation) + "," + std::to_string(kPid) +
         ",6,6,4,1,1,256,1,1,32,0,1024,NULL);";
}
inline std::string sync(int stream, int correlation, long long event, long long instance,
                        int type = 2) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (0,0,0,1," +
         std::to_string(stream) + "," + std::to_string(correlation) + "," + std::to_string(kPid) +
         "," + std::to_string(type) + "," + std::to_string(event) + "," + std::to_string(instance) +
         ");";
}
inline std::string record_row(int stream, int correlation, long long event, long long instance) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0,0,1," + std::to_string(stream) +
         "," + std::to_string(correlation) + "," + std::to_string(kPid) + "," +
         std::to_string(event) + "," + std::to_string(instance) + ");";
}

inline constexpr char kSamples[] = R"(
  INSERT INTO StringIds VALUES (20, 'load(int)'), (21, '/app/train'), (22, 'main'), (23, '[Broken backtraces]'),
    (24, 'do_syscall_64'), (25, '[kernel.kallsyms]'), (26, '0x7f00'), (27, '/lib/libcuda.so.1'), (28, 'poll');
  CREATE TABLE COMPOSITE_EVENTS(id INTEGER PRIMARY KEY, start, cpu, threadState, globalTid, cpuCycles);
  CREATE TABLE SAMPLING_CALLCHAINS(id, symbol, module, kernelMode, thumbCode, unresolved, specialEntry, originalIP,
    unwindMethod, stackDepth, PRIMARY KEY (id, stackDepth));
  CREATE TABLE OSRT_API(start, end, eventClass, globalTid, correlationId, nameId, returnValue, nestingLevel, callchainId);
  CREATE TABLE OSRT_CALLCHAINS(id, symbol, module, kernelMode, thumbCode, unresolved, specialEntry, originalIP,
    unwindMethod, stackDepth);
)";
inline std::string sample(int id, long long at, int thread = 1) {
  return "INSERT INTO COMPOSITE_EVENTS VALUES (" + std::to_string(id) + "," + std::to_string(at) +
         ",0,1," + std::to_string(kPid + thread) + ",1);";
}
inline std::string frame(const char* table, int id, int depth, int symbol, int module,
                         int kernel = 0, int unresolved = 0) {
  return std::string("INSERT INTO ") + table + " VALUES (" + std::to_string(id) + "," +
         std::to_string(symbol) + "," + std::to_string(module) + "," + std::to_string(kernel) +
         ",0," + std::to_string(unresolved) + ",0,0,7," + std::to_string(depth) + ");";
}

}  // namespace streamscope::test
