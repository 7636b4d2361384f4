// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "assembly.h"
#include "importer.h"
#include "trace/error.h"

namespace streamscope::import {
namespace {

namespace fs = std::filesystem;

constexpr Importer kImporters[] = {
    {"nsys", "SQLite export of Nsight Systems", sniff_nsys, read_nsys},
    {"kineto", "JSON of the PyTorch profiler or any Chrome trace, gzip too", sniff_kineto,
     read_kineto},
};

// Why no importer accepts a file, for the formats that people try.
std::string what_it_is(const fs::path& file, std::string_view head) {
  if (head.empty()) return "is empty";
  if (head.starts_with("version https://git-lfs"))
    return "is a Git LFS pointer, not the file itself; fetch it with `git lfs pull`";
  if (file.extension() == ".nsys-rep" || file.extension() == ".qdrep")
    return "is a report of Nsight Systems; convert it with `nsys export --type sqlite`";
  return "is neither a SQLite export of Nsight Systems nor JSON of a profiler; check the name";
}

}  // namespace

std::span<const Importer> importers() { return kImporters; }

const Importer* find_importer(std::string_view name) {
  const auto found = std::ranges::find(kImporters, name, &Importer::name);
  return found == std::end(kImporters) ? nullptr : found;
}

bool is_importable(const fs::path& file) try {
  importer_of(file);
  return true;
} catch (const Error&) {
  return false;
}

const Importer& importer_of(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) throw Error(file, "does not exist", "check the path");
  if (!fs::is_regular_file(status)) throw Error(file, "is not a plain file", "check the path");
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw Error(file, std::string("cannot be read: ") + std::strerror(errno),
                "check its permissions");
  std::array<char, kHeadBytes> head;
  in.read(head.data(), head.size());
  const std::string_view text(head.data(), static_cast<size_t>(in.gcount()));
  for (const Importer& importer : kImporters) {
    if (importer.sniff(std::as_bytes(std::span(text)))) return importer;
  }
  throw Error(file, what_it_is(file, text), "");
}

int32_t rank_in_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  for (const std::string_view word : {"rank", "worker"}) {
    for (size_t at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
      if (at > 0 && is_letter(name[at - 1])) continue;  // "torchrank"
      size_t begin = at + word.size();
      if (begin < name.size() && (name[begin] == '_' || name[begin] == '-' || name[begin] == '.'))
        ++begin;
      const size_t end = std::min(name.find_first_not_of("0123456789", begin), name.size());
      if (end > begin) return rank_number(name.substr(begin, end - begin));
    }
  }
  return -1;
}

RankClaim import_file(const Importer& importer, const fs::path& file, const fs::path& trace,
                      bool overwrite) {
  std::error_code ignored;
  if (fs::equivalent(file, trace, ignored))
    throw Error(trace, "is the file to import itself", "name another output with -o");
  // Written under another name, so that an unusable file does not destroy an older trace.
  if (!overwrite && fs::exists(fs::symlink_status(trace, ignored)))
    throw Error(trace, "exists already", "choose another name or overwrite it with --force");
  const fs::path part = trace.string() + ".part";
  try {
    trace::Writer writer =
        trace::Writer::create(part, {.overwrite = true, .read_meanwhile = false});
    Assembly assembly(writer);
    importer.read(file, assembly);
    if (const int32_t rank = rank_in_name(file.filename().string());
        rank >= 0 && !assembly.rank().is_known())
      assembly.set_rank({rank, -1, -1, "file name"});
    assembly.finish();
    writer.finish(true);
    fs::rename(part, trace);
    return assembly.rank();
  } catch (...) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})
      fs::remove(part.string() + suffix, ignored);
    throw;
  }
}

}  // namespace streamscope::import
