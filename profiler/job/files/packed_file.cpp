// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/files/packed_file.h"

#include <bit>
#include <cstring>
#include <fstream>
#include <sstream>

#include "trace/error.h"
#include "vocabulary/fnv1a.h"

namespace streamscope::job {
namespace {

// What comes before the message.
struct PackedHeader {
  char magic[4];
  uint32_t version;
  uint64_t checksum;  // of the message
};
static_assert(sizeof(PackedHeader) == kPackedHeaderBytes &&
              std::endian::native == std::endian::little);

}  // namespace

std::string with_header(const PackedKind& kind, std::string_view message) {
  PackedHeader header{.magic = {}, .version = kind.version, .checksum = fnv1a(message)};
  std::memcpy(header.magic, kind.magic, sizeof header.magic);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(message);
  return bytes;
}

std::string_view without_header(const PackedKind& kind, std::string_view bytes,
                                const std::filesystem::path& origin) {
  PackedHeader header{};
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kind.magic, sizeof kind.magic) != 0)
    throw Error(origin, "is not a " + std::string(kind.what), "check the name");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kind.version) {
    throw Error(origin,
                "is a " + std::string(kind.what) + " of version " + std::to_string(header.version) +
                    ", not " + std::to_string(kind.version),
                std::string(kind.remedy) + " with this version of streamscope");
  }
  bytes.remove_prefix(sizeof header);
  if (fnv1a(bytes) != header.checksum) throw_damaged(kind, origin);
  return bytes;
}

void throw_damaged(const PackedKind& kind, const std::filesystem::path& origin) {
  throw Error(origin, "is a damaged " + std::string(kind.what), std::string(kind.remedy));
}

void replace_file(const std::filesystem::path& file, std::string_view bytes) {
  std::filesystem::path part = file;
  part += ".part";
  std::ofstream stream(part, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  std::error_code error;
  if (stream) std::filesystem::rename(part, file, error);
  if (!stream || error) {
    std::filesystem::remove(part, error);
    throw Error(file, "cannot be written", "check the folder, its rights and the free space");
  }
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream bytes;
  if (stream) bytes << stream.rdbuf();
  if (!stream || stream.bad()) throw Error(file, "cannot be read", "check the name and its rights");
  return std::move(bytes).str();
}

}  // namespace streamscope::job
