// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A large trace for benchmarks, like one of a busy program of four threads, made in memory.
#pragma once

#include <algorithm>
#include <random>

#include "trace/read/reader.h"

namespace streamscope::bench {

/// A program of four threads that launch onto random streams, each now and then recording on one
/// stream and waiting on another; kernels run a few at once and are stored as they end.
inline trace::Trace big_trace(size_t ops, size_t waits, size_t streams) {
  using namespace trace;
  Trace t;
  std::mt19937_64 random(7);
  t.process.os_pid = {1}, t.process.row_count = 1;
  t.device.sm_count = {132}, t.device.copy_engines = {3}, t.device.row_count = 1;
  t.context.process_id = {0}, t.context.device_id = {0}, t.context.row_count = 1;
  t.thread.process_id.assign(4, 0), t.thread.row_count = 4;
  t.stream.context_id.assign(streams, 0);
  t.stream.kind.assign(streams, kNonBlockingStream);
  t.stream.row_count = streams;
  const auto ids = [](auto& column, size_t n) { column.assign(n, kNoId); };
  const auto ints = [](auto& column, size_t n) { column.assign(n, kNoInt); };
  const auto smalls = [](auto& column, size_t n) { column.assign(n, kNoSmall); };
  auto& op = t.op;
  for (auto* column : {&op.stream_id, &op.name_id, &op.api_call_id, &op.launch_shape_id})
    ids(*column, ops);
  for (auto* column :
       {&op.start_ns, &op.end_ns, &op.call_number, &op.correlation_id, &op.bytes, &op.graph_node})
    ints(*column, ops);
  for (auto* column : {&op.kind, &op.detail, &op.memory_kinds, &op.channel}) smalls(*column, ops);
  op.row_count = ops;
  auto& call = t.api_call;
  for (auto* column :
       {&call.thread_id, &call.name_id, &call.stream_id, &call.operation_id, &call.stack_id})
    ids(*column, ops);
  for (auto* column : {&call.start_ns, &call.end_ns, &call.call_number, &call.correlation_id,
                       &call.object, &call.value})
    ints(*column, ops);
  for (auto* column : {&call.kind, &call.result}) smalls(*column, ops);
  call.row_count = ops;
  auto& record = t.event_record;
  for (auto* column : {&record.thread_id, &record.name_id, &record.stream_id, &record.event_id,
                       &record.operation_id})
    ids(*column, waits);
  for (auto* column :
       {&record.start_ns, &record.end_ns, &record.call_number, &record.correlation_id})
    ints(*column, waits);
  for (auto* column : {&record.version, &record.result, &record.flags}) smalls(*column, waits);
  record.row_count = waits;
  auto& wait = t.event_wait;
  for (auto* column : {&wait.thread_id, &wait.name_id, &wait.stream_id, &wait.event_id,
                       &wait.record_id, &wait.operation_id})
    ids(*column, waits);
  for (auto* column : {&wait.start_ns, &wait.end_ns, &wait.call_number, &wait.correlation_id})
    ints(*column, waits);
  for (auto* column : {&wait.binding, &wait.result, &wait.flags}) smalls(*column, waits);
  wait.row_count = waits;

  std::vector<Ns> busy(streams, 0), held(streams, 0);
  Ns now = 0;
  Int correlation = 0;
  size_t next_wait = 0;
  for (size_t i = 0; i < ops; ++i) {
    const Id stream = static_cast<Id>(random() % streams), thread = static_cast<Id>(random() % 4);
    now += 1'500;
    call.thread_id[i] = thread, call.kind[i] = 1, call.stream_id[i] = stream;
    call.start_ns[i] = now - 1'400, call.end_ns[i] = now, call.result[i] = 0;
    call.call_number[i] = call.correlation_id[i] = ++correlation;
    const Ns start = std::max({now + 5'000, busy[stream] + 1'500, held[stream] + 2'000});
    op.kind[i] = i % 8 == 0 ? kMemcpy : kKernel;
    op.detail[i] = i % 8 == 0 ? 1 : kNoSmall;
    op.stream_id[i] = stream, op.api_call_id[i] = static_cast<Id>(i);
    op.call_number[i] = op.correlation_id[i] = correlation,
    op.channel[i] = static_cast<Small>(stream % 8);
    op.start_ns[i] = start,
    op.end_ns[i] = busy[stream] = start + 1'000 + static_cast<Ns>(random() % 20'000);
    if (next_wait * ops >= (i + 1) * waits || next_wait == waits) continue;
    const Id waiter = static_cast<Id>(random() % streams);
    record.thread_id[next_wait] = wait.thread_id[next_wait] = thread;
    record.stream_id[next_wait] = stream, wait.stream_id[next_wait] = waiter;
    record.start_ns[next_wait] = now + 10, record.end_ns[next_wait] = now + 20;
    wait.start_ns[next_wait] = now + 30, wait.end_ns[next_wait] = now + 40;
    record.call_number[next_wait] = record.correlation_id[next_wait] = ++correlation;
    wait.call_number[next_wait] = wait.correlation_id[next_wait] = ++correlation;
    record.result[next_wait] = wait.result[next_wait] = 0;
    wait.binding[next_wait] = kBindingExact, wait.record_id[next_wait] = static_cast<Id>(next_wait);
    held[waiter] = std::max(held[waiter], busy[stream]);
    ++next_wait;
  }
  // Everything else about the rows is unknown.
#define STREAMSCOPE_FILL(type, name) columns.name.resize(columns.size(), detail::none<type>());
#define STREAMSCOPE_FILL_TABLE(sql_name, Row, COLUMNS) \
  {                                                    \
    [[maybe_unused]] auto& columns = t.sql_name;       \
    COLUMNS(STREAMSCOPE_FILL)                          \
  }
  STREAMSCOPE_TABLES(STREAMSCOPE_FILL_TABLE)
#undef STREAMSCOPE_FILL_TABLE
#undef STREAMSCOPE_FILL
  t.pack();
  return t;
}

}  // namespace streamscope::bench
