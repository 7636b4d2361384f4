// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The content of the lanes of ranks, the critical path over them, and the tooltip.

#include <algorithm>
#include <cmath>

#include "model/job_facts.h"
#include "model/labels.h"
#include "ranks.h"

namespace streamscope::viewer {
namespace {

// Within a lane, before scaling.
constexpr float kWorkTop = 4, kWorkHeight = 16, kTogetherTop = 25, kTogetherHeight = 16;
constexpr float kPathY = 22.5f;       // between them
constexpr float kLeastNamedBar = 11;  // lower bars have no label
constexpr float kLeastCutLabel = 48;  // labels are cut only in wider bars
constexpr float kRankGrabPx = 3;      // how close the mouse must be to a narrow bar
constexpr size_t kMostLanesKept = 512;

// A line of vertical and horizontal stretches, of which no more than a few are in one column of
// pixels.
class PathLine {
 public:
  explicit PathLine(const Plot& plot) : plot_(plot) {}

  void move(float x, float y) {
    begun_ = true;
    x_ = x;
    y_ = low_ = high_ = y;
  }
  bool has_begun() const { return begun_; }
  /// First in time, then to the lane.
  void go(float x, float y) {
    if (std::fabs(x - x_) >= 1) {
      end_column();
      if (x_ < plot_.max.x && x > plot_.min.x)
        boxes_.push_back({std::max(std::min(x_, x), plot_.min.x - 8), y_,
                          std::min(std::max(x_, x), plot_.max.x + 8), y_});
      x_ = x;
      low_ = high_ = y_;
    }
    low_ = std::min(low_, y);
    high_ = std::max(high_, y);
    if (y != y_) from_ = y_;
    y_ = y;
  }
  void finish(ImU32 color) {
    end_column();
    const float half = std::max(plot_.px(2.6f) / 2, 1.0f);
    const auto draw = [&](float more, ImU32 ink) {
      for (const ImVec4& box : boxes_)
        plot_.draw.AddRectFilled({box.x - half - more, box.y - half - more},
                                 {box.z + half + more, box.w + half + more}, ink);
    };
    draw(1, Theme::fade(plot_.color(Color::kBackground), 0.6f));
    draw(0, color);
    for (const auto& [tip, down] : heads_) {
      const float size = plot_.px(5), back = down ? -size * 1.3f : size * 1.3f;
      plot_.draw.AddTriangleFilled({tip.x, tip.y}, {tip.x - size, tip.y + back},
                                   {tip.x + size, tip.y + back}, color);
    }
  }
  size_t count() const { return boxes_.size(); }

 private:
  void end_column() {
    if (high_ - low_ < 1 || x_ < plot_.min.x - 1 || x_ > plot_.max.x + 1) return;
    boxes_.push_back({x_, low_, x_, high_});
    // An arrow where there is space for one.
    if ((y_ == low_ || y_ == high_) &&
        (heads_.empty() || x_ - heads_.back().first.x > plot_.px(12)))
      heads_.push_back({{x_, y_}, y_ > from_});
  }

  const Plot& plot_;
  bool begun_ = false;
  float x_ = 0, y_ = 0, low_ = 0, high_ = 0, from_ = 0;
  std::vector<ImVec4> boxes_;
  std::vector<std::pair<ImVec2, bool>> heads_;
};

}  // namespace

const RankLane& RanksView::lane(const JobModel& job, uint32_t rank) {
  if (lanes_.size() > kMostLanesKept) lanes_.clear();
  const auto [found, is_new] = lanes_.try_emplace(rank);
  if (is_new) found->second = lane_of(job, rank);
  return found->second;
}

void RanksView::draw_plot(Frame& frame) {
  under_ = {};
  frame.draw.PushClipRect(frame.min, frame.max, true);
  frame.background.begin_section(frame.min, frame.max);
  grid_.assign(static_cast<size_t>(std::max(frame.max.x - frame.min.x, 0.0f)),
               frame.color(Color::kBackground));
  tint(frame);
  draw_ticks(frame, grid_);
  const auto [first, end] = rows_in_view(frame);
  for (size_t row = first; row < end; ++row) draw_lane(frame, row);
  if (frame.state.look.critical_path) draw_path(frame);
  if (frame.mouse_in_plot && drag_ != Drag::kPan) {
    const float x = std::floor(frame.mouse.x) + 0.5f;
    frame.draw.AddLine({x, frame.min.y}, {x, frame.max.y}, frame.color(Color::kHover));
  }
  draw_scroll_bar(frame, scroll_,
                  frame.row_height() * static_cast<float>(frame.state.job.rows.size()));
  frame.draw.PopClipRect();
}

void RanksView::draw_lane(Frame& frame, size_t row) {
  const ShownRank& shown = frame.state.job.rows[row];
  const float top = top_of(frame, row), bottom = top + frame.row_height();
  frame.background.fill({frame.min.x, bottom - 1}, {frame.max.x, bottom},
                        frame.color(Color::kGrid));
  if (shown.is_fold && frame.state.job.unfolded[shown.group]) {
    frame.background.fill({frame.min.x, top}, {frame.max.x, bottom - 1},
                          frame.color(Color::kPanelRaised));
    return;
  }
  const RankLane& content = lane(frame.job, shown.rank);
  draw_work(frame, shown, content, top);
  draw_collectives(frame, shown, content, top);
}

void RanksView::draw_work(Frame& frame, const ShownRank& shown, const RankLane& content,
                          float top) {
  const float y0 = top + frame.px(kWorkTop), y1 = y0 + frame.px(kWorkHeight);
  bars_.clear();
  fold(content.work, frame.window, kMinPx, bars_);
  frame.state.drawn.items += bars_.size();
  Strip strip(frame, y0, y1, grid_);
  for (const DrawItem& bar : bars_) {
    ImU32 fill = frame.theme.color(static_cast<analysis::TimeShare>(bar.kind));
    if (bar.coverage < 1) fill = frame.theme.dim(fill, kFaintest + (1 - kFaintest) * bar.coverage);
    strip.fill(bar.x0, drawn_end(bar), fill);
    const StepPart part{content.work.item[bar.first], true};
    look(frame, bar, y0, y1, {part, shown.rank, bar.count, bar.coverage});
    if (bar.count == 1 && bar.x1 - bar.x0 >= frame.px(kLabelFromPx))
      draw_label(frame, bar, y0, y1, fill, short_title_of(frame.job, part));
    if (part == frame.state.job.selection) draw_outline(frame, bar.x0, bar.x1, y0, y1);
  }
  strip.finish();
}

void RanksView::draw_collectives(Frame& frame, const ShownRank& shown, const RankLane& content,
                                 float top) {
  const ImU32 own = frame.theme.color(analysis::TimeShare::kCollectives);
  const ImU32 waiting = frame.color(Color::kWaiting);
  const auto rows = static_cast<float>(std::max<size_t>(content.collectives.size(), 1));
  const float pitch = frame.px(kTogetherHeight) / rows;
  for (size_t i = 0; i < content.collectives.size(); ++i) {
    const Row& row = content.collectives[i];
    const float y0 = std::round(top + frame.px(kTogetherTop) + pitch * static_cast<float>(i)),
                y1 = std::round(y0 + pitch) - (rows > 1 ? 1 : 0);
    bars_.clear();
    fold(row, frame.window, kMinPx, bars_);
    frame.state.drawn.items += bars_.size();
    Strip strip(frame, y0, y1, grid_);
    for (const DrawItem& bar : bars_) {
      const bool waits = bar.kind == kWaits;
      const float strength = bar.coverage < 1 ? kFaintest + (1 - kFaintest) * bar.coverage : 1;
      const ImU32 fill = frame.theme.dim(waits ? waiting : own, waits ? 0.2f : strength);
      if (waits) {
        strip.hatch(bar.x0, bar.x1, fill, frame.theme.dim(waiting, 0.62f * strength));
      } else {
        strip.fill(bar.x0, drawn_end(bar), fill);
      }
      const StepPart part{row.item[bar.first], false};
      look(frame, bar, y0, y1, {part, shown.rank, bar.count, bar.coverage, waits});
      if (bar.count == 1 && !waits && bar.x1 - bar.x0 >= frame.px(kLabelFromPx))
        draw_label(frame, bar, y0, y1, fill, short_title_of(frame.job, part));
      if (part != frame.state.job.selection) continue;
      const TimeRange range = *frame.job.time(part);
      draw_outline(frame, static_cast<float>(frame.window.to_px(range.begin_ns)),
                   static_cast<float>(frame.window.to_px(range.end_ns)), y0, y1);
    }
    strip.finish();
  }
}

// Whether the bar is under the mouse.
void RanksView::look(const Frame& frame, const DrawItem& bar, float top, float bottom,
                     const Under& what) {
  if (!frame.mouse_in_plot || frame.mouse.y < top || frame.mouse.y >= bottom) return;
  const float at = frame.mouse.x - frame.min.x;
  if (at >= bar.x0 - kRankGrabPx && at < std::max(drawn_end(bar), bar.x0 + kRankGrabPx))
    under_ = what;
}

// Stays in view while any of the bar is. The start of a word would say nothing.
void RanksView::draw_label(Frame& frame, const DrawItem& bar, float top, float bottom, ImU32 fill,
                           std::string_view text) {
  if (bottom - top < frame.px(kLeastNamedBar)) return;
  const float from = std::max(frame.min.x + bar.x0, frame.min.x) + frame.px(4),
              to = std::min(frame.min.x + bar.x1, frame.max.x) - frame.px(3);
  if (to - from < frame.px(kLeastCutLabel) && frame.theme.width(Face::kSmall, text) > to - from)
    return;
  const float y = std::round((top + bottom - frame.theme.text(Face::kSmall).size) / 2) - 1;
  widgets::fit_text(frame.draw, frame.theme, Face::kSmall, {from, y}, to - from,
                    frame.theme.on(fill), text);
}

void RanksView::draw_outline(Frame& frame, float x0, float x1, float top, float bottom) {
  const float from = std::clamp(frame.min.x + x0, frame.min.x - 4, frame.max.x + 4),
              to = std::clamp(frame.min.x + x1, frame.min.x - 4, frame.max.x + 4);
  frame.draw.AddRect({std::floor(from) - 1, top - 1},
                     {std::max(std::ceil(to), std::floor(from) + 3) + 1, bottom + 1},
                     frame.color(Color::kSelection), 0, 0, frame.px(2));
}

// From hop to hop: along a lane while its rank works and communicates, then to the rank that goes
// on.
void RanksView::draw_path(Frame& frame) {
  const std::vector<PathHop>& path = frame.job.path();
  const JobState& state = frame.state.job;
  const TimeRange shown = frame.window.range();
  const auto y_of = [&](const PathHop& hop) {
    const uint32_t row = state.row_of[frame.job.steps().rank_of(hop.step)];
    return std::clamp(std::round(top_of(frame, row) + frame.px(kPathY)), frame.min.y - 12,
                      frame.max.y + 12);
  };
  // Ranks without a common clock may be out of order.
  constexpr ptrdiff_t kDisorder = 64;
  auto hop = std::ranges::lower_bound(path, shown.begin_ns, {},
                                      [](const PathHop& each) { return each.end_ns; });
  hop -= std::min(kDisorder, hop - path.begin());
  PathLine line(frame);
  for (; hop != path.end(); ++hop) {
    const float y = y_of(*hop), begin = frame.x(hop->begin_ns);
    if (!line.has_begun()) line.move(begin, y);
    line.go(begin, y);
    line.go(frame.x(hop->end_ns), y);
    if (hop->begin_ns > shown.end_ns) break;
  }
  if (!line.has_begun()) return;
  line.finish(frame.color(Color::kCritical));
  frame.state.drawn.items += line.count();
}

void RanksView::draw_tooltip(Frame& frame) {
  const Theme& theme = frame.theme;
  const ImU32 dim = theme.color(Color::kTextDim);
  if (!under_ || drag_ == Drag::kPan) return;
  const widgets::Tooltip tooltip(under_.folded > 1 ? -1 : theme.px(440));
  if (under_.folded > 1) {
    widgets::text(theme, Face::kBold, theme.color(Color::kText),
                  format_count(under_.folded) +
                      (under_.part.is_work ? " stretches of work" : " parts of collectives") +
                      " in this pixel");
    widgets::text(theme, Face::kBody, dim,
                  format_percent(under_.coverage) + " of the time; zoom in to see each");
    return;
  }
  widgets::text(theme, Face::kBold, theme.color(Color::kText), title_of(frame.job, under_.part));
  for (const Fact& fact : facts_of(frame.job, under_.part))
    widgets::text(theme, Face::kBody, dim,
                  fact.name == " " ? "  " + fact.text : fact.name + ": " + fact.text);
}

}  // namespace streamscope::viewer
