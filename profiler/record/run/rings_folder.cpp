// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "rings_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>

#include "ring/backlog.h"
#include "ring/guard.h"
#include "ring/image.h"
#include "ring/process.h"
#include "trace/error.h"
#include "trace/folder_names.h"

namespace streamscope::record {
namespace {

namespace fs = std::filesystem;

// Maximum size for one thread: 8 MiB. A thread that makes a million records a second fills it in
// 130 ms; the writer polls every few.
constexpr uint64_t kRingRecords = uint64_t{1} << 17;
constexpr uint32_t kFlushIntervalMs = 100;
constexpr uint32_t kCostWindowMs = 50;

/// File systems on which a shared mapping is refused, incoherent or slow.
bool shares_badly(const fs::path& folder) {
  struct statfs facts {};
  if (::statfs(folder.c_str(), &facts) != 0) return false;
  constexpr uint32_t kTypes[] = {
      0x6969,      // NFS
      0x0bd00bd0,  // Lustre
      0x65735546,  // FUSE
      0xff534d42,  // CIFS
      0xfe534d42,  // SMB2
      0x47504653,  // GPFS
      0x01021997,  // 9P
  };
  return std::ranges::find(kTypes, static_cast<uint32_t>(facts.f_type)) != std::end(kTypes);
}

uint64_t ring_records() {
  const char* wanted = std::getenv("STREAMSCOPE_RING_RECORDS");
  uint64_t records = 0;
  if (wanted == nullptr) return kRingRecords;
  const auto parsed = std::from_chars(wanted, wanted + std::strlen(wanted), records);
  if (parsed.ec != std::errc() || *parsed.ptr != '\0' || records < 16 ||
      records > (uint64_t{1} << 28))
    throw Error("STREAMSCOPE_RING_RECORDS", "is not a number of records",
                "give a number from 16 to 268435456");
  return records;
}

/// What is at FILE.rings: the folder itself, or the one that it names. Empty if we own none.
fs::path folder_at(const fs::path& pointer) {
  struct stat facts {};
  if (::lstat(pointer.c_str(), &facts) != 0 || facts.st_uid != ::geteuid()) return {};
  fs::path folder = pointer;
  if (S_ISREG(facts.st_mode)) {
    std::string target;
    std::getline(std::ifstream(pointer), target);
    folder = target;
    if (::lstat(folder.c_str(), &facts) != 0 || facts.st_uid != ::geteuid()) return {};
  }
  return S_ISDIR(facts.st_mode) ? folder : fs::path();
}

/// Creating a folder takes far less.
constexpr int64_t kMakingNs = 1'000'000'000;
/// Marks a folder whose control file is removed, so that the rest is not mistaken for one that is
/// being created.
constexpr mode_t kBeingRemoved = S_ISVTX;

bool is_being_made(const struct stat& folder) {
  if ((folder.st_mode & kBeingRemoved) != 0) return false;
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  const int64_t seconds = now.tv_sec - folder.st_mtim.tv_sec;
  return seconds <= 1 && seconds * kMakingNs + now.tv_nsec - folder.st_mtim.tv_nsec <= kMakingNs;
}

// Errors that are temporary and not caused by the file.
bool is_passing(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO || error == EINTR;
}

[[noreturn]] void cannot_open(const fs::path& file, int error) {
  throw Error(file, std::string("cannot be opened: ") + std::strerror(error),
              "check the limit on open files (ulimit -n) and try again", error);
}

// Better to refuse before the program runs than to disturb it.
void check_free_space(const fs::path& folder, uint64_t ring_records) {
  constexpr uint64_t kMiB = 1 << 20;
  const uint64_t needed = ring_records * sizeof(ring::Record) + 2 * kMiB;
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) return;
  const uint64_t free = uint64_t{space.f_bavail} * space.f_frsize;
  if (free >= needed) return;
  throw Error(folder, "is full: " + std::to_string(free / kMiB) + " MiB are free",
              "free " + std::to_string(needed / kMiB + 1) +
                  " MiB or more, or choose another folder with -o",
              ENOSPC);
}

}  // namespace

void check_shortage(const fs::path& what, int code) {
  if (!is_passing(code)) return;
  const char* remedy = code == EMFILE || code == ENFILE
                           ? "allow the recorder more open files (ulimit -n)"
                       : code == ENOMEM ? "allow the recorder more memory (ulimit -v)"
                       : code == EIO    ? "check the disk and try again"
                                        : "try again";
  throw Error(what, std::string("cannot be read: ") + std::strerror(code), remedy, code);
}

fs::path rings_path(const fs::path& trace) { return trace.string() + ".rings"; }

fs::path dump_name(const fs::path& trace) { return trace.string() + ".dump"; }

void UnmapControl::operator()(ring::Control* control) const {
  ring::unguard(control);
  ::munmap(control, sizeof(ring::Control));
}

MappedControl map_control(int file) {
  void* base = ::mmap(nullptr, sizeof(ring::Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (base == MAP_FAILED) return nullptr;
  MappedControl control(static_cast<ring::Control*>(base));
  ring::rescue_on_bus_errors();
  ring::guard(control.get(), sizeof(ring::Control));
  return control;
}

RingsFolder RingsFolder::create(const fs::path& trace, const Options& options) {
  RingsFolder folder;
  folder.pointer_ = rings_path(trace);
  folder.path_ = folder.pointer_;
  const uint64_t records =
      options.flight_recorder_mib
          ? (uint64_t{*options.flight_recorder_mib} << 20) / sizeof(ring::Record)
          : ring_records();
  const fs::path parent = trace.parent_path();
  const bool elsewhere = shares_badly(parent.empty() ? "." : parent);
  check_free_space(elsewhere ? "/dev/shm" : parent.empty() ? "." : parent, records);
  if (elsewhere) {
    folder.path_ = "/dev/shm/streamscope-" + std::to_string(::getpid()) + "-" +
                   std::to_string(ring::process_start(static_cast<uint32_t>(::getpid())));
  }
  // Everything that needs memory is done before there is a folder.
  const fs::path control = folder.path_ / ring::kControlFile;
  const std::string text = folder.path_.string();
  if (::mkdir(text.c_str(), 0700) != 0) throw file_error(text, "created", errno);
  if (elsewhere) {
    const Descriptor file(::open(folder.pointer_.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file || !write_all(file.get(), text.data(), text.size())) {
      const int code = errno;
      ::rmdir(folder.path_.c_str());
      throw file_error(folder.pointer_, "created", code);
    }
  }

  const uint64_t start = ring::process_start(static_cast<uint32_t>(::getpid()));
  folder.lock_ =
      Descriptor(::open(control.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  // Locked before it has a size: a search for dead writers does not lock an empty file.
  const int lock = folder.lock_.get();
  int failure = start == 0 ? EMFILE : lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
  if (failure == 0) failure = ::posix_fallocate(lock, 0, sizeof(ring::Control));
  if (failure == 0) {
    folder.control_ = map_control(lock);
    if (!folder.control_) failure = errno;
  }
  if (failure != 0) {
    std::error_code ignored;
    for (const fs::path& made : {control, folder.path_, folder.pointer_}) fs::remove(made, ignored);
    throw file_error(control, "created", failure);
  }

  auto* facts = new (folder.control_.get()) ring::Control{};
  std::memcpy(facts->magic, ring::kControlMagic, sizeof facts->magic);
  facts->layout_version = ring::kLayoutVersion;
  facts->writer_pid = static_cast<uint32_t>(::getpid());
  facts->writer_start = start;
  facts->tier = options.tier;
  facts->with = options.with;
  facts->graphs = options.graphs;
  facts->stacks = options.stacks;
  facts->capture_range = options.capture_range;
  facts->source = options.source;
  facts->flush_interval_ms = kFlushIntervalMs;
  facts->ring_records = records;
  facts->flight_recorder = options.flight_recorder_mib ? 1 : 0;
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  facts->trace_start_ns = now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
  options.capture_range_name.copy(facts->capture_range_name, sizeof facts->capture_range_name - 1);
  facts->measure_cost_window_ms = options.measure_cost ? kCostWindowMs : 0;
  facts->measured_windows = options.measured_windows;
  options.measure_cost_range.copy(facts->measure_cost_range, sizeof facts->measure_cost_range - 1);
  facts->chosen_order = options.chosen_order;
  facts->sample_hz = options.sample_hz;
  trace.native().copy(facts->trace_file, sizeof facts->trace_file - 1);
  facts->on_demand = options.on_demand ? 1 : 0;
  facts->device_times.store(options.on_demand ? 0 : 1, std::memory_order_relaxed);
  const bool is_off = options.delay_s.value_or(0) > 0 || options.on_demand;
  facts->collecting.store(is_off ? 0 : 1, std::memory_order_release);
  return folder;
}

std::optional<RingsFolder> RingsFolder::take_over(const fs::path& trace, bool* in_use) {
  bool ignored = false;
  bool& used = in_use != nullptr ? *in_use : ignored;
  used = false;
  RingsFolder folder;
  folder.pointer_ = rings_path(trace);
  struct stat facts {};
  if (::lstat(folder.pointer_.c_str(), &facts) != 0) {
    if (errno == ENOENT || errno == EACCES || errno == ENOTDIR || errno == ENAMETOOLONG)
      return std::nullopt;
    cannot_open(folder.pointer_, errno);
  }
  // From here on, whatever is not certainly dead is in use: a folder that its writer is still
  // creating or removing, one of another user, one in the memory of another machine.
  folder.path_ = folder_at(folder.pointer_);
  used = facts.st_uid != ::geteuid() || S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode);
  if (folder.path_.empty()) return std::nullopt;
  const fs::path control = folder.path_ / ring::kControlFile;
  folder.lock_ = Descriptor(::open(control.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  const int lock = folder.lock_.get();
  if (lock < 0 && is_passing(errno)) cannot_open(control, errno);
  if (lock >= 0 && ::fstat(lock, &facts) != 0) cannot_open(control, errno);
  if (lock < 0 || facts.st_size == 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  used = false;
  if (facts.st_size < static_cast<off_t>(sizeof(ring::Control))) return std::nullopt;
  folder.control_ = map_control(lock);
  if (!folder.control_) return std::nullopt;
  const ring::Control& found = *folder.control_;
  if (std::memcmp(found.magic, ring::kControlMagic, sizeof found.magic) != 0 ||
      found.layout_version != ring::kLayoutVersion)
    return std::nullopt;
  if (ring::process_alive(found.writer_pid, found.writer_start)) {
    used = true;
    return std::nullopt;
  }
  return folder;
}

bool RingsFolder::remove_unmade(const fs::path& trace) {
  const fs::path pointer = rings_path(trace);
  const fs::path folder = folder_at(pointer);
  struct stat facts {};
  if (folder.empty() || ::lstat(folder.c_str(), &facts) != 0 || is_being_made(facts)) return false;
  const auto names = trace::try_names_in(folder);
  const auto is_control = [](const std::string& name) { return name == ring::kControlFile; };
  if (!names || !std::all_of(names->begin(), names->end(), is_control)) return false;
  std::error_code error;
  const fs::path control = folder / ring::kControlFile;
  if (const Descriptor file(::open(control.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)); file) {
    // The magic is written first, and the file is locked before.
    char magic[sizeof ring::kControlMagic] = {};
    const bool made =
        ::pread(file.get(), magic, sizeof magic, 0) == sizeof magic &&
        std::any_of(std::begin(magic), std::end(magic), [](char c) { return c != 0; });
    const bool in_use = ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
    if (made || in_use) return false;
    fs::remove(control, error);
  }
  fs::remove(folder, error);
  if (folder != pointer) fs::remove(pointer, error);
  return true;
}

void RingsFolder::remove_unused(const fs::path& folder) {
  std::error_code error;
  constexpr std::string_view kEnding = ".rings";
  const fs::path at = folder.empty() ? "." : folder;
  for (const std::string& name : trace::try_names_in(at).value_or(std::vector<std::string>())) {
    if (!name.ends_with(kEnding)) continue;
    const fs::path trace = at / name.substr(0, name.size() - kEnding.size());
    if (auto left = take_over(trace)) {
      if (!left->has_rings() && !fs::exists(trace, error) && !error) left->remove();
    } else {
      remove_unmade(trace);
    }
  }
}

void RingsFolder::stop_collectors() {
  control_->stop.store(1, std::memory_order_release);
  ring::announce_change(*control_);
}

bool RingsFolder::has_rings() const {
  const std::vector<std::string> names = trace::names_in(path_);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.ends_with(".ring"); });
}

bool RingsFolder::remove() noexcept try {
  std::error_code ignored, error;
  const auto names = trace::try_names_in(path_);
  if (!names) return false;  // the next command tries again
  for (const std::string& name : *names) {
    if (name != "names" && !name.starts_with(kHeldFile) && !name.ends_with(".ring") &&
        !name.ends_with(ring::kBacklogEnding) && !name.ends_with(ring::kExitEnding) &&
        !name.ends_with(ring::kWriterEnding) && name != ring::kControlSocket &&
        name != ring::kTokenFile)
      continue;
    fs::remove(path_ / name, error);
    if (error) return false;
  }
  ::chmod(path_.c_str(), 0700 | kBeingRemoved);
  // Last, as without it the owner of the folder would be unknown.
  fs::remove(path_ / ring::kControlFile, ignored);
  fs::remove(path_, error);  // stays if another program put something into it
  if (pointer_ != path_ && !error) fs::remove(pointer_, error);
  return !error;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace streamscope::record
