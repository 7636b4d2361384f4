// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Converts traces of other tools to ours. To add a format: a file with its two functions, and a
// line in importers.cpp.
//
// An importer passes the content of the file to Assembly, which converts it to rows. A file that
// cannot be used is an Error; what is not understood or missing in it is a counted loss.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "vocabulary/rank.h"

namespace streamscope::import {

class Assembly;

/// A file with several processes, each of which becomes a trace.
class ProcessesOfFile {
 public:
  virtual ~ProcessesOfFile() = default;
  virtual size_t count() const = 0;
  /// Throws Error if that part of the file is unusable.
  virtual void read(size_t process, Assembly& assembly) = 0;
};

struct Importer {
  std::string_view name;  ///< value of --from
  std::string_view summary;
  /// True if a file with these first bytes (at most kHeadBytes) may be of this format.
  bool (*sniff)(std::span<const std::byte> head);
  /// Throws Error if the file is unusable. nullptr: its files have several processes, see `open`.
  void (*read)(const std::filesystem::path& file, Assembly& assembly);
  /// Throws Error if the file is unusable.
  std::unique_ptr<ProcessesOfFile> (*open)(const std::filesystem::path& file) = nullptr;
};

inline constexpr size_t kHeadBytes = 4096;

std::span<const Importer> importers();
/// nullptr if there is no such format.
const Importer* find_importer(std::string_view name);
/// By its first bytes. Throws Error if no importer accepts the file.
const Importer& importer_of(const std::filesystem::path& file);

/// True if an importer accepts the first bytes of a file.
bool is_importable(const std::filesystem::path& file);

/// Writes `trace` from `file`, and returns the rank of a job that it is about, by its content or
/// else its name. Throws Error, also if the file has several processes; then no trace is left.
/// Memory use grows with the file.
RankClaim import_file(const Importer& importer, const std::filesystem::path& file,
                      const std::filesystem::path& trace, bool overwrite);
/// Writes `trace` from each process of `file` in turn, and calls `done`, which takes it away.
void import_processes(const Importer& importer, const std::filesystem::path& file,
                      const std::filesystem::path& trace,
                      const std::function<void(const RankClaim&)>& done);

/// 3 for "worker3_step_12.json", "rank_3.sqlite" or "run.rank-3.json"; -1: it names no rank.
int32_t rank_in_name(std::string_view name);

bool sniff_nsys(std::span<const std::byte> head);
void read_nsys(const std::filesystem::path& file, Assembly& assembly);
bool sniff_kineto(std::span<const std::byte> head);
void read_kineto(const std::filesystem::path& file, Assembly& assembly);
bool sniff_otf2(std::span<const std::byte> head);
std::unique_ptr<ProcessesOfFile> open_otf2(const std::filesystem::path& file);

}  // namespace streamscope::import
