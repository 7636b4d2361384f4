// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// ordered(A, B): in every iteration, each op of B starts after all ops of A that were issued before
// it in the iteration have ended, guaranteed by CUDA: through streams, events, the legacy stream,
// or a synchronization of the thread that issued it. That it was so in this run does not count.
//
// If different threads issue the two, which comes first is chance, unless it is guaranteed: then
// such a pair has to be ordered whichever came first. An op of B that its thread issues before the
// op of A, as for the next iteration, needs no order.
#include <fmt/format.h>

#include "analysis/labels.h"
#include "kinds.h"
#include "matched_work.h"

namespace streamscope::analysis {
namespace {

class OrderSearch {
 public:
  explicit OrderSearch(Analyses& analyses)
      : order_(analyses.order()), before_(analyses.before()), launches_(order_) {}

  /// A pair of the scope that would have to be ordered and is not.
  OpPair unordered_in(const Scope& scope) {
    pairs_ = false;
    OpPair worst;
    const std::vector<Lane> second = lanes_of(scope.second);
    for (const Lane& a : lanes_of(scope.first)) {
      const std::vector<size_t> other_thread = find_other_threads(a);
      for (const Lane& b : second) {
        const bool same_stream =
            before_.point_of_op(a.front().op).chain == before_.point_of_op(b.front().op).chain;
        const OpPair pair = same_stream ? in_stream(a, b) : between(a, b, other_thread);
        if (pair.found()) worst = pair;
      }
    }
    return worst;
  }
  /// True if any op of B comes after one of A, or would have to.
  bool has_pairs() const { return pairs_; }

 private:
  Id thread(const MatchedOp& op) const { return order_.issue(op.op).thread_id; }

  // For each op, the index of the first one after it that another thread issued.
  std::vector<size_t> find_other_threads(Lane lane) const {
    std::vector<size_t> result(lane.size(), lane.size());
    for (size_t i = lane.size() - 1; i-- > 0;)
      result[i] = thread(lane[i + 1]) != thread(lane[i]) ? i + 1 : result[i + 1];
    return result;
  }

  // Lanes of different streams: `done` ops of `a` come before the current op of `b`. The next ones
  // are not ordered with it, the rest comes after it.
  OpPair between(Lane a, Lane b, const std::vector<size_t>& other_thread) {
    size_t done = 0;
    OpPair worst;
    for (const MatchedOp& op : b) {
      while (done < a.size() && before_.ordered(a[done].op, op.op)) ++done;
      pairs_ |= done > 0;
      if (done == a.size()) continue;
      size_t next = done;
      // What the same thread issued later needs no order; the first op of another thread does.
      if (a[next].position > op.position && thread(a[next]) == thread(op))
        next = other_thread[next];
      if (next == a.size() || before_.ordered(op.op, a[next].op)) continue;
      pairs_ = true;
      if (!worst.found()) worst = {a[next].op, op.op};
    }
    return worst;
  }

  OpPair in_stream(Lane a, Lane b) {
    OpPair worst;
    pairs_ |= a.front().position < b.back().position;
    each_shared_launch(a, b, [&](Lane first, Lane second) {
      const LaunchOrder order = launches_.of(first, second);
      pairs_ |= order.forward.found() || order.unordered.found();
      if (order.unordered.found()) worst = order.unordered;
    });
    return worst;
  }

  const IssueOrder& order_;
  const HappensBefore& before_;
  LaunchOrders launches_;
  bool pairs_ = false;
};

}  // namespace

AssertionResult evaluate_ordered(const AssertionContext& context, const Assertion& assertion) {
  Analyses& analyses = context.analyses;
  const Trace& trace = analyses.trace();
  if (!context.iterations.found() && context.iterations.requested())
    return not_evaluable(assertion, context.iterations.why_not());
  const MatchedWork work(analyses, context.iterations, assertion.first, assertion.second);
  if (!work.why_not().empty()) return not_evaluable(assertion, work.why_not());
  OrderSearch search(analyses);
  size_t judged = 0, good = 0;
  std::string text;
  Location place;
  for (const Scope& scope : work.scopes()) {
    const OpPair pair = search.unordered_in(scope);
    if (!search.has_pairs()) continue;
    ++judged;
    good += !pair.found();
    if (!pair.found() || !text.empty()) continue;
    place = place_of_work(analyses, pair.second);
    text = fmt::format("{} nothing orders {}{}, and {}{}", in_scope(context, scope.id),
                       op_on_stream(trace, pair.first),
                       from_where(place_of_work(analyses, pair.first)),
                       op_on_stream(trace, pair.second), from_where(place));
  }
  if (work.scopes().empty()) {
    return not_evaluable(
        assertion,
        fmt::format("no {} has work of both patterns",
                    context.iterations.found() ? "iteration after start-up" : "process"));
  }
  if (judged == 0) {
    return not_evaluable(assertion,
                         fmt::format("work of \"{}\" is always issued before that of \"{}\"",
                                     printable(assertion.second), printable(assertion.first)));
  }
  std::string measured = in_share_of(context, good, judged);
  return good == judged ? holds(assertion, std::move(measured))
                        : fails(assertion, std::move(measured), std::move(text), std::move(place));
}

}  // namespace streamscope::analysis
