// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The folder FILE.rings/ of a recording: the control file, the rings, and the lock that makes one
// writer the owner.
//
// It is next to the trace. If files cannot be mapped and shared well there (network file systems),
// it is in shared memory, and FILE.rings is a file that names it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "files.h"
#include "options.h"
#include "ring/control.h"

namespace streamscope::record {

/// Throws Error if `code` is a temporary failure, such as a lack of open files or memory: what
/// could not be read still exists.
void check_shortage(const std::filesystem::path& what, int code);

/// Prefix of files next to the rings that contain ops that are not stored yet (op_order.h).
inline constexpr char kHeldFile[] = "held-";

/// FILE.rings of a trace.
std::filesystem::path rings_path(const std::filesystem::path& trace);

/// The name under which a flight recorder copies its rings to write `trace`.
std::filesystem::path dump_name(const std::filesystem::path& trace);

struct UnmapControl {
  void operator()(ring::Control* control) const;
};
/// A mapped control file; its other writers may end or truncate it.
using MappedControl = std::unique_ptr<ring::Control, UnmapControl>;
/// Maps `file`, which is long enough. nullptr with errno if that fails.
MappedControl map_control(int file);

/// Owns the folder while it exists, and then leaves it in place. Move-only; thread-compatible.
class RingsFolder {
 public:
  /// Creates the folder (0700) and its control file for a new recording. Throws Error.
  static RingsFolder create(const std::filesystem::path& trace, const Options& options);
  /// Takes the folder of a recording whose writer is gone. Nothing if there is none, if its writer
  /// is alive, or if it cannot be read; `in_use` then says whether another process may be using it.
  static std::optional<RingsFolder> take_over(const std::filesystem::path& trace,
                                              bool* in_use = nullptr);
  /// Removes the remains of a writer that was killed while it created the folder of `trace`, or
  /// while it removed it. False if there is something else.
  static bool remove_unmade(const std::filesystem::path& trace);
  /// Removes from `folder` the remains of writers that were killed before anything was recorded.
  static void remove_unused(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  ring::Control& control() { return *control_; }
  /// Collectors stop recording permanently.
  void stop_collectors();
  /// Throws Error if the folder cannot be read.
  bool has_rings() const;
  /// Deletes the folder and everything that this project puts into it. False if something remains,
  /// which take_over() finds later.
  bool remove() noexcept;

 private:
  RingsFolder() = default;

  std::filesystem::path pointer_;  // FILE.rings
  std::filesystem::path path_;     // the folder itself
  Descriptor lock_;                // the control file, locked
  MappedControl control_;
};

}  // namespace streamscope::record
