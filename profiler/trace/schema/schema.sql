-- SPDX-FileCopyrightText: 2026 StreamScope contributors
-- SPDX-License-Identifier: Apache-2.0

/* Source of docs/trace-format.md (format_doc.cpp): a heading is "-- == Heading ==", a comment inside the parentheses before
   the first column is about the table, a comment after a column is about the column, one after AS about the view.
   In braces, the name of a column stands for the list of its values, and a name with an expression for the name of the
   value of that expression; stored_terms.h says which list of profiler/vocabulary a column has. */

-- The StreamScope trace, format version 1: one SQLite file.
--
-- application_id is 0x53745363 ("StSc"), user_version is the format version. During a recording the file is in WAL
-- mode, and anybody may read it. A finished trace is one plain file in journal mode DELETE.
--
-- Times are integer nanoseconds since the start of the trace (`meta.trace_start_realtime_ns` holds that instant). A
-- process with `clock` 1 has times of a simulated device, which start at 0. Intervals are half open:
-- [start_ns, end_ns). What is not known is NULL, never 0. Ids are dense from 0 in order of insertion, so `id` numbers
-- the rows of a table. Times lie within 2^58 ns (9 years) of the start of the trace, sizes and counts are at most 2^57,
-- and no interval ends before it starts. An impossible value is read as NULL and counted as a loss (damaged-values).
-- Texts are interned in `string`. REFERENCES clauses are documentation; they are not enforced while writing. Every
-- traced call is in exactly one of api_call, event_record, event_wait and host_sync. Tables whose comment starts with
-- "Derived" are computed from the others, by analysis or at the end of a recording or import, and may be empty.

-- == The trace as a whole ==

CREATE TABLE meta (
  -- Facts about the file as a whole, one per key. Keys: format_version; producer (program and version that wrote the
  -- file); complete (1: recorded to the end and closed normally); finished (1: nothing more will be added, 0: being
  -- recorded, or the recorder was killed); trace_start_realtime_ns (Unix time of instant 0); duration_ns (last known
  -- instant); tier ({meta.tier}); imported_from (the tool whose file was imported; absent if recorded);
  -- counts (what streamscope info counts, and the number of rows that were counted; stored with the derived tables);
  -- verdicts (the answer of each detector, one per line: its id, then one of {meta.verdicts},
  -- and why; stored with the derived tables); kernel_arguments (1: recorded with --with args);
  -- observed_accesses (1: recorded with --with accesses); analysis_version (of the
  -- derived tables; absent if they were never computed); stack_count and stack_ns (how many call stacks were taken in
  -- processes that have ended, and the time that this cost; absent if none); sample_hz (samples a second of each issuing
  -- thread) and sample_stop_ns (how long they were stopped for it, in all). Further keys may appear.
  key TEXT PRIMARY KEY,                                -- name of the fact
  value                                                -- its value, text or integer
) WITHOUT ROWID;

CREATE TABLE string (
  -- Every text of the trace, once.
  id INTEGER PRIMARY KEY,                              -- value of `*_id` columns that reference `string`
  value TEXT NOT NULL                                  -- the text; "?" if only a reference to it reached the trace
);

CREATE TABLE loss (
  -- What is missing from the trace, with severity. Read it before any result: a conclusion is only as good as its
  -- evidence.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- process whose data is missing; NULL: the whole trace
  name_id INTEGER REFERENCES string(id),               -- kind of loss, e.g. ring-full; `streamscope info` explains it
  severity INTEGER,                                    -- {loss.severity}
  count INTEGER,                                       -- how many records, calls, ... ; NULL if not countable
  start_ns INTEGER,                                    -- interval in which it happened, if known
  end_ns INTEGER,                                      -- end of that interval
  detail_id INTEGER REFERENCES string(id)              -- details, human-readable
);

CREATE TABLE clock_anchor (
  -- Pairs of readings by which the clock of a process was converted to trace time.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- whose clock
  ticks INTEGER,                                       -- raw clock reading (time-stamp counter or CLOCK_MONOTONIC)
  ns INTEGER,                                          -- the same instant on the trace clock
  realtime_ns INTEGER                                  -- the same instant as Unix time
);

-- == Processes, devices and streams ==

CREATE TABLE process (
  -- One observed program of a process. exec() starts another one with the same os_pid.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  os_pid INTEGER,                                      -- the system's process id
  parent_os_pid INTEGER,                               -- the system's id of its parent
  name_id INTEGER REFERENCES string(id),               -- short display name
  executable_id INTEGER REFERENCES string(id),         -- path of the program
  command_line_id INTEGER REFERENCES string(id),       -- arguments, separated by spaces
  environment_id INTEGER REFERENCES string(id),        -- variables CUDA_*, NCCL_*, STREAMSCOPE_* and those with ranks, one NAME=VALUE per line
  host_id INTEGER REFERENCES string(id),               -- name of the machine
  collector_id INTEGER REFERENCES string(id),          -- what observed it, e.g. "cupti 130001"
  clock INTEGER,                                       -- {process.clock}
  start_ns INTEGER,                                    -- when the collector started in it
  end_ns INTEGER,                                      -- when it ended; NULL if its end was not observed
  exit_code INTEGER,                                   -- its exit status, if it exited by itself and that is known
  exit_signal INTEGER,                                 -- the signal that ended it, if one did
  complete INTEGER,                                    -- 1: its collector shut down normally, 0: it did not; see table loss
  rank INTEGER,                                        -- its number in its job, from 0; NULL if it has none
  world_size INTEGER,                                  -- how many ranks the job has
  local_rank INTEGER,                                  -- its number among the ranks of its host, from 0
  rank_source_id INTEGER REFERENCES string(id)         -- where the rank is from: a variable, e.g. RANK; kineto, MPI, file name
);

CREATE TABLE thread (
  -- A host thread with traced activity.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  os_tid INTEGER,                                      -- the system's thread id
  name_id INTEGER REFERENCES string(id),               -- given by NVTX or the system
  start_ns INTEGER                                     -- first traced activity
);

CREATE TABLE device (
  -- A GPU, real or simulated.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  ordinal INTEGER,                                     -- CUDA device number in its process
  name_id INTEGER REFERENCES string(id),               -- e.g. NVIDIA H200
  uuid_id INTEGER REFERENCES string(id),               -- identity across processes and runs
  compute_capability INTEGER,                          -- 10 * major + minor, e.g. 90
  sm_count INTEGER,                                    -- streaming multiprocessors
  copy_engines INTEGER,                                -- asynchronous copy engines
  max_connections INTEGER,                             -- hardware queues in use (CUDA_DEVICE_MAX_CONNECTIONS)
  memory_bytes INTEGER,                                -- size of its memory
  simulated INTEGER                                    -- 1: libcoord's simulator, 0: a real GPU
);

CREATE TABLE context (
  -- A CUDA context of a process on a device.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  device_id INTEGER REFERENCES device(id),             -- its device
  native_id INTEGER,                                   -- CUPTI's context id, unique in the process
  created_ns INTEGER                                   -- when it was created; NULL if before recording
);

CREATE TABLE stream (
  -- One lifetime of a CUDA stream: a handle that is reused after its destruction is another stream.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  context_id INTEGER REFERENCES context(id),           -- its context
  native_id INTEGER,                                   -- CUPTI's stream id, unique in the context
  handle INTEGER,                                      -- raw handle (64 bits, as signed); 0 the legacy stream
  generation INTEGER,                                  -- how many earlier streams had this handle
  kind INTEGER,                                        -- {stream.kind}
  priority INTEGER,                                    -- CUDA's number: lower is more urgent, 0 is the default
  thread_id INTEGER REFERENCES thread(id),             -- owner of a per-thread default stream
  name_id INTEGER REFERENCES string(id),               -- given by the program (NVTX, libcoord)
  created_ns INTEGER,                                  -- NULL if before recording
  destroyed_ns INTEGER                                 -- NULL if not observed
);

CREATE TABLE event (
  -- One lifetime of a CUDA event: a handle that is reused after its destruction is another event.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  context_id INTEGER REFERENCES context(id),           -- its context, if known
  handle INTEGER,                                      -- raw handle (64 bits, as signed)
  generation INTEGER,                                  -- how many earlier events had this handle
  flags INTEGER,                                       -- CUDA's creation flags: 1 blocking sync, 2 no timing, 4 interprocess
  name_id INTEGER REFERENCES string(id),               -- given by the program
  created_ns INTEGER,                                  -- NULL if before recording
  destroyed_ns INTEGER                                 -- NULL if not observed
);

-- == Host calls ==

CREATE TABLE api_call (
  -- A traced CUDA call other than an event record, stream wait or host synchronization. These have their own tables.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  thread_id INTEGER REFERENCES thread(id),             -- thread that called
  kind INTEGER,                                        -- {api_call.kind}
  name_id INTEGER REFERENCES string(id),               -- function as the program called it, e.g. cudaLaunchKernel
  stream_id INTEGER REFERENCES stream(id),             -- stream it acts on
  start_ns INTEGER,                                    -- entry
  end_ns INTEGER,                                      -- return; NULL: it did not return during the recording
  result INTEGER,                                      -- CUDA's result code, 0 success
  call_number INTEGER,                                 -- number of the call, unique in the process
  correlation_id INTEGER,                              -- CUPTI's number of the call; NULL where CUPTI did not see it
  object INTEGER,                                      -- by kind: event, executable graph, pointer, copy kind of the runtime API
  value INTEGER,                                       -- by kind: bytes, creation flags, value waited for or written
  operation_id INTEGER REFERENCES operation(id),       -- libcoord operation whose function made the call
  stack_id INTEGER REFERENCES stack(id)                -- where in the program
);

CREATE TABLE event_record (
  -- A cudaEventRecord (or driver equivalent): from here on the event stands for the work now in the stream.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  thread_id INTEGER REFERENCES thread(id),             -- thread that called
  name_id INTEGER REFERENCES string(id),               -- function as the program called it
  stream_id INTEGER REFERENCES stream(id),             -- stream whose work the event stands for
  event_id INTEGER REFERENCES event(id),               -- the event
  version INTEGER,                                     -- 1 for the first record of this event, 2 for the second, ...
  start_ns INTEGER,                                    -- entry
  end_ns INTEGER,                                      -- return; NULL: it did not return during the recording
  result INTEGER,                                      -- CUDA's result code, 0 success
  call_number INTEGER,                                 -- number of the call, unique in the process
  correlation_id INTEGER,                              -- CUPTI's number of the call; NULL where CUPTI did not see it
  flags INTEGER,                                       -- {event_record.flags}; NULL none
  operation_id INTEGER REFERENCES operation(id)        -- libcoord operation whose function made the call
);

CREATE TABLE event_wait (
  -- A cudaStreamWaitEvent (or driver equivalent): later work in the stream waits for the record it is bound to.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  thread_id INTEGER REFERENCES thread(id),             -- thread that called
  name_id INTEGER REFERENCES string(id),               -- function as the program called it
  stream_id INTEGER REFERENCES stream(id),             -- stream that waits
  event_id INTEGER REFERENCES event(id),               -- event waited for
  binding INTEGER,                                     -- {event_wait.binding}
  record_id INTEGER REFERENCES event_record(id),       -- the record waited for, only if binding is 0
  start_ns INTEGER,                                    -- entry
  end_ns INTEGER,                                      -- return; NULL: it did not return during the recording
  result INTEGER,                                      -- CUDA's result code, 0 success
  call_number INTEGER,                                 -- number of the call, unique in the process
  correlation_id INTEGER,                              -- CUPTI's number of the call; NULL where CUPTI did not see it
  flags INTEGER,                                       -- the call's own flags, 1 external; NULL none
  operation_id INTEGER REFERENCES operation(id)        -- libcoord operation whose function made the call
);

CREATE TABLE event_wait_candidate (
  -- The records that an ambiguous wait may be bound to.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  event_wait_id INTEGER REFERENCES event_wait(id),     -- a wait with binding 3
  event_record_id INTEGER REFERENCES event_record(id)  -- one of these records
);

CREATE TABLE host_sync (
  -- A call in which the host waits for the device or queries it. Queries that a thread repeats while the result is "not
  -- ready", with no other traced activity in between, are one row: from the entry of the first to the return of the
  -- last.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  thread_id INTEGER REFERENCES thread(id),             -- thread that called
  kind INTEGER,                                        -- {host_sync.kind}
  name_id INTEGER REFERENCES string(id),               -- function as the program called it
  context_id INTEGER REFERENCES context(id),           -- context it acts on
  stream_id INTEGER REFERENCES stream(id),             -- kinds 1, 3 and 5
  event_id INTEGER REFERENCES event(id),               -- kinds 2 and 4
  binding INTEGER,                                     -- kinds 2 and 4: binding to a record, numbered as event_wait.binding
  record_id INTEGER REFERENCES event_record(id),       -- that record, only if binding is 0
  start_ns INTEGER,                                    -- entry
  end_ns INTEGER,                                      -- return; NULL: it did not return during the recording
  result INTEGER,                                      -- CUDA's result code, 0 success, 600 not ready (queries)
  call_number INTEGER,                                 -- number of the call, unique in the process
  correlation_id INTEGER,                              -- CUPTI's number of the call; NULL where CUPTI did not see it
  operation_id INTEGER REFERENCES operation(id),       -- libcoord operation whose function made the call
  stack_id INTEGER REFERENCES stack(id),               -- where in the program
  polls INTEGER                                        -- how many queries the row stands for; binding, record and numbers
                                                       -- are those of the first; NULL: one call
);

CREATE TABLE sync_witness (
  -- CUPTI's own event and synchronization records (tier events): which event record a call refers to. They serve to
  -- check bindings; where threads race they may be wrong.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  correlation_id INTEGER,                              -- CUPTI's number of the call that it is about
  act INTEGER,                                         -- {sync_witness.act}
  sync_id INTEGER,                                     -- equal numbers mean the same record; 0 never recorded or captured
  device_ns INTEGER                                    -- device time of a record, only if requested
);

-- == Device work ==

CREATE TABLE op (
  -- Work that ran, or was to run, on a stream.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  kind INTEGER,                                        -- {op.kind}
  stream_id INTEGER REFERENCES stream(id),             -- stream it ran on
  name_id INTEGER REFERENCES string(id),               -- kernel name; NULL for most others
  start_ns INTEGER,                                    -- start on the device; NULL: not known (tier structure, or lost)
  end_ns INTEGER,                                      -- end on the device; NULL: not known, or it never ended
  call_number INTEGER,                                 -- number of the call that issued it, unique in the process
  correlation_id INTEGER,                              -- CUPTI's number of that call; NULL: not from CUPTI
  api_call_id INTEGER REFERENCES api_call(id),         -- that call; NULL if it was not traced
  detail INTEGER,                                      -- memcpy: direction, {op.detail}; memset: memory kind
  memory_kinds INTEGER,                                -- memcpy: source kind * 16 + destination kind; kinds: {op.memory_kinds}
  bytes INTEGER,                                       -- memcpy, memset: size
  launch_shape_id INTEGER REFERENCES launch_shape(id), -- kernel: grid and block
  graph_node INTEGER,                                  -- CUPTI's id of the graph node it ran for; NULL if none
  channel INTEGER                                      -- hardware channel; NULL if unknown
);

CREATE TABLE launch_shape (
  -- Grid, block and resources of kernel launches; launches of equal shape share a row.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  grid_x INTEGER,                                      -- blocks in x
  grid_y INTEGER,                                      -- blocks in y
  grid_z INTEGER,                                      -- blocks in z
  block_x INTEGER,                                     -- threads of a block in x
  block_y INTEGER,                                     -- threads of a block in y
  block_z INTEGER,                                     -- threads of a block in z
  registers INTEGER,                                   -- registers per thread
  static_shared_bytes INTEGER,                         -- shared memory fixed at compile time, per block
  dynamic_shared_bytes INTEGER                         -- shared memory requested at launch, per block
);

CREATE TABLE kernel_name (
  -- Derived. The short name of a kernel, once for each name of an op of kind 0.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  name_id INTEGER REFERENCES string(id),               -- name as in op
  short_id INTEGER REFERENCES string(id)               -- without return type, scopes, template arguments and parameters
);

-- == Graphs ==

CREATE TABLE graph (
  -- A CUDA graph or an executable graph.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  native_id INTEGER,                                   -- CUPTI's graph id
  executable INTEGER,                                  -- 1: instantiated, can be launched; 0: a template
  source_graph_id INTEGER REFERENCES graph(id),        -- graph it was cloned or instantiated from
  handle INTEGER,                                      -- raw handle (64 bits, as signed)
  created_ns INTEGER,                                  -- NULL if before recording
  destroyed_ns INTEGER                                 -- NULL if not observed
);

CREATE TABLE graph_node (
  -- A node of a graph.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  graph_id INTEGER REFERENCES graph(id),               -- its graph
  native_id INTEGER,                                   -- CUPTI's node id, as in op.graph_node
  kind INTEGER,                                        -- CUgraphNodeType: {graph_node.kind}
  original_native_id INTEGER,                          -- node it was cloned from; NULL if none
  name_id INTEGER REFERENCES string(id),               -- kernel name or label
  call_number INTEGER                                  -- of the call that was captured; NULL: not captured
);

CREATE TABLE graph_edge (
  -- An edge of a graph: to_node runs after from_node.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  graph_id INTEGER REFERENCES graph(id),               -- its graph
  from_node_id INTEGER REFERENCES graph_node(id),      -- the earlier node
  to_node_id INTEGER REFERENCES graph_node(id)         -- the later node
);

-- == libcoord ==

CREATE TABLE operation (
  -- A libcoord operation: a named piece of work with dependencies across streams.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  native_id INTEGER,                                   -- libcoord's number, unique in the process
  thread_id INTEGER REFERENCES thread(id),             -- thread that registered it
  type INTEGER,                                        -- {operation.type}
  priority INTEGER,                                    -- {operation.priority}
  stream_id INTEGER REFERENCES stream(id),             -- stream it is submitted to
  name_id INTEGER REFERENCES string(id),               -- its description
  call_site_id INTEGER REFERENCES string(id),          -- "file:line function" that registered it
  parent_operation_id INTEGER REFERENCES operation(id), -- group it belongs to
  state INTEGER,                                       -- last state observed: {operation.state}
  registered_ns INTEGER,                               -- when it was registered
  begun_ns INTEGER,                                    -- when its submission began
  submitted_ns INTEGER,                                -- when its submission ended
  completed_ns INTEGER                                 -- when its completion (failure, cancellation) was confirmed
);

CREATE TABLE operation_dependency (
  -- A dependency of one operation on another.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  operation_id INTEGER REFERENCES operation(id),       -- the later operation
  depends_on_operation_id INTEGER REFERENCES operation(id), -- the earlier operation
  inferred INTEGER,                                    -- 1: from declared memory ranges, 0: named by the program
  elided INTEGER,                                      -- 1: no wait was issued, because it was implied
  elided_because INTEGER                               -- why: {operation_dependency.elided_because}; NULL: not elided,
                                                       -- or not reported
);

CREATE TABLE operation_op (
  -- The ops that an operation's function issued.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  operation_id INTEGER REFERENCES operation(id),       -- the operation
  op_id INTEGER REFERENCES op(id)                      -- one of its ops
);

CREATE TABLE barrier (
  -- A libcoord barrier across streams.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  name_id INTEGER REFERENCES string(id),               -- its description
  operation_id INTEGER REFERENCES operation(id),       -- operation it is part of
  first_arrival_ns INTEGER,                            -- host time at which the first stream arrived
  release_ns INTEGER                                   -- when the host observed that all had passed; NULL: it did not
);

CREATE TABLE barrier_stream (
  -- A stream that took part in a barrier.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  barrier_id INTEGER REFERENCES barrier(id),           -- the barrier
  stream_id INTEGER REFERENCES stream(id),             -- the stream
  arrival_ns INTEGER,                                  -- host time of its arrival
  elided INTEGER                                       -- 1: its wait was implied and not issued
);

CREATE TABLE pool (
  -- A pool of reusable objects.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  kind INTEGER,                                        -- {pool.kind}
  name_id INTEGER REFERENCES string(id),               -- its name
  capacity INTEGER                                     -- most elements it may hold; NULL: no limit
);

CREATE TABLE pool_sample (
  -- The state of a pool at an instant.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  pool_id INTEGER REFERENCES pool(id),                 -- the pool
  start_ns INTEGER,                                    -- the instant
  available INTEGER,                                   -- free elements (bytes for memory)
  in_use INTEGER,                                      -- elements handed out (bytes for memory)
  high_water INTEGER,                                  -- most ever handed out
  wait_ns INTEGER                                      -- time spent waiting for an element since the last sample
);

CREATE TABLE timeline (
  -- A libcoord timeline: a number that only grows, signaled and waited for by host threads and streams.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  native_id INTEGER,                                   -- libcoord's number, unique in the process
  name_id INTEGER REFERENCES string(id),               -- its name
  initial INTEGER                                      -- initial value (64 bits, as signed)
);

CREATE TABLE timeline_point (
  -- A signal, a wait or another change of a timeline.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  timeline_id INTEGER REFERENCES timeline(id),         -- the timeline
  act INTEGER,                                         -- {timeline_point.act}
  value INTEGER,                                       -- the value signaled, waited for or reached (64 bits, as signed)
  thread_id INTEGER REFERENCES thread(id),             -- the thread that called, or observed it
  stream_id INTEGER REFERENCES stream(id),             -- the stream that signals or waits; NULL: the thread does
  start_ns INTEGER                                     -- when
);

CREATE TABLE task_queue (
  -- A libcoord task queue for host threads, or for warps of a GPU that stay resident during a run.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  native_id INTEGER,                                   -- libcoord's number
  name_id INTEGER REFERENCES string(id),               -- its name
  on_device INTEGER,                                   -- 0: its workers are host threads, 1: warps of a GPU
  workers INTEGER                                      -- number of workers
);

CREATE TABLE task_run (
  -- A run of a GPU task queue: one kernel, whose warps are the workers.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  task_queue_id INTEGER REFERENCES task_queue(id),     -- its queue
  native_id INTEGER,                                   -- its number in the queue, from 0
  thread_id INTEGER REFERENCES thread(id),             -- thread that started it
  call_number INTEGER,                                 -- launch of its workers, as in op; NULL if not traced
  operation_id INTEGER REFERENCES operation(id),       -- operation that started it, if any
  left_out INTEGER                                     -- tasks that ran without a row: the buffer was full, or they ran where
                                                       -- they were spawned; NULL: the end of the run was not observed
);

CREATE TABLE task (
  -- A task that a worker ran. v_task converts the times of GPU tasks to trace time.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  task_queue_id INTEGER REFERENCES task_queue(id),     -- its queue
  task_run_id INTEGER REFERENCES task_run(id),         -- the run it belongs to; NULL on the host
  number INTEGER,                                      -- host: submission index, from 0; GPU: the task as the program names it
                                                       -- (64 bits, as signed)
  worker INTEGER,                                      -- worker that ran it, from 0
  thread_id INTEGER REFERENCES thread(id),             -- the worker's thread; NULL on a GPU
  sm INTEGER,                                          -- multiprocessor that ran it; NULL on the host
  type INTEGER,                                        -- type of work that is pinned to a stream; NULL if none
  start_ns INTEGER,                                    -- host: start; NULL on a GPU
  offset_ns INTEGER,                                   -- GPU: start, relative to the start of the run's kernel; NULL on the host
  duration_ns INTEGER                                  -- how long it ran
);

CREATE TABLE allocation (
  -- One lifetime of a memory block (recorded with --with alloc, or reported by libcoord). With --with accesses only
  -- tensors are recorded.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  kind INTEGER,                                        -- {allocation.kind}
  address INTEGER,                                     -- start (64 bits, as signed)
  bytes INTEGER,                                       -- size
  alloc_stream_id INTEGER REFERENCES stream(id),       -- stream it was allocated on, if stream-ordered
  alloc_call_id INTEGER REFERENCES api_call(id),       -- the call that allocated it
  allocated_ns INTEGER,                                -- when
  free_stream_id INTEGER REFERENCES stream(id),        -- stream it was freed on, if stream-ordered
  free_call_id INTEGER REFERENCES api_call(id),        -- the call that freed it
  freed_ns INTEGER,                                    -- when; NULL: not during the recording
  alloc_thread_id INTEGER REFERENCES thread(id),       -- kind 5: the thread that asked for it
  alloc_stack_id INTEGER REFERENCES stack(id)          -- kind 5: the stack there
);

CREATE TABLE access (
  -- Memory that an op, a libcoord operation or host code reads or writes, as far as known: copies and memsets always,
  -- others if the program declares them, with --with accesses, or with --with args.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  thread_id INTEGER REFERENCES thread(id),             -- the thread that issued or declared it, or touches the memory itself
  source INTEGER,                                      -- how it is known: {access.source}. Source 3 is only a possible access,
                                                       -- listed if the word points into allocated memory. The kernel does not
                                                       -- write through a parameter that is const in its name; which bytes it
                                                       -- touches, if any, is not known. With --with accesses it is listed only
                                                       -- of kernels that may copy by TMA, if no tensor map among their
                                                       -- parameters is known. Source 4: exactly these bytes; a row without
                                                       -- address has 0 bytes if the call touched nothing, and no bytes if not
                                                       -- everything that it touched is known. Source 5: only a possible access,
                                                       -- by the tensor maps among the parameters
  writes INTEGER,                                      -- {access.writes}; NULL: source 3
  address INTEGER,                                     -- start (64 bits, as signed)
  bytes INTEGER,                                       -- size, of one row; NULL: source 3
  pitch_bytes INTEGER,                                 -- from row to row; NULL: one row
  rows INTEGER,                                        -- rows; NULL: one
  call_number INTEGER,                                 -- call that issued the work, as in op and graph_node; NULL for sources 1 and 2
  operation_id INTEGER REFERENCES operation(id),       -- operation that declared it (source 1)
  parameter INTEGER,                                   -- index of the kernel parameter that contains the word, from 0 (source 3)
  start_ns INTEGER,                                    -- source 2: when host code touched it; else when it was declared or issued
  signals INTEGER                                      -- source 4: what the kernel's code allows beside kernels that run at the
                                                       -- same time, the sum of: {access.signals}; NULL: neither
);

-- == Annotations, stacks and overhead ==

CREATE TABLE range (
  -- An NVTX range.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  thread_id INTEGER REFERENCES thread(id),             -- thread that opened it
  kind INTEGER,                                        -- {range.kind}
  domain_id INTEGER REFERENCES string(id),             -- NVTX domain; NULL the default domain
  name_id INTEGER REFERENCES string(id),               -- its message
  category INTEGER,                                    -- NVTX category; NULL none
  color INTEGER,                                       -- 0xAARRGGBB; NULL none
  payload INTEGER,                                     -- NVTX payload bits; NULL none
  depth INTEGER,                                       -- push_pop: number of open ranges around it on its thread and domain
  start_ns INTEGER,                                    -- opened
  end_ns INTEGER,                                      -- closed; NULL: not during the recording
  operation_id INTEGER REFERENCES operation(id)        -- libcoord operation it stands for
);

CREATE TABLE mark (
  -- An NVTX mark.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  thread_id INTEGER REFERENCES thread(id),             -- thread that set it
  domain_id INTEGER REFERENCES string(id),             -- NVTX domain; NULL the default domain
  name_id INTEGER REFERENCES string(id),               -- its message
  category INTEGER,                                    -- NVTX category; NULL none
  color INTEGER,                                       -- 0xAARRGGBB; NULL none
  start_ns INTEGER                                     -- when
);

CREATE TABLE collective_call (
  -- A collective, send or receive that a thread called, as the library or the profile describes it. Its kernels are those that the
  -- thread launched meanwhile, or at the end of NCCL's group of calls.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  thread_id INTEGER REFERENCES thread(id),             -- thread that called it
  name_id INTEGER REFERENCES string(id),               -- its name there: ncclAllReduce, nccl:all_reduce, MPI_Bcast
  communicator_id INTEGER REFERENCES string(id),       -- name of its communicator, equal on all ranks; NULL unknown
  rank_count INTEGER,                                  -- ranks of the communicator; NULL unknown
  rank INTEGER,                                        -- of this process in the communicator; NULL unknown
  sequence INTEGER,                                    -- its number in the communicator, if its source gives one
  bytes INTEGER,                                       -- that this rank contributes; NULL unknown
  peer INTEGER,                                        -- send, receive: rank of the other side in the communicator; NULL unknown
  start_ns INTEGER,                                    -- entered
  end_ns INTEGER                                       -- returned; of gloo and MPI, done; NULL: not during the recording
);

CREATE TABLE stack (
  -- A call stack; calls with the same stack share a row.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  hash INTEGER,                                        -- hash of its frames (64 bits, as signed)
  frame_count INTEGER                                  -- number of frames in stack_frame
);

CREATE TABLE stack_frame (
  -- A frame of a call stack.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  stack_id INTEGER REFERENCES stack(id),               -- the stack
  depth INTEGER,                                       -- 0 the innermost frame
  kind INTEGER,                                        -- {stack_frame.kind}
  address INTEGER,                                     -- native: address in the module's own file; NULL otherwise
  symbol_id INTEGER REFERENCES string(id),             -- function, with file and line where known
  module_id INTEGER REFERENCES string(id)              -- native: path of the module
);

CREATE TABLE overhead (
  -- Time that the profiler or the driver spent on itself, as CUPTI reports it.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  thread_id INTEGER REFERENCES thread(id),             -- thread that it delayed, if any
  name_id INTEGER REFERENCES string(id),               -- what it was, e.g. "buffer flush"
  start_ns INTEGER,                                    -- start
  end_ns INTEGER                                       -- end
);

CREATE TABLE cost_window (
  -- A part of a run of record --measure-cost: recording is switched off and on in turns, and the program's progress with
  -- it shows the cost. While it is off, only calls that create or destroy objects are in the trace.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  start_ns INTEGER,                                    -- when recording was switched
  end_ns INTEGER,                                      -- when it was switched again; NULL: not before the end of the process
  recorded INTEGER,                                    -- 1: recording was on, 0: it was off
  progress INTEGER                                     -- calls made in it, or ends of the named range; NULL if not known
);

-- == Hangs ==

CREATE TABLE hang (
  -- A hang that was diagnosed during the recording: what waited for what, and the verdict.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- its process
  start_ns INTEGER,                                    -- when it was diagnosed
  verdict_id INTEGER REFERENCES string(id),            -- kebab-case kind of hang
  text_id INTEGER REFERENCES string(id)                -- explanation, human-readable
);

CREATE TABLE hang_node (
  -- A node of the wait-for graph of a hang.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  hang_id INTEGER REFERENCES hang(id),                 -- its hang
  kind INTEGER,                                        -- {hang_node.kind}
  object_id INTEGER,                                   -- row of the table that `kind` names; NULL for outside
  name_id INTEGER REFERENCES string(id),               -- display label
  in_cycle INTEGER,                                    -- 1: part of the cycle that proves the deadlock
  stack_id INTEGER REFERENCES stack(id)                -- kind 0: call stack of the thread, if known
);

CREATE TABLE hang_edge (
  -- from_node waits for to_node.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  hang_id INTEGER REFERENCES hang(id),                 -- its hang
  from_node_id INTEGER REFERENCES hang_node(id),       -- who waits
  to_node_id INTEGER REFERENCES hang_node(id),         -- for whom
  kind INTEGER,                                        -- {hang_edge.kind}
  reason_id INTEGER REFERENCES string(id)              -- why, human-readable
);

CREATE TABLE thread_sample (
  -- What a thread did when its process hung, sampled from outside. All threads of one sample have the same time.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  thread_id INTEGER REFERENCES thread(id),             -- the thread
  at_ns INTEGER,                                       -- when
  state INTEGER,                                       -- the system's letter as a number: 82 R running or runnable, 83 S
                                                       -- sleeping, 68 D waiting in the kernel
  ran_ns INTEGER,                                      -- CPU time that it used while it was sampled; NULL if unknown
  stack_id INTEGER REFERENCES stack(id),               -- its call stack; NULL if it could not be read
  lock_address INTEGER,                                -- mutex that it waits for; NULL if none
  lock_owner_id INTEGER REFERENCES thread(id)          -- thread that holds that mutex
);

CREATE TABLE host_sample (
  -- What a thread that issues work did, sampled from outside at intervals of random length (record --samples). Imported
  -- from nsys: its samples while the thread ran, and samples of its context switches while it had no processor. Imported from
  -- PyTorch's profiler: the functions and operators that were open on the thread at one instant of each period.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  thread_id INTEGER REFERENCES thread(id),             -- the thread
  at_ns INTEGER,                                       -- when
  runs INTEGER,                                        -- 1: it runs or is ready to, 0: it waits in the kernel; NULL: unknown
  system_call INTEGER,                                 -- runs 0: number on x86-64 of the system call in which it waits; -1:
                                                       -- elsewhere, as in a page fault; -2: a call that x86-64 lacks
  ran_ns INTEGER,                                      -- CPU time since its sample before; NULL if unknown
  delayed_ns INTEGER,                                  -- time since then that it was ready, but had no processor
  stack_id INTEGER REFERENCES stack(id)                -- its call stack; NULL if it could not be read
);

CREATE TABLE probe (
  -- A query about a stream when its process hung, from a dedicated thread inside the process.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- the process
  at_ns INTEGER,                                       -- when it returned or was given up
  kind INTEGER,                                        -- {probe.kind}
  stream_id INTEGER REFERENCES stream(id),             -- the stream; NULL for kind 3
  record_id INTEGER REFERENCES event_record(id),       -- kind 0: the newest record of the event
  address INTEGER,                                     -- kind 2: address of the word
  value INTEGER,                                       -- kind 2: value of the word; NULL if the host cannot read it
  result INTEGER                                       -- CUDA's result code, 600 not ready; NULL: no answer within the limit
);

-- == Derived tables ==

CREATE TABLE edge (
  -- Derived. An ordering between two ops, other than the order of one stream; v_edge adds that order.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  kind INTEGER,                                        -- {edge.kind}
  from_op_id INTEGER REFERENCES op(id),                -- the earlier op
  to_op_id INTEGER REFERENCES op(id),                  -- the later op
  event_record_id INTEGER REFERENCES event_record(id), -- kind 1: the record
  event_wait_id INTEGER REFERENCES event_wait(id)      -- kind 1: the wait
);

CREATE TABLE wait_cause (
  -- Derived. Why an op started late: parts of the gap before it, which sum to the gap.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  op_id INTEGER REFERENCES op(id),                     -- the op that started late
  cause INTEGER,                                       -- {wait_cause.cause}. Causes 0, 9, 11 and 13 to 16: the
                                                       -- stream was empty, and this is what the issuing thread did
  duration_ns INTEGER,                                 -- length of this part
  edge_id INTEGER REFERENCES edge(id),                 -- the edge responsible, if one is
  because_op_id INTEGER REFERENCES op(id),             -- the op responsible, if one is
  host_sync_id INTEGER REFERENCES host_sync(id),       -- cause 11: the last synchronization in which the host was blocked
  call_name_id INTEGER REFERENCES string(id)           -- causes 13 and 14: name of the longest call; 15: of the other thread's call
);

CREATE TABLE critical_path (
  -- Derived. The chain of steps that determined how long the run took, in order.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  step INTEGER,                                        -- 0, 1, 2, ... from the start of the run
  kind INTEGER,                                        -- {critical_path.kind}
  op_id INTEGER REFERENCES op(id),                     -- kind 0: the op; kinds 2 and 3: the op waited for
  host_sync_id INTEGER REFERENCES host_sync(id),       -- kind 1: the synchronization
  start_ns INTEGER,                                    -- start of the step
  end_ns INTEGER                                       -- end of the step
);

CREATE TABLE finding (
  -- Derived. Something a detector found.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  detector_id INTEGER REFERENCES string(id),           -- kebab-case id of the detector
  severity INTEGER,                                    -- {finding.severity}
  title_id INTEGER REFERENCES string(id),              -- one line
  text_id INTEGER REFERENCES string(id),               -- explanation and remedy
  first_op_id INTEGER REFERENCES op(id),               -- the op that it is about
  second_op_id INTEGER REFERENCES op(id),              -- the other op, if two are involved
  count INTEGER,                                       -- number of occurrences
  gain_ns INTEGER,                                     -- estimated time that a fix saves; NULL: not estimated
  start_ns INTEGER,                                    -- start of its first occurrence
  end_ns INTEGER,                                      -- end of that interval
  confidence INTEGER,                                  -- {finding.confidence}
  event_record_id INTEGER REFERENCES event_record(id), -- the record that it is about, if any
  event_wait_id INTEGER REFERENCES event_wait(id),     -- the wait that it is about, if any
  host_sync_id INTEGER REFERENCES host_sync(id),       -- the synchronization that it is about, if any
  last_ns INTEGER,                                     -- time of its last occurrence
  thread_text_id INTEGER REFERENCES string(id),        -- thread that the text names
  call_site_id INTEGER REFERENCES string(id),          -- function and line that the text names
  ranges_id INTEGER REFERENCES string(id),             -- NVTX ranges that the text names, outermost first, separated by /
  iteration_ns INTEGER,                                -- predicted duration of an iteration without recording; NULL: there are
                                                       -- no iterations
  repaired_iteration_ns INTEGER                        -- the same with a fix
);

CREATE TABLE lod (
  -- Derived. Level-of-detail pyramid: what a viewer draws when ops are narrower than a pixel. A row stands for a time
  -- cell of one stream and the ops that start in it. The cells of a level are equally wide, and four times as wide as
  -- those of the level below. Traces that are small enough to be drawn op by op have no rows.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  level INTEGER,                                       -- 0 the finest
  stream_id INTEGER REFERENCES stream(id),             -- the lane
  start_ns INTEGER,                                    -- start of the first op in the cell
  end_ns INTEGER,                                      -- end of its last op
  busy_ns INTEGER,                                     -- time in it during which an op ran
  count INTEGER,                                       -- ops in it
  longest_op_id INTEGER REFERENCES op(id),             -- the longest of them
  kind INTEGER,                                        -- of the longest: {op.kind}
  detail INTEGER                                       -- of the longest, as op.detail
);

CREATE TABLE iteration (
  -- Derived. The iterations of the process with the most device time, in order and without gaps.
  id INTEGER PRIMARY KEY,                              -- dense from 0
  process_id INTEGER REFERENCES process(id),           -- whose they are
  source INTEGER,                                      -- how they were found: {iteration.source}
  name_id INTEGER REFERENCES string(id),               -- name of the ranges
  start_ns INTEGER,                                    -- end of the iteration before; of the first: its issue
  end_ns INTEGER,                                      -- when its work and all work before it was done
  issued_ns INTEGER,                                   -- when the host began it
  last_op_id INTEGER REFERENCES op(id),                -- the op that ended last
  count INTEGER,                                       -- ops in it
  steady INTEGER                                       -- 1: in the steady part, behind start-up and warm-up
);

-- == Views ==
-- Views are stable: they keep their columns and meaning; new columns are added at the end.

CREATE VIEW v_op (
  id, kind, name, process, device, context, stream, stream_name, start_ns, end_ns, correlation_id, operation, call_number) AS
  -- Every op with names instead of numbers. kind is text; name is the op's name, or the direction of a copy without a
  -- name; process, device, context and stream are ids of those tables; operation is the libcoord operation whose
  -- function issued the op.
  SELECT op.id,
         {op.kind: op.kind},
         coalesce(name.value,
                  CASE WHEN op.kind = 0 THEN NULL
                       WHEN op.kind = 1 AND op.detail > 0 THEN
                         coalesce('memcpy ' || {op.detail: op.detail}, 'memcpy')
                       ELSE replace({op.kind: op.kind}, '_', ' ') END),
         context.process_id, context.device_id, stream.context_id, op.stream_id, stream_name.value,
         op.start_ns, op.end_ns, op.correlation_id,
         (SELECT operation_id FROM api_call WHERE api_call.id = op.api_call_id), op.call_number
    FROM op
    LEFT JOIN stream ON stream.id = op.stream_id
    LEFT JOIN context ON context.id = stream.context_id
    LEFT JOIN string AS name ON name.id = op.name_id
    LEFT JOIN string AS stream_name ON stream_name.id = stream.name_id;

CREATE VIEW v_api_call (
  source, id, kind, name, process, thread, stream, start_ns, end_ns, result, correlation_id, operation, call_number) AS
  -- Every traced call. source is its table and id its row there; kind is text; name is the function as the program
  -- called it; process, thread, stream and operation are ids of those tables.
  SELECT call.source, call.id, call.kind, string.value, thread.process_id, call.thread_id, call.stream_id, call.start_ns,
         call.end_ns, call.result, call.correlation_id, call.operation_id, call.call_number
    FROM (SELECT 'api_call' AS source, id,
                 {api_call.kind: kind} AS kind,
                 name_id, thread_id, stream_id, start_ns, end_ns, result, correlation_id, operation_id, call_number
            FROM api_call
          UNION ALL
          SELECT 'event_record', id, 'event_record', name_id, thread_id, stream_id, start_ns, end_ns, result,
                 correlation_id, operation_id, call_number
            FROM event_record
          UNION ALL
          SELECT 'event_wait', id, 'stream_wait', name_id, thread_id, stream_id, start_ns, end_ns, result,
                 correlation_id, operation_id, call_number
            FROM event_wait
          UNION ALL
          SELECT 'host_sync', id,
                 {v_api_call.kind: kind},
                 name_id, thread_id, stream_id, start_ns, end_ns, result, correlation_id, operation_id, call_number
            FROM host_sync) AS call
    LEFT JOIN thread ON thread.id = call.thread_id
    LEFT JOIN string ON string.id = call.name_id;

CREATE VIEW v_edge (kind, from_op, to_op, lag_ns, event_record, event_wait) AS
  -- Every ordering between two ops. kind is one of {v_edge.kind}; fifo orders neighbors in one stream. from_op and to_op
  -- are ids of op; lag_ns is the time from the end of the first to the start of the second, negative if they overlapped;
  -- event_record and event_wait are ids, for kind event. Nodes of a graph launch are ordered by the graph, not by fifo.
  SELECT pair.kind, pair.from_op, pair.to_op, later.start_ns - earlier.end_ns, pair.event_record, pair.event_wait
    FROM (SELECT 'fifo' AS kind, from_op, to_op, NULL AS event_record, NULL AS event_wait
            FROM (SELECT lag(id) OVER (PARTITION BY stream_id
                                       ORDER BY start_ns IS NULL, start_ns, api_call_id, id) AS from_op, id AS to_op
                    FROM op WHERE graph_node IS NULL AND stream_id IS NOT NULL)
           WHERE from_op IS NOT NULL
          UNION ALL
          SELECT {edge.kind: kind}, from_op_id, to_op_id,
                 event_record_id, event_wait_id
            FROM edge) AS pair
    JOIN op AS earlier ON earlier.id = pair.from_op
    JOIN op AS later ON later.id = pair.to_op;

CREATE VIEW v_wait (op, name, stream, cause, duration_ns, because_op, because_name, edge) AS
  -- Why ops started late: one row per op and cause. The durations of an op sum to the gap before it. because_op is the
  -- op responsible and edge the row of `edge`, if there is one. Needs the derived tables (streamscope analyze).
  SELECT wait_cause.op_id, name.value, op.stream_id,
         {wait_cause.cause: wait_cause.cause},
         wait_cause.duration_ns, wait_cause.because_op_id, because_name.value, wait_cause.edge_id
    FROM wait_cause
    LEFT JOIN op ON op.id = wait_cause.op_id
    LEFT JOIN string AS name ON name.id = op.name_id
    LEFT JOIN op AS because ON because.id = wait_cause.because_op_id
    LEFT JOIN string AS because_name ON because_name.id = because.name_id;

CREATE VIEW v_overlap (device, kernel_ns, copy_ns, both_ns) AS
  -- Per device: time during which a kernel ran, time during which a copy or memset ran, and time during which both did.
  SELECT device, coalesce(sum(span) FILTER (WHERE kernels > 0), 0), coalesce(sum(span) FILTER (WHERE copies > 0), 0),
         coalesce(sum(span) FILTER (WHERE kernels > 0 AND copies > 0), 0)
    FROM (SELECT device,
                 lead(at_ns) OVER sweep - at_ns AS span,
                 sum(kernel) OVER sweep_rows AS kernels,
                 sum(copy) OVER sweep_rows AS copies
            FROM (SELECT context.device_id AS device, op.start_ns AS at_ns, op.kind = 0 AS kernel, op.kind <> 0 AS copy
                    FROM op JOIN stream ON stream.id = op.stream_id JOIN context ON context.id = stream.context_id
                   WHERE op.kind <= 2 AND op.start_ns IS NOT NULL AND op.end_ns IS NOT NULL
                  UNION ALL
                  SELECT context.device_id, op.end_ns, -(op.kind = 0), -(op.kind <> 0)
                    FROM op JOIN stream ON stream.id = op.stream_id JOIN context ON context.id = stream.context_id
                   WHERE op.kind <= 2 AND op.start_ns IS NOT NULL AND op.end_ns IS NOT NULL)
          WINDOW sweep AS (PARTITION BY device ORDER BY at_ns),
                 sweep_rows AS (PARTITION BY device ORDER BY at_ns ROWS UNBOUNDED PRECEDING))
   GROUP BY device;

CREATE VIEW v_queue_depth (process, stream, stream_name, at_ns, depth) AS
  -- How many libcoord operations of a stream were submitted and not known to have ended, at each instant when that
  -- number changed.
  SELECT process, stream, string.value, at_ns, sum(change) OVER (PARTITION BY stream ORDER BY at_ns, change DESC ROWS UNBOUNDED PRECEDING)
    FROM (SELECT process_id AS process, stream_id AS stream, submitted_ns AS at_ns, 1 AS change
            FROM operation WHERE submitted_ns IS NOT NULL AND stream_id IS NOT NULL
          UNION ALL
          SELECT process_id, stream_id, completed_ns, -1
            FROM operation WHERE submitted_ns IS NOT NULL AND completed_ns IS NOT NULL AND stream_id IS NOT NULL)
    JOIN stream ON stream.id = stream
    LEFT JOIN string ON string.id = stream.name_id;

CREATE VIEW v_task (
  id, queue, task, worker, thread, sm, type, start_ns, end_ns, duration_ns, op, operation) AS
  -- Every task of a task queue. queue is its name; thread (of host workers) and op (of GPU workers) are ids; start_ns
  -- is NULL if the time of that op is not known; operation is the one that started the run.
  SELECT task.id, string.value, task.number, task.worker, task.thread_id, task.sm, task.type,
         coalesce(task.start_ns, run.start_ns + task.offset_ns),
         coalesce(task.start_ns, run.start_ns + task.offset_ns) + task.duration_ns, task.duration_ns, run.op, run.operation_id
    FROM task
    LEFT JOIN task_queue ON task_queue.id = task.task_queue_id
    LEFT JOIN string ON string.id = task_queue.name_id
    LEFT JOIN (SELECT task_run.id, task_run.operation_id, op.id AS op, op.start_ns
                 FROM task_run
                 JOIN thread ON thread.id = task_run.thread_id
                 LEFT JOIN (SELECT op.id, op.start_ns, op.call_number, context.process_id
                              FROM op JOIN stream ON stream.id = op.stream_id JOIN context ON context.id = stream.context_id
                             WHERE op.kind = 0 AND op.call_number IN (SELECT call_number FROM task_run)) AS op
                   ON op.call_number = task_run.call_number AND op.process_id = thread.process_id) AS run
      ON run.id = task.task_run_id;

CREATE VIEW v_critical_path (step, kind, name, stream, op, host_sync, start_ns, end_ns) AS
  -- The steps that determined how long the run took, in order: kind is one of {v_critical_path.kind}. Needs the derived
  -- tables (streamscope analyze).
  SELECT critical_path.step,
         {critical_path.kind: critical_path.kind},
         string.value, op.stream_id, critical_path.op_id, critical_path.host_sync_id, critical_path.start_ns,
         critical_path.end_ns
    FROM critical_path
    LEFT JOIN op ON op.id = critical_path.op_id
    LEFT JOIN host_sync ON host_sync.id = critical_path.host_sync_id
    LEFT JOIN string ON string.id = CASE critical_path.kind WHEN 1 THEN host_sync.name_id ELSE op.name_id END
   ORDER BY critical_path.step;
