// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Facts of each kind of item.

#include <array>
#include <utility>

#include "inspector_sheet.h"
#include "model/sample_facts.h"

namespace streamscope::viewer {
namespace {

using trace::kNoInt;
using trace::kNoSmall;
using trace::kUnknownNs;

std::string number_or(trace::Small value, const char* none = "") {
  return value == kNoSmall ? none : format_count(value);
}

constexpr std::array<std::pair<trace::Binding, std::string_view>, 4> kBindingTexts = {
    {{trace::kBindingExact, "to the record that was newest when the wait was issued"},
     {trace::kNeverRecorded,
      "to nothing: the event was not recorded before, so this wait is a no-op"},
     {trace::kCaptured, "into a graph that was being captured"},
     {trace::kAmbiguous,
      "ambiguous: a record of the event ran at the same time on another thread"}}};
constexpr std::string_view kUnknownBinding =
    "unknown: the event was recorded before the recording began";

void draw_op(Sheet& sheet, Id id) {
  const auto& op = sheet.trace().op;
  const Id stream = op.stream_id[id];
  sheet.fact("stream", sheet.items.stream_name(stream));
  if (const Id device = sheet.trace().device_of_stream(stream);
      device < sheet.trace().device.size()) {
    sheet.fact("device", sheet.items.text(sheet.trace().device.name_id[device]));
  }
  if (op.bytes[id] != kNoInt) {
    sheet.fact("size", format_bytes(op.bytes[id]) + " (" + format_count(op.bytes[id]) + " bytes)");
    const Ns duration = op.start_ns[id] != kUnknownNs && op.end_ns[id] != kUnknownNs
                            ? op.end_ns[id] - op.start_ns[id]
                            : 0;
    if (duration > 0) {
      std::array<char, 32> text;
      std::snprintf(text.data(), text.size(), "%.2f\u00a0GB/s",
                    static_cast<double>(op.bytes[id]) / static_cast<double>(duration));
      sheet.fact("rate", text.data());
    }
  }
  const auto& shape = sheet.trace().launch_shape;
  if (const Id row = op.launch_shape_id[id]; row < shape.size()) {
    const auto dims = [](trace::Small x, trace::Small y, trace::Small z) {
      return number_or(x, "?") + " \u00d7 " + number_or(y, "?") + " \u00d7 " + number_or(z, "?");
    };
    sheet.fact("grid", dims(shape.grid_x[row], shape.grid_y[row], shape.grid_z[row]));
    sheet.fact("block", dims(shape.block_x[row], shape.block_y[row], shape.block_z[row]));
    if (shape.registers[row] > 0) sheet.fact("registers", format_count(shape.registers[row]));
    trace::Int shared = 0;
    for (const trace::Int part : {shape.static_shared_bytes[row], shape.dynamic_shared_bytes[row]})
      shared += part == kNoInt ? 0 : part;
    if (shared > 0) sheet.fact("shared memory", format_bytes(shared));
  }
  sheet.operation(sheet.items.operation_of(id));
  if (const Item call = sheet.items.call_of(id)) {
    sheet.fact_link("issued by", sheet.items.label(call), call);
    const auto issued = sheet.items.time(call);
    if (issued && op.start_ns[id] != kUnknownNs) {
      sheet.fact("issued", format_duration(distance_ns(issued->begin_ns, op.start_ns[id])) +
                               " before it began");
    }
  }
  if (op.start_ns[id] == kUnknownNs)
    sheet.note("No device times were recorded; it is shown where the host issued it.");
  sheet.number(op, id);
}

void draw_call(Sheet& sheet, Id id) {
  const auto& call = sheet.trace().api_call;
  sheet.caller(call, id);
  sheet.outcome(call, id);
  if (const Id op = sheet.items.op_of({ItemKind::kApiCall, id}); op != kNoId) {
    sheet.fact_link("issued", sheet.items.label({ItemKind::kOp, op}), {ItemKind::kOp, op});
  }
  sheet.stack(call.stack_id[id]);
}

void draw_record(Sheet& sheet, Id id) {
  const auto& record = sheet.trace().event_record;
  sheet.caller(record, id);
  sheet.fact("event", sheet.items.event_name(record.event_id[id]) + ", record " +
                          number_or(record.version[id], "?"));
  sheet.outcome(record, id);
}

void draw_wait(Sheet& sheet, Id id) {
  const auto& wait = sheet.trace().event_wait;
  sheet.caller(wait, id);
  sheet.fact("event", sheet.items.event_name(wait.event_id[id]));
  if (const Id record = wait.record_id[id]; record < sheet.trace().event_record.size()) {
    sheet.fact_link("waits for",
                    "record " + number_or(sheet.trace().event_record.version[record], "?") +
                        " on " +
                        sheet.items.stream_name(sheet.trace().event_record.stream_id[record]),
                    {ItemKind::kEventRecord, record});
  }
  if (wait.binding[id] != kNoSmall)
    sheet.fact("bound", text_of(kBindingTexts, wait.binding[id], kUnknownBinding));
  sheet.outcome(wait, id);
}

void draw_sync(Sheet& sheet, Id id) {
  const auto& sync = sheet.trace().host_sync;
  sheet.caller(sync, id);
  if (sync.event_id[id] != kNoId) sheet.fact("event", sheet.items.event_name(sync.event_id[id]));
  if (const Id record = sync.record_id[id]; record < sheet.trace().event_record.size()) {
    sheet.fact_link(
        "waits for",
        "record on " + sheet.items.stream_name(sheet.trace().event_record.stream_id[record]),
        {ItemKind::kEventRecord, record});
  }
  if (sync.result[id] == trace::kResultNotReady) sheet.fact("result", "not ready");
  sheet.outcome(sync, id);
  sheet.stack(sync.stack_id[id]);
}

void draw_range(Sheet& sheet, Id id) {
  const auto& range = sheet.trace().range;
  sheet.fact("thread", sheet.items.thread_name(range.thread_id[id]));
  sheet.fact("domain", sheet.items.text(range.domain_id[id]));
  if (range.payload[id] != kNoInt) sheet.fact("payload", format_count(range.payload[id]));
  if (range.end_ns[id] == kUnknownNs) sheet.note("This range was never closed.", Color::kWarning);
  sheet.operation(range.operation_id[id]);
}

void draw_task(Sheet& sheet, Id id) {
  const auto& task = sheet.trace().task;
  if (const Id queue = task.task_queue_id[id]; queue < sheet.trace().task_queue.size())
    sheet.fact("queue", sheet.items.text(sheet.trace().task_queue.name_id[queue]));
  sheet.fact("worker", std::to_string(task.worker[id]));
  if (task.sm[id] != kNoSmall) sheet.fact("SM", std::to_string(task.sm[id]));
  if (task.thread_id[id] != kNoId)
    sheet.fact("thread", sheet.items.thread_name(task.thread_id[id]));
  if (task.type[id] != kNoSmall) sheet.fact("type", std::to_string(task.type[id]));
}

void draw_samples(Sheet& sheet, Id id) {
  const HostFrames& frames = sheet.items.host_frames();
  sheet.fact("thread", sheet.items.thread_name(frames.thread_of(id)));
  for (const Fact& fact : sample_facts(sheet.model, id)) sheet.fact(fact.name, fact.text);
  sheet.stack(sheet.trace().host_sample.stack_id[frames.samples(id).front()], "first stack");
}

void draw_operation(Sheet& sheet, Id id) {
  const auto& operation = sheet.trace().operation;
  if (operation.stream_id[id] != kNoId)
    sheet.fact("stream", sheet.items.stream_name(operation.stream_id[id]));
  sheet.fact("thread", sheet.items.thread_name(operation.thread_id[id]));
  sheet.fact("call site", sheet.items.text(operation.call_site_id[id]));
  const auto stamp = [&](std::string_view name, Ns at) {
    if (at != kUnknownNs) sheet.fact(name, format_exact(at));
  };
  stamp("registered", operation.registered_ns[id]);
  stamp("begun", operation.begun_ns[id]);
  stamp("submitted", operation.submitted_ns[id]);
  stamp("completed", operation.completed_ns[id]);
  const auto& ops = sheet.trace().operation_op;
  sheet.linked("Issued", ops, id, [&](size_t i) {
    const Item op{ItemKind::kOp, ops.op_id[i]};
    sheet.link(sheet.items.label(op), op);
  });
  const auto& dependencies = sheet.trace().operation_dependency;
  sheet.linked("Depends on", dependencies, id, [&](size_t i) {
    const Item other{ItemKind::kOperation, dependencies.depends_on_operation_id[i]};
    sheet.link(sheet.items.label(other) + (dependencies.elided[i] == 1 ? " (no wait needed)" : ""),
               other);
  });
}

}  // namespace

void draw_facts(Sheet& sheet, Item item) {
  constexpr std::array<void (*)(Sheet&, Id), kItemKindNames.size()> kDraw = {
      nullptr,    draw_op,        draw_call, draw_record, draw_wait,   draw_sync,
      draw_range, draw_operation, nullptr,   draw_task,   draw_samples};
  if (const auto draw = kDraw[static_cast<size_t>(item.kind)]; draw != nullptr)
    draw(sheet, item.id);
}

}  // namespace streamscope::viewer
