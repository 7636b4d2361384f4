// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "lanes.h"

#include <algorithm>

#include "trace/ns_math.h"

namespace streamscope::viewer {

LaneSet::LaneSet(const trace::Trace& trace, const ItemFacts& items)
    : trace_(trace),
      items_(items),
      of_stream_(trace.stream.size()),
      of_thread_(trace.thread.size()),
      samples_of_thread_(trace.thread.size()),
      operations_of_process_(trace.process.size()) {}

trace::Small LaneSet::worker_of(Id task) const {
  const auto& tasks = trace_.task;
  return tasks.task_run_id[task] == kNoId ? tasks.worker[task] : tasks.sm[task];
}

std::optional<size_t> LaneSet::of(Item item) const {
  const auto at = [](const ByObject& lanes, Id object) {
    return object < lanes.size() ? lanes[object] : std::nullopt;
  };
  if (item.kind == ItemKind::kSamples)
    return item.id < items_.host_frames().size()
               ? at(samples_of_thread_, items_.host_frames().thread_of(item.id))
               : std::nullopt;
  return in_table(trace_, item, std::optional<size_t>(), [&](const auto& table) {
    if constexpr (requires { table.task_queue_id; }) {
      const auto lane = of_task_worker_.find({table.task_queue_id[item.id], worker_of(item.id)});
      return lane != of_task_worker_.end() ? std::optional(lane->second) : std::nullopt;
    } else if constexpr (requires { table.process_id; }) {
      return at(operations_of_process_, table.process_id[item.id]);
    } else if constexpr (requires { table.thread_id; }) {
      return at(of_thread_, table.thread_id[item.id]);
    } else {
      return at(of_stream_, table.stream_id[item.id]);
    }
  });
}

std::optional<Place> LaneSet::place(Item item) const {
  const auto interval = items_.time(item);
  const auto lane = of(item);
  if (!interval || !lane) return std::nullopt;
  const std::vector<Band>& bands = lanes_[*lane].bands;
  for (size_t band = 0; band < bands.size(); ++band) {
    if (const auto index = bands[band].row.find(interval->begin_ns, pack(item)))
      return Place{*lane, band, *index};
  }
  return std::nullopt;
}

Item LaneSet::at(const Place& place) const {
  return unpack(lanes_[place.lane].bands[place.band].row.item[place.index]);
}

std::string LaneSet::label_with_stream(Item item) const {
  const auto where = place(item);
  return items_.label(item) + (where ? " on " + lanes_[where->lane].title : "");
}

Sums LaneSet::sums(TimeRange range) const {
  Sums result;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    Sums::Entry in_lane;
    for (const Band& band : lanes_[lane].bands) {
      // Functions are in one another; their threads' states are the same time.
      if (is_repeated(band.kind) || band.kind == BandKind::kFunctions) continue;
      const auto [first, last] = visible(band.row, range);
      for (size_t i = first; i < last; ++i) {
        const Ns from = std::max(band.row.start_ns[i], range.begin_ns),
                 to = std::min(band.row.end_ns[i], range.end_ns);
        if (to < from || (to == from && band.row.end_ns[i] != band.row.start_ns[i])) continue;
        Sums::Entry& entry =
            result.by_category[static_cast<size_t>(items_.category(unpack(band.row.item[i])))];
        ++entry.count;
        trace::add_to(entry.busy_ns, to - from);
        if (band.kind != BandKind::kOps) continue;
        ++in_lane.count;
        trace::add_to(in_lane.busy_ns, to - from);
      }
    }
    if (lanes_[lane].kind == LaneKind::kStream) result.by_stream.emplace_back(lane, in_lane);
  }
  return result;
}

std::vector<Item> LaneSet::items_with(const std::vector<bool>& names, size_t limit) const {
  std::vector<std::pair<Ns, uint32_t>> found;
  for (const Lane& lane : lanes_) {
    for (const Band& band : lane.bands) {
      if (is_repeated(band.kind)) continue;
      size_t in_band = 0;
      for (size_t i = 0; i < band.row.size() && in_band < limit; ++i) {
        if (!items_.has_name(unpack(band.row.item[i]), names)) continue;
        found.emplace_back(band.row.start_ns[i], band.row.item[i]);
        ++in_band;
      }
    }
  }
  std::ranges::sort(found);
  if (found.size() > limit) found.resize(limit);
  std::vector<Item> items;
  items.reserve(found.size());
  for (const auto& [at, item] : found) items.push_back(unpack(item));
  return items;
}

}  // namespace streamscope::viewer
