// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Two traces of a program side by side: their streams paired, their work matched by
// profiler/analysis, and the counterpart of each op. Computed on a separate thread so that the
// window stays responsive.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "analysis/compare/compared_work.h"
#include "background.h"
#include "grouping.h"
#include "trace_model.h"

namespace streamscope::viewer {

/// How an op changed from the first trace to the second.
enum class Match : uint8_t {
  kSame = 0,
  kSlower,  ///< like the rest of its work, by more than the spread of both
  kFaster,
  kAlone,  ///< the other trace has fewer ops of this work
};

/// Thread-safe: all const.
struct Comparison {
  Comparison(const TraceModel& base, const TraceModel& other);

  /// Streams of the same lasting name, or only one if the other trace has none. If several streams
  /// share a name, they are paired in order.
  struct Lanes {
    std::string title;
    std::array<bool, 2> has{};
    std::array<std::vector<Row>, 2> bands;  ///< kinds are Match
  };
  /// Data about the ops of one trace.
  struct Side {
    std::vector<uint32_t> work_of;  ///< by op: index in `work`
    Grouping ops;                   ///< by work
  };

  std::vector<Lanes> lanes;
  std::vector<analysis::WorkChange> work;  ///< all of it, as compare_work() orders it
  std::array<Side, 2> sides;
  std::array<uint64_t, 2> serials{};  ///< of the models

  Match match(size_t side, Id op) const;
  /// The op with the same number in the other trace's work of this label and stream, or kNoId.
  Id counterpart(size_t side, Id op) const;
  /// Number of the op within its work, from 0.
  size_t number(size_t side, Id op) const;
};

/// UI thread only.
class Comparer {
 public:
  /// The comparison of these two, or null while it is computed; starts it if needed. Does not
  /// block.
  std::shared_ptr<const Comparison> ask(const std::shared_ptr<const TraceModel>& base,
                                        const std::shared_ptr<const TraceModel>& other);
  bool is_busy() const { return next_.is_busy(); }

 private:
  std::shared_ptr<const Comparison> answer_;
  Background<std::shared_ptr<const Comparison>> next_;
};

}  // namespace streamscope::viewer
