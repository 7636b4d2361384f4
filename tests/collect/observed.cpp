// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "observed.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "ring/process.h"

extern char** environ;

namespace streamscope::collect {
namespace {

constexpr auto kRunLimit = std::chrono::seconds(20);

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

Observed::Observed() {
  std::string pattern = std::filesystem::temp_directory_path() / "streamscope-collect-XXXXXX";
  check(::mkdtemp(pattern.data()) != nullptr, "mkdtemp");
  folder_ = pattern;
  const std::filesystem::path file = folder_ / ring::kControlFile;
  int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  check(descriptor >= 0 && ::ftruncate(descriptor, sizeof(ring::Control)) == 0, "control file");
  void* base =
      ::mmap(nullptr, sizeof(ring::Control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  check(base != MAP_FAILED, "mmap");
  control_ = new (base) ring::Control{};
  std::memcpy(control_->magic, ring::kControlMagic, sizeof control_->magic);
  control_->layout_version = ring::kLayoutVersion;
  control_->writer_pid = static_cast<uint32_t>(::getpid());
  control_->writer_start = ring::process_start(control_->writer_pid);
  control_->tier = Tier::kTimes;
  control_->flush_interval_ms = 20;
  control_->ring_records = 4096;
  control_->collecting.store(1);
  set(ring::kRingsVariable, folder_);
  // A forked child may start its own recording, threads included.
  set("TSAN_OPTIONS", "die_after_fork=0 atexit_sleep_ms=50");
  set("LD_PRELOAD", kCanPreload ? COLLECT_LIBRARY : "");
  set("CUDA_INJECTION64_PATH", "");
  set("NVTX_INJECTION64_PATH", "");
}

Observed::~Observed() {
  if (pid_ != 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (output_file_ >= 0) ::close(output_file_);
  if (error_file_ >= 0) ::close(error_file_);
  ::munmap(control_, sizeof(ring::Control));
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Observed::start(const std::vector<std::string>& command) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (!variables_.contains(name) && !name.starts_with("STREAMSCOPE_")) entries.push_back(text);
  }
  for (const auto& [name, value] : variables_) {
    if (!value.empty()) entries.push_back(name + "=" + value);
  }
  std::vector<char*> arguments, environment;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& entry : entries) environment.push_back(const_cast<char*>(entry.c_str()));
  arguments.push_back(nullptr);
  environment.push_back(nullptr);

  int output[2], error[2];
  check(::pipe2(output, O_CLOEXEC) == 0 && ::pipe2(error, O_CLOEXEC) == 0, "pipe2");
  output_text_.clear();
  error_text_.clear();
  pid_ = ::fork();
  check(pid_ >= 0, "fork");
  if (pid_ == 0) {
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(error[1], STDERR_FILENO);
    ::execve(arguments[0], arguments.data(), environment.data());
    ::_exit(127);
  }
  ::close(output[1]);
  ::close(error[1]);
  output_file_ = output[0];
  error_file_ = error[0];
}

void Observed::drain_output(bool to_end) {
  const auto until =
      std::chrono::steady_clock::now() + (to_end ? kRunLimit : std::chrono::milliseconds(10));
  while (output_file_ >= 0 || error_file_ >= 0) {
    pollfd files[2] = {{output_file_, POLLIN, 0}, {error_file_, POLLIN, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0 || ::poll(files, 2, static_cast<int>(left.count())) <= 0) return;
    for (int i = 0; i < 2; ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      char bytes[4096];
      ssize_t got = ::read(files[i].fd, bytes, sizeof bytes);
      if (got > 0) {
        (i == 0 ? output_text_ : error_text_).append(bytes, static_cast<size_t>(got));
      } else {
        ::close(files[i].fd);
        (i == 0 ? output_file_ : error_file_) = -1;
      }
    }
  }
}

int Observed::finish() {
  drain_output(true);
  const auto until = std::chrono::steady_clock::now() + kRunLimit;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
      break;
    }
    ::usleep(1000);
  }
  pid_ = 0;
  read_rings();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int Observed::run(const std::vector<std::string>& command) {
  start(command);
  return finish();
}

void Observed::start_child(const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> command = {kChild, name};
  command.insert(command.end(), more.begin(), more.end());
  start(command);
}

int Observed::run_child(const std::string& name, const std::vector<std::string>& more) {
  start_child(name, more);
  return finish();
}

void Observed::wait_for_line(const std::string& line) {
  const auto until = std::chrono::steady_clock::now() + kRunLimit;
  while (output_text_.find(line + "\n") == std::string::npos) {
    if (std::chrono::steady_clock::now() > until || output_file_ < 0)
      throw std::runtime_error("the child never printed " + line + "; it said: " + error_text_);
    drain_output(false);
  }
}

void Observed::read_rings() {
  rings_.clear();
  texts_.clear();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().extension() == ".ring") files.push_back(entry.path());
  }
  for (const std::filesystem::path& file : files) {
    std::string why;
    auto consumer = ring::Consumer::open(file, &why);
    if (!consumer) continue;  // the program ended while one of its threads was making it
    ObservedRing ring;
    const ring::RingHeader& header = consumer->header();
    ring.index = header.index;
    ring.pid = header.pid;
    ring.state = header.state.load();
    if (const auto open = header.open_call.read()) ring.open_call = open->call;
    ring.ended = header.submission.operation.load();
    ring.ended_at = header.submission.ended.load();
    ring.stacks = header.stacks.load();
    ring.dropped = header.dropped.load();
    ring.stack_ticks = header.stack_ticks.load();
    const auto pending = consumer->pending();
    for (size_t i = 0; i < pending.size(); ++i) ring.records.push_back(pending[i]);
    rings_.push_back(std::move(ring));
  }
  std::sort(rings_.begin(), rings_.end(), [](const ObservedRing& a, const ObservedRing& b) {
    return std::pair(a.pid, a.index) < std::pair(b.pid, b.index);
  });
  for (const auto& chunk : all<ring::TextRecord>(ring::RecordKind::kText)) {
    std::string& text = texts_[chunk.hash];
    text.resize(chunk.total_bytes);
    std::memcpy(text.data() + chunk.offset, chunk.bytes, chunk.chunk_bytes);
  }
}

std::string Observed::call_names() const {
  std::string names;
  for (const ring::CallRecord& call : calls()) names += (names.empty() ? "" : " ") + name_of(call);
  return names;
}

std::string Observed::text(ring::TextHash hash) const {
  auto found = texts_.find(hash);
  return hash == 0 ? "" : found == texts_.end() ? "(not sent)" : found->second;
}

std::map<std::string, uint64_t> Observed::losses() const {
  std::map<std::string, uint64_t> found;
  for (const auto& loss : all<ring::LossRecord>(ring::RecordKind::kLoss))
    found[std::string(ring::loss_name(static_cast<ring::Loss>(loss.loss)))] += loss.count;
  return found;
}

std::string Observed::loss_detail(ring::Loss loss) const {
  for (const auto& record : all<ring::LossRecord>(ring::RecordKind::kLoss)) {
    if (record.loss == static_cast<uint16_t>(loss)) return text(record.detail);
  }
  return "(none)";
}

}  // namespace streamscope::collect
