// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "remote.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "ring/process.h"
#include "trace/error.h"
#include "trace/read/reader.h"

namespace streamscope::record {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// The recorder answers after its questions to the process (1.1 s), the stacks (1 s) and reading its
// trace.
constexpr auto kLimit = 30s;

/// The value of a variable with which the process was started; empty: none.
std::string variable_of(pid_t process, const std::string& name) {
  std::ifstream environment("/proc/" + std::to_string(process) + "/environ");
  for (std::string text; std::getline(environment, text, '\0');) {
    if (text.starts_with(name + "=")) return text.substr(name.size() + 1);
  }
  return "";
}

/// The folder of the rings that the process has mapped, or will map once it uses CUDA.
fs::path rings_of(pid_t process) {
  const std::string name = "process " + std::to_string(process);
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  if (!maps) throw Error(name, std::strerror(errno), "name a running process of your own", errno);
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path != line.npos && line.ends_with("/" + std::string(ring::kControlFile)))
      return fs::path(line.substr(path)).parent_path();
  }
  std::error_code error;
  if (const fs::path folder = variable_of(process, ring::kRingsVariable);
      !folder.empty() && fs::exists(folder / ring::kControlFile, error))
    return folder;
  throw Error(name, "is not being recorded",
              "start it with streamscope record, or with LD_PRELOAD=libstreamscope_inject.so; it "
              "must have used CUDA or libcoord");
}

}  // namespace

Recorder Recorder::of(pid_t process) {
  Recorder recorder;
  recorder.process_ = process;
  recorder.rings_ = rings_of(process);
  const fs::path file = recorder.rings_ / ring::kControlFile;
  const Descriptor descriptor(::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (descriptor && ::fstat(descriptor.get(), &facts) == 0 &&
      facts.st_size >= static_cast<off_t>(sizeof(ring::Control)))
    recorder.control_ = map_control(descriptor.get());
  if (!recorder.control_)
    throw Error(file, "cannot be used", "run this as the user who recorded the process");
  const ring::Control& control = *recorder.control_;
  if (std::memcmp(control.magic, ring::kControlMagic, sizeof control.magic) != 0 ||
      control.layout_version != ring::kLayoutVersion)
    throw Error(file, "was created by another version",
                "use the streamscope that records the process");
  if (!ring::process_alive(control.writer_pid, control.writer_start)) {
    throw Error("process " + std::to_string(process), "its recorder was killed",
                std::string("end the process, then use streamscope hang ") + control.trace_file);
  }
  return recorder;
}

void Recorder::request(std::atomic<uint32_t>& asked, const std::atomic<uint32_t>& answered) const {
  const uint32_t number = asked.fetch_add(1, std::memory_order_acq_rel) + 1;
  const auto until = std::chrono::steady_clock::now() + kLimit;
  while (static_cast<int32_t>(answered.load(std::memory_order_acquire) - number) < 0) {
    if (std::chrono::steady_clock::now() > until ||
        !ring::process_alive(control_->writer_pid, control_->writer_start))
      throw Error("the recorder of process " + std::to_string(process_), "does not answer",
                  "check whether it has ended");
    std::this_thread::sleep_for(5ms);
  }
}

void Recorder::expect_on_demand() const {
  if (!is_on_demand())
    throw Error("process " + std::to_string(process_), "is recorded from its start to its end",
                "start it with streamscope record --start-later");
}

trace::HangReport Recorder::explain() const {
  if (is_on_demand() && control_->part_open.load(std::memory_order_acquire) == 0)
    throw Error(
        "process " + std::to_string(process_), "its recording is off",
        "start it with streamscope start --pid " + std::to_string(process_) + ", then ask again");
  request(control_->explain_request, control_->explained);
  const trace::Trace trace = trace::read(control_->trace_file);
  for (trace::Id hang = static_cast<trace::Id>(trace.hang.size()); hang-- > 0;) {
    const trace::Id process = trace.hang.process_id[hang];
    if (process >= trace.process.size() || trace.process.os_pid[process] != process_) continue;
    trace::HangReport report;
    report.verdict = trace.text(trace.hang.verdict_id[hang]);
    report.text = trace.text(trace.hang.text_id[hang]);
    report.alarm = trace::is_alarm(report.verdict);
    return report;
  }
  throw Error("process " + std::to_string(process_), "has not been explained",
              "it may have ended; use streamscope hang on its trace");
}

std::filesystem::path Recorder::dump() const {
  if (control_->flight_recorder == 0)
    throw Error("process " + std::to_string(process_), "is not recorded by a flight recorder",
                "start it with streamscope record --flight-recorder MIB");
  request(control_->dump_request, control_->dumped);
  const std::string answer(control_->dump_file);
  if (!answer.starts_with('/')) throw Error("the flight recorder", answer, "");
  return answer;
}

}  // namespace streamscope::record
