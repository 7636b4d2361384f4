// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "memory_uses.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "trace/function_name.h"

namespace streamscope::analysis {
namespace {

// access.source
enum Source : trace::Small { kArgument = 0, kOperation, kHost, kParameter };

constexpr uint32_t kNoItem = std::numeric_limits<uint32_t>::max();

// Rows of access by (process, correlation id).
class RowsOfCalls {
 public:
  explicit RowsOfCalls(const Trace& trace) {
    const auto& access = trace.access;
    rows_.reserve(access.size());
    for (Id row = 0; row < access.size(); ++row) {
      if (access.correlation_id[row] == trace::kNoInt || access.source[row] == kHost ||
          access.source[row] == kOperation)
        continue;
      rows_.push_back({{access.process_id[row], access.correlation_id[row]}, row});
    }
    if (!std::is_sorted(rows_.begin(), rows_.end())) std::sort(rows_.begin(), rows_.end());
  }
  bool empty() const { return rows_.empty(); }

  // Ops come in about the order of their calls, so the answer is mostly near the last.
  template <class Function>
  void for_each(Id process, trace::Int correlation, Function function) {
    const Key key{process, correlation};
    const auto less = [](const Row& row, const Key& k) { return row.key < k; };
    auto from = rows_.begin() + static_cast<ptrdiff_t>(last_);
    constexpr ptrdiff_t kNear = 16;
    const bool behind = from == rows_.end() || !(from->key < key);
    const auto near = from + std::min(kNear, rows_.end() - from);
    if (!behind && near != rows_.end() && !(near->key < key)) {
      from = std::lower_bound(from, near, key, less);
    } else {
      from = std::lower_bound(rows_.begin(), rows_.end(), key, less);
    }
    last_ = static_cast<size_t>(from - rows_.begin());
    for (; from != rows_.end() && from->key == key; ++from) function(from->row);
  }

 private:
  using Key = std::pair<Id, trace::Int>;
  struct Row {
    Key key;
    Id row;
    auto operator<=>(const Row&) const = default;
  };
  std::vector<Row> rows_;
  size_t last_ = 0;
};

// The nodes of executable graphs, which share the accesses of the calls that were captured.
class NodesOfGraphs {
 public:
  explicit NodesOfGraphs(const Trace& trace) : trace_(trace) {
    for (Id node = 0; node < trace.graph_node.size(); ++node) {
      const Id graph = trace.graph_node.graph_id[node];
      if (graph >= trace.graph.size()) continue;
      nodes_[graph].push_back(node);
      by_native_[{trace.graph.process_id[graph], trace.graph_node.native_id[node]}] = node;
    }
    for (Id graph = 0; graph < trace.graph.size(); ++graph) {
      if (trace.graph.executable[graph] == 1)
        executables_[{trace.graph.process_id[graph], trace.graph.handle[graph]}].push_back(graph);
    }
  }
  // Calls for the correlation id and the kernel's name of each captured call that an op of a graph
  // stands for.
  template <class Function>
  void for_each(Id process, Id op, Function function) const {
    if (nodes_.empty()) return;
    const auto tell = [&](Id node) {
      const trace::Int correlation = trace_.graph_node.correlation_id[node];
      if (correlation != trace::kNoInt) function(correlation, trace_.graph_node.name_id[node]);
    };
    if (trace_.op.graph_node[op] != trace::kNoInt) {
      const auto node = by_native_.find({process, trace_.op.graph_node[op]});
      if (node != by_native_.end()) tell(node->second);
      return;
    }
    for (Id node : launched(process, op)) tell(node);
  }
  bool launches_kernels(Id process, Id op) const {
    const std::span<const Id> nodes = launched(process, op);
    constexpr trace::Small kKernelNode = 0;
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](Id node) { return trace_.graph_node.kind[node] == kKernelNode; });
  }

 private:
  // Of a launch as a whole.
  std::span<const Id> launched(Id process, Id op) const {
    const Id call = trace_.op.api_call_id[op];
    if (trace_.op.kind[op] != trace::kGraphLaunch || call >= trace_.api_call.size()) return {};
    const auto found = executables_.find({process, trace_.api_call.object[call]});
    if (found == executables_.end()) return {};
    // Handles are reused: the newest that was there.
    Id newest = kNoId;
    for (Id graph : found->second) {
      if (trace_.graph.created_ns[graph] <= trace_.api_call.start_ns[call]) newest = graph;
    }
    const auto nodes = nodes_.find(newest);
    return nodes == nodes_.end() ? std::span<const Id>{} : nodes->second;
  }

  const Trace& trace_;
  std::map<Id, std::vector<Id>> nodes_;
  std::map<std::pair<Id, trace::Int>, Id> by_native_;
  std::map<std::pair<Id, trace::Int>, std::vector<Id>> executables_;
};

bool is_simulated(const Trace& trace, Id op) {
  const Id device = trace.device_of_stream(trace.op.stream_id[op]);
  return device < trace.device.size() && trace.device.simulated[device] == 1;
}

// Which of the call's copies an op is, and so which rows of access are its own, is not known.
bool is_of_batch(const Trace& trace, Id op) {
  const Id call = trace.op.api_call_id[op];
  return call < trace.api_call.size() &&
         trace.text(trace.api_call.name_id[call]).find("Batch") != std::string_view::npos;
}

}  // namespace

bool points_to_const(std::string_view name, trace::Small parameter) {
  const std::string text = trace::demangled(name);  // CUPTI may have done so already
  if (!text.ends_with(')')) return false;
  // The last (...) holds the parameters.
  int depth = 0;
  size_t begin = text.size();
  while (begin-- > 0) {
    const char c = text[begin];
    if (c == ')' || c == '>' || c == ']') ++depth;
    if (c == '<' || c == '[') --depth;
    if (c == '(' && --depth == 0) break;
  }
  if (begin >= text.size()) return false;
  trace::Small index = 0;
  size_t from = begin + 1;
  for (size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '[' || c == '(') ++depth;
    const bool end = i + 1 == text.size();
    if (!end && (c == '>' || c == ']' || c == ')')) --depth;
    if (!end && (c != ',' || depth != 0)) continue;
    if (index++ == parameter)
      return std::string_view(text).substr(from, i - from).ends_with("const*");
    from = i + 1;
  }
  return false;
}

MemoryUses::MemoryUses(const IssueOrder& order) : trace_(order.trace()) {
  const auto& access = trace_.access;
  if (access.empty()) return;
  const auto items = order.items();
  std::vector<uint32_t> item_of_op(trace_.op.size(), kNoItem);
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (items[i].kind() == Issued::kOp) item_of_op[items[i].id()] = i;
  }
  std::unordered_map<uint64_t, bool> is_const;  // by name and parameter

  const auto add = [&](Id row, Id first, Id last, Id name) {
    if (access.address[row] == trace::kNoInt) return;
    MemoryUse use;
    use.access = row;
    use.first_op = first;
    use.last_op = last;
    use.begin = static_cast<uint64_t>(access.address[row]);
    use.item = item_of_op[last];
    if (use.item == kNoItem) return;
    if (access.source[row] == kParameter) {
      const uint64_t key = uint64_t{name} << 32 | static_cast<uint32_t>(access.parameter[row]);
      const auto [known, is_new] = is_const.try_emplace(key, false);
      if (is_new) known->second = points_to_const(trace_.text(name), access.parameter[row]);
      use.possible = true;
      use.write = !known->second;
    } else {
      if (access.bytes[row] <= 0) return;
      use.end = use.begin + static_cast<uint64_t>(access.bytes[row]);
      use.write = access.writes[row] == 1;
      use.possible = access.rows[row] != trace::kNoInt && access.rows[row] > kMostRows;
      if (access.source[row] == kArgument && !is_of_batch(trace_, last)) {
        if (is_staged(trace_, last, use.write)) return;
        // A simulated device tells what its kernels touch, and of memsets no kind of memory.
        const bool simulated_work =
            trace_.op.kind[last] != trace::kMemcpy && is_simulated(trace_, last);
        use.space = simulated_work ? MemorySpace::kEither : space_of_end(trace_, last, use.write);
      }
    }
    any_possible_ |= use.possible;
    uses_.push_back(use);
  };

  RowsOfCalls rows(trace_);
  const NodesOfGraphs graphs(trace_);
  std::vector<bool> known_operation(trace_.operation.size());
  for (Id row = 0; row < access.size(); ++row) {
    if (access.source[row] == kOperation && access.operation_id[row] < known_operation.size())
      known_operation[access.operation_id[row]] = true;
  }
  std::vector<bool> declared(trace_.op.size());
  struct Span {
    Id first = kNoId, last = kNoId;
  };
  std::unordered_map<Id, Span> of_operation;
  for (Id row = 0; row < trace_.operation_op.size(); ++row) {
    const Id op = trace_.operation_op.op_id[row];
    const Id operation = trace_.operation_op.operation_id[row];
    if (op >= trace_.op.size() || operation >= known_operation.size() ||
        !known_operation[operation] || item_of_op[op] == kNoItem)
      continue;
    declared[op] = true;
    Span& span = of_operation[operation];
    if (span.first == kNoId || item_of_op[op] < item_of_op[span.first]) span.first = op;
    if (span.last == kNoId || item_of_op[op] > item_of_op[span.last]) span.last = op;
  }

  const auto arguments = trace_.meta.find("kernel_arguments");
  const bool scanned = arguments != trace_.meta.end() && arguments->second == "1";
  const auto look_at = [&](Id op) {
    const Id process = trace_.process_of_stream(trace_.op.stream_id[op]);
    bool known = declared[op];
    const auto add_all = [&](trace::Int correlation, Id name) {
      rows.for_each(process, correlation, [&](Id row) {
        known = true;
        add(row, op, op, name);
      });
    };
    add_all(trace_.op.correlation_id[op], trace_.op.name_id[op]);
    graphs.for_each(process, op, add_all);
    const bool computes =
        trace_.op.kind[op] == trace::kKernel || graphs.launches_kernels(process, op);
    if (computes && !scanned && (!known || trace_.op.kind[op] == trace::kGraphLaunch) &&
        !is_simulated(trace_, op))
      ++unknown_kernels_;
  };
  uses_.reserve(access.size());
  for (const Issued item : items) {
    if (item.kind() == Issued::kOp) look_at(item.id());
  }
  for (Id op = 0; op < trace_.op.size(); ++op) {
    if (item_of_op[op] == kNoItem) look_at(op);
  }
  const size_t of_calls = uses_.size();  // in order, what operations declare comes in between
  for (Id row = 0; row < access.size(); ++row) {
    if (access.source[row] == kOperation) {
      const auto span = of_operation.find(access.operation_id[row]);
      if (span != of_operation.end()) add(row, span->second.first, span->second.last, kNoId);
    } else if (access.source[row] == kHost && access.bytes[row] > 0 &&
               access.address[row] != trace::kNoInt) {
      const auto begin = static_cast<uint64_t>(access.address[row]);
      host_.push_back({.access = row,
                       .begin = begin,
                       .end = begin + static_cast<uint64_t>(access.bytes[row]),
                       .write = access.writes[row] == 1,
                       .space = MemorySpace::kHost});
    }
  }
  const auto by_item = [](const MemoryUse& a, const MemoryUse& b) { return a.item < b.item; };
  const auto declarations = uses_.begin() + static_cast<ptrdiff_t>(of_calls);
  std::stable_sort(declarations, uses_.end(), by_item);
  std::inplace_merge(uses_.begin(), declarations, uses_.end(), by_item);
  std::stable_sort(host_.begin(), host_.end(), [&](const MemoryUse& a, const MemoryUse& b) {
    return access.start_ns[a.access] < access.start_ns[b.access];
  });
}

}  // namespace streamscope::analysis
