// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "views/inspector.h"

#include <algorithm>
#include <array>

#include "analysis/call_sites.h"
#include "labels.h"
#include "views/widgets.h"

namespace streamscope::viewer {
namespace {

using trace::kNoInt;
using trace::kNoSmall;
using trace::kUnknownNs;

constexpr size_t kWaitGroups = 10;
constexpr size_t kMaxListed = 50;

std::string number_or(trace::Small value, const char* none = "") {
  return value == kNoSmall ? none : format_count(value);
}

std::string_view explain(trace::Binding binding) {
  switch (binding) {
    case trace::kBindingExact:
      return "to the record that was newest when the wait was issued";
    case trace::kNeverRecorded:
      return "to nothing: the event had never been recorded, so this wait does nothing";
    case trace::kCaptured:
      return "into a graph that was being captured";
    case trace::kAmbiguous:
      return "ambiguous: a record of the event ran at the same time on another thread";
    default:
      return "unknown: the event was recorded before the recording began";
  }
}

std::string_view explain(trace::EdgeKind kind) {
  switch (kind) {
    case trace::kHostEdge:
      return "by the host, which waited for one before it issued the other";
    case trace::kLegacyEdge:
      return "by the rules of the legacy default stream";
    case trace::kGraphEdgeKind:
      return "by an edge of the graph";
    case trace::kOperationEdge:
      return "by a dependency of libcoord";
    default:
      return "by the order of the stream";
  }
}

std::string_view explain(analysis::WaitCause cause) {
  switch (cause) {
    case analysis::WaitCause::kLaunch:
      return "the host had not issued it yet";
    case analysis::WaitCause::kFifo:
      return "hand-over within its stream";
    case analysis::WaitCause::kLegacyStream:
      return "the legacy default stream";
    case analysis::WaitCause::kCopyEngine:
      return "the copy engine was busy";
    case analysis::WaitCause::kSmFull:
      return "the device was full";
    case analysis::WaitCause::kQueueAliasing:
      return "unrelated work before it in its hardware queue";
    case analysis::WaitCause::kGraph:
      return "another node of its graph";
    case analysis::WaitCause::kProfiler:
      return "the profiler held the host up";
    default:
      return "unknown";
  }
}

}  // namespace

struct InspectorView::Sheet {
  const Document& document;
  ViewState& state;
  const Theme& theme;
  int next_id = 0;

  const trace::Trace& trace() const { return document.trace(); }
  const PackedTables& tables() const { return document.tables(); }
  void fact(std::string_view name, std::string_view value) { widgets::fact(theme, name, value); }
  // A fact that leads somewhere.
  void fact_link(std::string_view name, std::string_view value, Item target) {
    widgets::fact_name(theme, name);
    link(value, target);
  }
  void link(std::string_view value, Item target) {
    if (widgets::link(theme, Face::kBody, value, next_id++)) select(state, target);
  }
  void note(std::string_view text, Color color = Color::kTextDim) {
    widgets::wrapped(theme, Face::kBody, theme.color(color), text);
  }
  void result(trace::Small result) {
    if (result != kNoSmall && result != 0 && result != trace::kResultNotReady) {
      widgets::fact_name(theme, "result");
      widgets::text(theme, Face::kBody, theme.color(Color::kError),
                    "CUDA error " + std::to_string(result));
    }
  }
  void operation(Id id) {
    if (id < tables().operation.size())
      fact_link("operation", document.label({ItemKind::kOperation, id}),
                {ItemKind::kOperation, id});
  }
  std::string on_stream(Id op) const {
    return document.label({ItemKind::kOp, op}) + " on " +
           document.stream_name(tables().op.stream_id[op]);
  }
  void stack(Id id) {
    if (id >= trace().stack.size()) return;
    bool first = true;
    for (const std::string& line : analysis::stack_lines(trace(), id)) {
      fact(first ? "called from" : " ", line);
      first = false;
    }
  }
  void correlation(trace::Int id) {
    if (id != kNoInt) fact("correlation", std::to_string(id));
  }
};

void InspectorView::draw(const Document& document, ViewState& state, const Theme& theme) {
  Sheet sheet{document, state, theme};
  if (state.selection) {
    draw_item(sheet);
  } else if (!state.marked) {
    draw_trace(sheet);
  }
  if (state.marked) draw_sums(sheet);
}

void InspectorView::draw_trace(Sheet& sheet) {
  const Document& document = sheet.document;
  const trace::Trace& trace = sheet.trace();
  const PackedTables& tables = sheet.tables();
  widgets::text(sheet.theme, Face::kTitle, sheet.theme.color(Color::kText), "Trace");
  ImGui::Spacing();
  sheet.fact("file", trace.file.filename().string());
  if (const auto it = trace.meta.find("producer"); it != trace.meta.end())
    sheet.fact("producer", it->second);
  if (const auto it = trace.meta.find("tier"); it != trace.meta.end())
    sheet.fact("tier", it->second);
  sheet.fact("duration", format_exact(document.extent().duration_ns()));
  for (Id device = 0; device < trace.device.size(); ++device) {
    sheet.fact(device == 0 ? "devices" : " ", trace.text(trace.device.name_id[device]));
  }
  sheet.fact("state", document.losses().empty() ? "complete, nothing lost" : "incomplete");
  ImGui::Spacing();
  const auto count = [&](std::string_view name, size_t rows) {
    if (rows > 0) sheet.fact(name, format_count(static_cast<int64_t>(rows)));
  };
  count("processes", trace.process.size());
  count("streams", trace.stream.size());
  count("operations", tables.op.size());
  count("event records", tables.event_record.size());
  count("stream waits", tables.event_wait.size());
  count("edges", document.dependency_count());
  count("host syncs", tables.host_sync.size());
  count("other calls", tables.api_call.size());
  count("NVTX ranges", tables.range.size());

  const std::vector<analysis::WaitGroup>& waits = document.wait_groups();
  widgets::heading(sheet.theme, "Who waited for whom");
  if (waits.empty()) sheet.note("No stream stood still for another.");
  for (const analysis::WaitGroup& group :
       std::span(waits).first(std::min(waits.size(), kWaitGroups))) {
    const analysis::WaitPart& longest = group.longest;
    const Item waiter{ItemKind::kOp, longest.op};
    widgets::text(sheet.theme, Face::kBold, sheet.theme.color(Color::kWaiting),
                  format_duration(group.total_ns));
    ImGui::SameLine(sheet.theme.px(88) + ImGui::GetStyle().WindowPadding.x);
    ImGui::BeginGroup();
    if (widgets::link(sheet.theme, Face::kBody, sheet.on_stream(longest.op), sheet.next_id++)) {
      select(sheet.state, waiter);
      zoom_to_selection(document, sheet.state);
    }
    std::string story =
        longest.host_sync != kNoId
            ? "the host sat in " + document.label({ItemKind::kHostSync, longest.host_sync})
        : longest.because_op != kNoId ? "for " + sheet.on_stream(longest.because_op)
                                      : std::string(explain(longest.cause));
    if (group.count > 1) {
      story += "; " + format_count(static_cast<int64_t>(group.count)) + " times, up to " +
               format_duration(longest.duration_ns);
    }
    widgets::wrapped(sheet.theme, Face::kSmall, sheet.theme.color(Color::kTextDim), story);
    ImGui::EndGroup();
  }
}

void InspectorView::draw_item(Sheet& sheet) {
  const Document& document = sheet.document;
  const Theme& theme = sheet.theme;
  const Item item = sheet.state.selection;
  const Category category = document.category(item);
  const ImU32 fill = theme.color(category);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = widgets::chip(ImGui::GetWindowDrawList(), theme, Face::kSmall, at, fill,
                                    theme.on(fill), to_string(category));
  ImGui::Dummy({size.x, size.y + theme.px(2)});
  const std::string label = document.label(item), name = document.name(item);
  widgets::wrapped(theme, Face::kTitle, theme.color(Color::kText), ellipsize(label, 400));
  if (name != label)
    widgets::wrapped(theme, Face::kMonoSmall, theme.color(Color::kTextDim), ellipsize(name, 2000));
  ImGui::Spacing();
  if (const auto range = document.time(item)) {
    sheet.fact("start", format_exact(range->begin_ns));
    sheet.fact("duration",
               document.never_ended(item) ? "never ended" : format_exact(range->duration_ns()));
  } else {
    sheet.note("Its time is unknown.");
  }
  switch (item.kind) {
    case ItemKind::kOp:
      draw_op(sheet, item.id);
      break;
    case ItemKind::kApiCall:
      draw_call(sheet, item.id);
      break;
    case ItemKind::kEventRecord:
      draw_record(sheet, item.id);
      break;
    case ItemKind::kEventWait:
      draw_wait(sheet, item.id);
      break;
    case ItemKind::kHostSync:
      draw_sync(sheet, item.id);
      break;
    case ItemKind::kRange:
      draw_range(sheet, item.id);
      break;
    case ItemKind::kOperation:
      draw_operation(sheet, item.id);
      break;
    default:
      break;
  }
  if (item.kind == ItemKind::kOp) draw_why_late(sheet, item.id);
  draw_dependencies(sheet);
}

void InspectorView::draw_why_late(Sheet& sheet, Id op) {
  const Document& document = sheet.document;
  const Theme& theme = sheet.theme;
  const std::vector<analysis::WaitPart> parts = document.why_late(op);
  Ns gap = 0;
  for (const analysis::WaitPart& part : parts) gap += part.duration_ns;
  if (gap == 0) return;
  widgets::heading(theme, "Started late by " + format_duration(gap));
  // The gap before it, from left to right as time went.
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = theme.px(10);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  float x = at.x;
  for (const analysis::WaitPart& part : parts) {
    const float share =
        static_cast<float>(static_cast<double>(part.duration_ns) / static_cast<double>(gap));
    draw.AddRectFilled({x, at.y}, {x + std::max(share * width - 1, 1.0f), at.y + height},
                       theme.color(part.cause));
    x += share * width;
  }
  ImGui::Dummy({width, height + theme.px(2)});
  for (const analysis::WaitPart& part : parts) {
    const ImVec2 row = ImGui::GetCursorScreenPos();
    const float swatch = theme.px(8), top = row.y + (theme.text(Face::kBody).size - swatch) / 2;
    draw.AddRectFilled({row.x, top}, {row.x + swatch, top + swatch}, theme.color(part.cause));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + theme.px(16));
    widgets::text(theme, Face::kBody, theme.color(Color::kText), format_duration(part.duration_ns));
    ImGui::SameLine(theme.px(112));
    if (part.host_sync != kNoId) {
      sheet.link("host sat in " + document.label({ItemKind::kHostSync, part.host_sync}),
                 {ItemKind::kHostSync, part.host_sync});
    } else if (part.because_op != kNoId) {
      sheet.link("waited for " + sheet.on_stream(part.because_op),
                 {ItemKind::kOp, part.because_op});
    } else {
      sheet.note(explain(part.cause));
    }
  }
}

void InspectorView::draw_op(Sheet& sheet, Id id) {
  const auto& op = sheet.tables().op;
  const Document& document = sheet.document;
  const Id stream = op.stream_id[id];
  sheet.fact("stream", document.stream_name(stream));
  if (const Id device = sheet.trace().device_of_stream(stream);
      device < sheet.trace().device.size()) {
    sheet.fact("device", sheet.trace().text(sheet.trace().device.name_id[device]));
  }
  if (op.bytes[id] != kNoInt) {
    sheet.fact("size", format_bytes(op.bytes[id]) + " (" + format_count(op.bytes[id]) + " bytes)");
    const Ns duration = op.start_ns[id] != kUnknownNs && op.end_ns[id] != kUnknownNs
                            ? op.end_ns[id] - op.start_ns[id]
                            : 0;
    if (duration > 0) {
      std::array<char, 32> text;
      std::snprintf(text.data(), text.size(), "%.2f GB/s",
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
  sheet.operation(document.operation_of(id));
  if (const Item call = document.call_of(id)) {
    sheet.fact_link("issued by", document.label(call), call);
    const auto issued = document.time(call);
    if (issued && op.start_ns[id] != kUnknownNs) {
      sheet.fact("began after", format_duration(distance_ns(issued->begin_ns, op.start_ns[id])) +
                                    " from the call");
    }
  }
  if (op.start_ns[id] == kUnknownNs)
    sheet.note("The trace has no device times for it; it is shown where the host issued it.");
  sheet.correlation(op.correlation_id[id]);
}

void InspectorView::draw_call(Sheet& sheet, Id id) {
  const auto& call = sheet.tables().api_call;
  sheet.fact("thread", sheet.document.thread_name(call.thread_id[id]));
  if (call.stream_id[id] != kNoId)
    sheet.fact("stream", sheet.document.stream_name(call.stream_id[id]));
  sheet.result(call.result[id]);
  if (call.end_ns[id] == kUnknownNs)
    sheet.note("It never returned while the program was recorded.", Color::kWarning);
  sheet.operation(call.operation_id[id]);
  if (const Id op = sheet.document.op_of({ItemKind::kApiCall, id}); op != kNoId) {
    sheet.fact_link("issued", sheet.document.label({ItemKind::kOp, op}), {ItemKind::kOp, op});
  }
  sheet.correlation(call.correlation_id[id]);
  sheet.stack(call.stack_id[id]);
}

void InspectorView::draw_record(Sheet& sheet, Id id) {
  const auto& record = sheet.tables().event_record;
  sheet.fact("thread", sheet.document.thread_name(record.thread_id[id]));
  sheet.fact("stream", sheet.document.stream_name(record.stream_id[id]));
  sheet.fact("event", sheet.document.event_name(record.event_id[id]) + ", record " +
                          number_or(record.version[id], "?"));
  sheet.result(record.result[id]);
  sheet.operation(record.operation_id[id]);
  sheet.correlation(record.correlation_id[id]);
}

void InspectorView::draw_wait(Sheet& sheet, Id id) {
  const auto& wait = sheet.tables().event_wait;
  sheet.fact("thread", sheet.document.thread_name(wait.thread_id[id]));
  sheet.fact("stream", sheet.document.stream_name(wait.stream_id[id]));
  sheet.fact("event", sheet.document.event_name(wait.event_id[id]));
  if (const Id record = wait.record_id[id]; record < sheet.tables().event_record.size()) {
    sheet.fact_link("waits for",
                    "record " + number_or(sheet.tables().event_record.version[record], "?") +
                        " on " +
                        sheet.document.stream_name(sheet.tables().event_record.stream_id[record]),
                    {ItemKind::kEventRecord, record});
  }
  if (wait.binding[id] != kNoSmall)
    sheet.fact("bound", explain(static_cast<trace::Binding>(wait.binding[id])));
  sheet.result(wait.result[id]);
  sheet.operation(wait.operation_id[id]);
  sheet.correlation(wait.correlation_id[id]);
}

void InspectorView::draw_sync(Sheet& sheet, Id id) {
  const auto& sync = sheet.tables().host_sync;
  sheet.fact("thread", sheet.document.thread_name(sync.thread_id[id]));
  if (sync.stream_id[id] != kNoId)
    sheet.fact("stream", sheet.document.stream_name(sync.stream_id[id]));
  if (sync.event_id[id] != kNoId) sheet.fact("event", sheet.document.event_name(sync.event_id[id]));
  if (const Id record = sync.record_id[id]; record < sheet.tables().event_record.size()) {
    sheet.fact_link(
        "waits for",
        "record on " + sheet.document.stream_name(sheet.tables().event_record.stream_id[record]),
        {ItemKind::kEventRecord, record});
  }
  if (sync.result[id] == trace::kResultNotReady) sheet.fact("answer", "not ready");
  sheet.result(sync.result[id]);
  if (sync.end_ns[id] == kUnknownNs)
    sheet.note("It never returned while the program was recorded.", Color::kWarning);
  sheet.operation(sync.operation_id[id]);
  sheet.correlation(sync.correlation_id[id]);
  sheet.stack(sync.stack_id[id]);
}

void InspectorView::draw_range(Sheet& sheet, Id id) {
  const auto& range = sheet.tables().range;
  sheet.fact("thread", sheet.document.thread_name(range.thread_id[id]));
  sheet.fact("domain", sheet.trace().text(range.domain_id[id]));
  if (range.payload[id] != kNoInt) sheet.fact("payload", format_count(range.payload[id]));
  if (range.end_ns[id] == kUnknownNs) sheet.note("It was never closed.", Color::kWarning);
  sheet.operation(range.operation_id[id]);
}

void InspectorView::draw_operation(Sheet& sheet, Id id) {
  const auto& operation = sheet.tables().operation;
  const Document& document = sheet.document;
  if (operation.stream_id[id] != kNoId)
    sheet.fact("stream", document.stream_name(operation.stream_id[id]));
  sheet.fact("thread", document.thread_name(operation.thread_id[id]));
  sheet.fact("call site", sheet.trace().text(operation.call_site_id[id]));
  const auto stamp = [&](std::string_view name, Ns at) {
    if (at != kUnknownNs) sheet.fact(name, format_exact(at));
  };
  stamp("registered", operation.registered_ns[id]);
  stamp("begun", operation.begun_ns[id]);
  stamp("submitted", operation.submitted_ns[id]);
  stamp("completed", operation.completed_ns[id]);
  const auto& link = sheet.tables().operation_op;
  size_t listed = 0;
  for (size_t i = 0; i < link.size() && listed < kMaxListed; ++i) {
    if (link.operation_id[i] != id || link.op_id[i] >= sheet.tables().op.size()) continue;
    if (listed++ == 0) widgets::heading(sheet.theme, "Issued");
    sheet.link(document.label({ItemKind::kOp, link.op_id[i]}), {ItemKind::kOp, link.op_id[i]});
  }
  const auto& dependency = sheet.tables().operation_dependency;
  listed = 0;
  for (size_t i = 0; i < dependency.size() && listed < kMaxListed; ++i) {
    if (dependency.operation_id[i] != id ||
        dependency.depends_on_operation_id[i] >= operation.size())
      continue;
    if (listed++ == 0) widgets::heading(sheet.theme, "Depends on");
    const Item other{ItemKind::kOperation, dependency.depends_on_operation_id[i]};
    sheet.link(document.label(other) + (dependency.elided[i] == 1 ? " (needed no wait)" : ""),
               other);
  }
}

void InspectorView::draw_dependencies(Sheet& sheet) {
  const Document& document = sheet.document;
  const Item item = sheet.state.selection;
  const PackedTables& tables = sheet.tables();
  const std::vector<uint32_t> all = document.dependencies_of(item);
  if (all.empty()) {
    if (item.kind == ItemKind::kOp && tables.op.start_ns[item.id] != kUnknownNs) {
      widgets::heading(sheet.theme, "Dependencies");
      sheet.note("None but the order of its own stream.");
    }
    return;
  }
  // From the point of view of a record or a wait every edge has two ends worth naming.
  for (const bool incoming : {true, false}) {
    size_t listed = 0, left_out = 0;
    for (const uint32_t index : all) {
      const Dependency& dependency = document.dependency(index);
      if (item.kind == ItemKind::kOp && (dependency.to_op == item.id) != incoming) continue;
      const Item other{ItemKind::kOp, incoming ? dependency.from_op : dependency.to_op};
      if (listed == 0) {
        widgets::heading(sheet.theme, item.kind != ItemKind::kOp
                                          ? (incoming ? "Stands for the work up to" : "Held up")
                                      : incoming ? "Waited for"
                                                 : "Who waited for it");
      }
      if (listed++ >= kMaxListed) {
        ++left_out;
        continue;
      }
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float mark = sheet.theme.px(3);
      sheet.link(
          document.label(other) + " on " + document.stream_name(tables.op.stream_id[other.id]),
          other);
      const Ns waited = document.waited_ns(index);
      const auto from = document.time({ItemKind::kOp, dependency.from_op}),
                 to = document.time({ItemKind::kOp, dependency.to_op});
      std::string text;
      if (waited > 0) {
        text = incoming ? "held this stream up for " + format_duration(waited)
                        : "stood still for " + format_duration(waited);
      } else if (from && to) {
        text = "was already done: " + format_duration(distance_ns(from->end_ns, to->begin_ns)) +
               " between them";
      }
      widgets::wrapped(sheet.theme, Face::kSmall,
                       sheet.theme.color(waited > 0 ? Color::kWaiting : Color::kTextDim), text);
      if (dependency.record != kNoId && dependency.wait != kNoId) {
        const auto& record = tables.event_record;
        widgets::text(sheet.theme, Face::kSmall, sheet.theme.color(Color::kTextDim), "by");
        ImGui::SameLine();
        if (widgets::link(sheet.theme, Face::kSmall,
                          "record of " + document.event_name(record.event_id[dependency.record]),
                          sheet.next_id++)) {
          select(sheet.state, {ItemKind::kEventRecord, dependency.record});
        }
        ImGui::SameLine();
        widgets::text(sheet.theme, Face::kSmall, sheet.theme.color(Color::kTextDim), "and");
        ImGui::SameLine();
        if (widgets::link(sheet.theme, Face::kSmall, "its wait", sheet.next_id++))
          select(sheet.state, {ItemKind::kEventWait, dependency.wait});
      } else {
        widgets::wrapped(sheet.theme, Face::kSmall, sheet.theme.color(Color::kTextDim),
                         explain(dependency.kind));
      }
      const float bottom = ImGui::GetCursorScreenPos().y - ImGui::GetStyle().ItemSpacing.y;
      ImGui::GetWindowDrawList()->AddRectFilled(
          {at.x - sheet.theme.px(8), at.y}, {at.x - sheet.theme.px(8) + mark, bottom},
          sheet.theme.color(incoming ? Color::kIncoming : Color::kOutgoing));
      ImGui::Spacing();
    }
    if (left_out > 0) sheet.note("and " + format_count(static_cast<int64_t>(left_out)) + " more");
  }
}

void InspectorView::draw_sums(Sheet& sheet) {
  const Document& document = sheet.document;
  const TimeRange range = *sheet.state.marked;
  if (sums_of_ != &document || sums_range_ != range) {
    sums_ = document.sums(range);
    sums_of_ = &document;
    sums_range_ = range;
  }
  if (sheet.state.selection) {
    widgets::heading(sheet.theme, "Marked time");
  } else {
    widgets::text(sheet.theme, Face::kTitle, sheet.theme.color(Color::kText), "Marked time");
    ImGui::Spacing();
  }
  sheet.fact("from", format_exact(range.begin_ns));
  sheet.fact("to", format_exact(range.end_ns));
  sheet.fact("duration", format_exact(range.duration_ns()));
  const double whole = std::max(static_cast<double>(range.duration_ns()), 1.0);
  const auto table = [&](const char* id, std::string_view first, auto&& rows) {
    widgets::heading(sheet.theme, first);
    if (!ImGui::BeginTable(id, 4, ImGuiTableFlags_SizingFixedFit)) return;
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch);
    for (int i = 0; i < 3; ++i) ImGui::TableSetupColumn("");
    rows();
    ImGui::EndTable();
  };
  const auto right = [&](const std::string& text, Color color) {
    ImGui::TableNextColumn();
    const float width = sheet.theme.px(64);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                         std::max(0.0f, width - sheet.theme.width(Face::kSmall, text)));
    widgets::text(sheet.theme, Face::kSmall, sheet.theme.color(color), text);
  };
  const auto row = [&](std::string_view name, const Sums::Entry& entry) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    widgets::text(sheet.theme, Face::kBody, sheet.theme.color(Color::kText), ellipsize(name, 40));
    right(format_count(entry.count), Color::kTextDim);
    right(format_duration(entry.busy_ns), Color::kText);
    right(format_percent(static_cast<double>(entry.busy_ns) / whole), Color::kTextDim);
  };
  table("by kind", "By kind", [&] {
    for (size_t i = 0; i < kCategoryCount; ++i) {
      if (sums_.by_category[i].count > 0)
        row(to_string(static_cast<Category>(i)), sums_.by_category[i]);
    }
  });
  table("by stream", "By stream", [&] {
    for (const auto& [lane, entry] : sums_.by_stream) row(document.lanes()[lane].title, entry);
  });
}

}  // namespace streamscope::viewer
