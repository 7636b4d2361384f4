// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "merge.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "copy_rows.h"
#include "trace/error.h"
#include "trace/loss.h"
#include "trace/ns_math.h"
#include "trace/read/query.h"
#include "trace/read/reader.h"
#include "vocabulary/tier.h"
#include "writer.h"

namespace streamscope::trace {
namespace {

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
      copy_rows(trace, writer, {.clock = clock, .redact = options.redact});
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
