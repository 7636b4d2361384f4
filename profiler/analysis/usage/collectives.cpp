// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/labels.h"
#include "analysis/order/graph_nodes.h"
#include "analysis/order/launched_graphs.h"
#include "vocabulary/graph_node_kind.h"

namespace streamscope::analysis {
namespace {

using trace::Int;
using trace::kNoInt;
using trace::kNoSmall;
using trace::Small;

// Kernels and calls of NCCL have its name; the other calls run on the host.
bool names_nccl(std::string_view name) { return name.find("nccl") != name.npos; }

// Rows of api_call by thread.
using Launches = std::map<Id, std::vector<Id>>;

// A kernel of NCCL.
struct Kernel {
  Id op;
  Id call;    // row of api_call that issued it; kNoId: unknown
  Id origin;  // the same; of a node of a graph: the call that was captured
  bool in_graph;
};

// A launch of a graph with such kernels that is recorded as one op.
struct GraphLaunch {
  Id op;
  Id graph;
};

struct NodeKernel {
  Id name;
  Id origin;
};

// What NCCL runs on devices.
struct Work {
  std::vector<Kernel> kernels;
  std::vector<GraphLaunch> launches;
  std::map<Id, std::vector<NodeKernel>> graphs;  // of those that are launched
};

class WorkReader {
 public:
  explicit WorkReader(const Trace& trace) : trace_(trace), nodes_(trace), launched_(trace) {}

  Work run() {
    for (Id op = 0; op < trace_.op.size(); ++op) {
      if (trace_.op.kind[op] == trace::kKernel && is_named(trace_.op.name_id[op])) {
        const bool in_graph = trace_.op.graph_node[op] != kNoInt;
        const Id call =
            trace_.op.api_call_id[op] < trace_.api_call.size() ? trace_.op.api_call_id[op] : kNoId;
        work_.kernels.push_back({op, call, in_graph ? origin_of_op(op) : call, in_graph});
      } else if (const Id graph = launched_.graph(op);
                 graph != kNoId && !kernels_in(graph).empty()) {
        work_.launches.push_back({op, graph});
      }
    }
    return std::move(work_);
  }

 private:
  bool is_named(Id name) {
    const auto [known, is_new] = names_.try_emplace(name, false);
    if (is_new) known->second = names_nccl(trace_.text(name));
    return known->second;
  }

  const std::vector<NodeKernel>& kernels_in(Id graph) {
    const auto [known, is_new] = work_.graphs.try_emplace(graph);
    if (!is_new) return known->second;
    for (const Id node : launched_.nodes(graph)) {
      const Id name = trace_.graph_node.name_id[node];
      if (trace_.graph_node.kind[node] == kKernelNode && is_named(name))
        known->second.push_back({name, origin_of(trace_.graph.process_id[graph], node)});
    }
    return known->second;
  }

  Id origin_of_op(Id op) {
    const Id process = trace_.process_of_stream(trace_.op.stream_id[op]);
    return origin_of(process, nodes_.node(process, trace_.op.graph_node[op]));
  }
  // The call that was captured as this node, or as the one that it was cloned from.
  Id origin_of(Id process, Id node) {
    if (node != kNoId && trace_.graph_node.call_number[node] == kNoInt)
      node = nodes_.node(process, trace_.graph_node.original_native_id[node]);
    if (node == kNoId) return kNoId;
    if (calls_.empty()) {
      for (Id call = 0; call < trace_.api_call.size(); ++call) {
        if (trace_.api_call.call_number[call] != kNoInt)
          calls_[{trace_.process_of_thread(trace_.api_call.thread_id[call]),
                  trace_.api_call.call_number[call]}] = call;
      }
    }
    const auto captured = calls_.find({process, trace_.graph_node.call_number[node]});
    return captured == calls_.end() ? kNoId : captured->second;
  }

  const Trace& trace_;
  const GraphNodes nodes_;
  const LaunchedGraphs launched_;
  std::unordered_map<Id, bool> names_;
  std::map<std::pair<Id, Int>, Id> calls_;  // by process and number
  Work work_;
};

// Rows of collective_call, and which launches belong to them.
class CallsOfCollectives {
 public:
  CallsOfCollectives(const Trace& trace, const Work& work)
      : trace_(trace),
        calls_(trace.collective_call),
        matched_(calls_.size()),
        around_(calls_.size(), kNoId) {
    std::map<Id, std::vector<Id>> threads;
    for (Id call = 0; call < calls_.size(); ++call) {
      if (calls_.start_ns[call] == kUnknownNs) continue;
      if (names_nccl(trace.text(calls_.name_id[call]))) {
        threads[calls_.thread_id[call]].push_back(call);
      } else {
        on_host_.push_back(call);
      }
    }
    Launches launches;
    const auto add_launch = [&](Id launch) {
      if (launch != kNoId) launches[trace.api_call.thread_id[launch]].push_back(launch);
    };
    for (const Kernel& kernel : work.kernels) add_launch(kernel.origin);
    for (const auto& [graph, kernels] : work.graphs) {
      for (const NodeKernel& kernel : kernels) add_launch(kernel.origin);
    }
    for (auto& [thread, calls] : threads) match(innermost(std::move(calls)), launches[thread]);
  }

  /// The calls that a launch does; nullptr: none is known.
  const std::vector<Id>* of(Id launch) const {
    const auto known = group_of_launch_.find(launch);
    return known == group_of_launch_.end() ? nullptr : &groups_[known->second];
  }
  /// The call that contains a call, such as the one of PyTorch that makes a group of sends.
  Id around(Id call) const { return around_[call]; }
  /// Those that are collectives without kernels.
  const std::vector<Id>& on_host() const { return on_host_; }
  const std::vector<Id>& blocked() const { return blocked_; }

 private:
  // A library and a profile may both describe a call: the library does it more exactly, and in it.
  std::vector<Id> innermost(std::vector<Id> calls) {
    constexpr Ns kNever = std::numeric_limits<Ns>::max();
    const auto end_of = [&](Id call) {
      return calls_.end_ns[call] == kUnknownNs ? kNever : calls_.end_ns[call];
    };
    std::ranges::stable_sort(calls, {}, [&](Id call) {
      return std::pair{calls_.start_ns[call], -end_of(call)};
    });
    std::vector<Id> open;
    std::vector<bool> contains(calls_.size());
    for (const Id call : calls) {
      while (!open.empty() && end_of(open.back()) < end_of(call)) open.pop_back();
      if (!open.empty()) {
        around_[call] = open.back();
        contains[open.back()] = true;
      }
      open.push_back(call);
    }
    std::erase_if(calls, [&](Id call) { return contains[call]; });
    return calls;
  }

  void match(const std::vector<Id>& calls, std::vector<Id>& launches) {
    std::ranges::sort(launches, {}, [&](Id id) {
      return std::pair{trace_.api_call.start_ns[id], id};
    });
    launches.erase(std::unique(launches.begin(), launches.end()), launches.end());
    std::vector<Id> pending;  // have launched nothing so far
    size_t next = 0;
    for (const Id launch : launches) {
      const Ns at = trace_.api_call.start_ns[launch];
      for (; next < calls.size() && calls_.start_ns[calls[next]] <= at; ++next)
        pending.push_back(calls[next]);
      if (next == 0) continue;
      const Id last = calls[next - 1];
      if (calls_.end_ns[last] == kUnknownNs || at <= calls_.end_ns[last]) {
        pending.clear();
        assign(launch, {last});
      } else if (!pending.empty()) {
        // NCCL launches the work of a group by communicator, in the order of their first calls.
        const Id communicator = calls_.communicator_id[pending.front()];
        const auto rest = std::ranges::stable_partition(
            pending, [&](Id call) { return calls_.communicator_id[call] == communicator; });
        assign(launch, {pending.begin(), rest.begin()});
        pending.erase(pending.begin(), rest.begin());
      }
    }
    for (const Id call : calls) {
      if (!matched_[call] && calls_.end_ns[call] == kUnknownNs) blocked_.push_back(call);
    }
  }
  void assign(Id launch, std::vector<Id> calls) {
    for (const Id call : calls) matched_[call] = true;
    const auto [known, is_new] = group_of_call_.try_emplace(calls.front(), groups_.size());
    if (is_new) groups_.push_back(std::move(calls));
    group_of_launch_[launch] = known->second;
  }

  const Trace& trace_;
  const trace::CollectiveCallColumns& calls_;
  std::vector<bool> matched_;
  std::vector<Id> around_;
  std::vector<Id> on_host_, blocked_;
  std::vector<std::vector<Id>> groups_;
  std::unordered_map<Id, size_t> group_of_call_;  // by its first call
  std::unordered_map<Id, size_t> group_of_launch_;
};

struct Numbered {
  Collective collective;
  Ns origin_ns = kUnknownNs;  // orders the nodes of a graph
  Int given = kNoInt;         // the number that the source gives
  uint32_t count = 1;         // collectives that it stands for
  bool is_counted_only = false;
};

class CollectiveList {
 public:
  explicit CollectiveList(const Trace& trace)
      : trace_(trace),
        calls_(trace.collective_call),
        work_(WorkReader(trace).run()),
        matched_(trace, work_) {}

  std::vector<Collective> run() {
    for (const Kernel& kernel : work_.kernels) add(kernel);
    for (const GraphLaunch& launch : work_.launches) add(launch);
    for (const Id call : matched_.blocked()) described({call});
    for (const Id call : matched_.on_host()) {
      Collective& one = described({call}).collective;
      one.start_ns = calls_.start_ns[call];
      one.end_ns = calls_.end_ns[call];
    }
    std::erase_if(found_,
                  [](const Numbered& one) { return one.collective.issued_ns == kUnknownNs; });
    std::ranges::stable_sort(found_, {}, [](const Numbered& one) {
      return std::tuple{one.collective.issued_ns, one.origin_ns, one.collective.start_ns};
    });
    number();
    std::vector<Collective> result;
    for (Numbered& one : found_) {
      if (!one.is_counted_only) result.push_back(std::move(one.collective));
    }
    return result;
  }

 private:
  // Sends and receives of one kernel are each one of their own, unless they are an all-to-all.
  void add(const Kernel& kernel) {
    const std::vector<Id>* known = kernel.origin == kNoId ? nullptr : matched_.of(kernel.origin);
    const size_t first = found_.size();
    if (known == nullptr) {
      found_.emplace_back();
    } else {
      const std::pair which{known->front(), kernel.in_graph ? kernel.call : kNoId};
      const auto [at, is_new] = by_calls_.try_emplace(which, Span{first, first});
      if (!is_new) {
        for (size_t i = at->second.first; i < at->second.last; ++i)
          extend(found_[i].collective, kernel.op);
        return;
      }
      if (kind_of(*known) == CollectiveKind::kOther && are_sends_and_receives(*known)) {
        for (const Id call : *known) described({call});
      } else {
        described(*known);
      }
      at->second.last = found_.size();
    }
    for (size_t i = first; i < found_.size(); ++i)
      complete(found_[i], kernel, known == nullptr || kernel.in_graph);
  }

  // The collectives of a graph, by communicator.
  using Content = std::vector<Numbered>;

  void add(const GraphLaunch& launch) {
    const auto [known, is_new] = contents_.try_emplace(launch.graph);
    if (is_new) known->second = content_of(launch.graph);
    const Id call = trace_.op.api_call_id[launch.op];
    for (const Numbered& one : known->second) {
      Collective& collective = found_.emplace_back(one).collective;
      collective.thread = trace_.api_call.thread_id[call];
      collective.issued_ns = trace_.api_call.start_ns[call];
      extend(collective, launch.op);
    }
  }

  Content content_of(Id graph) const {
    std::map<std::string, Numbered> found;
    std::set<Id> seen;  // first calls
    const auto count_in = [&](Collective one) {
      const auto [known, is_new] = found.try_emplace(one.communicator);
      Numbered& all = known->second;
      if (is_new) {
        all.collective = std::move(one);
        return;
      }
      ++all.count;
      all.collective.bytes += one.bytes;
      if (needs_all_ranks(one.kind)) all.collective.kind = one.kind;
    };
    for (const NodeKernel& kernel : work_.graphs.at(graph)) {
      const std::vector<Id>* known = kernel.origin == kNoId ? nullptr : matched_.of(kernel.origin);
      if (known == nullptr) {
        Collective unknown;
        unknown.kind = collective_kind(trace_.text(kernel.name));
        if (!is_message(unknown.kind)) count_in(std::move(unknown));
      } else if (seen.insert(known->front()).second) {
        Collective one = facts_of(*known);
        const bool messages = one.kind == CollectiveKind::kOther && are_sends_and_receives(*known);
        if (!messages && !is_message(one.kind)) count_in(std::move(one));
      }
    }
    const auto most = std::ranges::max_element(found, {}, [](const auto& entry) {
      return std::pair(entry.second.collective.communicator_size, entry.second.count);
    });
    Content content;
    for (auto at = found.begin(); at != found.end(); ++at) {
      Numbered& one = at->second;
      one.is_counted_only = at != most;
      if (needs_all_ranks(one.collective.kind)) one.collective.kind = CollectiveKind::kGraph;
      content.push_back(std::move(one));
    }
    return content;
  }

  // With what the kernel says.
  void complete(Numbered& one, const Kernel& kernel, bool issued_by_launch) const {
    Collective& collective = one.collective;
    if (kernel.call != kNoId && issued_by_launch) {
      collective.thread = trace_.api_call.thread_id[kernel.call];
      collective.issued_ns = trace_.api_call.start_ns[kernel.call];
    }
    if (kernel.origin != kNoId) one.origin_ns = trace_.api_call.start_ns[kernel.origin];
    extend(collective, kernel.op);
    if (collective.kind == CollectiveKind::kOther)
      collective.kind = collective_kind(trace_.text(trace_.op.name_id[kernel.op]));
    if (collective.issued_ns == kUnknownNs) collective.issued_ns = collective.start_ns;
  }

  bool are_sends_and_receives(const std::vector<Id>& calls) const {
    return std::ranges::all_of(calls, [&](Id call) {
      return is_message(collective_kind(trace_.text(calls_.name_id[call])));
    });
  }

  void extend(Collective& one, Id op) const {
    if (one.op == kNoId) {
      one.op = one.last_op = op;
      one.stream = trace_.op.stream_id[op];
      one.process = trace_.process_of_stream(one.stream);
    }
    if (!is_timed(trace_, op)) return;
    const Ns start = trace_.op.start_ns[op], end = trace_.op.end_ns[op];
    if (one.start_ns == kUnknownNs || start < one.start_ns) {
      one.start_ns = start;
      one.op = op;
    }
    if (one.end_ns == kUnknownNs || end > one.end_ns) {
      one.end_ns = end;
      one.last_op = op;
    }
  }

  // The collective that these calls of one communicator are.
  Collective facts_of(const std::vector<Id>& calls) const {
    Collective one;
    const Id first = calls.front();
    one.thread = calls_.thread_id[first];
    one.process = trace_.process_of_thread(one.thread);
    one.kind = kind_of(calls);
    if (calls_.communicator_id[first] != kNoId)
      one.communicator = trace_.text(calls_.communicator_id[first]);
    if (calls_.rank_count[first] != kNoSmall) one.communicator_size = calls_.rank_count[first];
    if (calls_.rank[first] != kNoSmall) one.rank = calls_.rank[first];
    for (const Id call : calls) one.bytes += std::max<Int>(calls_.bytes[call], 0);
    if (calls.size() == 1 && calls_.peer[first] != kNoSmall) one.peer = calls_.peer[first];
    one.issued_ns = calls_.start_ns[first];
    return one;
  }
  Numbered& described(const std::vector<Id>& calls) {
    Numbered& result = found_.emplace_back();
    result.collective = facts_of(calls);
    result.given = calls_.sequence[calls.front()];
    return result;
  }

  // Sends to all and receives from all are an all-to-all, and what the call around them says.
  CollectiveKind kind_of(const std::vector<Id>& calls) const {
    std::map<CollectiveKind, std::set<Small>> peers;
    for (const Id call : calls) {
      const CollectiveKind kind = collective_kind(trace_.text(calls_.name_id[call]));
      peers[kind].insert(calls_.peer[call]);
    }
    const CollectiveKind first = peers.begin()->first;
    if (calls.size() == 1 || (peers.size() == 1 && !is_message(first))) return first;
    const Small ranks = calls_.rank_count[calls.front()];
    const auto reaches_all = [&](CollectiveKind kind) {  // it may keep its own part
      return ranks > 1 && peers[kind].size() >= static_cast<size_t>(ranks - 1);
    };
    if (peers.size() == 2 && reaches_all(CollectiveKind::kSend) &&
        reaches_all(CollectiveKind::kReceive))
      return CollectiveKind::kAllToAll;
    const Id outer = matched_.around(calls.front());
    return outer == kNoId ? CollectiveKind::kOther
                          : collective_kind(trace_.text(calls_.name_id[outer]));
  }

  // Per process, device and communicator, sends and receives apart. What has no stream is on the
  // device of the others.
  void number() {
    std::map<std::pair<Id, std::string>, Id> devices;
    for (const Numbered& one : found_) {
      if (one.collective.stream != kNoId)
        devices[{one.collective.process, one.collective.communicator}] =
            trace_.device_of_stream(one.collective.stream);
    }
    std::map<std::tuple<Id, Id, bool, std::string>, std::vector<Numbered*>> members;
    for (Numbered& one : found_) {
      const Collective& each = one.collective;
      const auto device = devices.find({each.process, each.communicator});
      const Id on = each.stream != kNoId      ? trace_.device_of_stream(each.stream)
                    : device != devices.end() ? device->second
                                              : kNoId;
      members[{each.process, on, is_message(each.kind), each.communicator}].push_back(&one);
    }
    for (auto& [which, all] : members) {
      Int last = -1;
      const bool given = std::ranges::all_of(all, [&](const Numbered* one) {
        const bool later = one->given > last;
        last = one->given;
        return later;
      });
      uint32_t count = 0;
      for (Numbered* one : all) {
        one->collective.sequence = given ? static_cast<uint32_t>(one->given) : count;
        count += one->count;
      }
    }
  }

  const Trace& trace_;
  const trace::CollectiveCallColumns& calls_;
  const Work work_;
  const CallsOfCollectives matched_;
  std::map<Id, Content> contents_;  // by graph
  std::vector<Numbered> found_;
  struct Span {
    size_t first, last;  // indices into found_
  };
  std::map<std::pair<Id, Id>, Span> by_calls_;  // by first call, and launch of a graph
};

}  // namespace

bool is_collective(const Trace& trace, Id op) {
  return trace.op.kind[op] == trace::kKernel && names_nccl(trace.text(trace.op.name_id[op]));
}

std::vector<Collective> collectives(const Trace& trace) { return CollectiveList(trace).run(); }

std::string name_of(const Trace& trace, const Collective& collective) {
  const std::string communicator =
      collective.is_named() ? fmt::format(" of communicator {}", collective.communicator) : "";
  return fmt::format("{} {}{} on stream {}",
                     streamscope::name_of(kCollectiveKinds, collective.kind), collective.sequence,
                     communicator, stream_label(trace, collective.stream));
}

}  // namespace streamscope::analysis
