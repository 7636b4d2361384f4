// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Small files of a rank: a message with a kind, a version and a checksum in front of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace streamscope::job {

/// What the bytes are.
struct PackedKind {
  char magic[4];
  uint32_t version;         ///< another one is refused
  std::string_view what;    ///< "summary of a rank", in errors
  std::string_view remedy;  ///< for bytes that cannot be used
};
inline constexpr size_t kPackedHeaderBytes = 16;

/// The message with its header.
std::string with_header(const PackedKind& kind, std::string_view message);
/// The message in these bytes, a part of them. `origin` names them in errors. Throws Error if they
/// are of another kind or version, or if the checksum differs.
std::string_view without_header(const PackedKind& kind, std::string_view bytes,
                                const std::filesystem::path& origin);
[[noreturn]] void throw_damaged(const PackedKind& kind, const std::filesystem::path& origin);

/// Replaces the file at once. Throws Error.
void replace_file(const std::filesystem::path& file, std::string_view bytes);
/// Throws Error.
std::string read_file(const std::filesystem::path& file);

}  // namespace streamscope::job
