// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The ordering edges of a trace, by the items that take part in them. The analysis defines what an
// edge is and how it is found.
#pragma once

#include <span>
#include <vector>

#include "grouping.h"
#include "item.h"
#include "waits.h"

namespace streamscope::viewer {

/// An ordering edge between two ops, as the inspector shows it and the timeline draws it.
struct Dependency {
  trace::EdgeKind kind;
  Id from_op, to_op;
  Id record, wait;  ///< kNoId if the edge is not an event's
};

/// Thread-safe: all const.
class DependencyIndex {
 public:
  DependencyIndex(const trace::Trace& trace, std::vector<Dependency> all, const Waits& waits);

  size_t size() const { return all_.size(); }
  const Dependency& operator[](uint32_t index) const { return all_[index]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

  /// Indexes of the edges by which `op` is ordered after (before) others: an event, the host, a
  /// graph, ...; all except stream order.
  std::span<const uint32_t> incoming(Id op) const { return incoming_.of(op); }
  std::span<const uint32_t> outgoing(Id op) const { return outgoing_.of(op); }
  /// Edges that the item takes part in: as an op at either end, a record, or a wait.
  std::vector<uint32_t> of(Item item) const;
  /// How much later the op at the end of the edge started because of it; 0 if the awaited work was
  /// already done.
  Ns waited_ns(uint32_t index) const { return waited_ns_[index]; }

 private:
  std::vector<Dependency> all_;
  Grouping incoming_, outgoing_, by_record_, by_wait_;
  std::vector<Ns> waited_ns_;
};

}  // namespace streamscope::viewer
