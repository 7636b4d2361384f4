// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "what_if.h"

#include <algorithm>
#include <cmath>

#include "analysis/iterations/branches.h"
#include "analysis/iterations/graphs.h"
#include "analysis/iterations/iteration_model.h"
#include "vocabulary/read_number.h"

namespace streamscope::analysis {
namespace {

template <class Number>
bool is_number(std::string_view text, Number& value) {
  const auto [end, error] = read_number(text, value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_id(std::string_view text, size_t count, Id& id) {
  return is_number(text, id) && id < count;
}

void scale_op(const Trace& trace, Id op, double factor, Change& change) {
  if (is_timed(trace, op))
    change.length_ns[op] =
        std::llround(static_cast<double>(trace.op.end_ns[op] - trace.op.start_ns[op]) * factor);
}

// Without the edge the op waits for the work before it on its stream and for its other edges.
void drop_edge(Analyses& analyses, Id dropped, Change& change) {
  const Edges& edges = analyses.edges();
  const Id op = edges[dropped].to_op_id;
  const auto [known, is_new] = change.held_only_by.try_emplace(op);
  std::vector<Id>& others = known->second;
  if (is_new) {
    for (const trace::Edge& edge : edges.incoming(op)) others.push_back(edge.from_op_id);
    const Id before = analyses.stream_ops().predecessor(op);
    if (before != kNoId) others.push_back(before);
  }
  const auto from = std::find(others.begin(), others.end(), edges[dropped].from_op_id);
  if (from != others.end()) others.erase(from);
}

}  // namespace

bool add_change(Analyses& analyses, std::string_view text, Change& change) {
  const Trace& trace = analyses.trace();
  if (text == "add-copy-engine") {
    ++change.more_copy_engines;
    return true;
  }
  if (text == "graph" || text == "no-sync") {
    const IterationModel& model = analyses.iteration_model();
    if (!model.found()) return false;
    const SteadySyncs& syncs = model.syncs();
    if (text == "graph") {
      const bool without_syncs = syncs.are_removed(change);
      const Graphs graphs = (without_syncs ? as_graphs_without_syncs : as_graphs)(analyses, model);
      change.add(graphs.change);
      return graphs.count > 0;
    }
    for (const Id sync : syncs.all()) syncs.remove(sync, change);
    return !syncs.all().empty();
  }
  const size_t colon = text.find(':');
  if (colon == text.npos) return false;
  const std::string_view verb = text.substr(0, colon), object = text.substr(colon + 1);
  Id id = kNoId;
  if (verb == "drop-edge") {
    if (!read_id(object, analyses.edges().size(), id)) return false;
    drop_edge(analyses, id, change);
  } else if (verb == "drop-sync") {
    if (!read_id(object, trace.host_sync.size(), id)) return false;
    change.without_sync.add(id);
  } else if (verb == "drop-op") {
    if (!read_id(object, trace.op.size(), id)) return false;
    scale_op(trace, id, 0, change);
  } else if (verb == "scale-op") {
    const size_t equals = object.find('=');
    double factor = 0;
    if (equals == object.npos || !read_id(object.substr(0, equals), trace.op.size(), id) ||
        !is_number(object.substr(equals + 1), factor) || !(factor >= 0) || !std::isfinite(factor)) {
      return false;
    }
    scale_op(trace, id, factor, change);
  } else if (verb == "split-stream") {
    const IterationModel& model = analyses.iteration_model();
    if (!read_id(object, trace.stream.size(), id) || !model.found()) return false;
    const Branches branches =
        find_branches(analyses, model.iterations(), id, model.iterations().steady_count());
    if (branches.first == kNoId) return false;
    change.add(branches.change);
  } else if (verb == "add-stream") {
    if (!read_id(object, trace.stream.size(), id)) return false;
    change.spread_stream.add(id);
  } else {
    return false;
  }
  return true;
}

}  // namespace streamscope::analysis
