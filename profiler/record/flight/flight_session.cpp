// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "flight_session.h"

#include <utility>

#include "trace/error.h"

namespace streamscope::record {

namespace fs = std::filesystem;

namespace {

template <size_t N>
void write_text(const std::string& text, char (&to)[N]) {
  to[text.copy(to, N - 1)] = '\0';
}

}  // namespace

FlightSession::FlightSession(const RingsFolder& folder, ring::Control& control, fs::path trace,
                             const Options& options)
    : recorder_(folder.path()), control_(control), trace_(std::move(trace)), options_(options) {}

// t.sqlite is for the end; earlier dumps are t-1.sqlite and so on.
fs::path FlightSession::next_file() {
  fs::path file;
  do {
    file = trace_;
    file.replace_filename(trace_.stem().string() + "-" + std::to_string(++dumps_) +
                          trace_.extension().string());
  } while (fs::exists(file) && !options_.force);
  return file;
}

std::unique_ptr<FlightSession::Dump> FlightSession::begin_dump(const fs::path& file) {
  // The last dump has the name of the recording, whose folder is in use.
  RingsFolder folder = RingsFolder::create(dump_name(file), options_);
  Drain::Options wanted = Drain::Options::of(control_);
  wanted.run.newest_only = true;
  std::unique_ptr<Dump> dump;
  left_.reserve(left_.size() + 2);  // of the current dump, and of this one
  try {
    recorder_.copy_to(folder.path());
    dump.reset(
        new Dump{Drain(folder.path(), trace::Writer::create(file, {.overwrite = options_.force}),
                       wanted, trace::Trace{}),
                 std::move(folder), file, *this});
  } catch (...) {
    // The rings themselves are unchanged.
    if (!folder.remove()) left_.push_back({std::move(folder), file});
    throw;
  }
  dump->drain.cycle();
  return dump;
}

FlightSession::Dump::~Dump() {
  if (!folder.remove()) session.left_.push_back({std::move(folder), std::move(trace)});
}

std::vector<Left> FlightSession::remove_left() {
  dump_.reset();
  std::vector<Left> stays;
  for (LeftFolder& left : left_) {
    if (!left.folder.remove()) stays.push_back({left.folder.path(), left.trace});
  }
  return stays;
}

bool FlightSession::dump(const fs::path& file) {
  recorder_.step();
  if (!recorder_.saw_anything()) return false;
  begin_dump(file)->drain.finish();
  return true;
}

bool FlightSession::finish(const fs::path& file) {
  if (dump_ != nullptr) end_explanation();
  return dump(file);
}

void FlightSession::end_explanation() {
  dump_->drain.finish();
  monitor_.reset();
  dump_.reset();
  explained_ = true;
  control_.explained.store(explain_request_, std::memory_order_release);
}

void FlightSession::serve_requests() {
  const uint32_t asked = control_.dump_request.load(std::memory_order_acquire);
  const bool by_program = recorder_.take_request();
  if (asked == control_.dumped.load(std::memory_order_relaxed) && !by_program &&
      !std::exchange(requested_, false))
    return;
  std::string answer;
  try {
    const fs::path file = next_file();
    answer = dump(file) ? file.string() : "nothing has been recorded yet";
  } catch (const Error& error) {
    answer = error.what();
  }
  write_text(answer, control_.dump_file);
  control_.dumped.store(asked, std::memory_order_release);
}

void FlightSession::watch() {
  if (!options_.hangs.explain || !recorder_.saw_anything()) return;
  if (dump_ != nullptr) {
    for (const auto& [pid, answer] : recorder_.take_answers())
      dump_->drain.take_answer(pid, answer);
    monitor_->step(dump_->drain);
    if (!monitor_->is_asked()) end_explanation();
    return;
  }
  const auto now = Clock::now();
  if (recorder_.moved() != moved_) {
    moved_ = recorder_.moved();
    since_ = now;
    explained_ = false;
  }
  const uint32_t asked = control_.explain_request.load(std::memory_order_acquire);
  const bool stands = options_.hangs.timeout_s && !explained_ &&
                      now - since_ >= std::chrono::duration<double>(*options_.hangs.timeout_s);
  if (asked == explain_request_ && !stands) return;
  explain_request_ = asked;
  recorder_.take_answers();
  const fs::path file = next_file();
  dump_ = begin_dump(file);
  HangOptions once = options_.hangs;
  once.timeout_s.reset();
  monitor_ = std::make_unique<Monitor>(control_, std::move(once));
  monitor_->ask_all(dump_->drain);
  write_text(file.string(), control_.trace_file);  // where the answer will be
}

double FlightSession::step() {
  const double newest = recorder_.step();
  serve_requests();
  watch();
  return newest;
}

}  // namespace streamscope::record
