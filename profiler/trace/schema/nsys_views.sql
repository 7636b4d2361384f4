-- SPDX-FileCopyrightText: 2026 StreamScope contributors
-- SPDX-License-Identifier: Apache-2.0

-- == Views under the table names of an Nsight Systems export ==
-- Scripts written for `nsys export --type sqlite` run on StreamScope traces. The columns, their order and their numbers
-- follow export schema 3.25.0 (Nsight Systems 2026.2), as META_DATA_EXPORT states. Columns for which a trace has no
-- value are NULL. Times are ns since the trace start. Rows whose device times are unknown are left out, because an
-- export has no such rows.
--
-- globalPid is VM 1, then the process id: (1 << 48) | pid << 24; globalTid adds the thread id in the low 24 bits.
-- eventId is event.id; eventSyncId is event_record.id + 1, so that 0 means none, as in the export.
-- correlationId is call_number: it serves to join calls with what they caused, and every call has one.

CREATE VIEW StringIds (id, value) AS
  -- Every text of the trace.
  SELECT id, value FROM string;

CREATE VIEW PROCESSES (globalPid, pid, name) AS
  -- The observed processes.
  SELECT 1 << 48 | (os_pid & 0xffffff) << 24, os_pid, string.value
    FROM process LEFT JOIN string ON string.id = process.name_id;

CREATE VIEW ThreadNames (nameId, priority, globalTid) AS
  -- Threads that have a name; priority is not recorded.
  SELECT thread.name_id, NULL, 1 << 48 | (process.os_pid & 0xffffff) << 24 | (thread.os_tid & 0xffffff)
    FROM thread JOIN process ON process.id = thread.process_id WHERE thread.name_id IS NOT NULL;

CREATE VIEW TARGET_INFO_SESSION_START_TIME (utcEpochNs, utcTime, localTime, systemClockNs) AS
  -- Time of instant 0 of the trace.
  SELECT value, strftime('%Y-%m-%dT%H:%M:%S', value / 1000000000, 'unixepoch'),
         strftime('%Y-%m-%dT%H:%M:%S', value / 1000000000, 'unixepoch', 'localtime'), NULL
    FROM meta WHERE key = 'trace_start_realtime_ns';

CREATE VIEW ANALYSIS_DETAILS (globalVid, duration, startTime, stopTime) AS
  -- Duration of the trace.
  SELECT 1 << 48, value, 0, value FROM meta WHERE key = 'duration_ns';

CREATE VIEW META_DATA_EXPORT (name, value) AS
  -- Producer of these views, and the export schema that they follow.
  SELECT 'EXPORT_PRODUCT_NAME', 'StreamScope'
  UNION ALL SELECT 'EXPORT_PRODUCT_VERSION', value FROM meta WHERE key = 'producer'
  UNION ALL VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0'), ('EXPORT_SCHEMA_VERSION_MAJOR', '3'),
                   ('EXPORT_SCHEMA_VERSION_MINOR', '25'), ('EXPORT_SCHEMA_VERSION_MICRO', '0');

CREATE VIEW META_DATA_CAPTURE (name, value) AS
  -- How the trace was recorded: every key of table meta.
  SELECT 'STREAMSCOPE:' || key, CAST(value AS TEXT) FROM meta;

CREATE VIEW TARGET_INFO_GPU (
  vmId, id, name, busLocation, isDiscrete, l2CacheSize, totalMemory, memoryBandwidth, clockRate, smCount, pwGpuId, uuid,
  luid, chipName, cuDevice, ctxswDevPath, ctrlDevPath, revision, nodeMask, constantMemory, maxIPC, maxRegistersPerBlock,
  maxShmemPerBlock, maxShmemPerBlockOptin, maxShmemPerSm, maxRegistersPerSm, threadsPerWarp, asyncEngines,
  maxWarpsPerSm, maxBlocksPerSm, maxThreadsPerBlock, maxBlockDimX, maxBlockDimY, maxBlockDimZ, maxGridDimX, maxGridDimY,
  maxGridDimZ, computeMajor, computeMinor, smMajor, smMinor) AS
  -- The devices, simulated ones too.
  SELECT 1 << 48, device.id, name.value, NULL, NULL, NULL, memory_bytes, NULL, NULL, sm_count, NULL, uuid.value, NULL, NULL,
         ordinal, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 32, copy_engines, NULL, NULL, NULL, NULL,
         NULL, NULL, NULL, NULL, NULL, compute_capability / 10, compute_capability % 10, compute_capability / 10,
         compute_capability % 10
    FROM device LEFT JOIN string AS name ON name.id = device.name_id LEFT JOIN string AS uuid ON uuid.id = device.uuid_id;

CREATE VIEW TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid, uuid, numMultiprocessors) AS
  -- Which process used which device, and under which number.
  SELECT DISTINCT device.id, device.ordinal, process.os_pid, string.value, device.sm_count
    FROM context JOIN device ON device.id = context.device_id JOIN process ON process.id = context.process_id
    LEFT JOIN string ON string.id = device.uuid_id;

CREATE VIEW TARGET_INFO_CUDA_CONTEXT_INFO (
  nullStreamId, hwId, vmId, processId, deviceId, contextId, parentContextId, isGreenContext, numMultiprocessors) AS
  -- The contexts.
  SELECT (SELECT native_id FROM stream WHERE stream.context_id = context.id AND stream.kind = 0), 0, 1, process.os_pid,
         device.ordinal, context.native_id, 0, 0, device.sm_count
    FROM context JOIN process ON process.id = context.process_id JOIN device ON device.id = context.device_id;

CREATE VIEW TARGET_INFO_CUDA_STREAM (streamId, hwId, vmId, processId, contextId, priority, flag) AS
  -- The streams; flag as in ENUM_CUPTI_STREAM_TYPE. Priorities are unsigned, as in the export: 4294967295 is -1.
  SELECT stream.native_id, 0, 1, process.os_pid, context.native_id, stream.priority & 0xffffffff,
         CASE stream.kind WHEN 0 THEN 3 WHEN 1 THEN 1 WHEN 2 THEN 1 WHEN 3 THEN 2 ELSE 0 END
    FROM stream JOIN context ON context.id = stream.context_id JOIN process ON process.id = context.process_id;

CREATE VIEW TARGET_INFO_NVTX_CUDA_STREAM (name, hwId, vmId, processId, deviceId, contextId, streamId) AS
  -- Names that the program gave to streams.
  SELECT string.value, 0, 1, process.os_pid, device.ordinal, context.native_id, stream.native_id
    FROM stream JOIN string ON string.id = stream.name_id JOIN context ON context.id = stream.context_id
    JOIN process ON process.id = context.process_id LEFT JOIN device ON device.id = context.device_id;

CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL (
  start, "end", deviceId, contextId, greenContextId, streamId, correlationId, globalPid, demangledName, shortName,
  mangledName, launchType, cacheConfig, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ,
  staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, sharedMemoryExecuted,
  graphNodeId, sharedMemoryLimitConfig, qmdBulkReleaseDone, qmdPreexitDone, qmdLastCtaDone, graphId, clusterX, clusterY,
  clusterZ, clusterSchedulingPolicy, maxPotentialClusterSize, maxActiveClusters, sharedMemoryRequestedPercentage,
  tensorSizeMinusOneElements) AS
  -- Kernels. The mangled name is the demangled one, and so is the short name until the recording is finished.
  SELECT op.start_ns, op.end_ns, device.ordinal, context.native_id, NULL, stream.native_id, op.call_number,
         1 << 48 | (process.os_pid & 0xffffff) << 24, op.name_id, coalesce(kernel_name.short_id, op.name_id),
         op.name_id, 0, NULL, shape.registers,
         shape.grid_x, shape.grid_y, shape.grid_z, shape.block_x, shape.block_y, shape.block_z, shape.static_shared_bytes,
         shape.dynamic_shared_bytes, NULL, NULL, op.id, NULL, op.graph_node, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
         NULL, NULL, NULL, NULL, '[]'
    FROM op JOIN stream ON stream.id = op.stream_id JOIN context ON context.id = stream.context_id
    JOIN process ON process.id = context.process_id LEFT JOIN device ON device.id = context.device_id
    LEFT JOIN launch_shape AS shape ON shape.id = op.launch_shape_id
    LEFT JOIN kernel_name ON kernel_name.name_id = op.name_id
   WHERE op.kind = 0 AND op.start_ns IS NOT NULL AND op.end_ns IS NOT NULL;

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY (
  start, "end", deviceId, contextId, greenContextId, streamId, correlationId, globalPid, bytes, copyKind, deprecatedSrcId,
  srcKind, dstKind, srcDeviceId, srcContextId, dstDeviceId, dstContextId, migrationCause, graphNodeId, virtualAddress,
  copyCount) AS
  -- Copies; copyKind as in ENUM_CUDA_MEMCPY_OPER, srcKind and dstKind as in ENUM_CUDA_MEM_KIND.
  SELECT op.start_ns, op.end_ns, device.ordinal, context.native_id, NULL, stream.native_id, op.call_number,
         1 << 48 | (process.os_pid & 0xffffff) << 24, op.bytes, op.detail, NULL,
         CASE WHEN op.memory_kinds >> 4 BETWEEN 1 AND 7 THEN (op.memory_kinds >> 4) - 1 ELSE 7 END,
         CASE WHEN op.memory_kinds & 15 BETWEEN 1 AND 7 THEN (op.memory_kinds & 15) - 1 ELSE 7 END,
         NULL, NULL, NULL, NULL, NULL, op.graph_node, NULL, 1
    FROM op JOIN stream ON stream.id = op.stream_id JOIN context ON context.id = stream.context_id
    JOIN process ON process.id = context.process_id LEFT JOIN device ON device.id = context.device_id
   WHERE op.kind = 1 AND op.start_ns IS NOT NULL AND op.end_ns IS NOT NULL;

CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET (
  start, "end", deviceId, contextId, greenContextId, streamId, correlationId, globalPid, value, bytes, graphNodeId,
  memKind) AS
  -- Memsets; memKind as in ENUM_CUDA_MEM_KIND.
  SELECT op.start_ns, op.end_ns, device.ordinal, context.native_id, NULL, stream.native_id, op.call_number,
         1 << 48 | (process.os_pid & 0xffffff) << 24, NULL, op.bytes, op.graph_node,
         CASE WHEN op.detail BETWEEN 1 AND 7 THEN op.detail - 1 ELSE 7 END
    FROM op JOIN stream ON stream.id = op.stream_id JOIN context ON context.id = stream.context_id
    JOIN process ON process.id = context.process_id LEFT JOIN device ON device.id = context.device_id
   WHERE op.kind = 2 AND op.start_ns IS NOT NULL AND op.end_ns IS NOT NULL;

CREATE VIEW CUPTI_ACTIVITY_KIND_GRAPH_TRACE (
  start, "end", deviceId, contextId, greenContextId, streamId, correlationId, globalPid, graphId, graphExecId) AS
  -- Whole launches of graphs.
  SELECT op.start_ns, op.end_ns, device.ordinal, context.native_id, NULL, stream.native_id, op.call_number,
         1 << 48 | (process.os_pid & 0xffffff) << 24, source.native_id, executable.native_id
    FROM op JOIN stream ON stream.id = op.stream_id JOIN context ON context.id = stream.context_id
    JOIN process ON process.id = context.process_id LEFT JOIN device ON device.id = context.device_id
    LEFT JOIN api_call ON api_call.id = op.api_call_id
    LEFT JOIN graph AS executable ON executable.id = (
      SELECT max(graph.id) FROM graph
       WHERE graph.executable = 1 AND graph.handle = api_call.object AND graph.process_id = process.id
         AND (graph.created_ns IS NULL OR graph.created_ns <= api_call.start_ns))
    LEFT JOIN graph AS source ON source.id = executable.source_graph_id
   WHERE op.kind = 6 AND op.start_ns IS NOT NULL AND op.end_ns IS NOT NULL;

CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME (
  start, "end", eventClass, globalTid, correlationId, nameId, returnValue, callchainId) AS
  -- Every traced call that returned, of the runtime API (eventClass 0) and of the driver API (1); names are those that
  -- the program called, without the version suffixes of an export.
  SELECT call.start_ns, call.end_ns, CASE WHEN name.value GLOB 'cu[A-Z]*' THEN 1 ELSE 0 END,
         1 << 48 | (process.os_pid & 0xffffff) << 24 | (thread.os_tid & 0xffffff), call.call_number, call.name_id,
         call.result, call.stack_id
    FROM (SELECT thread_id, name_id, start_ns, end_ns, result, call_number, stack_id FROM api_call
          UNION ALL SELECT thread_id, name_id, start_ns, end_ns, result, call_number, NULL FROM event_record
          UNION ALL SELECT thread_id, name_id, start_ns, end_ns, result, call_number, NULL FROM event_wait
          UNION ALL SELECT thread_id, name_id, start_ns, end_ns, result, call_number, stack_id FROM host_sync) AS call
    JOIN thread ON thread.id = call.thread_id JOIN process ON process.id = thread.process_id
    LEFT JOIN string AS name ON name.id = call.name_id
   WHERE call.start_ns IS NOT NULL AND call.end_ns IS NOT NULL;

CREATE VIEW CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (
  start, "end", deviceId, contextId, greenContextId, streamId, correlationId, globalPid, deprecatedSyncType, syncType,
  eventId, eventSyncId) AS
  -- Stream waits and host synchronizations with the host time of their calls; syncType as in ENUM_CUPTI_SYNC_TYPE. Event
  -- queries are event syncs, as CUPTI reports them; stream queries and synchronous copies have no rows.
  SELECT event_wait.start_ns, event_wait.end_ns, device.ordinal, context.native_id, NULL, stream.native_id,
         event_wait.call_number, 1 << 48 | (process.os_pid & 0xffffff) << 24, NULL, 2, event_wait.event_id,
         coalesce(event_wait.record_id + 1, 0)
    FROM event_wait JOIN thread ON thread.id = event_wait.thread_id JOIN process ON process.id = thread.process_id
    LEFT JOIN stream ON stream.id = event_wait.stream_id LEFT JOIN context ON context.id = stream.context_id
    LEFT JOIN device ON device.id = context.device_id
   WHERE event_wait.end_ns IS NOT NULL
  UNION ALL
  SELECT host_sync.start_ns, host_sync.end_ns, device.ordinal, context.native_id, NULL,
         CASE host_sync.kind WHEN 1 THEN stream.native_id ELSE 4294967295 END, host_sync.call_number,
         1 << 48 | (process.os_pid & 0xffffff) << 24, NULL, CASE host_sync.kind WHEN 0 THEN 4 WHEN 1 THEN 3 ELSE 1 END,
         coalesce(host_sync.event_id, 4294967295), coalesce(host_sync.record_id + 1, 0)
    FROM host_sync JOIN thread ON thread.id = host_sync.thread_id JOIN process ON process.id = thread.process_id
    LEFT JOIN stream ON stream.id = host_sync.stream_id
    LEFT JOIN context ON context.id = coalesce(host_sync.context_id, stream.context_id)
    LEFT JOIN device ON device.id = context.device_id
   WHERE host_sync.kind IN (0, 1, 2, 4) AND host_sync.end_ns IS NOT NULL;

CREATE VIEW CUPTI_ACTIVITY_KIND_CUDA_EVENT (
  timestamp, deviceId, contextId, greenContextId, streamId, correlationId, globalPid, eventId, eventSyncId) AS
  -- Event records. A wait's eventSyncId names the record that it is bound to; timestamp is 0 unless device times of events
  -- were requested.
  SELECT coalesce((SELECT device_ns FROM sync_witness WHERE act = 0 AND sync_witness.process_id = thread.process_id
                      AND sync_witness.correlation_id = event_record.correlation_id), 0),
         device.ordinal, context.native_id, NULL, stream.native_id, event_record.call_number,
         1 << 48 | (process.os_pid & 0xffffff) << 24, event_record.event_id, event_record.id + 1
    FROM event_record JOIN thread ON thread.id = event_record.thread_id JOIN process ON process.id = thread.process_id
    LEFT JOIN stream ON stream.id = event_record.stream_id LEFT JOIN context ON context.id = stream.context_id
    LEFT JOIN device ON device.id = context.device_id;

CREATE VIEW CUPTI_ACTIVITY_KIND_OVERHEAD (start, "end", eventClass, globalTid, correlationId, nameId, overheadType) AS
  -- Time that the profiler or the driver spent on itself.
  SELECT overhead.start_ns, overhead.end_ns, 103,
         1 << 48 | (process.os_pid & 0xffffff) << 24 | (coalesce(thread.os_tid, 0) & 0xffffff), NULL, overhead.name_id, 1
    FROM overhead JOIN process ON process.id = overhead.process_id LEFT JOIN thread ON thread.id = overhead.thread_id;

CREATE VIEW NVTX_EVENTS (
  start, "end", eventType, rangeId, category, color, text, globalTid, endGlobalTid, textId, domainId, uint64Value,
  int64Value, doubleValue, uint32Value, int32Value, floatValue, jsonTextId, jsonText, binaryData) AS
  -- NVTX ranges (eventType 59 push/pop, 60 start/end), marks (34) and the names of domains (75); domain 0 is the default.
  SELECT range.start_ns, range.end_ns, CASE range.kind WHEN 1 THEN 60 ELSE 59 END,
         CASE range.kind WHEN 1 THEN range.id END, range.category, range.color, string.value,
         1 << 48 | (process.os_pid & 0xffffff) << 24 | (thread.os_tid & 0xffffff), NULL, range.name_id,
         coalesce(range.domain_id + 1, 0), range.payload, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM range JOIN thread ON thread.id = range.thread_id JOIN process ON process.id = thread.process_id
    LEFT JOIN string ON string.id = range.name_id
   WHERE range.start_ns IS NOT NULL
  UNION ALL
  SELECT mark.start_ns, NULL, 34, NULL, mark.category, mark.color, string.value,
         1 << 48 | (process.os_pid & 0xffffff) << 24 | (thread.os_tid & 0xffffff), NULL, mark.name_id,
         coalesce(mark.domain_id + 1, 0), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM mark JOIN thread ON thread.id = mark.thread_id JOIN process ON process.id = thread.process_id
    LEFT JOIN string ON string.id = mark.name_id
   WHERE mark.start_ns IS NOT NULL
  UNION ALL
  SELECT min(act.start_ns), NULL, 75, NULL, NULL, NULL, string.value,
         1 << 48 | (process.os_pid & 0xffffff) << 24 | (thread.os_tid & 0xffffff), NULL, act.domain_id, act.domain_id + 1,
         NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM (SELECT thread_id, domain_id, start_ns FROM range UNION ALL SELECT thread_id, domain_id, start_ns FROM mark) AS act
    JOIN thread ON thread.id = act.thread_id JOIN process ON process.id = thread.process_id
    JOIN string ON string.id = act.domain_id
   GROUP BY process.id, act.domain_id;

CREATE VIEW ENUM_CUPTI_SYNC_TYPE (id, name, label) AS
  -- Numbers of syncType.
  VALUES (0, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN', 'Unknown'),
         (1, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE', 'Event sync'),
         (2, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT', 'Stream wait sync'),
         (3, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE', 'Stream sync'),
         (4, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE', 'Context sync');

CREATE VIEW ENUM_CUPTI_STREAM_TYPE (id, name, label) AS
  -- Numbers of flag in TARGET_INFO_CUDA_STREAM.
  VALUES (0, 'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN', 'Unknown stream type'),
         (1, 'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT', 'Default stream'),
         (2, 'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING', 'Non-blocking stream'),
         (3, 'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL', 'Null stream');

CREATE VIEW ENUM_CUDA_MEMCPY_OPER (id, name, label) AS
  -- Numbers of copyKind.
  VALUES (0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'), (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),
         (2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'), (3, 'CUDA_MEMCPY_KIND_HTOA', 'Host-to-Array'),
         (4, 'CUDA_MEMCPY_KIND_ATOH', 'Array-to-Host'), (5, 'CUDA_MEMCPY_KIND_ATOA', 'Array-to-Array'),
         (6, 'CUDA_MEMCPY_KIND_ATOD', 'Array-to-Device'), (7, 'CUDA_MEMCPY_KIND_DTOA', 'Device-to-Array'),
         (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'), (9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'),
         (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer'), (11, 'CUDA_MEMCPY_KIND_UVM_HTOD', 'Unified Host-to-Device'),
         (12, 'CUDA_MEMCPY_KIND_UVM_DTOH', 'Unified Device-to-Host'),
         (13, 'CUDA_MEMCPY_KIND_UVM_DTOD', 'Unified Device-to-Device');

CREATE VIEW ENUM_CUDA_MEM_KIND (id, name, label) AS
  -- Numbers of srcKind, dstKind and memKind.
  VALUES (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'), (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'),
         (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'), (3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'),
         (4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed'),
         (5, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC', 'Device Static'),
         (6, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC', 'Managed Static'),
         (7, 'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN', 'Unknown');

CREATE VIEW ENUM_CUDA_KERNEL_LAUNCH_TYPE (id, name, label) AS
  -- Numbers of launchType; only 0 occurs here.
  VALUES (0, 'CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN', 'Unknown'), (1, 'CUDA_KERNEL_LAUNCH_TYPE_REGULAR', 'Regular'),
         (2, 'CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE', 'Coop Single Device'),
         (3, 'CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE', 'Coop Multi Device');

CREATE VIEW ENUM_CUPTI_OVERHEAD_TYPE (id, name, label) AS
  -- Numbers of overheadType; only 1 occurs here; nameId has the details.
  VALUES (0, 'OVERHEAD_UNDEFINED', 'Undefined'), (1, 'OVERHEAD_UNKNOWN', 'Unknown'),
         (2, 'OVERHEAD_DRIVER_COMPILER', 'Driver JIT compiler (CUDA)'),
         (3, 'OVERHEAD_CUPTI_BUFFER_FLUSH', 'Buffer flush (Profiler)'),
         (4, 'OVERHEAD_CUPTI_INSTRUMENTATION', 'Instrumentation (Profiler)'),
         (5, 'OVERHEAD_CUPTI_RESOURCE', 'Resource creation/destruction (Profiler)'),
         (6, 'OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING', 'Runtime module loading (CUDA)'),
         (7, 'OVERHEAD_LAZY_FUNCTION_LOADING', 'Lazy function loading (CUDA)'),
         (8, 'OVERHEAD_COMMAND_BUFFER_FULL', 'Command buffer full (CUDA)');

CREATE VIEW ENUM_NSYS_EVENT_CLASS (id, name, label) AS
  -- Numbers of eventClass, those that occur here.
  VALUES (0, 'TRACE_PROCESS_EVENT_CUDA_RUNTIME', 'CUDA runtime'), (1, 'TRACE_PROCESS_EVENT_CUDA_DRIVER', 'CUDA driver'),
         (103, 'TRACE_PROCESS_EVENT_CUDA_OVERHEAD', 'CUDA overhead');

CREATE VIEW ENUM_NSYS_EVENT_TYPE (id, name, label) AS
  -- Numbers of eventType, those that occur here.
  VALUES (34, 'NvtxMark', 'NvtxMark'), (59, 'NvtxPushPopRange', 'NvtxPushPopRange'),
         (60, 'NvtxStartEndRange', 'NvtxStartEndRange'), (75, 'NvtxDomainCreate', 'NvtxDomainCreate');
