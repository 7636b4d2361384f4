// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "comparison.h"

#include <algorithm>
#include <map>

#include "analysis/labels.h"

namespace streamscope::viewer {
namespace {

using analysis::WorkChange;
using analysis::WorkGroups;

Comparison::Side side_of(const WorkGroups& groups, size_t op_count,
                         const std::vector<WorkChange>& work) {
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> index;
  for (uint32_t i = 0; i < work.size(); ++i) index[{work[i].label, work[i].stream}] = i;
  std::vector<uint32_t> work_of_group;
  for (const analysis::WorkGroup& group : groups.all())
    work_of_group.push_back(index.at({group.label, group.stream}));
  Comparison::Side side;
  for (Id op = 0; op < op_count; ++op) side.work_of.push_back(work_of_group[groups.of(op)]);
  side.ops = Grouping(work.size(), op_count, [&](uint32_t op) { return side.work_of[op]; });
  return side;
}

}  // namespace

Comparison::Comparison(const TraceModel& base, const TraceModel& other) {
  const std::array<const TraceModel*, 2> models = {&base, &other};
  {
    const WorkGroups before(base.trace(), base.trace().op), after(other.trace(), other.trace().op);
    work = analysis::compare_work(before, after);
    sides = {side_of(before, base.trace().op.size(), work),
             side_of(after, other.trace().op.size(), work)};
  }
  // By lasting name and position among the streams of that name.
  std::map<std::pair<std::string, size_t>, size_t> known;
  for (const size_t side : {0u, 1u}) {
    serials[side] = models[side]->serial();
    std::map<std::string, size_t> seen;
    for (const Lane& lane : models[side]->lanes()) {
      if (lane.kind != LaneKind::kStream || lane.bands.empty()) continue;
      std::string name = analysis::lasting_stream_name(models[side]->trace(), lane.object);
      const size_t number = seen[name]++;
      const auto [entry, is_new] = known.try_emplace({std::move(name), number}, lanes.size());
      if (is_new) lanes.push_back({.title = lane.title});
      Lanes& pair = lanes[entry->second];
      if (pair.title != lane.title) pair.title += " / " + lane.title;
      pair.has[side] = true;
      for (const Band& band : lane.bands) {
        Row row;
        for (size_t i = 0; i < band.row.size(); ++i) {
          const Item item = unpack(band.row.item[i]);
          row.push(band.row.start_ns[i], band.row.end_ns[i], band.row.item[i],
                   static_cast<uint8_t>(match(side, item.id)));
        }
        row.finish();
        pair.bands[side].push_back(std::move(row));
      }
    }
  }
}

size_t Comparison::number(size_t side, Id op) const {
  const auto ops = sides[side].ops.of(sides[side].work_of[op]);
  return static_cast<size_t>(std::ranges::lower_bound(ops, op) - ops.begin());
}

Id Comparison::counterpart(size_t side, Id op) const {
  const auto others = sides[1 - side].ops.of(sides[side].work_of[op]);
  const size_t at = number(side, op);
  return at < others.size() ? others[at] : kNoId;
}

Match Comparison::match(size_t side, Id op) const {
  const uint32_t which = sides[side].work_of[op];
  if (work[which].base_count != work[which].new_count && counterpart(side, op) == kNoId)
    return Match::kAlone;
  return work[which].slower ? Match::kSlower : work[which].faster ? Match::kFaster : Match::kSame;
}

std::shared_ptr<const Comparison> Comparer::ask(const std::shared_ptr<const TraceModel>& base,
                                                const std::shared_ptr<const TraceModel>& other) {
  if (const auto answer = next_.take()) answer_ = *answer;
  if (!base || !other) return nullptr;
  const std::array<uint64_t, 2> wanted = {base->serial(), other->serial()};
  if (answer_ && answer_->serials == wanted) return answer_;
  if (!is_busy())
    next_.start([base, other] { return std::make_shared<const Comparison>(*base, *other); });
  return nullptr;
}

}  // namespace streamscope::viewer
