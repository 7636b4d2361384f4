// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "memory_uses.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "analysis/order/graph_nodes.h"
#include "analysis/order/launched_graphs.h"
#include "trace/function_name.h"
#include "vocabulary/access_source.h"
#include "vocabulary/graph_node_kind.h"

namespace streamscope::analysis {
namespace {

constexpr uint32_t kNoItem = std::numeric_limits<uint32_t>::max();

// Rows of access by (process, call number).
class RowsOfCalls {
 public:
  explicit RowsOfCalls(const Trace& trace) {
    const auto& access = trace.access;
    rows_.reserve(access.size());
    for (Id row = 0; row < access.size(); ++row) {
      if (access.call_number[row] == trace::kNoInt || access.source[row] == AccessSource::kHost ||
          access.source[row] == AccessSource::kOperation)
        continue;
      rows_.push_back({{access.process_id[row], access.call_number[row]}, row});
    }
    if (!std::is_sorted(rows_.begin(), rows_.end())) std::sort(rows_.begin(), rows_.end());
  }
  bool empty() const { return rows_.empty(); }

  // Ops come roughly in call order, so the result is usually near the last one.
  template <class Function>
  void for_each(Id process, trace::Int call_number, Function function) {
    const Key key{process, call_number};
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
  explicit NodesOfGraphs(const Trace& trace) : trace_(trace), nodes_(trace), launched_(trace) {}
  // Calls `function` with the call number and the kernel name of each captured call that a graph
  // op represents.
  template <class Function>
  void for_each(Id process, Id op, Function function) const {
    if (launched_.empty()) return;
    const auto report = [&](Id node) {
      const trace::Int call_number = trace_.graph_node.call_number[node];
      if (call_number != trace::kNoInt) function(call_number, trace_.graph_node.name_id[node]);
    };
    if (trace_.op.graph_node[op] != trace::kNoInt) {
      const Id node = nodes_.node(process, trace_.op.graph_node[op]);
      if (node != kNoId) report(node);
      return;
    }
    for (const Id node : launched_.nodes(launched_.graph(op))) report(node);
  }
  bool launches_kernels(Id op) const {
    return std::ranges::any_of(launched_.nodes(launched_.graph(op)), [&](Id node) {
      return trace_.graph_node.kind[node] == kKernelNode;
    });
  }

 private:
  const Trace& trace_;
  const GraphNodes nodes_;
  const LaunchedGraphs launched_;
};

bool is_simulated(const Trace& trace, Id op) {
  const Id device = trace.device_of_stream(trace.op.stream_id[op]);
  return device < trace.device.size() && trace.device.simulated[device] == 1;
}

// It is unknown which of the call's copies an op is, and so which rows of access belong to it.
bool is_of_batch(const Trace& trace, Id op) {
  const Id call = trace.op.api_call_id[op];
  return call < trace.api_call.size() &&
         trace.text(trace.api_call.name_id[call]).find("Batch") != std::string_view::npos;
}

// Matches the rows of access with ops.
class UseSearch {
 public:
  explicit UseSearch(const IssueOrder& order)
      : trace_(order.trace()),
        access_(trace_.access),
        items_(order.items()),
        item_of_op_(trace_.op.size(), kNoItem),
        rows_(trace_),
        graphs_(trace_),
        declared_(trace_.op.size()) {
    for (uint32_t i = 0; i < items_.size(); ++i) {
      if (items_[i].kind() == Issued::kOp) item_of_op_[items_[i].id()] = i;
    }
    scanned_ = says("kernel_arguments");
    found_.observed = says("observed_accesses");
    find_operations();
  }

  MemoryUses run() {
    std::vector<MemoryUse>& uses = found_.of_ops;
    uses.reserve(access_.size());
    for (const Issued item : items_) {
      if (item.kind() == Issued::kOp) add_uses_of(item.id());
    }
    for (Id op = 0; op < trace_.op.size(); ++op) {
      if (item_of_op_[op] == kNoItem) add_uses_of(op);
    }
    const size_t of_calls = uses.size();  // sorted; declared uses of operations are merged in
    for (Id row = 0; row < access_.size(); ++row) {
      if (access_.source[row] == AccessSource::kOperation) {
        const auto span = of_operation_.find(access_.operation_id[row]);
        if (span != of_operation_.end()) add(row, span->second.first, span->second.last, kNoId);
      } else if (access_.source[row] == AccessSource::kHost) {
        add_host_use(row);
      }
    }
    const auto declarations = uses.begin() + static_cast<ptrdiff_t>(of_calls);
    std::ranges::stable_sort(declarations, uses.end(), {}, &MemoryUse::item);
    std::ranges::inplace_merge(uses, declarations, {}, &MemoryUse::item);
    std::ranges::stable_sort(found_.of_host, {},
                             [&](const MemoryUse& use) { return access_.start_ns[use.access]; });
    return std::move(found_);
  }

 private:
  struct Span {
    Id first = kNoId, last = kNoId;
  };

  bool says(const char* name) const {
    const auto found = trace_.meta.find(name);
    return found != trace_.meta.end() && found->second == "1";
  }

  // The ops of each libcoord operation that declares its accesses.
  void find_operations() {
    std::vector<bool> declares(trace_.operation.size());
    for (Id row = 0; row < access_.size(); ++row) {
      if (access_.source[row] == AccessSource::kOperation &&
          access_.operation_id[row] < declares.size())
        declares[access_.operation_id[row]] = true;
    }
    for (Id row = 0; row < trace_.operation_op.size(); ++row) {
      const Id op = trace_.operation_op.op_id[row];
      const Id operation = trace_.operation_op.operation_id[row];
      if (op >= trace_.op.size() || operation >= declares.size() || !declares[operation] ||
          item_of_op_[op] == kNoItem)
        continue;
      declared_[op] = true;
      Span& span = of_operation_[operation];
      if (span.first == kNoId || item_of_op_[op] < item_of_op_[span.first]) span.first = op;
      if (span.last == kNoId || item_of_op_[op] > item_of_op_[span.last]) span.last = op;
    }
  }

  // The accesses of the calls that issued an op or were captured into it.
  void add_uses_of(Id op) {
    const Id process = trace_.process_of_stream(trace_.op.stream_id[op]);
    bool known = declared_[op];
    bool partly = false;  // only a part of them is known
    const auto add_all = [&](trace::Int call_number, Id name) {
      rows_.for_each(process, call_number, [&](Id row) {
        known = true;
        partly |= access_.source[row] == AccessSource::kObserved &&
                  access_.address[row] == trace::kNoInt && access_.bytes[row] != 0;
        add(row, op, op, name);
      });
    };
    add_all(trace_.op.call_number[op], trace_.op.name_id[op]);
    graphs_.for_each(process, op, add_all);
    const bool computes = trace_.op.kind[op] == trace::kKernel || graphs_.launches_kernels(op);
    const bool is_unknown =
        found_.observed ? partly || !known
                        : !scanned_ && (!known || trace_.op.kind[op] == trace::kGraphLaunch);
    if (computes && is_unknown && !is_simulated(trace_, op)) ++found_.unknown_kernels;
  }

  void add(Id row, Id first, Id last, Id name) {
    if (access_.address[row] == trace::kNoInt) return;
    MemoryUse use;
    use.access = row;
    use.first_op = first;
    use.last_op = last;
    use.begin = static_cast<uint64_t>(access_.address[row]);
    use.item = item_of_op_[last];
    if (use.item == kNoItem) return;
    if (access_.source[row] == AccessSource::kParameter) {
      use.possible = true;
      use.write = !is_const(name, access_.parameter[row]);
    } else {
      if (access_.bytes[row] <= 0) return;
      use.end = use.begin + static_cast<uint64_t>(access_.bytes[row]);
      use.atomic = access_.writes[row] == AccessKind::kUpdated;
      use.write = use.atomic || access_.writes[row] == AccessKind::kWritten;
      const bool is_bound = access_.source[row] == AccessSource::kTensorMap;
      use.possible =
          is_bound || (access_.rows[row] != trace::kNoInt && access_.rows[row] > kMostRows);
      if (is_bound || access_.source[row] == AccessSource::kObserved)
        use.space = MemorySpace::kEither;
      if (access_.source[row] == AccessSource::kArgument && !is_of_batch(trace_, last)) {
        if (is_staged(trace_, last, use.write)) return;
        // A simulated device reports its kernels' accesses, and no memory kind for memsets.
        const bool simulated_work =
            trace_.op.kind[last] != trace::kMemcpy && is_simulated(trace_, last);
        use.space = simulated_work ? MemorySpace::kEither : space_of_end(trace_, last, use.write);
      }
    }
    found_.any_possible |= use.possible;
    found_.of_ops.push_back(use);
  }

  void add_host_use(Id row) {
    if (access_.bytes[row] <= 0 || access_.address[row] == trace::kNoInt) return;
    const auto begin = static_cast<uint64_t>(access_.address[row]);
    found_.of_host.push_back({.access = row,
                              .begin = begin,
                              .end = begin + static_cast<uint64_t>(access_.bytes[row]),
                              .write = access_.writes[row] == 1,
                              .space = MemorySpace::kHost});
  }

  bool is_const(Id name, trace::Small parameter) {
    const uint64_t key = uint64_t{name} << 32 | static_cast<uint32_t>(parameter);
    const auto [known, is_new] = is_const_.try_emplace(key, false);
    if (is_new) known->second = points_to_const(trace_.text(name), parameter);
    return known->second;
  }

  MemoryUses found_;
  const Trace& trace_;
  const trace::AccessColumns& access_;
  std::span<const Issued> items_;
  std::vector<uint32_t> item_of_op_;
  RowsOfCalls rows_;
  const NodesOfGraphs graphs_;
  std::vector<bool> declared_;  // by op
  std::unordered_map<Id, Span> of_operation_;
  std::unordered_map<uint64_t, bool> is_const_;  // by name and parameter
  bool scanned_ = false;                         // kernel parameters were scanned
};

}  // namespace

bool points_to_const(std::string_view name, trace::Small parameter) {
  const std::string text = trace::demangled(name);  // CUPTI may already have demangled it
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

MemoryUses memory_uses(const IssueOrder& order) {
  return order.trace().access.empty() ? MemoryUses{} : UseSearch(order).run();
}

}  // namespace streamscope::analysis
