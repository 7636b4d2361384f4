// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The fixed-size records that travel from an observed process to the writer.
//
// `profiler/collect` fills them inside the target, `profiler/record` reads them outside. A record
// states one fact as it was observed and resolves nothing: handles stay raw, texts are named by
// their hash, times are clock ticks. Everything that needs more than one fact (identity of reused
// handles, versions of events, which record a wait binds to) is worked out by the writer from the
// stamps, so that the target pays for stores only.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "vocabulary/access_source.h"
#include "vocabulary/fnv1a.h"
#include "vocabulary/operation.h"
#include "vocabulary/stream_kind.h"

namespace streamscope::ring {

/// Version of everything in this header and in ring.h and control.h. Both sides must agree exactly.
inline constexpr uint32_t kLayoutVersion = 22;

/// A text, named by a 64-bit hash of its bytes. 0 is "no text". The bytes follow in kText records
/// of any ring of the same process, before or after the first use.
using TextHash = uint64_t;

/// FNV-1a, never 0 for a non-empty text.
constexpr TextHash hash_text(std::string_view text) {
  if (text.empty()) return 0;
  const uint64_t hash = fnv1a(text);
  return hash == 0 ? 1 : hash;
}

enum class RecordKind : uint8_t {
  kNone = 0,
  // Facts about the process and its objects.
  kText,     // TextRecord: a chunk of a text
  kProcess,  // ProcessRecord: first record of a process
  kThread,   // ThreadRecord: the records after it in this ring belong to this thread
  kDevice,   // DeviceRecord
  kContext,  // ContextRecord
  kStream,   // StreamRecord: identity of a stream handle in a context
  kName,     // NameRecord: the program named a thread, stream, event, ...
  kModule,   // ModuleRecord: a loaded file, for symbolizing stacks
  kStack,    // StackRecord: a chunk of a call stack
  // What the host did.
  kCall,          // CallRecord: one CUDA call, written at its exit
  kRangePush,     // RangeRecord
  kRangePop,      // RangeRecord
  kRangeStart,    // RangeRecord; `id` matches the kRangeEnd
  kRangeEnd,      // RangeRecord
  kMark,          // RangeRecord
  kCommunicator,  // CommunicatorRecord: the process is in a communicator of NCCL's
  // What the device did (times in nanoseconds of CLOCK_MONOTONIC, or virtual).
  kKernel,       // OpRecord
  kMemcpy,       // OpRecord
  kMemset,       // OpRecord
  kGraphLaunch,  // OpRecord: one whole launch of a graph
  kDeviceWork,   // OpRecord: host function, memory wait or memory write executed on a stream
                 // (simulator)
  kLaunchShape,  // LaunchShapeRecord
  kSyncWitness,  // SyncWitnessRecord: CUPTI's own pairing of records and waits (tier events)
  kOverhead,     // OverheadRecord: time taken by the profiler or the driver itself
  kCorrelation,  // CorrelationRecord: the number that CUPTI gave a call
  // Graph structure.
  kGraph,      // GraphRecord
  kGraphNode,  // GraphNodeRecord
  kGraphEdge,  // GraphEdgeRecord
  // What libcoord knows.
  kOperation,              // OperationRecord
  kOperationDependencies,  // OperationDependenciesRecord
  kOperationState,         // OperationStateRecord
  kOperationsCompleted,    // OperationsCompletedRecord
  kPool,                   // PoolRecord
  kPoolSample,             // PoolSampleRecord
  kBarrier,                // BarrierRecord
  kBarrierStream,          // BarrierStreamRecord
  kBarrierArrival,         // BarrierArrivalRecord
  kTimeline,               // TimelineRecord
  kTimelinePoint,          // TimelinePointRecord
  kTaskQueue,              // TaskQueueRecord
  kTaskRun,                // TaskRunRecord
  kTask,                   // TaskRecord
  // Which memory is accessed.
  kAccess,           // AccessRecord
  kKernelArguments,  // KernelArgumentsRecord (--with args)
  kTensorBlock,      // TensorBlockRecord (--with alloc, accesses)
  // What the collector itself reports.
  kDropped,     // LossRecord: this ring was full
  kLoss,        // LossRecord: anything else that is missing
  kCollecting,  // CollectingRecord: recording switched on or off (delay, duration, capture range,
                // cost)
  kEnd,         // EndRecord: the process is ending normally
  kAnswer,      // AnswerRecord
  kDump,        // CollectingRecord: the program requests a dump of the flight recorder
  kWaits,       // WaitsRecord; the next two follow it in the same ring
  kWaitParty,   // WaitPartyRecord
  kWaitLinks,   // WaitLinksRecord
};

enum RecordFlags : uint8_t {
  kPerThread = 1 << 0,    // the call was the per-thread-default-stream variant
  kVirtualTime = 1 << 1,  // times are simulated nanoseconds since 0, not ticks
  kCapturing = 1 << 2,    // the call's stream was being captured into a graph
  kDriverCall = 1 << 3,   // made directly at the driver API
  kUnfinished = 1 << 4,   // OpRecord: begin or end was not delivered (0)
  kPolls = 1 << 5,        // CallRecord: a query that was not ready; `value` is a PollWord
  // CallRecord: the call has a number of the collector. OpRecord: its call has one, and a
  // CorrelationRecord leads to it.
  kOwnNumber = 1 << 6,
  kCollective = 1 << 7,  // RangeRecord: a call of NCCL's
};

/// Wire value for "none" in 32-bit id fields.
inline constexpr uint32_t kNone32 = 0xffffffffu;

/// Index into the call table (calls.h).
using CallId = uint16_t;

/// Every record starts like this; the rest of its 64 bytes depends on `kind`.
struct RecordStart {
  RecordKind kind;
  uint8_t flags;  // RecordFlags
};

struct RecordHead : RecordStart {
  uint16_t small;
  uint32_t word;
};

/// Opaque storage of one record.
struct alignas(64) Record {
  RecordHead head;
  unsigned char payload[56];
};
static_assert(sizeof(Record) == 64);

/// A text longer than one chunk is several consecutive records in one ring.
struct TextRecord : RecordStart {
  uint16_t chunk_bytes;  // bytes used in `bytes`
  uint32_t total_bytes;
  TextHash hash;
  uint32_t offset;
  char bytes[44];
};

struct ProcessRecord : RecordStart {
  uint16_t reserved;
  uint32_t parent_pid;
  uint64_t begin;  // ticks at which the collector started
  TextHash executable;
  TextHash command_line;  // arguments separated by '\0'
  TextHash environment;   // variables as NAME=VALUE, separated by '\0'
  TextHash host;
  TextHash collector;  // e.g. "cupti 130001, tier times" or "coord simulator"
  uint64_t unused;
};

struct ThreadRecord : RecordStart {
  uint16_t reserved;
  uint32_t tid;
  uint64_t begin;  // ticks
  TextHash name;
  // A Python thread: addresses of its PyThreadState, PyCode_Type and PyUnicode_Type; 0: none.
  uint64_t python_state, python_code_type, python_text_type;
  uint32_t python_minor;  // 3.x
  uint32_t unused[3];
};

struct DeviceRecord : RecordStart {
  uint16_t compute_capability;  // 10 * major + minor
  uint32_t ordinal;
  TextHash name;
  TextHash uuid;
  uint64_t memory_bytes;
  uint32_t sm_count;
  uint32_t copy_engines;
  uint32_t max_connections;  // hardware queues, 0 if unknown
  uint32_t simulated;
  uint64_t unused[2];
};

struct ContextRecord : RecordStart {
  uint16_t reserved;
  uint32_t context;      // process-unique id, as in CallRecord
  uint32_t device;       // ordinal
  uint32_t null_stream;  // CUPTI id of the legacy default stream, kNone32 if unknown
  uint64_t handle;
  uint64_t begin;  // ticks
  uint64_t unused[4];
};

struct StreamRecord : RecordStart {
  uint8_t stream_kind;  // StreamKind
  uint8_t destroyed;    // 1: the handle is destroyed here
  uint32_t context;
  uint64_t handle;  // 0 for the legacy stream, 2 for a per-thread default stream
  uint64_t begin;   // ticks
  uint32_t stream;  // device-side id within the context (CUPTI stream id), as in OpRecord
  int32_t priority;
  uint32_t tid;  // per-thread default streams: their thread
  uint32_t reserved;
  TextHash name;
  uint64_t unused[2];
};

enum class ObjectKind : uint8_t { kThread, kStream, kEvent, kContext, kDevice, kDomain, kCategory };

struct NameRecord : RecordStart {
  uint8_t object_kind;  // ObjectKind
  uint8_t reserved;
  uint32_t context;  // kNone32 if unknown
  uint64_t object;   // handle, tid, ...
  TextHash name;
  uint64_t begin;  // ticks or virtual ns
  uint64_t unused[4];
};

/// The kinds of memory at both ends of a copy or memset, as in op.memory_kinds, are in the highest
/// byte of its `object`; 0 where nobody asked the driver.
inline constexpr int kMemoryKindsShift = 56;
constexpr uint64_t with_memory_kinds(uint64_t object, uint32_t memory_kinds) {
  return object | uint64_t{memory_kinds} << kMemoryKindsShift;
}
constexpr uint64_t without_memory_kinds(uint64_t object) {
  return object & ((uint64_t{1} << kMemoryKindsShift) - 1);
}
constexpr uint32_t memory_kinds_of(uint64_t object) {
  return static_cast<uint32_t>(object >> kMemoryKindsShift);
}

/// One CUDA call. The call's kind determines the meaning of the fields: see calls.h.
struct CallRecord : RecordStart {
  CallId call;
  uint32_t call_number;  // unique in the process; by callbacks it is CUPTI's correlation id
  uint64_t begin;        // ticks at entry
  uint64_t end;          // ticks at exit
  uint64_t stream;       // stream handle as passed (or returned, for creation)
  uint64_t object;       // event, graph exec, pointer or kernel name (TextHash), by CallKind
  uint64_t value;        // bytes, creation flags, copy kind, ..., by CallKind
  uint32_t context;      // process-unique context id, kNone32 if none
  int32_t result;        // 0 is success; CUDA's own code
  uint32_t operation;    // libcoord operation whose function made the call, kNone32 if none
  uint32_t stack;        // low half of the StackRecord hash, 0 if none
};

/// `value` of a CallRecord with kPolls: how many identical queries followed immediately that were
/// not ready either, and when the last of them ended. The rest of the record describes the first
/// one. One word, which the producer replaces while the record is the newest of its ring, until the
/// consumer seals it.
struct PollWord {
  static constexpr uint64_t kSealed = uint64_t{1} << 63;
  static constexpr int kTickBits = 40;  // nine minutes
  static constexpr uint64_t kMostTicks = (uint64_t{1} << kTickBits) - 1;
  static constexpr uint64_t kMostMore = (kSealed >> kTickBits) - 1;

  uint64_t word = 0;

  constexpr bool is_sealed() const { return (word & kSealed) != 0; }
  /// Queries after the first.
  constexpr uint64_t more() const { return (word & ~kSealed) >> kTickBits; }
  /// From the entry of the first to the exit of the last; 0 if there is only one.
  constexpr uint64_t ticks() const { return word & kMostTicks; }
  /// False if the word cannot hold one more query that ended `ticks` after the first began.
  constexpr bool takes(uint64_t ticks) const {
    return !is_sealed() && more() < kMostMore && ticks <= kMostTicks;
  }
  constexpr PollWord with(uint64_t ticks) const { return {(more() + 1) << kTickBits | ticks}; }
};

/// When the last call that a record represents ended.
constexpr uint64_t last_end(const CallRecord& call) {
  const PollWord polls{(call.flags & kPolls) != 0 ? call.value : 0};
  return polls.more() == 0 ? call.end : call.begin + polls.ticks();
}

struct RangeRecord : RecordStart {
  uint16_t category;
  uint32_t color;      // 0xAARRGGBB, 0 if none
  uint64_t begin;      // ticks of this call
  TextHash name;       // kRangePop, kRangeEnd: 0
  TextHash domain;     // 0: the default domain
  uint64_t id;         // kRangeStart, kRangeEnd; kCollective: peer in the communicator or kNone32
  uint32_t tid;        // the acting thread
  uint32_t operation;  // libcoord operation that the range represents, kNone32 if none
  uint64_t payload;    // NVTX payload bits; kCollective: hash of the communicator, 0 if unknown
  uint64_t bytes;      // kCollective: size of the message
};

struct CommunicatorRecord : RecordStart {
  uint16_t reserved;
  uint32_t rank_count;
  uint64_t communicator;  // hash that is equal on all its ranks
  uint32_t rank;          // of the process; kNone32: it has several
  uint32_t unused;
  uint64_t unused_words[5];
};

/// Something that ran on the device. `stream` is always given.
struct OpRecord : RecordStart {
  uint8_t detail;  // kMemcpy: CopyKind; kMemset: memory kind; kDeviceWork: OpKind of trace/model.h
  uint8_t memory_kinds;  // kMemcpy: source kind << 4 | destination kind (CUPTI memory kinds)
  uint32_t correlation_id;
  int64_t begin_ns;  // CLOCK_MONOTONIC or virtual; 0 with kUnfinished
  int64_t end_ns;
  TextHash name;  // kernels
  uint32_t context;
  uint32_t stream;      // device-side id within the context
  uint64_t bytes;       // copies, memsets
  uint64_t graph_node;  // 0 if not a node of a graph
  uint32_t shape;       // LaunchShapeRecord::shape, kNone32 if none
  uint16_t channel;     // hardware channel, 0xffff if unknown
  uint16_t reserved;
};

/// Grid and block of a launch, sent once per distinct shape and process.
struct LaunchShapeRecord : RecordStart {
  uint16_t registers;
  uint32_t shape;  // hash of the fields below; equal shapes have equal numbers
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t static_shared_bytes;
  uint32_t dynamic_shared_bytes;
  uint64_t unused[3];
};

/// The number of a shape: a hash of its fields, never kNone32.
constexpr uint32_t shape_number(const LaunchShapeRecord& shape) {
  uint64_t hash = kFnv1aStart;
  auto add = [&hash](uint32_t value) { hash = fnv1a_step(value, hash); };
  add(shape.registers);
  for (uint32_t extent : shape.grid) add(extent);
  for (uint32_t extent : shape.block) add(extent);
  add(shape.static_shared_bytes);
  add(shape.dynamic_shared_bytes);
  const auto number = static_cast<uint32_t>(hash ^ hash >> 32);
  return number == kNone32 ? 0 : number;
}

/// CUPTI's own record of which event record a wait binds to (tier events): the reference against
/// which pairing is tested.
struct SyncWitnessRecord : RecordStart {
  uint8_t act;  // SyncAct
  uint8_t reserved;
  uint32_t correlation_id;
  uint64_t sync_id;  // cudaEventSyncId; 0: never recorded or captured
  uint32_t event;    // CUPTI event id
  uint32_t context;
  uint32_t stream;
  uint32_t reserved2;
  int64_t device_ns;  // device time of a record, 0 unless --with event-times
  uint64_t unused[3];
};

/// The number that CUPTI gave one call of the driver, by which its reports name that call. The call
/// with the number made it, whose record follows; if that is 0, the call of the thread that
/// contains the middle of the interval.
struct CorrelationRecord : RecordStart {
  CallId call;  // function of the driver
  uint32_t correlation_id;
  int64_t begin_ns;  // CLOCK_MONOTONIC
  int64_t end_ns;
  uint32_t tid;
  uint32_t call_number;
  uint64_t unused[4];
};

struct OverheadRecord : RecordStart {
  uint16_t overhead_kind;  // CUPTI overhead kind: low values 1, 2; else kind >> 16 with bit 15 set
  uint32_t tid;            // kNone32 if not tied to a thread
  int64_t begin_ns;
  int64_t end_ns;
  uint64_t unused[5];
};

struct GraphRecord : RecordStart {
  uint8_t executable;  // 0 a graph, 1 an executable graph
  uint8_t destroyed;
  uint32_t graph;   // CUPTI graph id
  uint32_t source;  // graph it was cloned or instantiated from, kNone32 if none
  uint32_t context;
  uint64_t handle;
  uint64_t begin;  // ticks
  uint64_t unused[4];
};

struct GraphNodeRecord : RecordStart {
  uint8_t node_kind;  // GraphNodeKind
  uint8_t reserved2;
  uint32_t graph;
  uint64_t node;      // CUPTI node id
  uint64_t original;  // node it was cloned from, 0 if none
  TextHash name;
  uint32_t call_number;  // of the captured call, kNone32 if none
  uint32_t reserved;
  uint64_t unused[3];
};

struct GraphEdgeRecord : RecordStart {
  uint16_t reserved;
  uint32_t graph;
  uint64_t from_node;
  uint64_t to_node;
  uint64_t unused[5];
};

struct OperationRecord : RecordStart {
  uint8_t type;        // coord_operation_type
  uint8_t priority;    // coord_operation_priority
  uint32_t operation;  // process-unique
  uint64_t begin;      // ticks or virtual ns: registration
  uint64_t stream;     // handle
  TextHash name;
  TextHash call_site;  // "file:line function"
  uint32_t context;
  uint32_t parent;  // group it belongs to, kNone32 if none
  uint64_t begun;   // as `begin`; kNotYet: reported later
  // The operation whose submission the thread ended before, this many ticks or ns before `begin`:
  // no other record contains that. 0: none.
  uint32_t ended;
  uint32_t ended_before;
};

/// Wire value for a time that is not known yet.
inline constexpr uint64_t kNotYet = 0xffffffffffffffffull;

/// Some of what an operation depends on.
struct OperationDependenciesRecord : RecordStart {
  static constexpr uint32_t kMost = 7;
  struct Dependency {
    uint32_t operation;
    uint16_t inferred;  // 1: from memory ranges, 0: named by the program
    uint16_t elided;    // coord_elision
  };
  uint16_t count;  // of `dependencies`
  uint32_t operation;
  Dependency dependencies[kMost];
};

struct OperationStateRecord : RecordStart {
  uint8_t state;  // OperationState
  uint8_t reserved;
  uint32_t operation;
  uint64_t begin;  // ticks or virtual ns
  uint64_t unused[6];
};

/// Operations that were found completed at the same time.
struct OperationsCompletedRecord : RecordStart {
  static constexpr uint32_t kMost = 12;
  uint16_t count;  // of `operations`
  uint32_t reserved;
  uint64_t begin;  // ticks or virtual ns
  uint32_t operations[kMost];
};

struct PoolRecord : RecordStart {
  uint16_t pool_kind;  // coord_pool_kind
  uint32_t pool;       // process-unique
  uint64_t capacity;   // 0: no limit
  TextHash name;
  uint64_t unused[5];
};

struct PoolSampleRecord : RecordStart {
  uint16_t reserved;
  uint32_t pool;
  uint64_t begin;  // ticks or virtual ns
  uint64_t available;
  uint64_t in_use;
  uint64_t high_water;
  uint64_t waited_ns;
  uint64_t unused[2];
};

/// A barrier, named by the operation that has completed when it is reached; its streams follow.
struct BarrierRecord : RecordStart {
  uint16_t reserved;
  uint32_t operation;
  uint64_t begin;  // ticks or virtual ns: when it was submitted
  TextHash name;
  uint64_t unused[5];
};

struct BarrierStreamRecord : RecordStart {
  uint16_t elided;
  uint32_t operation;
  uint64_t begin;
  uint64_t stream;  // handle
  uint32_t context;
  uint32_t reserved;
  uint64_t unused[4];
};

/// Of the first range in AccessRecord::writes; of the second: shifted by one. KernelSignals of
/// kObserved are above.
enum AccessWrites : uint8_t { kWritten = 1, kWrittenAtomically = 1 << 4 };
inline constexpr int kSignalsShift = 6;

/// Memory that the work of a call, an operation or host code reads or writes: one range, or the
/// source and the destination of a copy. Ranges of several rows are `pitch` apart.
struct AccessRecord : RecordStart {
  uint8_t source;        // AccessSource
  uint8_t writes;        // AccessWrites
  uint32_t call_number;  // of the call, kNone32 if none
  uint64_t begin;        // ticks or virtual ns; of the host's access, else of the call's end
  struct {
    uint64_t address;
    uint64_t bytes;  // of a row; 0: no range
  } ranges[2];
  uint32_t pitch[2];   // bytes
  uint32_t rows;       // kObserved without ranges: 0 if nothing was touched, 1 if not all is known
  uint32_t operation;  // that declares it, kNone32 if none
};

/// A block of memory that PyTorch's caching allocator gives to a tensor, or takes back: a part of
/// what a call allocated.
struct TensorBlockRecord : RecordStart {
  uint8_t taken_back;
  uint8_t reserved;
  uint32_t stack;
  uint64_t begin;  // ticks
  uint64_t address;
  uint64_t bytes;
  uint64_t unused[4];
};

/// Words in the parameters of a kernel launch that may be pointers.
struct KernelArgumentsRecord : RecordStart {
  uint16_t count;  // used in `values`
  uint32_t call_number;
  TextHash kernel;
  uint64_t values[5];
  uint8_t parameters[8];  // the parameter of the kernel that contains each value
};

/// When a host thread brought a stream to a barrier.
struct BarrierArrivalRecord : RecordStart {
  uint16_t reserved;
  uint32_t operation;
  int64_t arrival_ns;  // CLOCK_MONOTONIC or virtual
  uint64_t stream;     // handle
  uint32_t context;
  uint32_t reserved2;
  uint64_t unused[4];
};

struct TimelineRecord : RecordStart {
  uint16_t reserved;
  uint32_t timeline;  // process-unique
  uint64_t initial;
  TextHash name;
  uint64_t unused[5];
};

struct TimelinePointRecord : RecordStart {
  uint16_t act;  // TimelineAct
  uint32_t timeline;
  uint64_t begin;  // ticks or virtual ns
  uint64_t value;
  uint64_t stream;   // handle
  uint32_t context;  // kNone32: done by the host
  uint32_t reserved;
  uint64_t unused[3];
};

struct TaskQueueRecord : RecordStart {
  uint16_t on_device;  // 0: workers are threads, 1: warps of a GPU
  uint32_t queue;      // process-unique
  TextHash name;
  uint32_t workers;
  uint32_t reserved;
  uint64_t unused[5];
};

/// A run of a queue of a GPU: reported when its workers were launched, and again when all of its
/// tasks were reported.
struct TaskRunRecord : RecordStart {
  uint16_t ended;
  uint32_t queue;
  uint64_t left_out;  // ended: tasks that ran and were not reported
  uint32_t run;
  uint32_t call_number;  // not ended: of the launch; 0 if that was not traced
  uint32_t operation;    // not ended: operation that launched it, kNone32 if none
  uint32_t reserved;
  uint64_t unused[4];
};

inline constexpr uint16_t kNoTaskType = 0xffff;

/// A task that has ended.
struct TaskRecord : RecordStart {
  uint16_t type;  // of work, or kNoTaskType
  uint32_t queue;
  uint64_t task;
  uint64_t begin;  // ticks or virtual ns; in a run: ns since its workers began
  uint64_t end;
  uint32_t worker;
  uint32_t sm;   // kNone32 on the host
  uint32_t run;  // kNone32 on the host: this ring's thread ran it
  uint32_t reserved;
  uint64_t unused[2];
};

/// A file mapped into the process. `base` is the load bias that turns a run-time address into one
/// of the file.
struct ModuleRecord : RecordStart {
  uint16_t reserved;
  uint32_t reserved2;
  uint64_t base;
  uint64_t begin_address;
  uint64_t end_address;
  TextHash path;
  uint64_t unused[3];
};

/// Frames of a call stack, innermost first; a stack longer than one chunk is several consecutive
/// records in one ring.
struct StackRecord : RecordStart {
  uint8_t frame_count;  // frames used in this chunk
  uint8_t texts;        // bit i: frames[i] is a TextHash, "file:line function" of a Python frame;
                        // else an address
  uint32_t total_frames;
  uint64_t hash;         // of the whole stack; CallRecord::stack is its low half
  uint32_t first_frame;  // index of frames[0] in the stack
  uint32_t reserved;
  uint64_t frames[5];
};

struct LossRecord : RecordStart {
  uint16_t loss;  // Loss of losses.h
  uint32_t reserved;
  uint64_t count;
  uint64_t first;  // ticks
  uint64_t last;   // ticks
  TextHash detail;
  uint64_t unused[3];
};

// It was on all the time, but a ring no longer has what it recorded before.
inline constexpr uint8_t kHistoryOverwritten = 2;

struct CollectingRecord : RecordStart {
  uint8_t on;         // 1: on, 0: off, kHistoryOverwritten
  uint8_t measuring;  // 1: begins a window that measures the cost of recording, so it is no pause
  uint32_t call_number;  // kVirtualTime: of the latest call, by which such calls are ordered
  uint64_t begin;        // ticks
  uint64_t progress;     // measuring: calls or ends of the named range so far, in all threads
  uint64_t unused[5];
};

struct EndRecord : RecordStart {
  uint16_t reserved;
  uint32_t reserved2;
  uint64_t begin;          // ticks
  uint64_t callbacks;      // calls seen in all threads
  uint64_t cupti_dropped;  // records that CUPTI reported as dropped
  uint64_t unused[4];
};

enum class AnswerKind : uint8_t {
  kQuestion = 0,  // to one Question
  kFlush,         // to the forced flush
  kAll,           // nothing more follows in this round
};

/// A collector's answer to a Question of control.h.
struct AnswerRecord : RecordStart {
  uint8_t answer;    // AnswerKind
  uint8_t answered;  // 0: not within the limit, or the word is not in host memory
  uint32_t round;
  uint64_t begin;     // ticks
  uint32_t question;  // index
  int32_t result;     // of queries: CUDA's code
  uint64_t value;     // of words
  uint64_t unused[4];
};

/// Who waits for whom in libcoord, as far as it leads to an unfulfillable wait or a cycle.
struct WaitsRecord : RecordStart {
  uint8_t given_up;  // 1: a wait of this thread ended with an error because of this
  uint8_t reserved;
  uint32_t party_count;
  uint64_t begin;  // ticks or virtual ns
  uint32_t link_count;
  uint32_t reserved2;
  uint64_t unused[5];
};

struct WaitPartyRecord : RecordStart {
  uint8_t party;  // coord_wait_party_kind
  uint8_t state;  // coord_wait_party_flags
  uint32_t index;
  uint64_t object;
  TextHash label;
  uint64_t unused[5];
};

struct WaitLinksRecord : RecordStart {
  static constexpr uint32_t kMost = 7;
  struct Link {
    uint32_t from, to;  // indices of parties
  };
  uint16_t count;  // of `links`
  uint32_t reserved;
  Link links[kMost];
};

/// Holds for every record: as() and Producer check each type that they pass on.
template <class T>
inline constexpr bool kIsRecord = std::is_trivially_copyable_v<T> && sizeof(T) == sizeof(Record);

/// The record kind that T is for.
template <class T>
T as(const Record& record) {
  static_assert(kIsRecord<T>);
  T result;
  std::memcpy(&result, &record, sizeof result);
  return result;
}

}  // namespace streamscope::ring
