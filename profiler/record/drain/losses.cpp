// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "losses.h"

#include <algorithm>

#include "trace/checks.h"
#include "trace/loss.h"

namespace streamscope::record {

Losses::Entry& Losses::entry(trace::Id process, std::string_view kind, trace::Id detail) {
  for (Entry& entry : entries_) {
    if (entry.row.process_id == process && entry.row.detail_id == detail && entry.kind == kind)
      return entry;
  }
  return new_entry(process, kind, detail);
}

Losses::Entry& Losses::new_entry(trace::Id process, std::string_view kind, trace::Id detail) {
  const trace::Loss row{.process_id = process,
                        .name_id = writer_.intern(kind),
                        .severity = static_cast<trace::Small>(trace::loss_info(kind).severity),
                        .count = 0,
                        .detail_id = detail};
  entries_.push_back({row, writer_.append(row), std::string(kind), false});
  return entries_.back();
}

void Losses::add(trace::Id process, std::string_view kind, int64_t count, trace::Ns first_ns,
                 trace::Ns last_ns, trace::Id detail) {
  Entry& loss = entry(process, kind, detail);
  // A damaged ring may contain anything, such as more than a trace can store.
  loss.row.count = count < 0 || count > trace::kMostBytes - loss.row.count ? trace::kMostBytes
                                                                           : loss.row.count + count;
  if (first_ns != trace::kUnknownNs &&
      (loss.row.start_ns == trace::kUnknownNs || first_ns < loss.row.start_ns))
    loss.row.start_ns = first_ns;
  loss.row.end_ns = std::max(loss.row.end_ns, last_ns);
  loss.changed = true;
}

void Losses::rename(trace::Id process, std::string_view from, std::string_view to) {
  for (Entry& entry : entries_) {
    if (entry.row.process_id != process || entry.kind != from) continue;
    entry.kind = to;
    entry.row.name_id = writer_.intern(to);
    entry.row.severity = static_cast<trace::Small>(trace::loss_info(to).severity);
    entry.changed = true;
  }
}

void Losses::add_pause(trace::Id process, trace::Ns first_ns, trace::Ns last_ns) {
  constexpr char kPaused[] = "paused";
  constexpr int64_t kMostRows =
      256;  // a program may pause in a loop: the rest shares the first row
  if (count(kPaused) < kMostRows) {
    Entry& pause = new_entry(process, kPaused, trace::kNoId);
    pause.row.count = 1;
    pause.row.start_ns = first_ns;
    pause.row.end_ns = last_ns;
    pause.changed = true;
  } else {
    add(process, kPaused, 1, first_ns, last_ns);
  }
}

int64_t Losses::count(std::string_view kind) const {
  int64_t sum = 0;
  for (const Entry& entry : entries_) {
    if (entry.kind == kind) sum += entry.row.count;
  }
  return sum;
}

void Losses::store() {
  for (Entry& entry : entries_) {
    if (entry.changed) writer_.update(entry.id, entry.row);
    entry.changed = false;
  }
}

}  // namespace streamscope::record
