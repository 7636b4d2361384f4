// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "trace/change/replacement.h"
#include "trace/change/wal.h"
#include "trace/read/reader.h"
#include "trace/sqlite/open.h"

namespace streamscope::record {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// Between two reads. More often would gain nothing: the rings hold what was read until it is
// stored, ten times a second.
constexpr auto kPause = 10'000us;
// While rings fill so quickly that they could be full before the next read, or a program waits.
constexpr auto kShortPause = 1000us;
constexpr double kFilling = 0.125;
// This many records in one read mean that more are already pending.
constexpr size_t kBusy = 4096;

// `fullest`: share of the fullest ring that is in use.
std::chrono::microseconds pause_after(double fullest) {
  return fullest > kFilling ? kShortPause : kPause;
}

/// What an earlier recording left under this name is finished first; then the name must be free, or
/// may be overwritten.
void claim(const fs::path& trace, bool force) {
  recover(trace);
  struct stat facts {};
  const fs::path rings = rings_path(trace);
  if (::lstat(rings.c_str(), &facts) == 0) {
    if (auto folder = RingsFolder::take_over(trace)) {
      folder->remove();
    } else if (!RingsFolder::remove_unmade(trace)) {
      throw Error(
          rings, "exists already",
          "a recording of this name is in progress; wait for it or choose another name with -o",
          EEXIST);
    }
  }
  if (::stat(trace.parent_path().c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
    throw Error(trace, "its folder does not exist", "create it, or choose another with -o", ENOENT);
  if (::lstat(trace.c_str(), &facts) != 0) return;
  if (!S_ISREG(facts.st_mode))
    throw Error(trace, "exists already and is not a plain file", "choose another name with -o",
                EEXIST);
  if (!force)
    throw Error(trace, "exists already",
                "choose another name with -o, or overwrite it with --force", EEXIST);
}

RingsFolder make_folder(const fs::path& trace, const Options& options) {
  claim(trace, options.force);
  // Most recordings have names of their own, which are never used again.
  RingsFolder::remove_unused(trace.parent_path());
  trace::Replacement::remove_abandoned(trace.parent_path());
  return RingsFolder::create(trace, options);
}

constexpr char kFinishedKey[] = "finished";
// A trace whose creation was interrupted is at most one page; its tables are added in one
// transaction, through its log.
constexpr off_t kPageBytes = 4096;

bool has_log(const fs::path& trace) {
  struct stat facts {};
  if (::stat((trace.string() + "-wal").c_str(), &facts) != 0) return errno != ENOENT;
  return facts.st_size > 0;
}

/// The trace as a killed recorder left it; nothing if it was not created yet.
std::optional<trace::Trace> read_unfinished(const fs::path& file) {
  struct stat facts {};
  if (::lstat(file.c_str(), &facts) != 0) {
    if (errno == ENOENT) return std::nullopt;
    throw Error(file, std::string("cannot be accessed: ") + std::strerror(errno),
                "check the permissions of its folder", errno);
  }
  try {
    return trace::read(file);
  } catch (const Error&) {
    // What cannot be read at this moment may contain all but the newest rows.
    const bool is_short = S_ISREG(facts.st_mode) && facts.st_size <= kPageBytes;
    if (is_short && (!has_log(file) || trace::is_unwritten(file))) return std::nullopt;
    throw;
  }
}

/// A finished trace whose log could not be merged, as the disk was full or another process read it.
/// It is readable as it is, so a failure here is not an error.
void fold_what_is_left(const fs::path& trace) {
  try {
    trace::fold_wal(trace);
  } catch (const Error&) {
  }
}

}  // namespace

Session::Session(const fs::path& trace, const Options& options)
    : trace_(fs::absolute(trace)),
      options_(options),
      folder_(make_folder(trace_, options)),
      first_anchor_(ring::read_anchor(ring::best_clock())) {
  try {
    watch();
  } catch (...) {
    folder_.remove();  // nothing is in it yet
    throw;
  }
}

void Session::watch() {
  Options watched = options_;
  // The newest records alone do not say how many collectives there have been.
  if (options_.hangs.follow && options_.hangs.explain && !options_.run.empty() &&
      !options_.flight_recorder_mib) {
    follower_ = options_.hangs.follow(trace_);
    watched.hangs.explaining = [this] {
      if (follower_) follower_->explaining();
    };
  }
  if (options_.hangs.explain) {
    watched.hangs.reported = [this](uint32_t pid, const trace::HangReport& report) {
      if (options_.hangs.reported) options_.hangs.reported(pid, report);
      if (report.alarm && options_.abort_on_hang) hung_ = pid;
    };
  }
  hangs_ = watched.hangs;
  if (options_.on_demand) {
    on_demand_ = std::make_unique<OnDemand>(folder_, trace_, options_);
    if (options_.on_demand->opened) served_ = options_.on_demand->opened(folder_.path());
  } else if (options_.flight_recorder_mib) {
    flight_ = std::make_unique<FlightSession>(folder_, folder_.control(), trace_, watched);
  } else if (options_.hangs.explain) {
    monitor_.emplace(folder_.control(), hangs_);
  }
}

Error Session::failure_of(const std::exception& error) const {
  if (const auto* known = dynamic_cast<const Error*>(&error)) return *known;
  if (const auto* of_file = dynamic_cast<const fs::filesystem_error*>(&error))
    return Error(of_file->path1(), "cannot be used: " + of_file->code().message(),
                 "check its permissions and limits", of_file->code().value());
  return Error(trace_, "cannot be written: " + explain(error));
}

void Session::fail(const std::exception& error) {
  failure_ = failure_of(error);
  folder_.stop_collectors();
}

void Session::switch_collecting() {
  if (!options_.delay_s && !options_.duration_s) return;
  const double now_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double from_s = options_.delay_s.value_or(0);
  const uint32_t on =
      now_s >= from_s && (!options_.duration_s || now_s < from_s + *options_.duration_s) ? 1 : 0;
  if (folder_.control().collecting.exchange(on, std::memory_order_relaxed) != on)
    ring::announce_change(folder_.control());
}

// Where only the rings of another recorder have the name, no process claims the rank twice.
void Session::report_second_trace() {
  std::error_code error;
  if (options_.rank_trace.empty() || !fs::exists(options_.rank_trace, error)) return;
  drain_->contradict_rank("another trace has this rank: " +
                          options_.rank_trace.filename().string());
}

// Before the rings are read: a process that is found to have ended takes no more.
void Session::store_samples() {
  if (sampler_) drain_->add_samples(sampler_->take());
}

void Session::begin() {
  Drain::Options options = Drain::Options::of(folder_.control());
  if (on_demand_) options.facts = &on_demand_->facts();
  drain_ = std::make_unique<Drain>(folder_.path(),
                                   trace::Writer::create(trace_, {.overwrite = options_.force}),
                                   options, first_anchor_);
  report_second_trace();
  if (options_.sample_hz > 0) sampler_.emplace(options_.sample_hz);
}

std::chrono::microseconds Session::step() {
  switch_collecting();
  if (failure_) return kPause;
  try {
    if (flight_) return pause_after(flight_->step());
    if (on_demand_ && on_demand_->is_off()) {
      const size_t read = on_demand_->read_idle();
      if (on_demand_->wants_part()) begin_part();
      return read > kBusy ? 0us : kPause;
    }
    if (!drain_) {
      if (!folder_.has_rings()) {
        if (follower_) follower_->step(nullptr, nullptr);
        return kPause;
      }
      begin();
    }
    store_samples();
    const size_t read = drain_->cycle();
    const auto pause = read > kBusy           ? 0us
                       : drain_->is_awaited() ? kShortPause
                                              : pause_after(drain_->fullest_ring());
    if (sampler_) sampler_->watch(drain_->issuing_threads());
    if (monitor_) monitor_->step(*drain_);
    if (follower_) follower_->step(drain_.get(), &*monitor_);
    if (on_demand_ && on_demand_->is_over(*drain_)) end_part();
    return pause;
  } catch (const std::exception& error) {
    if (on_demand_ && !on_demand_->is_off()) {
      abandon_part(error);
    } else if (!on_demand_) {
      fail(error);
    }
    return kPause;
  }
}

void Session::begin_part() {
  trace_ = on_demand_->begin_part();
  if (hangs_.explain) monitor_.emplace(folder_.control(), hangs_);
  begin();
}

void Session::end_samples() {
  if (!sampler_) return;
  store_samples();
  drain_->end_samples(options_.sample_hz, *sampler_);
  sampler_.reset();
}

void Session::end_part() {
  Outcome outcome;
  end_samples();
  outcome.complete = drain_->hand_over();
  outcome.trace_written = true;
  outcome.records = drain_->records();
  outcome.dropped = static_cast<uint64_t>(drain_->dropped());
  monitor_.reset();
  drain_.reset();
  on_demand_->end_part(std::move(outcome));
}

// The trace of this part is lost or incomplete; the next may succeed.
void Session::abandon_part(const std::exception& error) {
  Outcome outcome;
  outcome.failure = failure_of(error);
  sampler_.reset();
  monitor_.reset();
  drain_.reset();
  on_demand_->end_part(std::move(outcome));
}

void Session::set_exit(uint32_t pid, int wait_status) {
  if (!drain_ || failure_) return;
  try {
    drain_->set_exit(pid, wait_status);
    if (follower_) follower_->step(drain_.get(), &*monitor_);
  } catch (const std::exception& error) {
    fail(error);
  }
}

void Session::finish(Outcome* outcome, const std::function<void(const Outcome&)>& finished) {
  folder_.stop_collectors();
  if (!failure_) {
    try {
      if (flight_) outcome->trace_written = flight_->finish(trace_);
      if (!flight_ && !on_demand_ && !drain_ && folder_.has_rings())
        step();  // created since the last read
      if (drain_) {
        end_samples();
        outcome->complete = drain_->finish();
        if (follower_) follower_->finish(*drain_);
        outcome->trace_written = true;
        outcome->records = drain_->records();
        outcome->dropped = static_cast<uint64_t>(drain_->dropped());
      }
    } catch (const std::exception& error) {
      fail(error);
    }
  }
  if (flight_) outcome->left = flight_->remove_left();
  if (failure_) throw *failure_;  // the rings stay for recover()
  drain_.reset();
  if (on_demand_) {
    outcome->parts = on_demand_->parts();
    if (outcome->trace_written) outcome->trace = trace_;
    on_demand_.reset();
    served_.reset();
  }
  if (finished && outcome->trace_written) finished(*outcome);
  if (!folder_.remove()) outcome->left.push_back({folder_.path(), trace_});
}

bool recover(const fs::path& trace, bool* in_use, std::vector<Left>* left) {
  std::error_code error;
  // The rings are next to the file itself, not next to a link to it.
  fs::path file = fs::weakly_canonical(trace, error);
  if (error) file = fs::absolute(trace);
  bool ignored = false;
  bool& used = in_use != nullptr ? *in_use : ignored;
  const auto remove = [&](RingsFolder& folder) {
    const bool names_part = folder.control().part_open.load() != 0;
    if (!folder.remove()) {
      if (left != nullptr) left->push_back({folder.path(), file});
    } else if (names_part) {
      fs::remove(rings_path(file), error);
    }
  };
  // The copies for an interrupted dump; the rings themselves are in the other folder.
  if (auto copies = RingsFolder::take_over(dump_name(file)))
    remove(*copies);
  else
    RingsFolder::remove_unmade(dump_name(file));
  auto folder = RingsFolder::take_over(file, &used);
  if (!folder) {
    if (RingsFolder::remove_unmade(file)) used = false;
    if (!used) fold_what_is_left(file);
    return false;
  }
  folder->stop_collectors();
  if (folder->control().on_demand != 0) {
    if (folder->control().part_open.load() == 0) {
      remove(*folder);
      return false;
    }
    file = folder->control().trace_file;
  }
  const Drain::Options options = Drain::Options::of(folder->control());

  if (const auto stored = read_unfinished(file)) {
    if (!stored->meta.contains(kFinishedKey) || stored->meta.at(kFinishedKey) != "1") {
      Drain(folder->path(), trace::Writer::resume(file), options, *stored).finish();
      remove(*folder);
      return true;
    }
    // Killed after the last row and before the cleanup.
    fold_what_is_left(file);
  } else if (folder->has_rings()) {
    Drain(folder->path(), trace::Writer::create(file, {.overwrite = true}), options, trace::Trace{})
        .finish();
    remove(*folder);
    return true;
  }
  remove(*folder);
  return false;
}

}  // namespace streamscope::record
