// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "app_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
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

// A trace or a part of it, and what to say about it.
struct EmbeddedTrace {
  trace::WholeFile file;
  PageTrace from;
  std::string part;  // "10 ms to 12.5 ms (all: 0 ns to 80 ms)"; empty: all
};

EmbeddedTrace open_part(const AppReport& report) {
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
  const ScratchFolder folder("part");
  const fs::path file = folder.path() / "part.sqlite";
  trace::cut(std::move(trace), {.start_ns = part.begin_ns, .end_ns = part.end_ns}, file, false);
  finish_trace(file, true);
  return {trace::WholeFile::open(file), {report.file, ""}, words};
}

// All of a trace, or of the traces of a run.
std::vector<EmbeddedTrace> open_all(const AppReport& report) {
  std::vector<EmbeddedTrace> opened;
  for (PageTrace& trace : page_traces(report.file)) {
    recover(trace.file);
    opened.push_back({trace::WholeFile::open(trace.file), std::move(trace), ""});
  }
  return opened;
}

// Only counts what is beyond the limit.
class LimitedText {
 public:
  LimitedText(std::string text, uint64_t most) : text_(std::move(text)), most_(most) {
    bytes_ = text_.size();
  }
  void add(std::string_view piece) {
    bytes_ += piece.size();
    if (bytes_ <= most_)
      text_ += piece;
    else
      text_ = {};
  }
  uint64_t bytes() const { return bytes_; }
  bool fits() const { return bytes_ <= most_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  uint64_t most_, bytes_ = 0;
};

void add_trace(LimitedText& page, const AppReport& report, const EmbeddedTrace& embedded) {
  const trace::WholeFile& file = embedded.file;
  page.add(report::begin_trace_element(embedded.from.name(), file.bytes(), embedded.from.run));
  if (!embedded.part.empty()) page.add(fmt::format(R"( data-part="{}")", embedded.part));
  page.add(">");
  Progress progress("compressing " + embedded.from.name(), report.quiet);
  uint64_t at = 0;
  const auto read = [&](char* into, size_t size) {
    const size_t got = file.read(at, into, size);
    at += got;
    progress.update(static_cast<double>(at) / static_cast<double>(file.bytes()));
    return got;
  };
  report::pack_text(read, [&](std::string_view piece) { page.add(piece); });
  if (at != file.bytes())
    throw Error(embedded.from.file, "has changed while it was read", "repeat this");
  page.add("</script>");
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
  std::vector<EmbeddedTrace> embedded;
  if (report.range.empty())
    embedded = open_all(report);
  else
    embedded.push_back(open_part(report));
  LimitedText page(empty.before,
                   static_cast<uint64_t>(std::min(report.max_mb, kMostMegabytes) * kMegabyte));
  uint64_t bytes = 0;
  for (const EmbeddedTrace& trace : embedded) {
    add_trace(page, report, trace);
    bytes += trace.file.bytes();
  }
  page.add(empty.after);
  if (!page.fits())
    throw Error(report.file,
                fmt::format("would become a page of {}, and --max-mb allows {:g} MB",
                            megabytes(page.bytes()), report.max_mb),
                fmt::format("embed a {}part with --range FROM:TO, raise --max-mb, or use "
                            "streamscope view --serve",
                            report.range.empty() ? "" : "smaller "));
  write_output(page.text(), report.output, report.file);
  if (report.quiet) return;
  const std::string& part = embedded.front().part;
  const std::string what =
      embedded.size() == 1 ? "the trace" : std::to_string(embedded.size()) + " traces";
  message("wrote {}: {}, with {} of {}{}", report.output.empty() ? "the page" : report.output,
          megabytes(page.bytes()), megabytes(bytes), what,
          part.empty() ? "" : ", reduced to " + part);
}

}  // namespace streamscope::cli
