// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// libcoord's data -> ring records. The hooks are called from any thread of the program and never
// call back.
#include "collect/coord/coord_observer.h"

#include <coord/observer.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "collect/coord/operation_observer.h"
#include "collect/coord/task_observer.h"
#include "collect/process/gate.h"
#include "collect/process/inject.h"
#include "collect/stacks/stacks.h"
#include "ring/calls.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;

constexpr const char kDomain[] = "coord";

// A process has simulated devices or real ones; libcoord does not say which in later calls.
constinit std::atomic<bool> simulated{false};
// The latest end of a simulated call: the time of facts that belong to no device.
constinit std::atomic<int64_t> virtual_now{0};
constinit std::atomic<uint32_t> latest_call{0};

void on_device(const coord_device_facts* facts) {
  if (facts->simulated == 0) return;  // CUPTI reports real devices
  simulated.store(true, std::memory_order_relaxed);
  // A child of a process that had used libcoord: it has the table already, but no recording yet.
  if (session.state.load(std::memory_order_relaxed) == SessionState::kIdle) record_coord();
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::DeviceRecord device{};
  device.kind = RecordKind::kDevice;
  device.flags = ring::kVirtualTime;
  device.compute_capability = static_cast<uint16_t>(facts->compute_capability);
  device.ordinal = facts->device;
  device.name = send_text(*thread, view(facts->name));
  device.uuid = send_text(*thread, view(facts->uuid));
  device.memory_bytes = facts->memory_bytes;
  device.sm_count = facts->sm_count;
  device.copy_engines = facts->copy_engines;
  device.max_connections = facts->max_connections;
  device.simulated = 1;
  thread->push(device);

  ring::ContextRecord context{};
  context.kind = RecordKind::kContext;
  context.flags = ring::kVirtualTime;
  context.context = facts->context;
  context.device = facts->device;
  context.null_stream = ring::kNone32;
  thread->push(context);
}

void on_stream(const coord_stream_facts* facts) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  if (!simulated.load(std::memory_order_relaxed)) {
    // CUPTI reports the stream itself; only libcoord knows its name.
    if (facts->destroyed != 0 || view(facts->name).empty()) return;
    ring::NameRecord name{};
    name.kind = RecordKind::kName;
    name.object_kind = static_cast<uint8_t>(ring::ObjectKind::kStream);
    name.context = ring::kNone32;
    name.object = facts->handle;
    name.name = send_text(*thread, view(facts->name));
    name.begin = ticks();
    thread->push(name);
    return;
  }
  ring::StreamRecord record{};
  record.kind = RecordKind::kStream;
  record.flags = ring::kVirtualTime;
  record.stream_kind = static_cast<uint8_t>(facts->kind);
  record.destroyed = facts->destroyed != 0 ? 1 : 0;
  record.context = facts->context;
  record.handle = facts->handle;
  record.begin = static_cast<uint64_t>(facts->time_ns);
  record.stream = facts->stream;
  record.priority = facts->priority;
  record.tid = facts->kind == static_cast<uint32_t>(kPerThreadStream) ? thread->tid : 0;
  record.name = send_text(*thread, view(facts->name));
  thread->push(record);
}

void on_event_name(uint32_t context, uint64_t event, const char* name) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::NameRecord record{};
  record.kind = RecordKind::kName;
  record.object_kind = static_cast<uint8_t>(ring::ObjectKind::kEvent);
  record.context = ring::kNone32;
  record.object = event;
  record.name = send_text(*thread, view(name));
  record.begin = ticks();
  if (simulated.load(std::memory_order_relaxed)) {
    record.flags = ring::kVirtualTime;
    record.context = context;
    record.begin = thread->virtual_now;  // when the thread created it
  }
  thread->push(record);
}

// Names of calls are literals: a small cache by address saves the search.
bool call_id(const char* name, ring::CallId* id) {
  struct Known {
    std::atomic<const char*> name;
    std::atomic<ring::CallId> id;
  };
  static constinit Known known[256] = {};
  Known& slot = known[(reinterpret_cast<uintptr_t>(name) * 0x9e3779b97f4a7c15ull) >> 56];
  if (slot.name.load(std::memory_order_acquire) == name) {
    *id = slot.id.load(std::memory_order_relaxed);
    // Another name may have taken the slot in between.
    if (ring::call_info(*id).name == name) return true;
  }
  const auto found = ring::find_call(name);
  if (!found) return false;
  *id = *found;
  slot.id.store(*found, std::memory_order_relaxed);
  slot.name.store(name, std::memory_order_release);
  return true;
}

void on_sim_call(const coord_sim_call* call) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::CallRecord record{};
  if (call->name == nullptr || !call_id(call->name, &record.call)) {
    report_loss(ring::Loss::kBadObserverFact, 1,
                call->name != nullptr ? call->name : "a call without a name");
    return;
  }
  thread->count_call();
  virtual_now.store(call->end_ns, std::memory_order_relaxed);
  latest_call.store(call->correlation_id, std::memory_order_relaxed);
  thread->virtual_now = static_cast<uint64_t>(call->end_ns);
  if (!collecting()) {
    const CallKind paused = ring::call_info(record.call).kind;
    if (ring::issues_work(paused)) note_paused_correlation(call->correlation_id);
    // On demand it may be off for weeks: records of events are not followed.
    if (!ring::changes_identity(paused) ||
        (paused == CallKind::kEventRecord && session.control->on_demand != 0))
      return;
  }
  record.kind = RecordKind::kCall;
  record.flags =
      static_cast<uint8_t>(ring::kVirtualTime | ((call->flags & 1) != 0 ? ring::kPerThread : 0) |
                           ((call->flags & 2) != 0 ? ring::kCapturing : 0));
  record.call_number = call->correlation_id;
  record.begin = static_cast<uint64_t>(call->begin_ns);
  record.end = static_cast<uint64_t>(call->end_ns);
  record.stream = call->stream;
  record.object = call->object;
  record.value = call->value;
  record.context = call->context;
  record.result = call->result;
  record.operation = thread->operation();
  const CallKind kind = ring::call_info(record.call).kind;
  const bool legacy =
      ring::issues_work(kind) && call->stream == 0 && (record.flags & ring::kPerThread) == 0;
  const ring::StackMode stacks = session.control->stacks;
  if (stacks == ring::StackMode::kAll ||
      (stacks == ring::StackMode::kSyncs &&
       (ring::blocks_host(kind) || (legacy && is_early_legacy_call(*thread)))))
    record.stack = take_stack(*thread);
  if (record.result == ring::kNotReady && ring::is_query(kind)) {
    thread->ring.push_poll(record);
  } else {
    thread->push(record);
  }
}

void on_sim_op(const coord_sim_op* op) {
  ThreadState* thread = running() && reports_work() ? this_thread() : nullptr;
  if (thread == nullptr || was_paused(op->correlation_id)) return;
  ring::OpRecord record{};
  record.flags = ring::kVirtualTime;
  switch (op->kind) {
    case COORD_SIM_KERNEL:
      record.kind = RecordKind::kKernel;
      break;
    case COORD_SIM_MEMCPY:
      record.kind = RecordKind::kMemcpy;
      break;
    case COORD_SIM_MEMSET:
      record.kind = RecordKind::kMemset;
      break;
    case COORD_SIM_GRAPH_LAUNCH:
      record.kind = RecordKind::kGraphLaunch;
      break;
    case COORD_SIM_HOST_FUNCTION:
    case COORD_SIM_MEMORY_WAIT:
    case COORD_SIM_MEMORY_WRITE:
      record.kind = RecordKind::kDeviceWork;
      break;
    default:
      report_loss(ring::Loss::kBadObserverFact, 1, "an operation of an unknown kind");
      return;
  }
  if (record.kind == RecordKind::kMemcpy) {
    record.detail = static_cast<uint8_t>(op->copy_kind);
    record.memory_kinds = static_cast<uint8_t>(op->memory_kinds);
  } else if (record.kind == RecordKind::kDeviceWork) {
    record.detail = static_cast<uint8_t>(op->kind);
  }
  record.correlation_id = op->correlation_id;
  record.begin_ns = op->begin_ns < 0 ? 0 : op->begin_ns;
  record.end_ns = op->end_ns < 0 ? 0 : op->end_ns;
  if (op->begin_ns < 0 || op->end_ns < 0) record.flags |= ring::kUnfinished;
  // As on real devices, whose other work has no name either.
  if (record.kind == RecordKind::kKernel) record.name = send_text(*thread, view(op->name));
  record.context = op->context;
  record.stream = op->stream;
  record.bytes = op->bytes;
  record.graph_node = op->graph_node;
  record.shape = ring::kNone32;
  record.channel = 0xffff;
  if (record.kind == RecordKind::kKernel && op->grid[0] != 0) {
    ring::LaunchShapeRecord shape{};
    shape.kind = RecordKind::kLaunchShape;
    std::memcpy(shape.grid, op->grid, sizeof shape.grid);
    std::memcpy(shape.block, op->block, sizeof shape.block);
    record.shape = shape.shape = ring::shape_number(shape);
    thread->push(shape);
  }
  thread->push(record);
}

void on_mark(const char* name, int64_t time_ns) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(time_ns);
  ring::RangeRecord record{};
  record.kind = RecordKind::kMark;
  record.flags = stamp.flags;
  record.begin = stamp.begin;
  record.name = send_text(*thread, view(name));
  record.domain = send_text(*thread, kDomain);
  record.tid = thread->tid;
  record.operation = thread->operation();
  thread->push(record);
}

void on_pool(const coord_pool_facts* facts) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::PoolRecord record{};
  record.kind = RecordKind::kPool;
  record.pool_kind = static_cast<uint16_t>(facts->kind);
  record.pool = facts->pool;
  record.capacity = facts->capacity;
  record.name = send_text(*thread, view(facts->name));
  thread->push(record);
}

void on_pool_sample(const coord_pool_sample_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::PoolSampleRecord record{};
  record.kind = RecordKind::kPoolSample;
  record.flags = stamp.flags;
  record.pool = facts->pool;
  record.begin = stamp.begin;
  record.available = facts->available;
  record.in_use = facts->in_use;
  record.high_water = facts->high_water;
  record.waited_ns = facts->waited_ns;
  thread->push(record);
}

void on_barrier(const coord_barrier_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::BarrierRecord record{};
  record.kind = RecordKind::kBarrier;
  record.flags = stamp.flags;
  record.operation = facts->operation;
  record.begin = stamp.begin;
  record.name = send_text(*thread, view(facts->name));
  thread->push(record);
  for (uint32_t i = 0; i < facts->stream_count; ++i) {
    ring::BarrierStreamRecord member{};
    member.kind = RecordKind::kBarrierStream;
    member.flags = stamp.flags;
    member.elided = facts->streams[i].elided != 0 ? 1 : 0;
    member.operation = facts->operation;
    member.begin = stamp.begin;
    member.stream = facts->streams[i].stream;
    member.context = facts->streams[i].context;
    thread->push(member);
  }
}

void on_access(const coord_access_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::AccessRecord record{};
  record.kind = RecordKind::kAccess;
  record.flags = stamp.flags;
  record.source =
      static_cast<uint8_t>(facts->operation != COORD_NONE        ? AccessSource::kOperation
                           : facts->correlation_id != COORD_NONE ? AccessSource::kArgument
                                                                 : AccessSource::kHost);
  record.writes = facts->writes != 0 ? 1 : 0;
  record.call_number = facts->correlation_id;
  record.begin = stamp.begin;
  record.ranges[0] = {facts->address, facts->bytes};
  record.rows = 1;
  record.operation = facts->operation;
  thread->push(record);
}

void on_barrier_arrival(const coord_barrier_arrival_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  ring::BarrierArrivalRecord record{};
  record.kind = RecordKind::kBarrierArrival;
  if (simulated.load(std::memory_order_relaxed)) record.flags = ring::kVirtualTime;
  record.operation = facts->operation;
  record.arrival_ns = facts->arrival_ns;
  record.stream = facts->stream;
  record.context = facts->context;
  thread->push(record);
}

void on_timeline(const coord_timeline_facts* facts) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  ring::TimelineRecord record{};
  record.kind = RecordKind::kTimeline;
  record.timeline = facts->timeline;
  record.initial = facts->initial;
  record.name = send_text(*thread, view(facts->name));
  thread->push(record);
}

void on_timeline_act(const coord_timeline_act_facts* facts) {
  ThreadState* thread = recording_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::TimelinePointRecord record{};
  record.kind = RecordKind::kTimelinePoint;
  record.flags = stamp.flags;
  record.act = static_cast<uint16_t>(facts->act);
  record.timeline = facts->timeline;
  record.begin = stamp.begin;
  record.value = facts->value;
  record.stream = facts->stream;
  record.context = facts->context;
  thread->push(record);
}

// libcoord's own function, from its first call to the end of the process.
constinit std::atomic<void (*)()> report_waits{nullptr};

void on_waits(const coord_waits_facts* facts) {
  ThreadState* thread = running_thread();
  if (thread == nullptr) return;
  const Stamp stamp(facts->time_ns);
  ring::WaitsRecord record{};
  record.kind = RecordKind::kWaits;
  record.flags = stamp.flags;
  record.given_up = facts->given_up != 0 ? 1 : 0;
  record.party_count = facts->party_count;
  record.begin = stamp.begin;
  record.link_count = facts->link_count;
  thread->push(record);
  for (uint32_t i = 0; i < facts->party_count; ++i) {
    ring::WaitPartyRecord party{};
    party.kind = RecordKind::kWaitParty;
    party.party = static_cast<uint8_t>(facts->parties[i].kind);
    party.state = static_cast<uint8_t>(facts->parties[i].flags);
    party.index = i;
    party.object = facts->parties[i].object;
    party.label = send_text(*thread, view(facts->parties[i].label));
    thread->push(party);
  }
  constexpr uint32_t kMost = ring::WaitLinksRecord::kMost;
  for (uint32_t first = 0; first < facts->link_count; first += kMost) {
    ring::WaitLinksRecord links{};
    links.kind = RecordKind::kWaitLinks;
    links.count = static_cast<uint16_t>(std::min(facts->link_count - first, kMost));
    for (uint32_t i = 0; i < links.count; ++i)
      links.links[i] = {facts->links[first + i].from, facts->links[first + i].to};
    thread->push(links);
  }
}

void on_waits_on_request(void (*report)()) {
  report_waits.store(report, std::memory_order_release);
}

constexpr coord_observer kObserver = {
    .size = sizeof(coord_observer),
    .version = COORD_OBSERVER_VERSION,
    .device = on_device,
    .stream = on_stream,
    .event_name = on_event_name,
    .operation_registered = on_operation_registered,
    .operation_entered = on_operation_entered,
    .operation_kind = on_operation_kind,
    .operation_of_kind = on_operation_of_kind,
    .operation_begin = on_operation_begin,
    .operation_end = on_operation_end,
    .operation_stamp = on_operation_stamp,
    .operations_completed = on_operations_completed,
    .dependency = on_dependency,
    .sim_call = on_sim_call,
    .sim_op = on_sim_op,
    .mark = on_mark,
    .pool = on_pool,
    .pool_sample = on_pool_sample,
    .barrier = on_barrier,
    .access = on_access,
    .barrier_arrival = on_barrier_arrival,
    .timeline = on_timeline,
    .timeline_act = on_timeline_act,
    .waits = on_waits,
    .waits_on_request = on_waits_on_request,
    .task_queue = on_task_queue,
    .task_run = on_task_run,
    .task_stamp = on_task_stamp,
    .tasks = on_tasks,
};

}  // namespace

Stamp::Stamp(int64_t time_ns) : begin(0), flags(0) {
  if (!simulated.load(std::memory_order_relaxed)) {
    begin = ticks();
    return;
  }
  if (time_ns == 0) time_ns = virtual_now.load(std::memory_order_relaxed);
  begin = static_cast<uint64_t>(time_ns);
  flags = ring::kVirtualTime;
}

bool coord_is_simulated() { return simulated.load(std::memory_order_relaxed); }

uint64_t coord_virtual_now() {
  const ThreadState* thread = existing_thread();
  return thread != nullptr ? thread->virtual_now : 0;
}

uint64_t coord_latest_virtual() {
  return static_cast<uint64_t>(virtual_now.load(std::memory_order_relaxed));
}

uint32_t coord_latest_call() { return latest_call.load(std::memory_order_relaxed); }

void ask_coord() {
  if (const auto report = report_waits.load(std::memory_order_acquire)) report();
}

}  // namespace streamscope::collect

/// libcoord asks for this when it opens its first device.
extern "C" __attribute__((visibility("default"))) const coord_observer* streamscope_coord_observer(
    void) {
  return streamscope::collect::record_coord() ? &streamscope::collect::kObserver : nullptr;
}
