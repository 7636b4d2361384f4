// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// may_overlap(A, B): in every iteration, on every device with work of both, there is an op of A and
// one of B of which neither has to end before the other starts: they are in different streams and
// nothing that CUDA guarantees orders them. Copies of one direction never overlap on a device,
// because they share a copy engine.
//
// may_overlap_across(A, B): the same for an op of one iteration and an op of the next one,
// whichever of them is of A, as in a pipeline.
//
// Holds no matter whether they did overlap: they also need free multiprocessors at the same time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

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

// Groups of work of which one must have a pair that is not ordered.
using Alternatives = std::vector<Scope>;

// What must hold in one iteration: on each device with work of both patterns.
struct Requirement {
  uint32_t scope = 0;
  std::vector<Alternatives> devices;
};

std::vector<Requirement> within_scopes(const MatchedWork& work) {
  std::vector<Requirement> result;
  for (const Scope& scope : work.scopes()) {
    Requirement requirement{.scope = scope.id};
    for (const Scope& device : devices_of(scope)) requirement.devices.push_back({device});
    result.push_back(std::move(requirement));
  }
  return result;
}

std::vector<Requirement> across_scopes(const MatchedWork& work) {
  std::vector<Requirement> result;
  for (const auto& both : work.neighbors()) {
    std::map<uint32_t, Alternatives> by_device;
    for (const Scope& scope : both) {
      for (const Scope& device : devices_of(scope))
        by_device[device.first.front().device].push_back(device);
    }
    Requirement requirement{.scope = both[0].id};
    for (auto& [device, alternatives] : by_device)
      requirement.devices.push_back(std::move(alternatives));
    result.push_back(std::move(requirement));
  }
  return result;
}

// True if one of the groups has a pair that is not ordered; else `closest` is an ordered pair.
bool any_found(OverlapSearch& search, const Alternatives& alternatives, OpPair& closest) {
  closest = {};
  for (const Scope& scope : alternatives) {
    if (search.found_in(scope)) return true;
    if (search.closest().found()) closest = search.closest();
  }
  return false;
}

AssertionResult judge(const AssertionContext& context, const Assertion& assertion,
                      const std::vector<Requirement>& requirements, const char* where) {
  Analyses& analyses = context.analyses;
  OverlapSearch search(analyses);
  size_t judged = 0, good = 0;
  std::string text;
  Location place;
  for (const Requirement& requirement : requirements) {
    if (requirement.devices.empty()) continue;
    ++judged;
    OpPair closest;
    const bool all = std::ranges::all_of(requirement.devices, [&](const auto& device) {
      return any_found(search, device, closest);
    });
    good += all;
    if (all || !text.empty()) continue;
    text = fmt::format("every pair is ordered {}{}", in_scope(context, requirement.scope), where);
    if (!closest.found()) {
      text += ": copies of one direction share a copy engine of the device";
    } else {
      place = place_of_order(analyses, closest.first, closest.second);
      text += fmt::format(": {}{}", order_in_words(analyses, closest.first, closest.second),
                          from_where(place));
    }
  }
  if (judged == 0) {
    return not_evaluable(
        assertion,
        fmt::format("no {} has work of both patterns on one device",
                    context.iterations.found() ? "iteration after start-up" : "process"));
  }
  std::string measured = in_share_of(context, good, judged);
  return good == judged ? holds(assertion, std::move(measured))
                        : fails(assertion, std::move(measured), std::move(text), std::move(place));
}

}  // namespace

AssertionResult evaluate_may_overlap(const AssertionContext& context, const Assertion& assertion) {
  if (!context.iterations.found() && context.iterations.requested())
    return not_evaluable(assertion, context.iterations.why_not());
  const MatchedWork work(context.analyses, context.iterations, assertion.first, assertion.second);
  if (!work.why_not().empty()) return not_evaluable(assertion, work.why_not());
  return judge(context, assertion, within_scopes(work), "");
}

AssertionResult evaluate_may_overlap_across(const AssertionContext& context,
                                            const Assertion& assertion) {
  if (!context.iterations.found()) return without_iterations(context, assertion);
  const MatchedWork work(context.analyses, context.iterations, assertion.first, assertion.second);
  if (!work.why_not().empty()) return not_evaluable(assertion, work.why_not());
  return judge(context, assertion, across_scopes(work), " and the next one");
}

}  // namespace streamscope::analysis
