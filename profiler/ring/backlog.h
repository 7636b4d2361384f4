// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Records of one ring that its consumer has taken out and not processed yet, in a file next to the
// ring.
//
// A ring holds about one second of a busy thread's records. When a writer is held up for longer (a
// slow disk, more records than it can store), it moves records here, so that the program keeps
// recording. Like the ring, the file is mapped and survives the end of its writer.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "guard.h"
#include "record.h"

namespace streamscope::ring {

/// The name of a backlog's file is that of its ring plus this suffix.
inline constexpr char kBacklogEnding[] = ".moved";

/// Thread-compatible.
class Backlog {
 public:
  /// Maximum number of bytes of all backlogs of this process.
  static constexpr uint64_t kMostBytes = uint64_t{2} << 30;

  /// `file` is created by the first add().
  explicit Backlog(std::filesystem::path file) : file_(std::move(file)) {}
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;
  ~Backlog();

  /// Takes over what an earlier consumer of the ring left. An invalid file is left alone.
  void open();

  /// Number within its ring of the first record; the records.
  uint64_t first() const { return first_; }
  std::span<const Record> records() const { return {records_, count_}; }
  /// Adds records; `number` is that of the first one, which follows the last one here. False if
  /// there is not enough space for all of them; then none is added.
  bool add(uint64_t number, std::span<const Record> first, std::span<const Record> second);
  /// Drops all records and frees their space.
  void clear();

  const std::filesystem::path& file() const { return file_; }

 private:
  struct Header {
    char magic[8];
    uint32_t layout_version;
    uint32_t reserved;
    uint64_t first;
    std::atomic<uint64_t> count;
  };
  bool map(int descriptor, uint64_t bytes);
  bool reserve(uint64_t bytes);

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::unique_ptr<Header, Unmap> header_;
  Record* records_ = nullptr;    // after the header
  uint64_t reserved_bytes_ = 0;  // bytes of the file that have storage
  uint64_t first_ = 0, count_ = 0;
};

}  // namespace streamscope::ring
