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
#if STREAMSCOPE_OTF2
    {"otf2", "archive of Score-P or others in Open Trace Format 2, FILE.otf2", sniff_otf2, nullptr,
     open_otf2},
#endif
};

// Why no importer accepts a file, for the formats that people try.
std::string what_it_is(const fs::path& file, std::string_view head) {
  if (head.empty()) return "is empty";
  if (head.starts_with("version https://git-lfs"))
    return "is a Git LFS pointer, not the file itself; fetch it with `git lfs pull`";
  if (file.extension() == ".nsys-rep" || file.extension() == ".qdrep")
    return "is a report of Nsight Systems; convert it with `nsys export --type sqlite`";
  if (sniff_otf2(std::as_bytes(std::span(head))))
    return "is an OTF2 archive, which this program was built without; build it with the package "
           "libopen-trace-format2-dev";
  return "is neither a SQLite export of Nsight Systems, JSON of a profiler nor an OTF2 archive; "
         "check the name";
}

// Writes a trace from what `read` adds; returns its rank, or the one that the name of `file` says.
template <class Read>
RankClaim write_trace(const fs::path& file, const fs::path& trace, bool overwrite,
                      const Read& read) {
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
    read(assembly);
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
  return write_trace(file, trace, overwrite, [&](Assembly& assembly) {
    if (!importer.open) return importer.read(file, assembly);
    const std::unique_ptr<ProcessesOfFile> processes = importer.open(file);
    if (processes->count() > 1) {
      throw Error(file, "has " + std::to_string(processes->count()) + " processes",
                  "use --run DIR, which makes a trace of each");
    }
    processes->read(0, assembly);
  });
}

void import_processes(const Importer& importer, const fs::path& file, const fs::path& trace,
                      const std::function<void(const RankClaim&)>& done) {
  if (!importer.open) return done(import_file(importer, file, trace, true));
  const std::unique_ptr<ProcessesOfFile> processes = importer.open(file);
  for (size_t process = 0; process < processes->count(); ++process) {
    done(write_trace(file, trace, true,
                     [&](Assembly& assembly) { processes->read(process, assembly); }));
  }
}

bool sniff_otf2(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  // Begins a chunk, of big or little endian.
  return text.size() > 6 && text[0] == 3 && (text[1] == 'B' || text[1] == 'L') &&
         text.substr(2, 4) == "OTF2";
}

}  // namespace streamscope::import
