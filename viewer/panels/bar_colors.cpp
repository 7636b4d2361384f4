// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "bar_colors.h"

#include <array>

#include "model/labels.h"

namespace streamscope::viewer {
namespace {

using streamscope::WaitCause;

constexpr float kElsewhere = 0.3f;    // work off the critical path is dimmed
constexpr size_t kNamedStreams = 10;  // in the legend
constexpr size_t kNameLength = 24;

// Causes in the order of the legend.
constexpr std::array kCauses = {
    WaitCause::kEvent,      WaitCause::kHost,         WaitCause::kHostSync,
    WaitCause::kHostCall,   WaitCause::kCodeLoading,  WaitCause::kHostLock,
    WaitCause::kLaunch,     WaitCause::kLegacyStream, WaitCause::kHostFunction,
    WaitCause::kCopyEngine, WaitCause::kSmFull,       WaitCause::kQueueAliasing,
    WaitCause::kMemoryWait, WaitCause::kGraph};

// Stream of an op, or the stream that a call is about.
Id stream_of(const trace::Trace& trace, Item item) {
  return in_table(trace, item, kNoId, [&](const auto& table) -> Id {
    if constexpr (requires { table.stream_id; }) return table.stream_id[item.id];
    return kNoId;
  });
}

// The main reason why the op started late.
ImU32 cause_color(const Waits& waits, const Theme& theme, Item item) {
  analysis::WaitPart most;
  if (item.kind == ItemKind::kOp) {
    for (const analysis::WaitPart& part : waits.of(item.id)) {
      const bool counts = part.cause != WaitCause::kStart && part.cause != WaitCause::kUnknown;
      if (counts && part.duration_ns > most.duration_ns) most = part;
    }
  }
  return most.op != kNoId ? theme.color(most.cause) : theme.color(Category::kOtherCall);
}

}  // namespace

ImU32 bar_color(const TraceModel& model, const Theme& theme, ColorBy by, Item item,
                Category category) {
  switch (by) {
    case ColorBy::kKind:
      break;
    case ColorBy::kName:
      if (item.kind == ItemKind::kOp || item.kind == ItemKind::kRange)
        return theme.color_of_name(model.items().label(item));
      break;
    case ColorBy::kStream:
      if (const Id stream = stream_of(model.trace(), item); stream != kNoId)
        return theme.color_of_number(stream);
      return theme.color(Category::kOtherCall);
    case ColorBy::kCause:
      return cause_color(model.waits(), theme, item);
    case ColorBy::kPath: {
      const std::vector<bool>& on_path = model.insights().on_path;
      const bool is_on = item.kind == ItemKind::kOp && item.id < on_path.size() && on_path[item.id];
      return is_on ? theme.color(Color::kCritical) : theme.dim(theme.color(category), kElsewhere);
    }
  }
  if (item.kind == ItemKind::kRange) {
    // The program may have set a color: 0xAARRGGBB.
    const trace::Int own = model.trace().range.color[item.id];
    if (own != trace::kNoInt && own != 0)
      return IM_COL32(own >> 16 & 255, own >> 8 & 255, own & 255, 255);
  }
  return theme.color(category);
}

std::vector<LegendEntry> bar_legend(const TraceModel& model, const Theme& theme, ColorBy by) {
  std::vector<LegendEntry> legend;
  switch (by) {
    case ColorBy::kKind:
    case ColorBy::kName:
      if (by == ColorBy::kName)
        legend.push_back({"one color per name", theme.color(Color::kAccent)});
      for (size_t i = 0; i < kCategoryCount; ++i) {
        const auto category = static_cast<Category>(i);
        // The glyphs of records and waits are clearer than their bars.
        if (!model.lanes().has(category) || category == Category::kRecordCall ||
            category == Category::kWaitCall || category == Category::kRange ||
            (by == ColorBy::kName && category <= Category::kGraphLaunch))
          continue;
        legend.push_back({std::string(to_string(category)), theme.color(category)});
      }
      break;
    case ColorBy::kStream:
      for (const Lane& lane : model.lanes()) {
        if (lane.kind == LaneKind::kStream && legend.size() < kNamedStreams)
          legend.push_back(
              {ellipsize(lane.title, kNameLength), theme.color_of_number(lane.object)});
      }
      break;
    case ColorBy::kCause:
      for (const WaitCause cause : kCauses)
        legend.push_back({"late: " + std::string(to_string(cause)), theme.color(cause)});
      legend.push_back({"not late", theme.color(Category::kOtherCall)});
      break;
    case ColorBy::kPath:
      legend.push_back({"on the critical path", theme.color(Color::kCritical)});
      legend.push_back({"has slack", theme.dim(theme.color(Category::kKernel), kElsewhere)});
      break;
  }
  return legend;
}

std::string_view to_string(ColorBy by) {
  static constexpr std::array<std::string_view, kColorByCount> kNames = {
      "kind", "name", "stream", "cause of a late start", "critical path"};
  return kNames[static_cast<size_t>(by)];
}

}  // namespace streamscope::viewer
