// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The folder FILE.rings/ of a recording: the control file, the rings, and the lock that makes one
// writer the owner.
//
// It lies beside the trace. Where files cannot be mapped and shared well (network file systems), it
// lies in shared memory, and FILE.rings is a file that names it.
#pragma once

#include <filesystem>
#include <optional>

#include "options.h"
#include "ring/control.h"

namespace streamscope::record {

/// Throws Error if `code` is what another moment may end, such as a lack of open files or memory:
/// what could not be read then is still there.
void check_shortage(const std::filesystem::path& what, int code);

/// Files beside the rings that begin so hold ops that are not stored yet (op_order.h).
inline constexpr char kHeldFile[] = "held-";

/// FILE.rings of a trace.
std::filesystem::path rings_path(const std::filesystem::path& trace);

/// The name under which a flight recorder copies its rings to write `trace`.
std::filesystem::path dump_name(const std::filesystem::path& trace);

/// Owns the folder while it exists. Move-only; thread-compatible.
class RingsFolder {
 public:
  /// Makes the folder (0700) and its control file for a new recording. Throws Error.
  static RingsFolder create(const std::filesystem::path& trace, const Options& options);
  /// Takes the folder of a recording whose writer is gone. Nothing if there is none, if its writer
  /// lives, or if it cannot be read; `in_use` then says whether somebody may be at work on it.
  static std::optional<RingsFolder> take_over(const std::filesystem::path& trace,
                                              bool* in_use = nullptr);
  /// Removes what a writer left that was killed while it made the folder of `trace`, or while it
  /// removed that. False if that is not what is there.
  static bool remove_unmade(const std::filesystem::path& trace);
  /// Removes from `folder` what writers left that were killed before anything was recorded.
  static void remove_unused(const std::filesystem::path& folder);

  RingsFolder(RingsFolder&& other) noexcept;
  RingsFolder& operator=(RingsFolder&&) = delete;
  /// Leaves the folder where it is.
  ~RingsFolder();

  const std::filesystem::path& path() const { return path_; }
  ring::Control& control() { return *control_; }
  /// Throws Error if the folder cannot be read.
  bool has_rings() const;
  /// Deletes the folder and everything that this project puts into it. False if something stays,
  /// which take_over() finds then.
  bool remove() noexcept;

 private:
  RingsFolder() = default;
  bool map_control(int file);

  std::filesystem::path pointer_;  // FILE.rings
  std::filesystem::path path_;     // the folder itself
  ring::Control* control_ = nullptr;
  int lock_ = -1;  // the control file, locked
};

}  // namespace streamscope::record
