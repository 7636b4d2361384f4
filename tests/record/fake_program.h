// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A collector in miniature: pushes records like the real one, for tests of the writer and for the
// small program that those tests record.
#pragma once

#include <unistd.h>
#include <atomic>

#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ring/calls.h"
#include "ring/process.h"
#include "ring/record.h"
#include "ring/ring.h"

namespace streamscope::test {

enum CallName { kRecord, kWait, kQuery };

/// One thread of the recorded program and its ring. Times are stamps of CLOCK_MONOTONIC unless
/// given.
class FakeThread {
 public:
  FakeThread(const std::filesystem::path& rings, uint32_t index, uint64_t capacity = 1024,
             ring::ClockKind clock = ring::ClockKind::kMonotonic)
      : clock_(clock), rings_(std::make_unique<std::filesystem::path>(rings)) {
    int error = 0;
    ring = ring::Producer::create(rings_->c_str(), index, capacity, clock, &error);
    if (!ring.valid()) throw std::runtime_error(std::string("no ring: ") + std::strerror(error));
  }

  uint64_t now() const { return ring::read_clock(clock_); }

  template <class T>
  T make(ring::RecordKind kind) const {
    T record{};
    record.kind = kind;
    record.flags = flags;
    return record;
  }

  void thread(uint32_t tid, std::string_view name = "") {
    auto record = make<ring::ThreadRecord>(ring::RecordKind::kThread);
    record.tid = tid;
    record.begin = now();
    record.name = text(name);
    ring.push(record);
  }

  ring::TextHash text(std::string_view value) {
    const ring::TextHash hash = ring::hash_text(value);
    for (size_t at = 0; at < value.size(); at += sizeof(ring::TextRecord::bytes)) {
      auto record = make<ring::TextRecord>(ring::RecordKind::kText);
      record.hash = hash;
      record.total_bytes = static_cast<uint32_t>(value.size());
      record.offset = static_cast<uint32_t>(at);
      const std::string_view chunk = value.substr(at, sizeof record.bytes);
      record.chunk_bytes = static_cast<uint16_t>(chunk.size());
      std::memcpy(record.bytes, chunk.data(), chunk.size());
      ring.push(record);
    }
    return hash;
  }

  void process(std::string_view executable) {
    auto record = make<ring::ProcessRecord>(ring::RecordKind::kProcess);
    record.parent_pid = static_cast<uint32_t>(getppid());
    record.begin = now();
    record.executable = ring::hash_text(executable);
    ring.push(record);
    text(executable);
  }

  void context(uint32_t id, uint32_t null_stream = 7) {
    auto device = make<ring::DeviceRecord>(ring::RecordKind::kDevice);
    device.name = text("Test GPU");
    device.uuid = text("GPU-0");
    device.compute_capability = 90;
    ring.push(device);
    auto record = make<ring::ContextRecord>(ring::RecordKind::kContext);
    record.context = id;
    record.null_stream = null_stream;
    record.begin = now();
    ring.push(record);
  }

  void stream(uint64_t handle, uint32_t number, bool destroyed = false) {
    auto record = make<ring::StreamRecord>(ring::RecordKind::kStream);
    record.stream_kind = static_cast<uint8_t>(kNonBlockingStream);
    record.destroyed = destroyed;
    record.context = 1;
    record.handle = handle;
    record.stream = number;
    record.begin = now();
    ring.push(record);
  }

  ring::CallRecord make_call(std::string_view name, uint64_t stream, uint64_t object,
                             uint64_t value = 0) {
    auto record = make<ring::CallRecord>(ring::RecordKind::kCall);
    record.call = ring::find_call(name).value();
    record.call_number = ++correlation;
    record.stream = stream;
    record.object = object;
    record.value = value;
    record.context = 1;
    record.operation = operation;
    return record;
  }
  /// A whole call; returns its number.
  uint32_t call(std::string_view name, uint64_t stream, uint64_t object, uint64_t value = 0,
                int32_t result = 0) {
    auto record = make_call(name, stream, object, value);
    record.begin = now();
    record.end = now();
    record.result = result;
    ring.push(record);
    return record.call_number;
  }
  /// A call at given stamps.
  uint32_t call_at(uint64_t begin, uint64_t end, std::string_view name, uint64_t stream,
                   uint64_t object, uint64_t value = 0, int32_t result = 0) {
    auto record = make_call(name, stream, object, value);
    record.begin = begin;
    record.end = end;
    record.result = result;
    ring.push(record);
    return record.call_number;
  }
  /// A query that was not ready, at given stamps.
  void poll(uint64_t begin, uint64_t end, std::string_view name, uint64_t stream, uint64_t object) {
    auto record = make_call(name, stream, object);
    record.begin = begin;
    record.end = end;
    record.result = ring::kNotReady;
    ring.push_poll(record);
  }
  /// A call as the real collector reports it: entry stamp, open slot, `effect`, exit stamp, record,
  /// slot cleared.
  template <class Effect>
  void perform(CallName name, uint64_t stream, uint64_t object, uint32_t id, Effect effect) {
    static const ring::CallId kIds[] = {ring::find_call("cudaEventRecord").value(),
                                        ring::find_call("cudaStreamWaitEvent").value(),
                                        ring::find_call("cudaEventQuery").value()};
    ring::OpenCall& open = ring.header().open_call;
    ring::CallRecord call = make<ring::CallRecord>(ring::RecordKind::kCall);
    call.call = kIds[name];
    call.call_number = id;
    call.stream = stream;
    call.object = object;
    call.context = 1;
    call.operation = ring::kNone32;
    call.begin = now();
    open.write({call, false});
    effect();
    open.begin_leaving();
    std::atomic<bool> others_see{false};
    others_see.exchange(true);  // that, before the stamp is taken
    call.end = ring::read_clock_after(clock_);
    ring.push(call);
    open.close();
  }
  /// Enters a call and stays in it.
  void enter(std::string_view name, uint64_t stream, uint64_t object) {
    auto call = make_call(name, stream, object);
    call.begin = open_begin_ = now();
    ring.header().open_call.write({call, false});
  }
  /// Leaves the call that enter() opened.
  void leave(std::string_view name, uint64_t stream, uint64_t object) {
    auto record = make_call(name, stream, object);
    record.begin = open_begin_;
    record.end = now();
    ring.push(record);
    ring.header().open_call.close();
  }

  void kernel(uint32_t correlation_id, uint32_t stream, int64_t begin_ns, int64_t end_ns,
              std::string_view name = "kernel", uint64_t graph_node = 0) {
    auto record = make<ring::OpRecord>(ring::RecordKind::kKernel);
    record.correlation_id = correlation_id;
    record.context = 1;
    record.stream = stream;
    record.begin_ns = begin_ns;
    record.end_ns = end_ns;
    if (end_ns == 0) record.flags |= ring::kUnfinished;
    record.name = text(name);
    record.shape = ring::kNone32;
    record.channel = 0xffff;
    record.graph_node = graph_node;
    ring.push(record);
  }

  /// An executable graph with nodes of these kinds (CUgraphNodeType).
  void graph(uint32_t id, uint64_t handle, std::initializer_list<int> kinds) {
    uint64_t number = uint64_t{id} << 32;
    for (const int kind : kinds) {
      auto node = make<ring::GraphNodeRecord>(ring::RecordKind::kGraphNode);
      node.graph = id;
      node.node = ++number;
      node.node_kind = static_cast<uint8_t>(kind);
      node.call_number = ring::kNone32;
      ring.push(node);
    }
    auto record = make<ring::GraphRecord>(ring::RecordKind::kGraph);
    record.begin = now();
    record.graph = id;
    record.source = ring::kNone32;
    record.handle = handle;
    record.executable = 1;
    ring.push(record);
  }

  void range(ring::RecordKind kind, std::string_view name, uint64_t id = 0, uint32_t tid = 0) {
    auto record = make<ring::RangeRecord>(kind);
    record.begin = now();
    record.name = text(name);
    record.id = id;
    record.tid = tid;
    record.operation = ring::kNone32;
    ring.push(record);
  }

  void end() {
    auto record = make<ring::EndRecord>(ring::RecordKind::kEnd);
    record.begin = now();
    ring.push(record);
    ring.close();
  }

  ring::Producer ring;
  uint8_t flags = 0;
  uint32_t operation = ring::kNone32;
  static inline std::atomic<uint32_t> correlation = 0;  // unique in the process

 private:
  ring::ClockKind clock_;
  std::unique_ptr<std::filesystem::path> rings_;  // where the ring finds it when it grows
  uint64_t open_begin_ = 0;
};

}  // namespace streamscope::test
