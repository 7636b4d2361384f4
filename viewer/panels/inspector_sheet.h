// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the parts of the inspector share: links, facts and descriptions of causes.
#pragma once

#include "analysis/call_sites.h"
#include "inspector.h"
#include "model/labels.h"
#include "widgets.h"

namespace streamscope::viewer {

/// Facts of one frame, one below the other.
struct Sheet {
  static constexpr size_t kMaxListed = 50;  // of lists that may have thousands of entries

  const TraceModel& model;
  ViewState& state;
  const Theme& theme;
  const ItemFacts& items = model.items();
  int next_id = 0;

  const trace::Trace& trace() const { return model.trace(); }
  void fact(std::string_view name, std::string_view value) { widgets::fact(theme, name, value); }
  // A fact with a link.
  void fact_link(std::string_view name, std::string_view value, Item target) {
    widgets::fact_name(theme, name);
    link(value, target);
  }
  void link(std::string_view value, Item target) {
    if (widgets::link(theme, state.focus.stops, Face::kBody, value, next_id++))
      select(state, target);
  }
  void note(std::string_view text, Color color = Color::kTextDim) {
    widgets::wrapped(theme, Face::kBody, theme.color(color), text);
  }
  void result(trace::Small result) {
    if (result != trace::kNoSmall && result != 0 && result != trace::kResultNotReady) {
      widgets::fact_name(theme, "result");
      widgets::text(theme, Face::kBody, theme.color(Color::kError),
                    "CUDA error " + std::to_string(result));
    }
  }
  void operation(Id id) {
    if (id < trace().operation.size())
      fact_link("operation", items.label({ItemKind::kOperation, id}), {ItemKind::kOperation, id});
  }
  std::string on_stream(Id op) const {
    return items.label({ItemKind::kOp, op}) + " on " + items.stream_name(trace().op.stream_id[op]);
  }
  void stack(Id id, std::string_view name = "called from") {
    if (id >= trace().stack.size()) return;
    for (const std::string& line : analysis::stack_lines(trace(), id)) {
      fact(name, line);
      name = " ";
    }
  }
  // CUPTI's number of a call, or of the call that issued an op; ours if CUPTI did not see the call.
  template <class Table>
  void number(const Table& table, Id id) {
    if (table.correlation_id[id] != trace::kNoInt) {
      fact("correlation", std::to_string(table.correlation_id[id]));
    } else if (table.call_number[id] != trace::kNoInt) {
      fact("call number", std::to_string(table.call_number[id]));
    }
  }
  // The calling thread, and the stream; of a row of any table of calls.
  template <class Calls>
  void caller(const Calls& calls, Id id) {
    fact("thread", items.thread_name(calls.thread_id[id]));
    if (calls.stream_id[id] != kNoId) fact("stream", items.stream_name(calls.stream_id[id]));
  }
  // How the call ended, and what it belongs to.
  template <class Calls>
  void outcome(const Calls& calls, Id id) {
    result(calls.result[id]);
    if (calls.start_ns[id] != trace::kUnknownNs && calls.end_ns[id] == trace::kUnknownNs)
      note("This call did not return while the program was recorded.", Color::kWarning);
    operation(calls.operation_id[id]);
    number(calls, id);
  }
  // The first of the rows of a link table that belong to an operation, under a heading.
  template <class Links, class Each>
  void linked(std::string_view heading, const Links& links, Id operation, Each each) {
    size_t listed = 0;
    for (size_t i = 0; i < links.size() && listed < kMaxListed; ++i) {
      if (links.operation_id[i] != operation) continue;
      if (listed++ == 0) widgets::heading(theme, heading);
      each(i);
    }
  }
};

/// The text of a key in a table of pairs.
inline std::string_view text_of(const auto& texts, auto key, std::string_view otherwise) {
  for (const auto& [each, text] : texts) {
    if (each == key) return text;
  }
  return otherwise;
}

/// The meaning of a cause of waiting.
std::string_view explain(streamscope::WaitCause cause);

// inspector_items.cpp
/// What is special about an item of its kind.
void draw_facts(Sheet& sheet, Item item);

// inspector_waits.cpp
void draw_why_late(Sheet& sheet, Id op);
/// Of the selection.
void draw_dependencies(Sheet& sheet);

}  // namespace streamscope::viewer
