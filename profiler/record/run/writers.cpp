// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "writers.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "files.h"
#include "ring/control.h"
#include "ring/process.h"
#include "trace/folder_names.h"

namespace streamscope::record {
namespace {

using namespace std::chrono_literals;

// Finishing a large trace takes some seconds.
constexpr auto kLongestEnd = 60s;

}  // namespace

void announce_writer() {
  const char* folder = std::getenv(ring::kWritersVariable);
  if (folder == nullptr || *folder == '\0') return;
  const auto pid = static_cast<uint32_t>(::getpid());
  const std::filesystem::path file =
      std::filesystem::path(folder) /
      (std::to_string(pid) + "-" + std::to_string(ring::process_start(pid)) + ring::kWriterEnding);
  // Without the folder nobody waits.
  const Descriptor made(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
}

std::vector<Writers::Process> Writers::all() const {
  std::vector<Process> processes;
  for (const std::string& name : trace::try_names_in(rings_).value_or(std::vector<std::string>())) {
    if (!name.ends_with(ring::kWriterEnding)) continue;
    Process process{};
    const char* const end = name.data() + name.size();
    const auto pid = std::from_chars(name.data(), end, process.pid);
    if (pid.ec != std::errc() || pid.ptr == end || *pid.ptr != '-') continue;
    if (std::from_chars(pid.ptr + 1, end, process.start).ec == std::errc())
      processes.push_back(process);
  }
  return processes;
}

bool Writers::any_alive() const {
  return std::ranges::any_of(all(), [](const Process& process) {
    return ring::process_alive(process.pid, process.start);
  });
}

void Writers::end() const {
  for (const Process& process : all()) {
    if (ring::process_alive(process.pid, process.start))
      ::kill(static_cast<pid_t>(process.pid), SIGTERM);
  }
  const auto until = std::chrono::steady_clock::now() + kLongestEnd;
  while (any_alive() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(10ms);
}

}  // namespace streamscope::record
