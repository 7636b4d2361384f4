// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/use_trace.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/diff.h"
#include "analysis/counts.h"
#include "analysis/delay/what_if.h"
#include "analysis/derive.h"
#include "analysis/hang/hang.h"
#include "fuzz/scratch_file.h"
#include "fuzz/trace_mutations.h"
#include "model/trace_model.h"
#include "report/check/check.h"
#include "report/export/export.h"
#include "report/formats/exporter.h"
#include "report/sections/diff_document.h"
#include "trace/error.h"
#include "trace/read/query.h"
#include "trace/write/merge.h"
#include "viewer/model/comparison.h"

namespace streamscope::test {
namespace {

[[noreturn]] void wrong(std::string_view what, std::string_view text, size_t at) {
  constexpr size_t kAround = 200;
  const std::string_view around = text.substr(at - std::min(at, kAround), 2 * kAround);
  std::fprintf(stderr, "%.*s at byte %zu: ...%.*s...\n", static_cast<int>(what.size()), what.data(),
               at, static_cast<int>(around.size()), around.data());
  std::abort();
}

// Length of the character that begins at `at` as UTF-8, 0 if none does.
size_t character_bytes(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    return first == 0xED && byte(1) > 0x9F ? 0 : 3;
  }
  if (first < 0xF0 || first > 0xF4 || !continues(1) || !continues(2) || !continues(3)) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  return first == 0xF4 && byte(1) > 0x8F ? 0 : 4;
}

bool turns_text(std::string_view character) {
  return character == "\xe2\x80\x8e" || character == "\xe2\x80\x8f" ||
         (character >= "\xe2\x80\xaa" && character <= "\xe2\x80\xae") ||
         (character >= "\xe2\x81\xa6" && character <= "\xe2\x81\xa9");
}

// Nothing in the output controls a terminal, changes text direction, or is invalid UTF-8.
void expect_clean(std::string_view what, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = character_bytes(text, at);
    const auto c = static_cast<unsigned char>(text[at]);
    if (bytes == 0 || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ||
        turns_text(std::string_view(text).substr(at, bytes)))
      wrong(std::string(what) + " is not clean", text, at);
    at += bytes;
  }
}

void expect_json(std::string_view what, const std::string& text) {
  try {
    (void)nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    wrong(std::string(what) + " is no JSON", text, error.byte);
  }
}

void expect_document(std::string_view format, const std::string& text) {
  expect_clean(format, text);
  if (format == "json" || format == "sarif" || format == "chrome") expect_json(format, text);
  if (format != "html" && format != "markdown" && format != "junit") return;
  for (const char* markup : {"<script>alert", "<img src=x"}) {
    if (const size_t at = text.find(markup); at != text.npos) wrong(format, text, at);
  }
}

// Each use takes only one of the formats, views and the like of an analysis, so that each input is
// short.
template <class All>
const auto& one_of(const All& all, size_t part) {
  return all[part % std::size(all)];
}

void report_it(const trace::Trace& trace, unsigned part) {
  const report::Summary summary = report::summarize(trace);
  constexpr report::By kBys[] = {report::By::kStream, report::By::kNvtx, report::By::kKernel};
  const report::Exporter& exporter = one_of(report::exporters(), part);
  const report::By by = one_of(kBys, part / report::exporters().size());
  expect_document(
      exporter.name,
      exporter.write(trace, summary, {.by = by, .look = {.width = 80}, .show_possible = true}));
  expect_json("info", report::info_json(summary.info));
  expect_clean("info", report::info_text(trace, summary.info));
}

void check_it(const trace::Trace& trace, unsigned) {
  static const std::vector<analysis::Assertion> kAssertions = [] {
    std::vector<analysis::Assertion> assertions;
    for (const char* text :
         {"may_overlap('*', '*')", "may_overlap_across('*', '*')", "ordered('*', '*')",
          "no_sync_in('iteration')", "no_sync_in('nvtx:step')", "launches_per_iteration < 1",
          "syncs_per_iteration < 1", "allocations_per_iteration < 1", "max_bound('host') <= 0 %"})
      assertions.push_back(analysis::parse_assertion(text, "fuzz"));
    return assertions;
  }();
  const report::Check check =
      report::check(trace, {.assertions = kAssertions, .show_possible = true});
  for (const report::CheckFormat& format : report::check_formats())
    expect_document(format.name, format.write(check, {.width = 80}));
  report::write_baseline(check);
}

void predict_it(const trace::Trace& trace, unsigned) {
  analysis::Analyses analyses(trace);
  for (const char* text : {"drop-edge:0", "drop-edge:3", "drop-sync:0", "drop-op:1", "scale-op:0=3",
                           "scale-op:1=0", "add-stream:0", "add-copy-engine"}) {
    analysis::Change change;
    if (analysis::add_change(analyses, text, change)) (void)analyses.replay().gain_ns(change);
  }
  for (const trace::HangReport& hang : analysis::explain_hangs(analyses))
    expect_clean("hang", hang.text);
  for (trace::Id process = 0; process < std::min<size_t>(trace.process.size(), 2); ++process)
    expect_clean("hang", analysis::explain_hang(analyses, process).text);
}

void export_it(const trace::Trace& trace, unsigned part) {
  const report::ExportFormat& format = one_of(report::export_formats(), part);
  const report::ExportOptions options[] = {
      {}, {.range = std::pair<trace::Ns, trace::Ns>{0, 1 << 20}}, {.around = 1}};
  const std::string text =
      format.write(trace, one_of(options, part / report::export_formats().size()));
  if (format.name != "perfetto") expect_document(format.name, text);
}

void query_it(const std::filesystem::path& file, unsigned part) {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = trace::stable_views();
    for (const char* name : {"string", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME"})
      names.emplace_back(name);
    return names;
  }();
  const std::string& name = one_of(kNames, part);
  std::string text;
  trace::Query query(file, "SELECT * FROM " + name);
  report::write_csv(query, [&](std::string_view piece) { text += piece; });
  expect_clean(name, text);
}

void compare_it(const trace::Trace& trace, unsigned part) {
  static const trace::Trace kBase = trace::read(seed_traces()[0]);
  analysis::Analyses now(trace), base(kBase);
  analysis::TraceDiff diff = part % 2 == 0 ? analysis::diff(base, now) : analysis::diff(now, base);
  std::vector<report::BaseRun> runs{{.ns = diff.base_ns}};
  if (diff.steady) runs[0].steady = diff.steady->base;
  const report::DiffVerdict verdict = report::judge(std::move(diff), std::move(runs), 0.05);
  expect_json("diff", report::diff_json(verdict));
  const report::Document document = report::diff_document(verdict);
  expect_clean("diff", report::to_text(document, {.width = 80}));
  expect_clean("diff", report::to_markdown(document));
}

void derive_it(const trace::Trace& trace, unsigned) {
  {
    analysis::Analyses analyses(trace);
    analysis::write_derived_tables(analyses);
  }
  const trace::Trace derived = trace::read(trace.file);
  analysis::Analyses analyses(derived);
  (void)analyses.waits();
}

// Unchanged, or with its derived tables treated as those of this version and of these rows.
void view_it(const trace::Trace& trace, unsigned part) {
  trace::Trace shown = trace;
  if (part % 2 == 0) shown.meta["analysis_version"] = std::to_string(analysis::kAnalysisVersion);
  if (part % 4 == 0) shown.meta[analysis::kCountsKey] = analysis::counts_to_store(trace);
  const viewer::TraceModel model(std::move(shown), false, 0);
  const size_t lanes = model.lanes().size();
  for (size_t lane = 0; lane < std::min<size_t>(lanes, 20); ++lane)
    expect_clean("lane", model.lanes()[lane].title);
  (void)model.lanes().sums(model.extent());
  (void)model.waits().longest(10);
  for (trace::Id op = 0; op < std::min<size_t>(trace.op.size(), 50); ++op) {
    const viewer::Item item{viewer::ItemKind::kOp, op};
    expect_clean("label", model.lanes().label_with_stream(item));
    expect_clean("name", model.items().name(item));
    (void)model.waits().of(op);
    (void)model.lanes().place(item);
  }
}

// Alone, which copies it, or with another, which reads more.
void merge_it(const std::filesystem::path& file, unsigned part) {
  const std::filesystem::path out = scratch("merged");
  std::vector<std::filesystem::path> files = {file};
  if (part % 4 == 0) {
    files.push_back(scratch("other"));
    std::filesystem::copy_file(file, files[1], std::filesystem::copy_options::overwrite_existing);
  }
  trace::merge(files, out, {.overwrite = true});
  (void)trace::read(out).end_ns();
}

// These read the file themselves.
constexpr void (*kFileUses[])(const std::filesystem::path&, unsigned part) = {query_it, merge_it};
constexpr void (*kTraceUses[])(const trace::Trace&, unsigned part) = {
    report_it, check_it, predict_it, export_it, compare_it, derive_it, view_it};
constexpr unsigned kFirstTraceUse = std::size(kFileUses);
constexpr unsigned kUses = kFirstTraceUse + std::size(kTraceUses);

}  // namespace

void use_trace(const trace::Trace& trace, unsigned choice) {
  if (choice % kUses < kFirstTraceUse) return use_trace(trace.file, choice);
  kTraceUses[choice % kUses - kFirstTraceUse](trace, choice / kUses);
}

void use_trace(const std::filesystem::path& file, unsigned choice) {
  if (choice % kUses >= kFirstTraceUse) return use_trace(trace::read(file), choice);
  kFileUses[choice % kUses](file, choice / kUses);
}

}  // namespace streamscope::test
