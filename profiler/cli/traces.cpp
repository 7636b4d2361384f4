// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "analysis/derive.h"
#include "command.h"
#include "record/run/session.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/loss.h"
#include "trace/sqlite/open.h"

namespace streamscope::cli {

namespace fs = std::filesystem;

bool recover(const fs::path& file) {
  // Report a file size limit (ulimit -f) as an error, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  bool in_use = false;
  std::vector<record::Left> left;
  if (record::recover(file, &in_use, &left)) {
    message("{}: its recorder was killed; added the records it left", file.string());
  }
  for (const record::Left& folder : left) message("{}", describe(folder));
  return !in_use;
}

trace::Trace load(const fs::path& file, bool quiet, trace::ReadOptions options) {
  recover(file);
  Progress progress("reading " + file.filename().string(), quiet);
  options.progress = [&](double fraction) {
    progress.update(fraction);
    return true;
  };
  return trace::read(file, options);
}

trace::Trace load_to_analyze(const fs::path& file, bool quiet) {
  return load(file, quiet, analysis::options_to_analyze());
}

void add_wait_option(CommandLine& line, double& seconds) {
  line.option("--wait", &seconds,
              "how long to wait for a trace that is still being recorded (default 10)",
              {.takes = "SECONDS", .not_negative = true});
}

void wait_for_end(const fs::path& file, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::milliseconds(20);
  constexpr double kLongestWaitS = 1e6;  // eleven days
  // Keeps the deadline within the range of the clock.
  const double wait_ms = 1000 * std::min(kLongestWaitS, seconds);
  const auto until = Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(wait_ms));
  if (recover(file)) return;
  if (seconds > 0) {
    message("{}: still being recorded; waiting up to {:g} s for it to finish", file.string(),
            seconds);
  }
  while (Clock::now() < until) {
    std::this_thread::sleep_for(kPause);
    if (recover(file)) return;
  }
  if (!trace::is_unwritten(file)) return;
  throw Error(file.string(), "is not written yet: its recorder has seen no CUDA call",
              "repeat this once the program has ended, or wait longer with --wait");
}

void note_unfinished(const fs::path& file) {
  message("{}: {} {}", file.string(), trace::kUnfinished, trace::kAskAgain);
}

report::TextStyle style_for(const fs::path& output) {
  if (!output.empty()) return {};
  return {.color = wants_color(), .width = terminal_width()};
}

int exit_code(report::CheckResult result) {
  constexpr ExitCode kCodes[] = {kDone, kFound, kNotEvaluable};
  return kCodes[static_cast<size_t>(result)];
}

void write_output(std::string_view text, const fs::path& file, const fs::path& input) {
  write_pieces([&](const Sink& sink) { sink(text); }, file, input);
}

void write_pieces(const std::function<void(const Sink&)>& produce, const fs::path& file,
                  const fs::path& input) {
  if (file.empty()) {
    produce([](std::string_view piece) { fmt::print("{}", piece); });
    return;
  }
  std::error_code ignored;
  if (fs::equivalent(file, input, ignored)) {
    throw Error(file.string(), "is the trace itself", "name another output file");
  }
  char magic[16] = {};
  if (std::ifstream old(file, std::ios::binary);
      old.read(magic, sizeof magic) && std::string_view(magic, 15) == "SQLite format 3") {
    throw Error(file.string(), "is a database and would be overwritten",
                "name another output file");
  }
  const bool existed = fs::exists(file, ignored);
  bool opened = false;
  // What was there and could not be opened stays.
  const auto remove_incomplete = [&] {
    std::error_code error;
    if ((opened || !existed) && fs::is_regular_file(file, error)) fs::remove(file, error);
  };
  try {
    std::ofstream out(file, std::ios::binary);
    opened = out.is_open();
    produce([&](std::string_view piece) { out << piece; });
    out.close();
    if (out) return;
  } catch (...) {  // out of memory, or an input that cannot be read
    remove_incomplete();
    throw;
  }
  remove_incomplete();
  throw Error(file.string(), "cannot be written", "check folder, permissions and free space");
}

void add_iteration_option(CommandLine& line, std::string& text, std::string_view otherwise) {
  line.option("--iteration", &text,
              fmt::format("what one iteration is: an NVTX range, a launch of one graph, or a "
                          "sequence of work that repeats; {}",
                          otherwise),
              {.takes = "nvtx:NAME|graph|sequence|auto|none"});
}

analysis::IterationRequest iteration_request(const std::string& text) {
  analysis::IterationRequest request;
  if (!parse(text, request))
    throw Error("--iteration", "'" + text + "' is not a way to find iterations",
                "write nvtx:NAME, graph, sequence, auto or none");
  return request;
}

fs::path program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) throw Error("/proc/self/exe", error.message(), "mount /proc");
  return program.parent_path();
}

}  // namespace streamscope::cli
