// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "on_demand.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "record/run/files.h"
#include "ring/process.h"

namespace streamscope::record {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// Collectors see a request after 10 ms, but the first start of CUPTI takes some hundreds.
constexpr auto kLongestStart = 10s;
// Work that the device has not finished by then has no times.
constexpr auto kLongestStop = 5s;

void answer_all(std::vector<std::promise<OnDemandAnswer>>& waiting, const OnDemandAnswer& answer) {
  for (auto& promise : std::exchange(waiting, {})) promise.set_value(answer);
}

}  // namespace

OnDemand::OnDemand(RingsFolder& folder, fs::path trace, const Options& options)
    : folder_(folder),
      trace_(std::move(trace)),
      options_(options),
      requests_(options.on_demand->requests),
      idle_(std::make_unique<IdleReader>(folder.path(), facts_)) {}

OnDemand::~OnDemand() {
  if (!is_off()) end_last_part();
  requests_->close();
  const OnDemandAnswer ended{{}, Error("the recording", "has ended")};
  answer_all(starters_, ended);
  answer_all(stoppers_, ended);
}

size_t OnDemand::read_idle() {
  const size_t read = idle_->step();
  take_requests();
  std::vector<pid_t> processes;
  for (const auto& [process, facts] : facts_) processes.push_back(static_cast<pid_t>(process.pid));
  update_status(processes);
  std::erase_if(finishing_, [](const std::future<void>& each) {
    return each.wait_for(0s) == std::future_status::ready;
  });
  return read;
}

void OnDemand::update_status(const std::vector<pid_t>& processes) {
  OnDemandStatus status{.recording = !is_off(), .trace = part_, .parts = parts_};
  if (status.recording)
    status.seconds = std::chrono::duration<double>(Clock::now() - part_began_).count();
  status.processes = processes;
  requests_->set_status(std::move(status));
}

void OnDemand::take_requests() {
  while (auto request = requests_->take()) take(std::move(*request));
}

void OnDemand::take(OnDemandRequests::Request request) {
  if (request.kind == OnDemandRequests::Kind::kStart) {
    if (!is_off() || wants_part_) {
      request.answer.set_value(
          {part_, Error("the recording", "is on already", "stop it first: streamscope stop")});
      return;
    }
    wants_part_ = true;
    ends_at_.reset();
    if (request.seconds)
      ends_at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(*request.seconds));
    starters_.push_back(std::move(request.answer));
  } else if (is_off() && !wants_part_) {
    request.answer.set_value(
        {{}, Error("the recording", "is off already", "start it first: streamscope start")});
  } else {
    stoppers_.push_back(std::move(request.answer));
    stop();
  }
}

void OnDemand::stop() {
  if (phase_ != Phase::kOn) return;  // once it is on
  phase_ = Phase::kStopping;
  phase_since_ = Clock::now();
  folder_.control().collecting.store(0, std::memory_order_release);
  ring::announce_change(folder_.control());
}

bool OnDemand::wants_part() { return std::exchange(wants_part_, false); }

// FILE.rings of the part, a file that names the folder of the rings: any command on the part
// finishes what a killed recorder has left.
fs::path OnDemand::pointer() const { return rings_path(part_); }

fs::path OnDemand::begin_part() {
  try {
    std::error_code error;
    do {
      part_ = trace_;
      part_.replace_filename(trace_.stem().string() + "-" + std::to_string(++parts_) +
                             trace_.extension().string());
    } while (fs::exists(fs::symlink_status(part_, error)) && !options_.force);
    if (part_.native().size() >= sizeof folder_.control().trace_file)
      throw Error(part_, "is too long a name", "choose a shorter one with -o", ENAMETOOLONG);
    idle_->step();
    fact_rings_ = idle_->write_facts();
    const std::string text = folder_.path().string();
    const Descriptor file(
        ::open(pointer().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file || !write_all(file.get(), text.data(), text.size()))
      throw file_error(pointer(), "created", errno);
  } catch (const Error& failure) {
    close_part();
    answer_start({{}, failure});
    throw;
  }
  ring::Control& control = folder_.control();
  const std::string name = part_.string();
  control.trace_file[name.copy(control.trace_file, sizeof control.trace_file - 1)] = '\0';
  control.part_open.store(1, std::memory_order_release);
  idle_.reset();
  phase_ = Phase::kStarting;
  phase_since_ = part_began_ = Clock::now();
  control.device_times.store(1, std::memory_order_release);
  control.collecting.store(1, std::memory_order_release);
  ring::announce_change(control);
  return part_;
}

void OnDemand::answer_start(const OnDemandAnswer& answer) { answer_all(starters_, answer); }

bool OnDemand::is_over(Drain& drain) {
  take_requests();
  std::vector<pid_t> processes;
  bool all_on = true;
  for (const ProcessDrain* process : drain.live_processes()) {
    processes.push_back(static_cast<pid_t>(process->pid()));
    all_on &= !process->is_paused();
  }
  update_status(processes);
  const auto now = Clock::now();
  if (phase_ == Phase::kStarting && (all_on || now - phase_since_ > kLongestStart)) {
    phase_ = Phase::kOn;
    answer_start({part_, {}});
    if (!stoppers_.empty()) stop();
  }
  if (phase_ == Phase::kOn && ends_at_ && now >= *ends_at_) stop();
  if (phase_ != Phase::kStopping) return false;
  if (!drain.is_quiet() && now - phase_since_ < kLongestStop) return false;
  folder_.control().device_times.store(0, std::memory_order_release);
  ring::announce_change(folder_.control());
  return true;
}

void OnDemand::close_part() {
  std::error_code ignored;
  for (const fs::path& file : std::exchange(fact_rings_, {})) fs::remove(file, ignored);
  fs::remove(pointer(), ignored);
  ring::Control& control = folder_.control();
  control.collecting.store(0, std::memory_order_release);
  control.device_times.store(0, std::memory_order_release);
  control.part_open.store(0, std::memory_order_release);
  ring::announce_change(control);
  ends_at_.reset();
}

void OnDemand::end_part(Outcome outcome) {
  close_part();
  phase_ = Phase::kOff;
  std::erase_if(facts_, [](const auto& process) {
    return !ring::process_alive(process.first.pid, process.first.start);
  });
  idle_ = std::make_unique<IdleReader>(folder_.path(), facts_);
  outcome.trace = part_;
  const OnDemandAnswer answer{part_, outcome.failure};
  answer_start(answer);
  const auto finish =
      [outcome = std::move(outcome), answer, finished = options_.on_demand->finished,
       stoppers = std::make_shared<decltype(stoppers_)>(std::exchange(stoppers_, {}))] {
        if (finished) finished(outcome);
        answer_all(*stoppers, answer);
      };
  // The derived tables take a while, during which the rings must be read.
  try {
    finishing_.push_back(std::async(std::launch::async, finish));
  } catch (const std::system_error&) {
    finish();
  }
}

void OnDemand::end_last_part() {
  close_part();
  phase_ = Phase::kOff;
  const OnDemandAnswer answer{part_, {}};
  answer_start(answer);
  answer_all(stoppers_, answer);
}

}  // namespace streamscope::record
