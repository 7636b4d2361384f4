// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "counts.h"

#include <charconv>
#include <map>

#include "analysis/usage/host_syncs.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {
namespace {

// The name and value of everything that is stored. Names are part of the file format.
template <class Visit>
void each_value(StoredCounts& stored, Visit visit) {
  Counts& counts = stored.counts;
  visit("kernel", counts.kernel);
  visit("memcpy", counts.memcpy);
  visit("memset", counts.memset);
  visit("host_function", counts.host_function);
  visit("page_migration", counts.page_migration);
  visit("api_call", counts.api_call);
  visit("event_edge", counts.event_edge);
  visit("host_sync", counts.host_sync);
  visit("query", counts.query);
  visit("graph_launch", counts.graph_launch);
  visit("end_ns", stored.end_ns);
}

// The sizes of the counted tables, to check that the counts belong to the trace.
template <class Visit>
void each_table(const Trace& trace, Visit visit) {
  visit("op_rows", trace.op.size());
  visit("api_call_rows", trace.api_call.size());
  visit("event_record_rows", trace.event_record.size());
  visit("event_wait_rows", trace.event_wait.size());
  visit("host_sync_rows", trace.host_sync.size());
  visit("range_rows", trace.range.size());
  visit("mark_rows", trace.mark.size());
}

// "kernel=12 memcpy=3 ..."
std::map<std::string_view, uint64_t> parse(std::string_view text) {
  std::map<std::string_view, uint64_t> values;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    uint64_t value = 0;
    if (equals == pair.npos) return {};
    const char* const end = pair.data() + pair.size();
    const auto [read, error] = std::from_chars(pair.data() + equals + 1, end, value);
    if (error != std::errc() || read != end) return {};
    if (value >> 62 != 0) return {};  // too large for a count or time of a trace
    values[pair.substr(0, equals)] = value;
  }
  return values;
}

// Counts that equal the number of rows of a table.
void count_tables(const Trace& trace, Counts& counts) {
  counts.process = trace.process.size();
  counts.thread = trace.thread.size();
  counts.device = trace.device.size();
  counts.stream = trace.stream.size();
  counts.op = trace.op.size();
  counts.event_record = trace.event_record.size();
  counts.event_wait = trace.event_wait.size();
  counts.range = trace.range.size();
  counts.mark = trace.mark.size();
  counts.operation = trace.operation.size();
  counts.barrier = trace.barrier.size();
  counts.allocation = trace.allocation.size();
  counts.task = trace.task.size();
  counts.iteration = trace.iteration.size();
}

}  // namespace

Counts count_rows(const Trace& trace) {
  Counts counts;
  count_tables(trace, counts);
  const auto& op = trace.op;
  for (Id id = 0; id < op.size(); ++id) {
    const trace::Small kind = op.kind[id];
    counts.kernel += kind == trace::kKernel;
    counts.memcpy += kind == trace::kMemcpy;
    counts.memset += kind == trace::kMemset;
    counts.host_function += kind == trace::kHostFunction;
    counts.page_migration += kind == trace::kMemcpy && is_migration(op.detail[id]);
  }
  for (const trace::Small binding : trace.event_wait.binding)
    counts.event_edge += binding == trace::kBindingExact;
  counts.api_call = trace.api_call.size() + counts.event_record + counts.event_wait;
  for (Id sync = 0; sync < trace.host_sync.size(); ++sync) {
    const trace::Small kind = trace.host_sync.kind[sync];
    const auto calls = static_cast<uint64_t>(trace::call_count(trace.host_sync, sync));
    counts.host_sync += is_blocking(kind);
    if (is_query(kind)) counts.query += calls;
    counts.api_call += calls;
  }
  for (const trace::Small kind : trace.api_call.kind)
    counts.graph_launch += kind == CallKind::kGraphLaunch;
  return counts;
}

std::string counts_to_store(const Trace& trace) {
  StoredCounts stored{count_rows(trace), trace.end_ns()};
  std::string text;
  const auto add = [&](std::string_view name, auto value) {
    text.append(text.empty() ? "" : " ").append(name).append("=").append(std::to_string(value));
  };
  each_value(stored, add);
  each_table(trace, add);
  return text;
}

std::optional<StoredCounts> stored_counts(const Trace& trace) {
  const auto found = trace.meta.find(kCountsKey);
  if (found == trace.meta.end()) return std::nullopt;
  const std::map<std::string_view, uint64_t> values = parse(found->second);
  bool matches = true;
  each_table(trace, [&](std::string_view name, size_t rows) {
    const auto value = values.find(name);
    matches &= value != values.end() && value->second == rows;
  });
  StoredCounts stored;
  each_value(stored, [&](std::string_view name, auto& into) {
    const auto value = values.find(name);
    matches &= value != values.end();
    if (value != values.end())
      into = static_cast<std::remove_reference_t<decltype(into)>>(value->second);
  });
  if (!matches) return std::nullopt;
  count_tables(trace, stored.counts);
  return stored;
}

}  // namespace streamscope::analysis
