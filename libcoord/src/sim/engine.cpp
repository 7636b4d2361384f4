// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "codes.h"

namespace coord::sim {

namespace {

bool reached(const Op& op) {
  const std::uint64_t value =
      std::atomic_ref<std::uint64_t>(*op.address).load(std::memory_order_acquire);
  return static_cast<std::int64_t>(value - op.value) >= 0;
}

bool is_mark(OpKind kind) { return kind >= OpKind::kRecord; }
bool spins(const Op& op) { return op.kind == OpKind::kKernel && op.address != nullptr; }
}  // namespace

Engine::Engine(const Config& config, std::uint32_t devices, bool controlled,
               std::function<void(const Op&)> ended)
    : calibration_(config.calibration),
      sm_units_(config.sm_count * kUnitsPerSm),
      concurrent_kernels_(config.concurrent_kernels),
      jitter_(config.jitter),
      controlled_(controlled),
      random_state_(config.seed),
      ended_(std::move(ended)),
      notify_history_(config.on_ended),
      devices_(devices) {
  for (Device& device : devices_) {
    device.channels.resize(config.max_connections);
    device.last_channel = config.max_connections - 1;
    for (const OpKind kind : {OpKind::kCopyToDevice, OpKind::kCopyToHost})
      device.fifo(kind).capacity = config.copy_engines_per_direction;
  }
}

std::uint32_t Engine::add_stream(std::uint32_t device, int priority, std::string_view name) {
  streams_.push_back({.name = std::string(name), .device = device, .priority = priority});
  return static_cast<std::uint32_t>(streams_.size() - 1);
}

bool Engine::queues(const Op& op) {
  return !op.in_graph && (op.kind == OpKind::kKernel || op.kind == OpKind::kMemset);
}

std::int64_t Engine::gap_before(const Op& op) const {
  if (is_mark(op.kind)) return 0;
  if (op.kind == OpKind::kHostFunction) return calibration_.host_function_start_ns;
  return op.in_graph ? calibration_.graph_gap_ns : calibration_.successor_gap_ns;
}

std::int64_t Engine::jittered(std::int64_t duration_ns) {
  if (jitter_ <= 0) return duration_ns;
  // splitmix64
  std::uint64_t z = (random_state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  const double unit = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  return duration_ns + static_cast<std::int64_t>(static_cast<double>(duration_ns) * jitter_ * unit);
}

OpRef Engine::submit(OpSpec spec, std::span<const OpRef> after) {
  if (free_ops_.empty()) {
    free_ops_.push_back(static_cast<std::uint32_t>(ops_.size()));
    ops_.emplace_back();
  }
  const std::uint32_t slot = free_ops_.back();
  free_ops_.pop_back();
  Stream& stream = streams_[spec.stream];
  Op& op = ops_[slot];
  static_cast<OpSpec&>(op) = std::move(spec);
  op.serial = next_serial_++;
  op.ready_ns = op.earliest_ns;
  op.begin_ns = op.end_ns = op.work_end_ns = op.reached_ns = -1;
  op.work_correlation_id = 0;
  op.holds.clear();
  op.awaited = op.kind == OpKind::kWait && !after.empty() ? after.back().serial : 0;
  op.next_in_stream = kNoSlot;
  op.unmet = 0;
  op.ready = false;
  op.blocks_left = op.blocks;
  op.blocks_running = 0;
  op.duration_ns = jittered(op.duration_ns);
  op.name = keep(op.name);
  if (op.kind == OpKind::kMemoryWait || spins(op)) ++pending_memory_waits_;
  if (!is_mark(op.kind) && !op.in_graph) ++stream.depth;
  if (queues(op)) take_channel(slot);

  const OpRef previous = op.in_graph ? OpRef{} : stream.tail;
  if (!done(previous)) {
    ops_[previous.slot].next_in_stream = slot;
    ++op.unmet;
  }
  for (const OpRef& other : after) {
    if (done(other) || other.serial == previous.serial) continue;
    ops_[other.slot].successors.push_back(slot);
    ++op.unmet;
  }
  const OpRef submitted{slot, op.serial};
  if (!op.in_graph) stream.tail = submitted;
  ++steps_;
  if (op.unmet == 0) schedule(op.ready_ns, slot, Happening::kReady);
  return submitted;
}

std::string_view Engine::keep(std::string_view name) {
  if (name == last_name_) return last_name_;
  const auto found = names_.find(name);
  last_name_ = found != names_.end() ? *found : *names_.emplace(name).first;
  return last_name_;
}

// Waiting operations of a stream go through one hardware queue. Otherwise the next empty queue is
// taken, but not the last one taken. So if more streams than the queues less two have work behind a
// block, they start to stall others, and as many as there are queues stall all: as observed on an
// H200.
void Engine::take_channel(std::uint32_t slot) {
  Op& op = ops_[slot];
  Stream& stream = streams_[op.stream];
  Device& device = devices_[stream.device];
  if (stream.in_channel == 0) {
    const auto count = static_cast<std::uint32_t>(device.channels.size());
    std::uint32_t channel = (device.last_channel + 1) % count;
    for (std::uint32_t tried = 1; tried < count && !device.channels[channel].empty(); ++tried) {
      const std::uint32_t next = (channel + 1) % count;
      if (next == device.last_channel) break;
      channel = next;
    }
    stream.channel = device.last_channel = channel;
  }
  ++stream.in_channel;
  op.channel = stream.channel;
  device.channels[op.channel].push_back(slot);
}

void Engine::schedule(std::int64_t time_ns, std::uint32_t slot, Happening what,
                      std::uint32_t blocks) {
  ++steps_;
  if (controlled_) {
    if (what == Happening::kReady) make_ready(slot);
    return;
  }
  happenings_.push({std::max(time_ns, now_ns_), next_order_++, slot, blocks, what});
}

void Engine::advance(std::int64_t until_ns) {
  if (controlled_) return;
  while (!happenings_.empty() && happenings_.top().time_ns <= until_ns) step();
  now_ns_ = std::max(now_ns_, until_ns);
}

bool Engine::run_until(OpRef op) {
  while (!done(op)) {
    if (!run_step()) return false;
  }
  return true;
}

bool Engine::run_step() {
  if (happenings_.empty()) return false;
  step();
  return true;
}

void Engine::step() {
  const Event event = happenings_.top();
  happenings_.pop();
  now_ns_ = event.time_ns;
  ++steps_;
  switch (event.what) {
    case Happening::kReady:
      make_ready(event.slot);
      break;
    case Happening::kArrive:
      reach_device(event.slot);
      break;
    case Happening::kEnd:
      if (ops_[event.slot].kind == OpKind::kKernel) {
        end_blocks(event.slot, event.blocks);
      } else {
        finish(event.slot);
      }
      break;
  }
  run_marks();
}

void Engine::run_marks() {
  for (std::size_t i = 0; i < marks_.size(); ++i) make_ready(marks_[i]);
  marks_.clear();
}

Engine::Fifo* Engine::fifo_of(const Op& op) {
  const bool copies = op.kind >= OpKind::kCopyToDevice && op.kind <= OpKind::kCopyPeer;
  if (!copies && op.kind != OpKind::kHostFunction) return nullptr;
  return &device_for(op).fifo(op.kind);
}

/// Reserves the front end for one item; returns the time when it is through.
std::int64_t Engine::pass_front_end(Device& device, std::int64_t cost_ns) {
  const std::int64_t at_ns = std::max(now_ns_, device.front_end_free_ns);
  device.front_end_free_ns = at_ns + cost_ns;
  return at_ns;
}

void Engine::make_ready(std::uint32_t slot) {
  Op& op = ops_[slot];
  op.ready = true;
  if (!queues(op)) return reach_device(slot);
  // Only the first operation of a hardware queue reaches the device, and then the next one can.
  auto& channel = device_for(op).channels[op.channel];
  while (!channel.empty() && ops_[channel.front()].ready) {
    const std::uint32_t first = channel.front();
    channel.pop_front();
    --streams_[ops_[first].stream].in_channel;
    Device& device = device_for(ops_[first]);
    if (controlled_ || ops_[first].kind != OpKind::kKernel) {
      reach_device(first);
      continue;
    }
    const std::int64_t at_ns = pass_front_end(device, calibration_.kernel_dispatch_ns);
    if (at_ns > now_ns_) {
      schedule(at_ns, first, Happening::kArrive);
    } else {
      reach_device(first);
    }
  }
}

void Engine::reach_device(std::uint32_t slot) {
  Op& op = ops_[slot];
  op.reached_ns = now_ns_;
  if (controlled_) {
    ready_.push_back(slot);
    return;
  }
  if (op.kind == OpKind::kKernel) {
    Device& device = device_for(op);
    device.waiting_kernels.push({op.priority, next_order_++, slot});
    start_waiting_kernels(device);
  } else if (op.kind == OpKind::kMemoryWait) {
    op.begin_ns = now_ns_;
    if (reached(op)) {
      finish(slot);
    } else {
      open_memory_waits_.push_back(slot);
    }
  } else if (Fifo* fifo = fifo_of(op); fifo != nullptr && fifo->in_use == fifo->capacity) {
    fifo->waiting.push_back(slot);
  } else {
    start(slot);
  }
}

/// A copy that begins while one in the other direction runs takes longer.
void Engine::share_bus(Op& op) {
  const Fifo& other = device_for(op).fifo(op.kind == OpKind::kCopyToDevice ? OpKind::kCopyToHost
                                                                           : OpKind::kCopyToDevice);
  if (other.in_use != 0) op.duration_ns = op.duration_ns * 100 / calibration_.both_ways_percent;
}

void Engine::start_waiting_kernels(Device& device) {
  while (!device.waiting_kernels.empty()) {
    const std::uint32_t slot = device.waiting_kernels.top().slot;
    Op& op = ops_[slot];
    const bool fresh = op.begin_ns < 0;
    if (fresh && device.kernels_running == concurrent_kernels_) return;
    const std::uint32_t count =
        std::min(op.blocks_left, (sm_units_ - device.units_in_use) / op.block_units);
    if (count == 0) return;
    device.units_in_use += count * op.block_units;
    op.blocks_left -= count;
    op.blocks_running += count;
    if (op.blocks_left == 0) device.waiting_kernels.pop();
    schedule(now_ns_ + op.duration_ns, slot, Happening::kEnd, count);
    if (!fresh) continue;
    ++device.kernels_running;
    begin(slot);
    if (!failure_.empty()) return;
  }
}

void Engine::start(std::uint32_t slot) {
  Op& op = ops_[slot];
  std::int64_t begin_ns = now_ns_;
  if (Fifo* fifo = fifo_of(op); fifo != nullptr) ++fifo->in_use;
  if (op.fills_bus) share_bus(op);
  if (op.kind == OpKind::kMemoryWrite) {
    begin_ns = pass_front_end(device_for(op), calibration_.write_value_dispatch_ns);
  } else if (op.timed) {
    begin_ns = pass_front_end(device_for(op), calibration_.record_timing_dispatch_ns);
  }
  begin(slot);
  if (!failure_.empty()) return;
  op.begin_ns = begin_ns;
  if (is_mark(op.kind) && begin_ns + op.duration_ns == now_ns_) {
    finish(slot);
  } else {
    schedule(begin_ns + op.duration_ns, slot, Happening::kEnd);
  }
}

void Engine::begin(std::uint32_t slot) {
  Op& op = ops_[slot];
  op.begin_ns = now_ns_;
  if (!op.work) return;
  try {
    op.work();
  } catch (const DeviceFault& fault) {
    fail(fault.code, std::string(op.name) + " failed: " + fault.what());
  } catch (const std::exception& error) {
    fail(kCodeLaunchFailed, std::string(op.name) + " failed: " + error.what());
  } catch (...) {
    fail(kCodeLaunchFailed, std::string(op.name) + " failed");
  }
}

void Engine::end_blocks(std::uint32_t slot, std::uint32_t blocks) {
  Op& op = ops_[slot];
  if (spins(op) && !reached(op)) {
    spinning_.push_back({slot, blocks});
    return;
  }
  Device& device = device_for(op);
  device.units_in_use -= blocks * op.block_units;
  op.blocks_running -= blocks;
  if (op.blocks_left == 0 && op.blocks_running == 0) {
    --device.kernels_running;
    finish(slot);
    if (!failure_.empty()) return;
  }
  start_waiting_kernels(device);
}

void Engine::finish(std::uint32_t slot) {
  if (!failure_.empty()) return;
  Op& op = ops_[slot];
  op.end_ns = now_ns_;
  if (op.kind == OpKind::kMemoryWrite) {
    std::atomic_ref<std::uint64_t>(*op.address).store(op.value, std::memory_order_release);
  } else if (op.kind == OpKind::kMemoryWait || spins(op)) {
    --pending_memory_waits_;
  }
  const bool mark = is_mark(op.kind);
  if (!mark) {
    op.work_end_ns = now_ns_;
    op.work_correlation_id = op.correlation_id;
  }
  if (notify_history_) notify_history(op);
  ended_(op);

  if (!mark && !op.in_graph) --streams_[op.stream].depth;
  if (op.next_in_stream != kNoSlot) satisfy(op.next_in_stream, op);
  for (std::uint32_t successor : op.successors) satisfy(successor, op);
  op.successors.clear();
  op.work = nullptr;
  op.accesses.clear();
  op.serial = 0;
  Fifo* fifo = fifo_of(op);
  free_ops_.push_back(slot);

  if (fifo != nullptr) {
    --fifo->in_use;
    if (!controlled_ && !fifo->waiting.empty()) {
      const std::uint32_t next = fifo->waiting.front();
      fifo->waiting.pop_front();
      start(next);
    }
  }
  // A mark changes no memory; any other operation may have.
  if (!mark) recheck_memory();
}

void Engine::notify_history(const Op& op) const {
  notify_history_({.correlation_id = op.correlation_id,
                   .stream = op.stream,
                   .kind = describe(op.kind),
                   .is_work = !is_mark(op.kind) && op.kind != OpKind::kMemoryWait,
                   .called_ns = op.called_ns,
                   .reached_ns = op.reached_ns,
                   .begin_ns = op.begin_ns,
                   .end_ns = op.end_ns,
                   .holds = op.holds});
}

void Engine::satisfy(std::uint32_t slot, const Op& by) {
  Op& op = ops_[slot];
  if (notify_history_ && by.stream != op.stream)
    op.holds.push_back({op.awaited == by.serial, by.work_correlation_id, by.work_end_ns});
  if (by.work_end_ns > op.work_end_ns) {
    op.work_end_ns = by.work_end_ns;
    op.work_correlation_id = by.work_correlation_id;
  }
  op.ready_ns = std::max(op.ready_ns, now_ns_ + gap_before(op));
  if (--op.unmet != 0) return;
  if (!controlled_ && is_mark(op.kind) && op.ready_ns <= now_ns_) {
    marks_.push_back(slot);
  } else {
    schedule(op.ready_ns, slot, Happening::kReady);
  }
}

void Engine::recheck_memory() {
  if (controlled_ || (open_memory_waits_.empty() && spinning_.empty())) return;
  const std::int64_t at_ns = now_ns_ + calibration_.memory_wait_release_ns;
  std::erase_if(open_memory_waits_, [&](std::uint32_t slot) {
    if (!reached(ops_[slot])) return false;
    schedule(at_ns, slot, Happening::kEnd);
    return true;
  });
  std::erase_if(spinning_, [&](const Spinning& blocks) {
    if (!reached(ops_[blocks.slot])) return false;
    schedule(at_ns, blocks.slot, Happening::kEnd, blocks.blocks);
    return true;
  });
}

bool Engine::can_perform(std::uint32_t slot) const {
  const Op& op = ops_[slot];
  const Device& device = device_for(op);
  switch (op.kind) {
    case OpKind::kMemoryWait:
      return reached(op);
    case OpKind::kHostFunction:
      return device.fifos[static_cast<std::size_t>(op.kind)].in_use == 0;
    case OpKind::kKernel:
      return op.begin_ns >= 0 ? reached(op) : sm_units_ - device.units_in_use >= op.block_units;
    default:
      return true;
  }
}

bool Engine::would_spin(std::uint32_t slot) const {
  return spins(ops_[slot]) && ops_[slot].begin_ns < 0 && !reached(ops_[slot]);
}

void Engine::perform(std::uint32_t slot) {
  ++now_ns_;
  Op& op = ops_[slot];
  Device& device = device_for(op);
  if (op.begin_ns < 0) {
    const bool stays = would_spin(slot);
    begin(slot);
    if (!failure_.empty()) return;
    if (stays) {
      op.blocks_running = std::min(op.blocks, (sm_units_ - device.units_in_use) / op.block_units);
      device.units_in_use += op.blocks_running * op.block_units;
      return;
    }
  }
  device.units_in_use -= op.blocks_running * op.block_units;
  std::erase(ready_, slot);
  finish(slot);
}

void Engine::begin_host_function(std::uint32_t slot) {
  ++now_ns_;
  ops_[slot].begin_ns = now_ns_;
  ++device_for(ops_[slot]).fifo(OpKind::kHostFunction).in_use;
  std::erase(ready_, slot);
}

void Engine::end_host_function(std::uint32_t slot) {
  if (!failure_.empty()) return;
  ++now_ns_;
  finish(slot);
}

void Engine::fail(int code, const std::string& why) {
  if (!failure_.empty()) return;
  failure_ = why;
  failure_code_ = code;
  happenings_ = {};
  marks_.clear();
  open_memory_waits_.clear();
  spinning_.clear();
  ready_.clear();
  for (Device& device : devices_) {
    device.waiting_kernels = {};
    for (Fifo& fifo : device.fifos) fifo.waiting.clear();
  }
  pending_memory_waits_ = 0;
  for (Op& op : ops_) op.serial = 0;  // done, for waiting threads; failure() has the reason
}

std::vector<std::uint32_t> Engine::pending() const {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < ops_.size(); ++slot) {
    if (ops_[slot].serial != 0) slots.push_back(slot);
  }
  std::ranges::sort(slots, {}, [this](std::uint32_t slot) {
    return std::pair(ops_[slot].stream, ops_[slot].serial);
  });
  return slots;
}

}  // namespace coord::sim
