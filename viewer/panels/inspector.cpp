// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The inspector as a whole, of a trace, and of a marked range.

#include "inspector.h"

#include <algorithm>

#include "analysis/labels.h"
#include "inspector_sheet.h"
#include "model/trace_facts.h"

namespace streamscope::viewer {
namespace {

constexpr size_t kWaitGroups = 10;

// Who waited, for what and how often; `time` is what it cost.
void draw_wait(Sheet& sheet, const std::string& time, const analysis::WaitGroup& group,
               const std::string& count) {
  const TraceModel& model = sheet.model;
  const analysis::WaitPart& longest = group.longest;
  widgets::text(sheet.theme, Face::kBold, sheet.theme.color(Color::kWaiting), time);
  ImGui::SameLine(sheet.theme.px(88) + ImGui::GetStyle().WindowPadding.x);
  ImGui::BeginGroup();
  std::string who = sheet.on_stream(longest.op);
  // "vectorized_elementwise_kernel<MulFunctor>" may take two lines.
  if (const size_t functor = who.find('<');
      functor != who.npos && sheet.theme.width(Face::kBody, who.substr(0, who.rfind('>') + 1)) >
                                 ImGui::GetContentRegionAvail().x)
    who.insert(functor, " ");
  if (widgets::wrapped_link(sheet.theme, sheet.state.focus.stops, Face::kBody, who,
                            sheet.next_id++))
    go_to(model, sheet.state, {ItemKind::kOp, longest.op});
  std::string story =
      longest.host_sync() != kNoId
          ? analysis::host_label(longest.cause,
                                 sheet.items.label({ItemKind::kHostSync, longest.host_sync()}))
      : analysis::is_host(longest.cause)
          ? analysis::host_label(longest.cause, sheet.items.text(longest.call_name()))
      : longest.because_op() != kNoId ? "for " + sheet.on_stream(longest.because_op())
                                      : std::string(explain(longest.cause));
  if (analysis::is_host(longest.cause)) story.insert(0, "launched late: ");
  widgets::wrapped(sheet.theme, Face::kSmall, sheet.theme.color(Color::kTextDim), story + count);
  ImGui::EndGroup();
}

// Of an iteration first, then of the whole run.
void draw_waits(Sheet& sheet) {
  const Waits& waits = sheet.model.waits();
  const auto times = [](uint64_t count, Ns longest_ns) {
    if (count <= 1) return std::string();
    return "; " + format_count(static_cast<int64_t>(count)) + " times, up to " +
           format_duration(longest_ns);
  };
  const bool has_iterations = sheet.model.diagnosis().has_iterations();
  if (has_iterations && !sheet.model.insights().derived) {
    widgets::heading(sheet.theme, "Who waited for whom, in an iteration");
    sheet.note(waits.steady().empty() ? "None in most of the steady iterations."
                                      : "Median of the steady part, with its spread.");
    for (const SteadyWaits& each :
         std::span(waits.steady()).first(std::min(waits.steady().size(), kWaitGroups))) {
      const std::string spread = spread_text(each.each);
      draw_wait(sheet, format_duration(each.each.median_ns), each.group,
                (spread.empty() ? "" : "; " + spread) +
                    times(each.each.count, each.group.longest.duration_ns));
    }
  }
  const std::vector<analysis::WaitGroup>& groups = waits.groups();
  widgets::heading(sheet.theme, has_iterations ? "Who waited for whom, in the whole run"
                                               : "Who waited for whom");
  if (groups.empty())
    sheet.note(sheet.model.insights().derived
                   ? "Not listed for a trace this large; L selects the longest."
                   : "No waits in this trace.");
  for (const analysis::WaitGroup& group :
       std::span(groups).first(std::min(groups.size(), kWaitGroups)))
    draw_wait(sheet, format_duration(group.times.total_ns()), group,
              times(group.count, group.longest.duration_ns));
}

void draw_trace(Sheet& sheet) {
  const TraceModel& model = sheet.model;
  const trace::Trace& trace = sheet.trace();
  widgets::text(sheet.theme, Face::kTitle, sheet.theme.color(Color::kText), "Trace");
  ImGui::Spacing();
  sheet.fact("file", trace.file.filename().string());
  if (const auto it = trace.meta.find("producer"); it != trace.meta.end())
    sheet.fact("producer", analysis::printable(it->second));
  if (const auto it = trace.meta.find("tier"); it != trace.meta.end())
    sheet.fact("tier", analysis::printable(it->second));
  sheet.fact("duration", format_exact(model.info().duration_ns));
  for (Id device = 0; device < trace.device.size(); ++device) {
    sheet.fact(device == 0 ? "devices" : " ", sheet.items.text(trace.device.name_id[device]));
  }
  sheet.fact("state", state_text(model, sheet.state.is_live));
  for (const std::string& line : loss_lines(model)) sheet.note(line, Color::kWarning);
  ImGui::Spacing();
  for (const Fact& fact : count_facts(model)) sheet.fact(fact.name, fact.text);

  draw_waits(sheet);
}

}  // namespace

void InspectorView::draw(const TraceModel& model, ViewState& state, const Theme& theme) {
  if (state.job.is_shown) return draw_job(state, theme);
  Sheet sheet{model, state, theme};
  if (state.selection.item) {
    draw_item(sheet);
  } else if (!state.nav.marked) {
    draw_trace(sheet);
  }
  if (state.nav.marked) draw_sums(sheet, *state.nav.marked);
}

void InspectorView::draw_item(Sheet& sheet) {
  const Theme& theme = sheet.theme;
  const Item item = sheet.state.selection.item;
  const Category category = sheet.items.category(item);
  const ImU32 fill = theme.color(category);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = widgets::chip(ImGui::GetWindowDrawList(), theme, Face::kSmall, at, fill,
                                    theme.on(fill), to_string(category));
  ImGui::Dummy({size.x, size.y + theme.px(2)});
  const std::string label = sheet.items.label(item), name = sheet.items.name(item);
  widgets::wrapped(theme, Face::kTitle, theme.color(Color::kText), ellipsize(label, 400));
  if (name != label)
    widgets::wrapped(theme, Face::kMonoSmall, theme.color(Color::kTextDim), ellipsize(name, 2000));
  ImGui::Spacing();
  if (const auto range = sheet.items.time(item)) {
    sheet.fact("start", format_exact(range->begin_ns));
    sheet.fact("duration", sheet.items.never_ended(item) ? "never ended"
                           : item.kind == ItemKind::kSamples
                               ? "about " + format_duration(range->duration_ns())
                               : format_exact(range->duration_ns()));
  } else {
    sheet.note("Its time is not known.");
  }
  draw_elsewhere(sheet, item);
  draw_facts(sheet, item);
  if (item.kind == ItemKind::kOp) draw_why_late(sheet, item.id);
  draw_dependencies(sheet);
}

// Its times other than its own: when it would run if fixed, or when the device did the work of a
// range.
void InspectorView::draw_elsewhere(Sheet& sheet, Item item) {
  const TraceModel& model = sheet.model;
  const Prediction* prediction = sheet.state.prediction.get();
  if (elsewhere_of_ != &model || elsewhere_if_ != prediction || elsewhere_item_ != item) {
    elsewhere_of_ = &model;
    elsewhere_if_ = prediction;
    elsewhere_item_ = item;
    elsewhere_.clear();
    const auto look = [&](const Row& row) {
      const auto at = std::ranges::find(row.item, pack(item)) - row.item.begin();
      if (const auto index = static_cast<size_t>(at); index < row.size())
        elsewhere_.push_back({row.start_ns[index], row.end_ns[index]});
    };
    if (const auto place = model.lanes().place(item);
        item.kind == ItemKind::kOp && prediction != nullptr && place)
      look(prediction->by_lane[place->lane]);
    for (const Lane& lane : model.lanes()) {
      if (item.kind != ItemKind::kRange || lane.kind != LaneKind::kGpuRanges) continue;
      for (const Band& band : lane.bands) look(band.row);
    }
  }
  for (const TimeRange& range : elsewhere_)
    sheet.fact(item.kind == ItemKind::kOp ? "if fixed" : "on the GPU",
               format_duration(range.duration_ns()) + " from " + format_exact(range.begin_ns));
}

void InspectorView::draw_sums(Sheet& sheet, TimeRange range) {
  const TraceModel& model = sheet.model;
  if (sums_of_ != &model || sums_range_ != range) {
    sums_ = model.lanes().sums(range);
    sums_of_ = &model;
    sums_range_ = range;
  }
  if (sheet.state.selection.item) {
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
    for (const auto& [lane, entry] : sums_.by_stream) row(model.lanes()[lane].title, entry);
  });
}

}  // namespace streamscope::viewer
