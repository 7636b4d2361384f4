// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "app_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/extent.h"
#include "analysis/units.h"
#include "installed_page.h"
#include "recording.h"
#include "report/app/packed_text.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/read/whole_file.h"
#include "trace/scratch_folder.h"
#include "trace/write/cut.h"
#include "trace/write/overview.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kMegabyte = 1e6, kMostMegabytes = 1e12;

std::string megabytes(uint64_t bytes) {
  const auto count = static_cast<double>(bytes);
  return bytes < kMegabyte ? fmt::format("{:.0f} kB", count / 1e3)
                           : fmt::format("{:.1f} MB", count / kMegabyte);
}

// A trace, or what is left of it, and what to say about it.
struct EmbeddedTrace {
  fs::path content;
  trace::WholeFile file;
  PageTrace from;
  std::string part;  // "10 ms to 12.5 ms (all: 0 ns to 80 ms)"; empty: all
  bool is_overview = false;
};

// `scratch`: where to put the part.
EmbeddedTrace open_part(const AppReport& report, const fs::path& scratch) {
  const auto range = parse_text_range(report.range);
  if (!range)
    throw Error("--range", "'" + report.range + "' is not a range",
                "write FROM:TO, such as 10ms:12.5ms or 40%:60%");
  trace::Trace trace = load_to_analyze(report.file, report.quiet);
  const analysis::Extent all = analysis::extent_of(trace), part = analysis::resolve(*range, all);
  const std::string words =
      fmt::format("{} to {} (all: {} to {})", analysis::format_duration(part.begin_ns),
                  analysis::format_duration(part.end_ns), analysis::format_duration(all.begin_ns),
                  analysis::format_duration(all.end_ns));
  const fs::path file = scratch / "part.sqlite";
  trace::cut(std::move(trace), {.start_ns = part.begin_ns, .end_ns = part.end_ns}, file, false);
  finish_trace(file, true);
  return {file, trace::WholeFile::open(file), {report.file, ""}, words};
}

// All of a trace, or of the traces of a run.
std::vector<EmbeddedTrace> open_all(const AppReport& report) {
  std::vector<EmbeddedTrace> opened;
  for (PageTrace& trace : page_traces(report.file)) {
    recover(trace.file);
    trace::WholeFile file = trace::WholeFile::open(trace.file);
    opened.push_back({trace.file, std::move(file), std::move(trace), ""});
  }
  return opened;
}

// The trace reduced to the levels of its pyramid from `finest_level` on; nothing if it has none.
std::optional<EmbeddedTrace> overview_of(const EmbeddedTrace& trace, trace::Small finest_level,
                                         const fs::path& scratch) {
  const fs::path file = scratch / fmt::format("overview-{}.sqlite", finest_level);
  if (trace::write_overview(trace.content, finest_level, file) == 0) return std::nullopt;
  return EmbeddedTrace{file, trace::WholeFile::open(file), trace.from, trace.part, true};
}

// Keeps nothing once it is longer than it may be.
class LimitedText {
 public:
  LimitedText(std::string_view text, uint64_t most) : most_(most) { add(text); }
  void add(std::string_view piece) {
    fits_ = fits_ && piece.size() <= most_ - text_.size();
    if (fits_)
      text_ += piece;
    else
      text_ = {};
  }
  bool fits() const { return fits_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  uint64_t most_;
  bool fits_ = true;
};

void add_trace(LimitedText& page, const AppReport& report, const EmbeddedTrace& embedded) {
  const trace::WholeFile& file = embedded.file;
  page.add(report::begin_trace_element(embedded.from.name(), file.bytes(), embedded.from.run));
  if (!embedded.part.empty()) page.add(fmt::format(R"( data-part="{}")", embedded.part));
  page.add(embedded.is_overview ? " data-overview>" : ">");
  Progress progress("compressing " + embedded.from.name(), report.quiet);
  uint64_t at = 0;
  const auto read = [&](char* into, size_t size) -> size_t {
    if (!page.fits()) return 0;
    const size_t got = file.read(at, into, size);
    at += got;
    progress.update(static_cast<double>(at) / static_cast<double>(file.bytes()));
    return got;
  };
  report::pack_text(read, [&](std::string_view piece) { page.add(piece); });
  if (page.fits() && at != file.bytes())
    throw Error(embedded.from.file, "has changed while it was read", "repeat this");
  page.add("</script>");
}

LimitedText page_with(const std::vector<EmbeddedTrace>& traces, const AppReport& report,
                      const report::ViewerPage& empty) {
  LimitedText page(empty.before,
                   static_cast<uint64_t>(std::min(report.max_mb, kMostMegabytes) * kMegabyte));
  for (const EmbeddedTrace& trace : traces) add_trace(page, report, trace);
  page.add(empty.after);
  return page;
}

[[noreturn]] void refuse(const AppReport& report) {
  const bool is_run = fs::is_directory(report.file);
  throw Error(report.file,
              fmt::format("would become a page of more than the {:g} MB that --max-mb allows{}",
                          report.max_mb, is_run ? "" : ", and has no smaller overview"),
              fmt::format("{}, raise --max-mb, or use streamscope view --serve{}",
                          is_run                 ? "embed the trace of one rank"
                          : report.range.empty() ? "embed a part with --range FROM:TO"
                                                 : "embed a smaller part",
                          is_run ? "" : "; streamscope analyze adds an overview to large traces"));
}

void report_written(uint64_t page_bytes, const std::vector<EmbeddedTrace>& embedded,
                    const AppReport& report) {
  uint64_t bytes = 0;
  for (const EmbeddedTrace& trace : embedded) bytes += trace.file.bytes();
  const std::string what =
      embedded.size() == 1 ? "the trace" : std::to_string(embedded.size()) + " traces";
  const EmbeddedTrace& first = embedded.front();
  message("wrote {}: {}, with {} of {}{}{}", report.output.empty() ? "the page" : report.output,
          megabytes(page_bytes), megabytes(bytes), what,
          first.part.empty() ? "" : ", reduced to " + first.part,
          first.is_overview ? fmt::format(", reduced to an overview, as all of it is more than the "
                                          "{:g} MB that --max-mb allows; --range FROM:TO embeds a "
                                          "part with every detail",
                                          report.max_mb)
                            : "");
}

}  // namespace

void write_app(const AppReport& report) {
  if (report.output.empty() && ::isatty(STDOUT_FILENO) == 1)
    throw Error("--format app", "is a page of many megabytes, not for a terminal",
                "add -o FILE.html");
  const report::ViewerPage empty = installed_page();
  if (!report.range.empty() && fs::is_directory(report.file))
    throw Error(report.file, "is a run, and --range is for a single trace",
                "name the trace of a rank");
  const ScratchFolder scratch("page");
  std::vector<EmbeddedTrace> embedded;
  if (report.range.empty())
    embedded = open_all(report);
  else
    embedded.push_back(open_part(report, scratch.path()));
  LimitedText page = page_with(embedded, report, empty);
  std::vector<EmbeddedTrace> whole;
  if (!page.fits()) whole = std::exchange(embedded, {});
  for (trace::Small level = 0; !page.fits(); ++level) {
    // What a page says of a run it computes from every operation.
    std::optional<EmbeddedTrace> overview;
    if (!fs::is_directory(report.file))
      overview = overview_of(whole.front(), level, scratch.path());
    if (!overview) refuse(report);
    embedded.clear();
    embedded.push_back(std::move(*overview));
    page = page_with(embedded, report, empty);
  }
  write_output(page.text(), report.output, report.file);
  if (!report.quiet) report_written(page.text().size(), embedded, report);
}

}  // namespace streamscope::cli
