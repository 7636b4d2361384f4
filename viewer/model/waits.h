// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why every op of a trace started late, packed: a trace has about as many parts of waits as ops.
#pragma once

#include <algorithm>
#include <vector>

#include "analysis/delay/waits.h"
#include "trace/packed.h"

namespace streamscope::viewer {

using trace::Packed;

/// In the order of ops. Filled once, then thread-safe.
class WaitParts {
 public:
  void push(const analysis::WaitPart& part) {
    op_.push(part.op);
    cause_.push(static_cast<trace::Small>(part.cause));
    duration_ns_.push(part.duration_ns);
    edge_.push(part.edge);
    because_.push(part.because);
  }
  void finish() {
    op_.finish();
    cause_.finish();
    duration_ns_.finish();
    edge_.finish();
    because_.finish();
  }

  size_t size() const { return op_.size(); }
  analysis::WaitPart operator[](size_t index) const {
    return {.duration_ns = duration_ns_[index],
            .op = op_[index],
            .cause = static_cast<streamscope::WaitCause>(cause_[index]),
            .edge = edge_[index],
            .because = because_[index]};
  }
  /// The parts of an op's wait, in order of time.
  std::vector<analysis::WaitPart> of(trace::Id op) const {
    std::vector<analysis::WaitPart> parts;
    const auto first = std::ranges::lower_bound(op_, op);
    for (auto i = static_cast<size_t>(first - op_.begin()); i < size() && op_[i] == op; ++i)
      parts.push_back((*this)[i]);
    return parts;
  }

 private:
  Packed<trace::Id> op_, edge_, because_;
  Packed<trace::Small> cause_;
  Packed<trace::Int> duration_ns_;
};

}  // namespace streamscope::viewer
