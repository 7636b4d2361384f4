// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/machine.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>

#include "codes.h"
#include "device_state.h"
#include "observer.h"

namespace coord::sim {

namespace {

constexpr NativeStream kFirstStreamHandle = 0x10000;
constexpr std::uint64_t kFirstTraceAddress = 0x7'0000'0000;
// Each machine of a process has its own handles and addresses, as real devices do.
constexpr std::uint64_t kHandles = std::uint64_t{1} << 40;
std::atomic<std::uint64_t> machines_told_of{0};

thread_local bool is_inside_device = false;

}  // namespace

bool inside_device() noexcept { return is_inside_device; }
InsideDevice::InsideDevice() noexcept { is_inside_device = true; }
InsideDevice::~InsideDevice() { is_inside_device = false; }

Machine::Machine(const Config& machine_config, std::uint32_t devices, Scheduler* machine_scheduler)
    : config(machine_config),
      scheduler(machine_scheduler),
      engine(config, devices, scheduler != nullptr, [this](const Op& op) { on_ended(op); }),
      contexts(devices),
      legacy_streams(devices),
      first_handle(scheduler != nullptr ? 0 : machines_told_of.fetch_add(1) * kHandles),
      next_stream_handle(first_handle + kFirstStreamHandle),
      blocking_streams(devices),
      device_bytes_in_use(devices),
      next_trace_address(first_handle + kFirstTraceAddress),
      next_graph_id(first_handle + 1) {
  for (const Injection& injection : config.injections) injections.push_back({injection});
}

Machine::~Machine() {
  for (const std::uint32_t slot : engine.pending()) notify_op(engine.op(slot), false);
  for (void* address : abandoned_memory) std::free(address);
  for (const auto& [key, range] : memory) std::free(range.address);
}

const coord_observer& Machine::hooks() const {
  static constexpr coord_observer kNobody{};
  return scheduler == nullptr ? observer() : kNobody;
}

std::uint32_t Machine::add_stream(std::uint32_t device, NativeStream handle, StreamKind kind,
                                  int priority, std::string_view name, std::int64_t time_ns) {
  const std::uint32_t stream = engine.add_stream(device, priority, name);
  streams.push_back({.handle = handle, .kind = kind, .device = device});
  if (kind == StreamKind::kBlocking || kind == StreamKind::kPerThread)
    blocking_streams[device].push_back(stream);
  notify_stream(stream, priority, false, time_ns);
  return stream;
}

void Machine::notify_stream(std::uint32_t stream, int priority, bool destroyed,
                            std::int64_t time_ns) {
  if (hooks().stream == nullptr) return;
  const StreamEntry& entry = streams[stream];
  const std::string name(engine.stream_name(stream));
  const coord_stream_facts facts{.context = contexts[entry.device],
                                 .stream = stream,
                                 .handle = entry.handle,
                                 .kind = static_cast<std::uint32_t>(entry.kind),
                                 .priority = priority,
                                 .destroyed = destroyed ? 1u : 0u,
                                 .time_ns = time_ns,
                                 .name = name.c_str()};
  hooks().stream(&facts);
}

std::uint32_t Machine::find_stream(std::uint32_t device, NativeStream handle, const char* call) {
  if (handle == kLegacyStream) return legacy_streams[device];
  if (handle == kPerThreadStream) {
    const std::uint64_t thread = this_thread_number();
    const auto [entry, is_new] = per_thread_streams.try_emplace({device, thread}, 0);
    if (is_new) {
      entry->second = add_stream(device, handle, StreamKind::kPerThread, 0, "per-thread default",
                                 host_clocks[thread]);
    }
    return entry->second;
  }
  const auto found = stream_of_handle.find(handle);
  if (found == stream_of_handle.end()) throw make_error(kCodeInvalidHandle, call, "no such stream");
  return found->second;
}

std::uint32_t Machine::find_event(NativeEvent handle, const char* call) const {
  const auto found = event_of_handle.find(handle);
  if (found == event_of_handle.end()) throw make_error(kCodeInvalidHandle, call, "no such event");
  return found->second;
}

std::map<std::uintptr_t, Range>::const_iterator Machine::find_range(const void* address) const {
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  auto after = memory.upper_bound(key);
  if (after == memory.begin()) return memory.end();
  --after;
  return key < after->first + after->second.bytes ? after : memory.end();
}

bool Machine::in_range(const void* address, std::size_t bytes, bool on_host) const {
  const auto range = find_range(address);
  return range != memory.end() && (range->second.on_host == on_host || range->second.managed) &&
         reinterpret_cast<std::uintptr_t>(address) + bytes <= range->first + range->second.bytes;
}

std::uint64_t Machine::trace_address(const void* address) const {
  const auto range = find_range(address);
  if (range == memory.end()) return 0;
  return range->second.trace_address + (reinterpret_cast<std::uintptr_t>(address) - range->first);
}

std::uint64_t Machine::observer_address(const void* address) const {
  const std::uint64_t known = trace_address(address);
  return known != 0 ? known : reinterpret_cast<std::uintptr_t>(address);
}

void Machine::add_barrier(std::uint32_t stream, std::vector<OpRef>& before) {
  const StreamEntry& entry = streams[stream];
  if (entry.kind == StreamKind::kLegacy) {
    before = tails(stream);
  } else if (entry.kind != StreamKind::kNonBlocking) {
    before.push_back(engine.tail(legacy_streams[entry.device]));
  }
}

std::vector<OpRef> Machine::tails(std::uint32_t stream) {
  std::vector<OpRef> last{engine.tail(stream)};
  const StreamEntry& entry = streams[stream];
  if (entry.kind != StreamKind::kLegacy) return last;
  std::erase_if(blocking_streams[entry.device], [&](std::uint32_t blocking) {
    const OpRef tail = engine.tail(blocking);
    last.push_back(tail);
    return streams[blocking].destroyed && engine.done(tail) && scheduler == nullptr;
  });
  return last;
}

std::vector<OpRef> Machine::all_tails(std::uint32_t device) const {
  std::vector<OpRef> last;
  for (std::uint32_t stream = 0; stream < streams.size(); ++stream) {
    if (streams[stream].device != device) continue;
    if (scheduler != nullptr || !engine.done(engine.tail(stream)))
      last.push_back(engine.tail(stream));
  }
  return last;
}

bool Machine::ended(std::span<const OpRef> ops) const {
  return std::ranges::all_of(ops, [&](OpRef op) { return engine.done(op); });
}

void Machine::advance(std::int64_t time_ns) {
  InsideDevice inside;
  engine.advance(time_ns);
}

void Machine::see_memory_until(std::int64_t time_ns) {
  if (engine.pending_memory_waits() != 0) advance(time_ns);
}

int Machine::injected(const char* call) {
  int code = 0;
  for (PendingInjection& injection : injections) {
    if (injection.what.call != "*" && injection.what.call != call) continue;
    if (++injection.seen == injection.what.nth && code == 0) code = injection.what.code;
  }
  return code;
}

void Machine::on_ended(const Op& op) {
  if (op.kind == OpKind::kRecord && events[op.event].version == op.version) {
    events[op.event].recorded_ns = op.end_ns;
  } else if (op.kind == OpKind::kGraphBegin) {
    graph_begins_ns[op.value] = op.end_ns;
  }
  notify_op(op, true);
  if (op.kind == OpKind::kGraphEnd) graph_begins_ns.erase(op.value);
}

void Machine::notify_op(const Op& op, bool ended) {
  if (hooks().sim_op == nullptr || op.in_graph) return;
  // What traces show of each kind; the kinds that are left out are calls, not work.
  struct Shown {
    OpKind kind;
    coord_sim_op_kind as;
    std::uint32_t copy_kind = 0;
  };
  static constexpr Shown kShown[] = {{OpKind::kKernel, COORD_SIM_KERNEL},
                                     {OpKind::kCopyToDevice, COORD_SIM_MEMCPY, 1},
                                     {OpKind::kCopyToHost, COORD_SIM_MEMCPY, 2},
                                     {OpKind::kCopyInDevice, COORD_SIM_MEMCPY, 8},
                                     {OpKind::kCopyPeer, COORD_SIM_MEMCPY, 10},
                                     {OpKind::kMemset, COORD_SIM_MEMSET},
                                     {OpKind::kHostFunction, COORD_SIM_HOST_FUNCTION},
                                     {OpKind::kMemoryWait, COORD_SIM_MEMORY_WAIT},
                                     {OpKind::kMemoryWrite, COORD_SIM_MEMORY_WRITE},
                                     {OpKind::kGraphEnd, COORD_SIM_GRAPH_LAUNCH}};
  const auto shown = std::ranges::find(kShown, op.kind, &Shown::kind);
  if (shown == std::end(kShown)) return;
  coord_sim_op facts{.kind = shown->as, .begin_ns = op.begin_ns, .copy_kind = shown->copy_kind};
  if (op.kind == OpKind::kGraphEnd) {  // represents the whole launch
    const auto begin = graph_begins_ns.find(op.value);
    facts.begin_ns = begin == graph_begins_ns.end() ? -1 : begin->second;
  }
  const std::string name(op.name);
  facts.correlation_id = op.correlation_id;
  facts.context = contexts[engine.device_of(op.stream)];
  facts.stream = op.stream;
  facts.end_ns = ended ? op.end_ns : -1;
  facts.bytes = op.bytes;
  facts.memory_kinds = op.memory_kinds;
  for (std::uint32_t axis = 0; axis < 3; ++axis) facts.grid[axis] = facts.block[axis] = 1;
  if (op.kind == OpKind::kKernel) facts.grid[0] = op.blocks;
  facts.name = name.c_str();
  hooks().sim_op(&facts);
}

}  // namespace coord::sim
