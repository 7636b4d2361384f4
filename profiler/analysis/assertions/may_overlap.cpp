// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// may_overlap(A, B): in every iteration, on every device with work of both, there is an op of A and
// one of B of which neither has to end before the other starts: they are in different streams and
// nothing that CUDA guarantees orders them. Copies of one direction never overlap on a device,
// because they share a copy engine.
//
// Holds no matter whether they did overlap: they also need free multiprocessors at the same time.
#include <fmt/format.h>

#include <cstdlib>

#include "kinds.h"
#include "matched_work.h"

namespace streamscope::analysis {
namespace {

class OverlapSearch {
 public:
  explicit OverlapSearch(Analyses& analyses)
      : before_(analyses.before()), launches_(analyses.order()) {}

  /// True if a pair of the scope is not ordered; else closest() has the ordered pair whose calls
  /// are nearest to each other, if any pair is ordered.
  bool found_in(const Scope& scope) {
    closest_ = {};
    distance_ = INT64_MAX;
    const std::vector<Lane> second = lanes_of(scope.second);
    for (const Lane& a : lanes_of(scope.first)) {
      for (const Lane& b : second) {
        const bool same_stream =
            before_.point_of_op(a.front().op).chain == before_.point_of_op(b.front().op).chain;
        if (!same_stream && share_copy_engine(a, b)) continue;
        if (same_stream ? found_in_stream(a, b) : found_between(a, b)) return true;
      }
    }
    return false;
  }
  /// In order: the first one comes before the second one.
  const OpPair& closest() const { return closest_; }

 private:
  void note(const MatchedOp& from, const MatchedOp& to) {
    const int64_t distance = std::abs(int64_t{from.position} - to.position);
    if (distance >= distance_ || from.op == to.op) return;
    distance_ = distance;
    closest_ = {from.op, to.op};
  }

  // Lanes of different streams: `done` ops of `a` come before the current op of `b`.
  bool found_between(Lane a, Lane b) {
    size_t done = 0;
    for (const MatchedOp& op : b) {
      while (done < a.size() && before_.ordered(a[done].op, op.op)) ++done;
      if (done > 0) note(a[done - 1], op);
      if (done == a.size()) continue;
      if (!before_.ordered(op.op, a[done].op)) return true;
      note(op, a[done]);
    }
    return false;
  }

  bool found_in_stream(Lane a, Lane b) {
    bool found = false;
    each_shared_launch(a, b, [&](Lane first, Lane second) {
      const LaunchOrder order = launches_.of(first, second);
      found |= order.unordered.found();
      const OpPair known = order.forward.found()
                               ? order.forward
                               : OpPair{order.backward.second, order.backward.first};
      if (!known.found()) return;
      closest_ = known;
      distance_ = 0;
    });
    if (found) return true;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i].position < b[j].position) {
        note(a[i], b[j]);
        ++i;
      } else {
        if (b[j].position < a[i].position) note(b[j], a[i]);
        ++j;
      }
    }
    return false;
  }

  const HappensBefore& before_;
  LaunchOrders launches_;
  OpPair closest_;
  int64_t distance_ = INT64_MAX;
};

}  // namespace

AssertionResult evaluate_may_overlap(const AssertionContext& context, const Assertion& assertion) {
  Analyses& analyses = context.analyses;
  if (!context.iterations.found() && context.iterations.requested())
    return not_evaluable(assertion, context.iterations.why_not());
  const MatchedWork work(analyses, context.iterations, assertion.first, assertion.second);
  if (!work.why_not().empty()) return not_evaluable(assertion, work.why_not());
  OverlapSearch search(analyses);
  size_t judged = 0, good = 0;
  std::string text;
  Location place;
  for (const Scope& scope : work.scopes()) {
    const std::vector<Scope> devices = devices_of(scope);
    if (devices.empty()) continue;
    ++judged;
    bool holds_here = true;
    for (const Scope& device : devices) {
      if (search.found_in(device)) continue;
      holds_here = false;
      if (!text.empty()) break;
      text = "every pair is ordered " + in_scope(context, scope.id);
      if (const auto& [from, to] = search.closest(); from == kNoId) {
        text += ": copies of one direction share a copy engine of the device";
      } else {
        place = place_of_order(analyses, from, to);
        text += fmt::format(": {}{}", order_in_words(analyses, from, to), from_where(place));
      }
      break;
    }
    good += holds_here;
  }
  if (judged == 0) return not_evaluable(assertion, "no device has work of both patterns");
  std::string measured = in_share_of(context, good, judged);
  return good == judged ? holds(assertion, std::move(measured))
                        : fails(assertion, std::move(measured), std::move(text), std::move(place));
}

}  // namespace streamscope::analysis
