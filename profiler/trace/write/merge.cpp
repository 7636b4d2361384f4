// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "merge.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trace/error.h"
#include "trace/loss.h"
#include "trace/ns_math.h"
#include "trace/read/query.h"
#include "trace/read/reader.h"
#include "trace/tables.h"
#include "vocabulary/tier.h"
#include "writer.h"

namespace streamscope::trace {
namespace {

constexpr size_t kFlushBytes = 32 << 20;

std::optional<Int> integer_meta(const std::filesystem::path& file, const char* key) {
  Query query(file,
              std::string("SELECT CAST(value AS INTEGER) FROM meta WHERE key = '") + key + "'");
  if (!query.next()) return std::nullopt;
  const Cell cell = query.cell(0);
  const auto* value = std::get_if<int64_t>(&cell);
  return value ? std::optional(*value) : std::nullopt;
}

// Position of a trace on the common timeline.
struct Span {
  Ns start_ns, end_ns;
  size_t file;
};

// A trace that begins after all earlier ones have ended, and the one of those that ended last.
struct Apart {
  size_t file, after;
};
std::vector<Apart> apart(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::start_ns);
  std::vector<Apart> result;
  for (size_t i = 1, last = 0; i < spans.size(); ++i) {
    if (spans[i].start_ns > spans[last].end_ns) result.push_back({spans[i].file, spans[last].file});
    if (spans[i].end_ns > spans[last].end_ns) last = i;
  }
  return result;
}

bool is_simulated(const Trace& trace) {
  return !trace.process.empty() && std::ranges::all_of(trace.process.clock, [](Small clock) {
    return clock == kVirtualClock;
  });
}

size_t index_of(std::string_view table) {
  const auto found = std::ranges::find(tables(), table, &TableInfo::name);
  return static_cast<size_t>(found - tables().begin());
}

constexpr bool is_derived(TableIndex table) {
  return table == TableIndex::kKernelName || table == TableIndex::kEdge ||
         table == TableIndex::kWaitCause || table == TableIndex::kCriticalPath ||
         table == TableIndex::kFinding || table == TableIndex::kLod;
}

// Appends the rows of one trace: ids increase by the number of existing rows, times are those of
// the clock.
class Copy {
 public:
  Copy(const Trace& trace, Writer& writer, const std::function<Ns(Ns)>& clock, bool redact)
      : trace_(trace),
        writer_(writer),
        clock_(clock),
        redact_(redact),
        texts_(trace.strings.size(), kNoId) {
#define STREAMSCOPE_BASE(sql_name, Row, COLUMNS) \
  bases_[static_cast<size_t>(TableIndex::k##Row)] = writer.count<Row>();
    STREAMSCOPE_TABLES(STREAMSCOPE_BASE)
#undef STREAMSCOPE_BASE
  }

  void run() {
#define STREAMSCOPE_CELL(type, name) \
  row.name = moved(table, #name, columns.name[id], id, std::string_view(#type) == "Ns");
#define STREAMSCOPE_COPY(sql_name, Row, COLUMNS)                   \
  if (!is_derived(TableIndex::k##Row)) {                           \
    const auto& columns = trace_.sql_name;                         \
    for (Id id = 0; id < columns.size(); ++id) {                   \
      const char* const table = #sql_name;                         \
      Row row;                                                     \
      COLUMNS(STREAMSCOPE_CELL)                                    \
      writer_.append(row);                                         \
      if (writer_.buffered_bytes() > kFlushBytes) writer_.flush(); \
    }                                                              \
  }
    STREAMSCOPE_TABLES(STREAMSCOPE_COPY)
#undef STREAMSCOPE_COPY
#undef STREAMSCOPE_CELL
  }

 private:
  // Times are moved; durations, addresses and numbers are not.
  Int moved(const char*, std::string_view, Int value, Id, bool is_instant) {
    if (value == kNoInt || !is_instant) return value;
    return clock_(value);
  }
  Small moved(const char*, std::string_view, Small value, Id, bool) { return value; }
  Id moved(const char* table, std::string_view column, Id value, Id row, bool) {
    if (value == kNoId) return value;
    const char* target = referenced_table(table, column);
    if (!target) {
      const size_t object = index_of(hang_object_table(trace_.hang_node.kind[row]));
      return object < kTableCount ? value + bases_[object] : value;
    }
    if (target == std::string_view("string")) return text(table, column, value);
    return value + bases_[index_of(target)];
  }

  // Only texts that a row refers to are written, so that texts of omitted columns are not kept.
  Id text(std::string_view table, std::string_view column, Id value) {
    const bool is_private =
        table == "process" && (column == "command_line_id" || column == "environment_id");
    if (value >= texts_.size() || (redact_ && is_private)) return kNoId;
    if (texts_[value] == kNoId) texts_[value] = writer_.intern(trace_.strings[value]);
    return texts_[value];
  }

  const Trace& trace_;
  Writer& writer_;
  const std::function<Ns(Ns)>& clock_;
  bool redact_;
  std::array<Id, kTableCount> bases_{};
  std::vector<Id> texts_;  // of the trace, by id; kNoId: not written yet
};

}  // namespace

void merge(std::span<const std::filesystem::path> files, const std::filesystem::path& out,
           const MergeOptions& options) {
  std::optional<Int> first;
  std::vector<std::optional<Int>> starts;
  for (const std::filesystem::path& file : files) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, out, ignored))
      throw Error(out, "is one of the traces to merge", "name another output file");
    starts.push_back(integer_meta(file, "trace_start_realtime_ns"));
    if (starts.back()) first = std::min(first.value_or(*starts.back()), *starts.back());
  }
  Writer writer = Writer::create(out, {.overwrite = options.overwrite});
  try {
    bool complete = true;
    std::set<std::string, std::less<>> tiers;
    std::vector<Span> spans;
    const auto name_of = [&](size_t file) { return files[file].filename().string(); };
    const auto note = [&](std::string_view loss, const std::string& detail) {
      writer.append(Loss{.name_id = writer.intern(loss),
                         .severity = static_cast<Small>(loss_info(loss).severity),
                         .count = 1,
                         .detail_id = writer.intern(detail)});
    };
    for (size_t i = 0; i < files.size(); ++i) {
      const Trace trace = read(files[i]);
      const bool placed = !options.clocks.empty() || (starts[i] && !is_simulated(trace));
      if (!placed) note("merge-no-clock", name_of(i));
      const Ns shift_ns = placed && starts[i] ? difference_of(*starts[i], *first) : 0;
      const std::function<Ns(Ns)> clock =
          options.clocks.empty() ? [=](Ns ns) { return sum_of(ns, shift_ns); } : options.clocks[i];
      Copy(trace, writer, clock, options.redact).run();
      if (placed) spans.push_back({clock(0), clock(trace.end_ns()), i});
      complete &= trace.complete();
      if (is_unfinished(trace)) note(kEndedEarly, name_of(i));
      if (const auto tier = trace.meta.find("tier"); tier != trace.meta.end())
        tiers.insert(tier->second);
      if (const auto origin = trace.meta.find("imported_from"); origin != trace.meta.end())
        writer.set_meta("imported_from", origin->second);
      if (trace.meta.contains("kernel_arguments")) writer.set_meta("kernel_arguments", 1);
    }
    for (const auto& [file, after] : apart(spans))
      note("merge-no-overlap", name_of(file) + " after " + name_of(after));
    if (!options.clocks.empty()) first.reset();
    if (options.started_ns != kUnknownNs) first = options.started_ns;
    if (first) writer.set_meta("trace_start_realtime_ns", *first);
    // The minimum that all of them guarantee.
    const auto tier =
        std::ranges::find_if(kTiers, [&](const Term& term) { return tiers.contains(term.name); });
    if (tier != std::end(kTiers)) writer.set_meta("tier", tier->name);
    writer.finish(complete);
  } catch (...) {
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm"})
      std::filesystem::remove(out.string() + suffix, ignored);
    throw;
  }
}

}  // namespace streamscope::trace
