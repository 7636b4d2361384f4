// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "thread_snapshots.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "trace/folder_names.h"

namespace streamscope::record {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

// The fields of /proc/.../stat after the name, which may itself contain spaces and parentheses:
// state first.
std::vector<std::string> stat_fields(const fs::path& folder) {
  const std::string line = first_line(folder / "stat");
  const size_t end = line.rfind(')');
  std::vector<std::string> fields;
  if (end == line.npos) return fields;
  std::istringstream rest(line.substr(end + 1));
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields;
}

int64_t processor_ns(const fs::path& folder, const std::vector<std::string>& stat) {
  int64_t ns = 0;
  std::ifstream precise(folder / "schedstat");
  if (precise >> ns) return ns;
  constexpr size_t kUserTime = 11, kSystemTime = 12;  // in clock ticks
  if (stat.size() <= kSystemTime) return 0;
  const int64_t ticks = std::strtoll(stat[kUserTime].c_str(), nullptr, 10) +
                        std::strtoll(stat[kSystemTime].c_str(), nullptr, 10);
  return ticks * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
}

// The word that a thread waits for in futex(2), as in pthread_mutex_lock(): "contended" is 2.
uint64_t awaited_mutex(const fs::path& folder) {
  std::istringstream line(first_line(folder / "syscall"));
  long number = -1;
  std::string address, operation, value;
  if (!(line >> number >> address >> operation >> value) || number != SYS_futex) return 0;
  const auto as_number = [](const std::string& text) {
    return std::strtoull(text.c_str(), nullptr, 16);
  };
  const auto command = static_cast<int>(as_number(operation)) & FUTEX_CMD_MASK;
  const bool waits = command == FUTEX_WAIT && static_cast<uint32_t>(as_number(value)) == 2;
  return waits || command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2 ? as_number(address) : 0;
}

// glibc: the futex word, the recursion count, the owner.
uint32_t owner_of_mutex(pid_t process, uint64_t address) {
  std::array<int32_t, 3> mutex{};
  iovec local{mutex.data(), sizeof mutex};
  iovec remote{reinterpret_cast<void*>(address), sizeof mutex};
  if (::process_vm_readv(process, &local, 1, &remote, 1, 0) != sizeof mutex) return 0;
  return mutex[0] == 0 ? 0 : static_cast<uint32_t>(mutex[2]);
}

}  // namespace

std::vector<ThreadSnapshot> sample_threads(pid_t process) {
  std::vector<ThreadSnapshot> threads;
  const fs::path tasks = "/proc/" + std::to_string(process) + "/task";
  for (const std::string& number :
       trace::try_names_in(tasks).value_or(std::vector<std::string>())) {
    ThreadSnapshot thread;
    std::from_chars(number.data(), number.data() + number.size(), thread.tid);
    const fs::path task = tasks / number;
    const auto stat = stat_fields(task);
    if (stat.empty() || stat[0].empty()) continue;  // has just ended
    thread.state = stat[0][0];
    thread.name = first_line(task / "comm");
    thread.processor_ns = processor_ns(task, stat);
    thread.lock_address = awaited_mutex(task);
    threads.push_back(std::move(thread));
  }
  std::ranges::sort(threads, {}, &ThreadSnapshot::tid);
  for (ThreadSnapshot& thread : threads) {
    if (thread.lock_address == 0) continue;
    const uint32_t owner = owner_of_mutex(process, thread.lock_address);
    const bool is_thread = owner != thread.tid &&
                           std::ranges::find(threads, owner, &ThreadSnapshot::tid) != threads.end();
    // Another kind of lock has no thread id there.
    if (is_thread) {
      thread.lock_owner = owner;
    } else {
      thread.lock_address = 0;
    }
  }
  return threads;
}

bool is_stopped(pid_t process) {
  const auto stat = stat_fields("/proc/" + std::to_string(process));
  return !stat.empty() && (stat[0] == "T" || stat[0] == "t");
}

}  // namespace streamscope::record
