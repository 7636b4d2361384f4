// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A run whose writer is the measuring program itself.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "ring/control.h"
#include "ring/process.h"
#include "ring/ring.h"

namespace streamscope::bench {

inline constexpr size_t kRingRecords = 1 << 18;

// The control file of a run whose writer is this process.
inline std::filesystem::path make_run(Tier tier,
                                      ring::CaptureRange range = ring::CaptureRange::kNone) {
  std::string pattern = std::filesystem::temp_directory_path() / "streamscope-bench-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) std::exit(2);
  const std::filesystem::path folder = pattern;
  int file = ::open((folder / ring::kControlFile).c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(ring::Control)) != 0) std::exit(2);
  void* base = ::mmap(nullptr, sizeof(ring::Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (base == MAP_FAILED) std::exit(2);
  auto* control = new (base) ring::Control{};
  std::memcpy(control->magic, ring::kControlMagic, sizeof control->magic);
  control->layout_version = ring::kLayoutVersion;
  control->writer_pid = static_cast<uint32_t>(::getpid());
  control->writer_start = ring::process_start(control->writer_pid);
  control->tier = tier;
  control->capture_range = range;
  control->stacks = ring::StackMode::kSyncs;  // the mix has none of them
  control->ring_records = kRingRecords;
  control->collecting.store(1);
  return folder;
}

// CPU time of this thread: other load on the machine does not count.
inline double thread_ns() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Releases the records of the rings, as the writer would. Returns how many there were.
inline size_t drain(const std::filesystem::path& folder) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ring") continue;
    std::string why;
    if (auto consumer = ring::Consumer::open(entry.path(), &why)) {
      const size_t pending = consumer->pending().size();
      consumer->release(pending);
      count += pending;
    }
  }
  return count;
}

}  // namespace streamscope::bench
