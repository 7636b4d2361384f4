// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Records of one ring that its consumer has taken out and not dealt with yet, in a file beside the
// ring.
//
// A ring has room for a second or so of what a busy thread does. When a writer is held up for
// longer (a slow disk, more records than it can store), it moves records here, so that the program
// goes on recording. Like the ring, the file is mapped and survives the end of its writer.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "record.h"

namespace streamscope::ring {

/// The file of a backlog is that of its ring with this at the end.
inline constexpr char kBacklogEnding[] = ".moved";

/// Thread-compatible.
class Backlog {
 public:
  /// Bytes that all backlogs of this process may take.
  static constexpr uint64_t kMostBytes = uint64_t{2} << 30;

  /// `file` is made by the first add().
  explicit Backlog(std::filesystem::path file) : file_(std::move(file)) {}
  Backlog(Backlog&& other) noexcept { *this = std::move(other); }
  Backlog& operator=(Backlog&& other) noexcept;
  ~Backlog();

  /// Takes over what an earlier consumer of the ring left. A file that makes no sense is left
  /// alone.
  void open();

  /// Number within its ring of the first record, and the records.
  uint64_t first() const { return first_; }
  std::span<const Record> records() const { return {records_, count_}; }
  /// Adds records; `number`: of the first of them, which follows the last one here. False if there
  /// is no room for all of them; then none is added.
  bool add(uint64_t number, std::span<const Record> first, std::span<const Record> second);
  /// Forgets all records and gives their room back.
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
  Header* header_ = nullptr;
  Record* records_ = nullptr;
  uint64_t mapped_bytes_ = 0;
  uint64_t reserved_bytes_ = 0;  // of the file, with storage behind them
  uint64_t first_ = 0, count_ = 0;
};

}  // namespace streamscope::ring
