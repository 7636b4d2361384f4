// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "wait_for.h"

#include <algorithm>
#include <map>
#include <utility>

namespace streamscope::analysis {
namespace {

bool needs_one(WaitFor::Why why) {
  return why == WaitFor::Why::kMemory || why == WaitFor::Why::kNotIssued;
}

using Links = std::vector<std::vector<WaitFor::Link>>;  // by node

// The same links, from what is waited for to those that wait.
Links reversed(const Links& links) {
  Links waiters(links.size());
  for (WaitFor::Index from = 0; from < links.size(); ++from) {
    for (const WaitFor::Link& link : links[from]) waiters[link.to].push_back({from, link.why});
  }
  return waiters;
}

// By node: whether it is one of `next`, or one of them waits for it, directly or indirectly.
std::vector<bool> reachable(const Links& links, std::vector<WaitFor::Index> next) {
  std::vector<bool> reached(links.size());
  while (!next.empty()) {
    const WaitFor::Index node = next.back();
    next.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    for (const WaitFor::Link& link : links[node]) next.push_back(link.to);
  }
  return reached;
}

}  // namespace

void WaitFor::release() {
  const Links waiters = reversed(links_);
  std::vector<size_t> missing;
  missing.reserve(links_.size());
  for (const std::vector<Link>& links : links_)
    missing.push_back(links.size() - std::ranges::count_if(links, needs_one, &Link::why));
  std::vector<bool> lacks_write = unsatisfied_;
  std::vector<Index> ready;
  for (Index node = 0; node < nodes_.size(); ++node) {
    nodes_[node].stuck = true;
    if (missing[node] == 0 && !lacks_write[node]) ready.push_back(node);
  }
  while (!ready.empty()) {
    const Index node = ready.back();
    ready.pop_back();
    if (!nodes_[node].stuck) continue;
    nodes_[node].stuck = false;
    released_.push_back(node);
    for (const Link& waiter : waiters[node]) {
      if (needs_one(waiter.why)) {
        lacks_write[waiter.to] = false;
      } else {
        --missing[waiter.to];
      }
      if (missing[waiter.to] == 0 && !lacks_write[waiter.to]) ready.push_back(waiter.to);
    }
  }
}

std::vector<bool> WaitFor::reachable_from_blocked() const {
  std::vector<Index> calls;
  calls.reserve(blocked_.size() + tails_.size());
  for (const Blocked& call : blocked_) calls.push_back(call.node);
  calls.insert(calls.end(), tails_.begin(), tails_.end());
  return reachable(links_, std::move(calls));
}

std::vector<WaitFor::Index> WaitFor::lost_signals() const {
  const std::vector<bool> reached = reachable_from_blocked();
  std::vector<Index> lost;
  for (Index node = 0; node < nodes_.size(); ++node) {
    if (!reached[node] || !unsatisfied_[node] || !nodes_[node].stuck) continue;
    if (std::ranges::none_of(links_[node], needs_one, &Link::why)) lost.push_back(node);
  }
  return lost;
}

// Threads and ops for which these nodes wait and that wait for no op themselves.
std::vector<WaitFor::Index> WaitFor::running_among(const std::vector<bool>& reached,
                                                   const HasEnded& has_ended) const {
  std::vector<bool> waits_for_op(nodes_.size());
  std::vector<bool> ended(nodes_.size());
  std::vector<Index> found;
  for (const Index node : released_) {
    if (!reached[node]) continue;
    const bool is_op = nodes_[node].kind == Kind::kOp;
    for (const Link& link : links_[node]) {
      const bool on_thread = link.why == Why::kNotIssued && nodes_[link.to].kind == Kind::kThread;
      if (on_thread) found.push_back(link.to);
      waits_for_op[node] = waits_for_op[node] || waits_for_op[link.to] || on_thread ||
                           (nodes_[link.to].kind == Kind::kOp && !ended[link.to]);
    }
    if (!is_op || waits_for_op[node]) continue;
    ended[node] = has_ended(nodes_[node].id);
    if (!ended[node]) found.push_back(node);
  }
  return found;
}

std::vector<WaitFor::Index> WaitFor::running(const Blocked& call) const {
  return running(call, [](Id) { return false; });
}

std::vector<WaitFor::Index> WaitFor::running(const Blocked& call, const HasEnded& has_ended) const {
  return running_among(reachable(links_, {call.node}), has_ended);
}

std::vector<WaitFor::Index> WaitFor::running(const HasEnded& has_ended) const {
  return running_among(std::vector<bool>(nodes_.size(), true), has_ended);
}

size_t WaitFor::held_by(Index index) const {
  const std::vector<bool> reached = reachable(reversed(links_), {index});
  size_t count = 0;
  for (Index node = 0; node < nodes_.size(); ++node)
    count += reached[node] && node != index && nodes_[node].kind == Kind::kOp;
  return count;
}

// Every stuck node that is not a lost signal waits for another stuck one. Following these links
// leads into a cycle or to a lost signal; all paths are searched.
std::vector<std::vector<WaitFor::Step>> WaitFor::cycles() const {
  // Strongly connected components of the stuck nodes, by Tarjan, without recursion.
  const std::vector<bool> reached = reachable_from_blocked();
  const auto relevant = [&](Index node) { return reached[node] && nodes_[node].stuck; };
  std::vector<Index> number(nodes_.size(), kNone), low(nodes_.size(), kNone);
  std::vector<Index> component(nodes_.size(), kNone);
  std::vector<Index> open;
  std::vector<std::pair<Index, size_t>> path;
  std::vector<std::vector<Index>> knots;
  Index count = 0;
  for (Index root = 0; root < nodes_.size(); ++root) {
    if (!relevant(root) || number[root] != kNone) continue;
    path.push_back({root, 0});
    while (!path.empty()) {
      const Index node = path.back().first;
      if (path.back().second == 0) {
        number[node] = low[node] = count++;
        open.push_back(node);
      }
      if (path.back().second < links_[node].size()) {
        const Index to = links_[node][path.back().second++].to;
        if (!relevant(to)) continue;
        if (number[to] == kNone) {
          path.push_back({to, 0});
        } else if (component[to] == kNone) {
          low[node] = std::min(low[node], number[to]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[node]);
      if (low[node] != number[node]) continue;
      std::vector<Index> members;
      do {
        members.push_back(open.back());
        component[open.back()] = node;
        open.pop_back();
      } while (members.back() != node);
      if (members.size() > 1) knots.push_back(std::move(members));
    }
  }
  std::vector<std::vector<Step>> result;
  for (std::vector<Index>& knot : knots) {
    // A shortest path from a memory wait back to itself, if the component has one.
    std::sort(knot.begin(), knot.end());
    const auto wait = std::ranges::find_if(knot, [&](Index n) { return unsatisfied_[n]; });
    const Index start = wait == knot.end() ? knot.front() : *wait;
    std::map<Index, Step> came_by;  // node -> the node it was reached from, and why
    std::vector<Index> queue{start};
    for (size_t i = 0; i < queue.size() && !came_by.contains(start); ++i) {
      for (const Link& link : links_[queue[i]]) {
        if (component[link.to] != component[start] || !relevant(link.to)) continue;
        if (came_by.try_emplace(link.to, Step{queue[i], link.why}).second) queue.push_back(link.to);
      }
    }
    std::vector<Step> cycle;
    Index at = start;
    do {
      const Step& step = came_by.at(at);
      cycle.push_back(step);
      at = step.node;
    } while (at != start);
    std::reverse(cycle.begin(), cycle.end());
    result.push_back(std::move(cycle));
  }
  return result;
}

}  // namespace streamscope::analysis
