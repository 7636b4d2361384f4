// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "unpack.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "trace/error.h"

namespace streamscope::import {
namespace {

constexpr size_t kFirstRoom = size_t{1} << 20;
constexpr unsigned kPieceBytes = 1 << 20;
// JSON of profilers compresses by a factor of 10 to 60; a file with more than this, beyond a
// harmless size, is made to exhaust memory.
constexpr size_t kMostRatio = 300, kHarmlessBytes = size_t{64} << 20;

struct CloseGz {
  void operator()(gzFile file) const { gzclose_r(file); }
};

}  // namespace

Text read_text(const std::filesystem::path& file, size_t most_bytes, size_t padding) {
  std::error_code error;
  const auto file_bytes = static_cast<size_t>(std::filesystem::file_size(file, error));
  if (error) throw Error(file, "cannot be read: " + error.message(), "check path and permissions");
  const std::string limit = std::to_string(most_bytes >> 20) + " MiB of text";
  if (file_bytes > most_bytes)
    throw Error(file, "is larger than " + limit, "profile a shorter part");
  // zlib passes files through that are not gzip.
  const std::unique_ptr<gzFile_s, CloseGz> in(gzopen(file.c_str(), "rb"));
  if (!in)
    throw Error(file, std::string("cannot be read: ") + std::strerror(errno),
                "check its permissions");
  gzbuffer(in.get(), 256 << 10);

  size_t room = std::max(kFirstRoom, file_bytes + padding + 1), size = 0;
  auto bytes = std::make_unique_for_overwrite<char[]>(room);
  for (;;) {
    if (room - size < padding + 1) {
      const size_t larger = std::min(room * 2, most_bytes + padding + kPieceBytes);
      auto moved = std::make_unique_for_overwrite<char[]>(larger);
      std::memcpy(moved.get(), bytes.get(), size);
      bytes = std::move(moved);
      room = larger;
    }
    const auto piece = static_cast<unsigned>(std::min<size_t>(room - size - padding, kPieceBytes));
    const int got = gzread(in.get(), bytes.get() + size, piece);
    if (got < 0) {
      int code = 0;
      throw Error(file, std::string("is damaged gzip: ") + gzerror(in.get(), &code),
                  "copy it again");
    }
    if (got == 0) break;
    size += static_cast<size_t>(got);
    if (size > most_bytes)
      throw Error(file, "contains more than " + limit, "profile a shorter part");
    if (size > kHarmlessBytes && size / kMostRatio > file_bytes)
      throw Error(file, "unpacks to far more than a profile does (a zip bomb?)",
                  "check where it comes from");
  }
  if (int code = 0; gzerror(in.get(), &code) && code == Z_BUF_ERROR)
    throw Error(file, "is truncated gzip", "copy it again");
  std::memset(bytes.get() + size, 0, padding);
  return {std::move(bytes), size};
}

}  // namespace streamscope::import
