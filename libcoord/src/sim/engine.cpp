// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/engine.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

namespace coord::sim {

namespace {

std::uint64_t load(const std::uint64_t* address) {
  return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t*>(address))
      .load(std::memory_order_acquire);
}

bool reached(const Op& op) { return static_cast<std::int64_t>(load(op.address) - op.value) >= 0; }

}  // namespace

Engine::Engine(const Config& config, std::function<void(const Op&)> ended)
    : calibration_(config.calibration),
      sm_count_(config.sm_count),
      concurrent_kernels_(config.concurrent_kernels),
      copy_engines_per_direction_(config.copy_engines_per_direction),
      jitter_(config.jitter),
      random_state_(config.seed),
      ended_(std::move(ended)) {}

std::uint32_t Engine::add_stream(int priority, std::string_view name) {
  streams_.push_back({.name = std::string(name), .priority = priority});
  return static_cast<std::uint32_t>(streams_.size() - 1);
}

std::int64_t Engine::gap_before(OpKind kind) const {
  switch (kind) {
    case OpKind::kRecord:
    case OpKind::kWait:
      return 0;
    case OpKind::kHostFunction:
      return calibration_.host_function_start_ns;
    default:
      return calibration_.successor_gap_ns;
  }
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
  op.begin_ns = op.end_ns = -1;
  op.next_in_stream = kNoSlot;
  op.unmet = 0;
  op.duration_ns = jittered(op.duration_ns);
  op.name = keep(op.name);
  if (op.kind == OpKind::kMemoryWait) ++pending_memory_waits_;

  if (done(stream.tail)) {
    stream.head = slot;
  } else {
    ops_[stream.tail.slot].next_in_stream = slot;
    ++op.unmet;
  }
  for (const OpRef& other : after) {
    if (done(other) || (other.slot == stream.tail.slot && other.serial == stream.tail.serial))
      continue;
    ops_[other.slot].successors.push_back(slot);
    ++op.unmet;
  }
  stream.tail = {slot, op.serial};
  ++steps_;
  if (op.unmet == 0) schedule(op.ready_ns, slot, Happening::kReady);
  return stream.tail;
}

std::string_view Engine::keep(std::string_view name) {
  if (auto found = names_.find(name); found != names_.end()) return *found;
  return *names_.emplace(name).first;
}

void Engine::schedule(std::int64_t time_ns, std::uint32_t slot, Happening what) {
  ++steps_;
  happenings_.push({std::max(time_ns, now_ns_), next_order_++, slot, what});
}

void Engine::advance(std::int64_t until_ns) {
  while (!happenings_.empty() && happenings_.top().time_ns <= until_ns) step();
  now_ns_ = std::max(now_ns_, until_ns);
}

bool Engine::run_until(OpRef op) {
  while (!done(op)) {
    if (happenings_.empty()) return false;
    step();
  }
  return true;
}

void Engine::step() {
  const Event event = happenings_.top();
  happenings_.pop();
  now_ns_ = event.time_ns;
  ++steps_;
  if (event.what == Happening::kReady) {
    make_ready(event.slot);
  } else {
    finish(event.slot);
  }
}

Engine::Fifo* Engine::fifo_of(OpKind kind) {
  switch (kind) {
    case OpKind::kCopyToDevice:
      return &to_device_;
    case OpKind::kCopyToHost:
      return &to_host_;
    case OpKind::kHostFunction:
      return &host_executor_;
    default:
      return nullptr;
  }
}

std::uint32_t Engine::fifo_capacity(OpKind kind) const {
  return kind == OpKind::kHostFunction ? 1 : copy_engines_per_direction_;
}

void Engine::make_ready(std::uint32_t slot) {
  Op& op = ops_[slot];
  if (op.kind == OpKind::kKernel) {
    waiting_kernels_.emplace(streams_[op.stream].priority, next_order_++, slot);
    start_waiting_kernels();
  } else if (op.kind == OpKind::kMemoryWait) {
    op.begin_ns = now_ns_;
    if (reached(op)) {
      schedule(now_ns_, slot, Happening::kEnd);
    } else {
      open_memory_waits_.push_back(slot);
    }
  } else if (Fifo* fifo = fifo_of(op.kind);
             fifo != nullptr && fifo->in_use == fifo_capacity(op.kind)) {
    fifo->waiting.push_back(slot);
  } else {
    start(slot);
  }
}

void Engine::start_waiting_kernels() {
  while (!waiting_kernels_.empty() && kernels_running_ < concurrent_kernels_) {
    const std::uint32_t slot = std::get<2>(*waiting_kernels_.begin());
    if (sms_in_use_ + std::min(ops_[slot].blocks, sm_count_) > sm_count_) return;
    waiting_kernels_.erase(waiting_kernels_.begin());
    start(slot);
  }
}

void Engine::start(std::uint32_t slot) {
  Op& op = ops_[slot];
  op.begin_ns = now_ns_;
  std::int64_t duration_ns = op.duration_ns;
  if (op.kind == OpKind::kKernel) {
    ++kernels_running_;
    sms_in_use_ += std::min(op.blocks, sm_count_);
    duration_ns *=
        (op.blocks + sm_count_ - 1) / sm_count_;  // a grid larger than the device runs in waves
  } else if (Fifo* fifo = fifo_of(op.kind); fifo != nullptr) {
    ++fifo->in_use;
  }
  schedule(now_ns_ + duration_ns, slot, Happening::kEnd);
  if (!op.work) return;
  try {
    op.work();
  } catch (const std::exception& error) {
    fail(std::string(op.name) + " failed: " + error.what());
  } catch (...) {
    fail(std::string(op.name) + " failed");
  }
}

void Engine::finish(std::uint32_t slot) {
  if (!failure_.empty()) return;
  Op& op = ops_[slot];
  op.end_ns = now_ns_;
  if (op.kind == OpKind::kMemoryWrite) {
    std::atomic_ref<std::uint64_t>(*op.address).store(op.value, std::memory_order_release);
  } else if (op.kind == OpKind::kMemoryWait) {
    --pending_memory_waits_;
  }
  ended_(op);

  const OpKind kind = op.kind;
  if (kind == OpKind::kKernel) {
    --kernels_running_;
    sms_in_use_ -= std::min(op.blocks, sm_count_);
  }
  Stream& stream = streams_[op.stream];
  stream.head = op.next_in_stream;
  if (op.next_in_stream != kNoSlot) satisfy(op.next_in_stream);
  for (std::uint32_t successor : op.successors) satisfy(successor);
  op.successors.clear();
  op.work = nullptr;
  op.serial = 0;
  free_ops_.push_back(slot);

  if (kind == OpKind::kKernel) {
    start_waiting_kernels();
  } else if (Fifo* fifo = fifo_of(kind); fifo != nullptr) {
    --fifo->in_use;
    if (!fifo->waiting.empty()) {
      const std::uint32_t next = fifo->waiting.front();
      fifo->waiting.pop_front();
      start(next);
    }
  }
  // A marker changes no memory; anything else may have.
  if (kind != OpKind::kRecord && kind != OpKind::kWait) recheck_memory();
}

void Engine::satisfy(std::uint32_t slot) {
  Op& op = ops_[slot];
  op.ready_ns = std::max(op.ready_ns, now_ns_ + gap_before(op.kind));
  if (--op.unmet == 0) schedule(op.ready_ns, slot, Happening::kReady);
}

void Engine::recheck_memory() {
  std::erase_if(open_memory_waits_, [this](std::uint32_t slot) {
    if (!reached(ops_[slot])) return false;
    schedule(now_ns_ + calibration_.memory_wait_release_ns, slot, Happening::kEnd);
    return true;
  });
}

void Engine::fail(const std::string& why) {
  failure_ = why;
  happenings_ = {};
  waiting_kernels_.clear();
  open_memory_waits_.clear();
  to_device_.waiting.clear();
  to_host_.waiting.clear();
  host_executor_.waiting.clear();
  pending_memory_waits_ = 0;
  for (Op& op : ops_) op.serial = 0;  // done, for whoever waits; failure() says how
}

void Engine::for_each_pending(const std::function<void(const Op&)>& function) const {
  for (const Stream& stream : streams_) {
    for (std::uint32_t slot = stream.head; slot != kNoSlot; slot = ops_[slot].next_in_stream)
      function(ops_[slot]);
  }
}

}  // namespace coord::sim
