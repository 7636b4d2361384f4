// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "rank_follower.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "analysis/analyses.h"
#include "analysis/labels.h"
#include "job/hang_state.h"
#include "job/hang_watch.h"
#include "record/drain/drain.h"
#include "record/hang/monitor.h"
#include "record/run/rank_traces.h"
#include "terminal.h"
#include "trace/read/reader.h"
#include "vocabulary/rank.h"

namespace streamscope::cli {
namespace {

using namespace std::chrono_literals;

// Minimum time over which processor time is compared.
constexpr auto kThreadWindow = 200ms;

job::RankIdentity identity_from(const RankClaim& claim, const std::filesystem::path& trace) {
  return {.rank = claim.rank,
          .world_size = claim.world_size,
          .local_rank = claim.local_rank,
          .host = record::host_name(),
          .gpu = {},
          .told_by = std::string(claim.source),
          .trace = trace.filename().string()};
}

job::HangWatchTimes times_for(double timeout_s) {
  job::HangWatchTimes times;
  times.quiet_s = std::min(times.quiet_s, decltype(times.quiet_s)(timeout_s));
  times.verdict_s = std::min(times.verdict_s, decltype(times.verdict_s)(timeout_s));
  return times;
}

class Follower : public record::RankFollower {
 public:
  Follower(const std::filesystem::path& trace, job::RankIdentity identity, double timeout_s)
      : trace_(trace),
        identity_(identity),
        watch_(std::filesystem::path(trace).replace_extension(kHangNoteEnding), std::move(identity),
               {.ask =
                    [this] {
                      if (drain_ != nullptr) monitor_->ask_devices(*drain_);
                    },
                .look = [this](bool quiet) { return look(quiet); },
                .report =
                    [](const std::string& text) {
                      write_message("streamscope: " + analysis::printable(text, true));
                    }},
               times_for(timeout_s)) {}

  void step(record::Drain* drain, record::Monitor* monitor) override {
    drain_ = drain;
    monitor_ = monitor;
    watch_.step(status());
  }
  void explaining() override { watch_.pause(); }
  void finish(record::Drain& drain) override {
    is_finished_ = true;
    step(&drain, monitor_);
  }

 private:
  job::RankStatus status() const {
    job::RankStatus status;
    if (drain_ == nullptr) return status;
    status.is_asking = monitor_->is_asking_devices();
    status.has_ended = is_finished_ || (!drain_->processes().empty() && drain_->all_finished());
    status.is_watched = !status.has_ended;
    for (const auto& process : drain_->processes()) {
      const trace::Process& row = process->row();
      status.pid = static_cast<int32_t>(process->pid());
      if (process->finished()) {
        // Each of these is set once.
        status.moved += 1 + uint64_t{row.exit_code != trace::kNoSmall} +
                        uint64_t{row.exit_signal != trace::kNoSmall};
        continue;
      }
      const record::ProcessDrain::Progress progress = process->progress();
      status.moved += progress.moved;
      status.is_watched &= progress.watchable;
    }
    status.moved += uint64_t{status.has_ended};
    status.is_final = is_finished_;
    return status;
  }

  job::RankHang look(bool quiet) {
    if (drain_ == nullptr) {
      job::RankHang hang;
      hang.state = job::RankState::kQuiet;
      hang.reason = "has not used CUDA yet";
      return hang;
    }
    const bool runs = !drain_->all_finished();
    if (quiet) show_unfinished();
    if (!is_finished_) drain_->flush_all();
    const trace::Trace trace = trace::read(trace_);
    analysis::Analyses analyses(trace);
    job::RankHang hang = job::present_state(analyses, identity_);
    if (hang.state != job::RankState::kQuiet) return hang;
    if (!runs) {
      hang.state = job::RankState::kRuns;
      hang.reason = "is not recorded any more";
    } else if (is_stopped()) {
      hang.reason = "is stopped, by a signal or a debugger";
    }
    return hang;
  }

  // Calls and work that have not ended, and what the threads do; no thread is stopped for that.
  void show_unfinished() {
    using Threads = std::vector<record::ThreadSnapshot>;
    const auto sample = [](const record::ProcessDrain* process) {
      return record::sample_threads(static_cast<pid_t>(process->pid()));
    };
    const std::vector<record::ProcessDrain*> processes = drain_->live_processes();
    std::vector<Threads> before;
    for (const record::ProcessDrain* process : processes) before.push_back(sample(process));
    if (!processes.empty()) std::this_thread::sleep_for(kThreadWindow);
    for (size_t i = 0; i < processes.size(); ++i) {
      drain_->add_threads(*processes[i], before[i], sample(processes[i]), {});
      processes[i]->show_unfinished();
    }
  }
  bool is_stopped() const {
    return std::ranges::any_of(drain_->live_processes(), [](const record::ProcessDrain* process) {
      return record::is_stopped(static_cast<pid_t>(process->pid()));
    });
  }

  std::filesystem::path trace_;
  job::RankIdentity identity_;
  job::HangWatch watch_;
  record::Drain* drain_ = nullptr;
  record::Monitor* monitor_ = nullptr;  // as long as there is a drain
  bool is_finished_ = false;
};

}  // namespace

std::unique_ptr<record::RankFollower> follow_rank(const std::filesystem::path& trace,
                                                  double timeout_s) {
  const RankClaim claim = record::own_rank();
  if (!claim.is_known() || claim.world_size == 1) return nullptr;
  return std::make_unique<Follower>(trace, identity_from(claim, trace), timeout_s);
}

}  // namespace streamscope::cli
