// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "dependency_index.h"

#include "trace/ns_math.h"

namespace streamscope::viewer {

DependencyIndex::DependencyIndex(const trace::Trace& trace, std::vector<Dependency> all,
                                 const Waits& waits)
    : all_(std::move(all)), waited_ns_(all_.size(), 0) {
  const auto by = [&](size_t keys, Id Dependency::*key) {
    return Grouping(keys, all_.size(), [&](uint32_t row) { return all_[row].*key; });
  };
  incoming_ = by(trace.op.size(), &Dependency::to_op);
  outgoing_ = by(trace.op.size(), &Dependency::from_op);
  by_record_ = by(trace.event_record.size(), &Dependency::record);
  by_wait_ = by(trace.event_wait.size(), &Dependency::wait);
  for (size_t i = 0; i < waits.size(); ++i) {
    const analysis::WaitPart part = waits[i];
    if (part.edge < waited_ns_.size()) trace::add_to(waited_ns_[part.edge], part.duration_ns);
  }
}

std::vector<uint32_t> DependencyIndex::of(Item item) const {
  std::vector<uint32_t> result;
  const auto collect = [&](std::span<const uint32_t> some) {
    result.insert(result.end(), some.begin(), some.end());
  };
  if (item.kind == ItemKind::kOp) {
    collect(incoming(item.id));
    collect(outgoing(item.id));
  } else if (item.kind == ItemKind::kEventRecord) {
    collect(by_record_.of(item.id));
  } else if (item.kind == ItemKind::kEventWait) {
    collect(by_wait_.of(item.id));
  }
  return result;
}

}  // namespace streamscope::viewer
