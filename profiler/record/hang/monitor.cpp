// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "monitor.h"

#include <algorithm>
#include <utility>

#include "trace/read/reader.h"
#include "unwind.h"

namespace streamscope::record {
namespace {

using namespace std::chrono_literals;

// A live collector answers within this time, whatever its driver does.
constexpr auto kAnswerLimit = 1100ms;
// Minimum time over which CPU time is compared.
constexpr auto kThreadWindow = 200ms;
// Usually some milliseconds, unless all processors are busy or a thread cannot be stopped.
constexpr auto kUnwindLimit = 3000ms;
constexpr size_t kMostStacks = 64;
// A forced flush delivers new records, though maybe of old work; then the next question follows
// after this time.
constexpr double kAgainS = 0.5;
// A program that is merely slow is questioned less and less often.
constexpr double kMostPatience = 8;

bool works_for_us(const ThreadSnapshot& thread) { return thread.name.starts_with("streamscope"); }

}  // namespace

void Monitor::step(Drain& drain) {
  take_request(drain);
  if (!options_.timeout_s && !requested_ && !asks_devices_) return;
  bool asking = false, requested = false, asks_devices = false;
  for (ProcessDrain* process : drain.live_processes()) {
    Watch& watch = watches_[process->row_id()];
    step(drain, *process, watch);
    asking |= watch.phase == Phase::kAsking;
    requested |= watch.on_request;
    asks_devices |= watch.of_device;
  }
  if (!asking) asking_ = trace::kNoId;
  requested_ = requested;
  asks_devices_ = asks_devices;
}

void Monitor::take_request(Drain& drain) {
  const uint32_t request = control_.explain_request.load(std::memory_order_acquire);
  if (request == explain_request_) {
    if (!requested_) control_.explained.store(request, std::memory_order_release);
    return;
  }
  ask_all(drain);
}

void Monitor::ask_all(Drain& drain) {
  requested_ = true;
  explain_request_ = control_.explain_request.load(std::memory_order_relaxed);
  for (ProcessDrain* process : drain.live_processes()) {
    Watch& watch = watches_[process->row_id()];
    watch.on_request = true;
    if (watch.phase == Phase::kReported) watch.phase = Phase::kMoving;
  }
}

void Monitor::ask_devices(Drain& drain) {
  for (ProcessDrain* process : drain.live_processes()) {
    Watch& watch = watches_[process->row_id()];
    if (watch.phase == Phase::kReported || is_stopped(static_cast<pid_t>(process->pid()))) continue;
    asks_devices_ = watch.of_device = true;
  }
}

void Monitor::step(Drain& drain, ProcessDrain& process, Watch& watch) {
  const ProcessDrain::Progress progress = process.progress();
  const auto now = Clock::now();
  if (progress.moved != watch.moved) {
    watch.moved = progress.moved;
    watch.since = now;
    if (watch.phase != Phase::kAsking) {
      watch.asked_again = false;
    } else if (watch.explains && options_.timeout_s && !std::exchange(watch.asked_again, true)) {
      const double limit_s = *options_.timeout_s * watch.patience;
      watch.since -= std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(std::max(0.0, limit_s - kAgainS)));
    }
    if (watch.phase == Phase::kReported) watch.patience = 1;
    if (watch.phase != Phase::kAsking || (!watch.on_request && !watch.of_device)) {
      if (asking_ == process.row_id()) asking_ = trace::kNoId;
      watch.phase = Phase::kMoving;
    }
  }
  switch (watch.phase) {
    case Phase::kMoving: {
      const bool still =
          options_.timeout_s && progress.issued && progress.watchable &&
          now - watch.since >= std::chrono::duration<double>(*options_.timeout_s * watch.patience);
      if ((still || watch.on_request || watch.of_device) && asking_ == trace::kNoId) {
        if (!watch.on_request && is_stopped(static_cast<pid_t>(process.pid()))) {
          watch.since = now;  // a debugger controls it
          watch.of_device = false;
        } else {
          watch.explains = still || watch.on_request;
          ask(process, watch);
        }
      }
      break;
    }
    case Phase::kAsking: {
      const bool answered =
          progress.answered == watch.round && now - watch.asked_at > kThreadWindow;
      if (!answered && now - watch.asked_at <= kAnswerLimit) break;
      asking_ = trace::kNoId;
      watch.of_device = false;
      if (watch.explains) {
        conclude(drain, process, watch);
      } else {
        process.give_up_answers(drain.now());
        watch.phase = Phase::kMoving;
      }
      break;
    }
    case Phase::kReported:
      break;
  }
}

void Monitor::ask(ProcessDrain& process, Watch& watch) {
  asking_ = process.row_id();
  watch.phase = Phase::kAsking;
  watch.asked_at = Clock::now();
  watch.threads = sample_threads(static_cast<pid_t>(process.pid()));
  watch.round = control_.question_round.load(std::memory_order_relaxed) + 1;
  const std::vector<ring::Question> questions = process.questions(watch.round);
  control_.questioned_pid = process.pid();
  control_.question_count = static_cast<uint32_t>(questions.size());
  control_.question_flush = watch.explains ? 1 : 0;
  std::copy(questions.begin(), questions.end(), control_.questions);
  control_.question_round.store(watch.round, std::memory_order_release);
  ring::announce_change(control_);
}

void Monitor::conclude(Drain& drain, ProcessDrain& process, Watch& watch) {
  if (options_.explaining) options_.explaining();
  const ProcessDrain::Progress progress = process.progress();
  const bool asked_for = std::exchange(watch.on_request, false);
  watch.since = Clock::now();
  process.give_up_answers(drain.now());
  // All issued work has finished, and no thread waits: the program is idle.
  const trace::HangReport* coord = process.coord_waits();
  const bool device_done =
      progress.simulated ||
      (progress.not_done == 0 && progress.open_calls == 0 && process.unreported_work() == 0);
  const bool is_quiet = progress.answered == watch.round && coord == nullptr && device_done;
  const bool stands = store_threads(drain, process, watch, is_quiet && !asked_for);
  if (!stands && !asked_for) {
    watch.phase = Phase::kMoving;
    watch.patience = std::min(2 * watch.patience, kMostPatience);
    return;
  }
  process.show_unfinished();
  drain.flush_all();
  const trace::Trace trace = trace::read(drain.trace_file());
  const trace::HangReport report = options_.explain(trace, process.row_id(), coord);
  watch.phase = report.alarm ? Phase::kReported : Phase::kMoving;
  if (!report.alarm) watch.patience = std::min(2 * watch.patience, kMostPatience);
  if (!report.alarm && !asked_for) return;
  drain.add_hang(process, report);
  if (options_.reported) options_.reported(process.pid(), report);
}

bool Monitor::store_threads(Drain& drain, ProcessDrain& process, const Watch& watch,
                            bool is_quiet) {
  const auto pid = static_cast<pid_t>(process.pid());
  const std::vector<ThreadSnapshot> threads = sample_threads(pid);
  const bool locked =
      std::ranges::any_of(threads, [](const ThreadSnapshot& t) { return t.lock_owner != 0; });
  if (is_quiet && !locked) return false;
  std::vector<uint32_t> tids;
  for (const ThreadSnapshot& thread : threads) {
    // Threads in calls first: there may be more threads than we want to stop.
    if (!works_for_us(thread) && thread.state != 'D')
      tids.insert(process.in_call(thread.tid) ? tids.begin() : tids.end(), thread.tid);
  }
  if (tids.size() > kMostStacks) tids.resize(kMostStacks);
  const SeenStacks stacks = unwind(pid, tids, kUnwindLimit);
  drain.add_threads(process, watch.threads, threads, stacks);
  return true;
}

}  // namespace streamscope::record
