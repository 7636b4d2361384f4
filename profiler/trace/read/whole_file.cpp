// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "trace/change/wal.h"
#include "trace/scratch_folder.h"
#include "trace/sqlite/open.h"

namespace streamscope::trace {
namespace {

namespace fs = std::filesystem;

// One transaction, so that all pages are of one state. The copy has no log.
void copy_database(const Database& from, const fs::path& to) {
  Database copy(to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  copy.run("PRAGMA synchronous=OFF");
  sqlite3_backup* backup = sqlite3_backup_init(copy.get(), "main", from.get(), "main");
  if (backup == nullptr) copy.fail(sqlite3_errcode(copy.get()));
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE) {
    fold_wal(copy);
    return;
  }
  const int kind = code & 0xff;
  if (kind == SQLITE_FULL || kind == SQLITE_IOERR)
    throw Error(from.file(),
                "is being recorded and cannot be copied to " + to.parent_path().string(),
                "name a folder with enough space in TMPDIR", code);
  from.fail(code);
}

Descriptor open_to_read(const fs::path& path, const fs::path& file) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor)
    throw Error(file, std::string("cannot be read: ") + std::strerror(errno), remedy_for(errno),
                errno);
  return descriptor;
}

bool has_content(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  return !error && bytes > 0;
}

}  // namespace

bool has_log(const fs::path& file) {
  return has_content(file.string() + "-wal") || has_content(file.string() + "-journal");
}

WholeFile::WholeFile(Descriptor descriptor, bool is_copy, const fs::path& file)
    : file_(file), descriptor_(std::move(descriptor)), is_copy_(is_copy) {
  struct stat facts {};
  if (::fstat(descriptor_.get(), &facts) == 0) bytes_ = static_cast<uint64_t>(facts.st_size);
}

WholeFile WholeFile::open(const fs::path& file) {
  std::unique_ptr<Database> database = open_trace(file);
  // A file that expects a log is of no use without a place for one, even if the log is empty.
  if (!has_log(file) && database->text("PRAGMA journal_mode") != "wal") {
    database.reset();
    WholeFile whole(open_to_read(file, file), false, file);
    if (!has_log(file)) return whole;  // nobody began to write it meanwhile
    database = open_trace(file);
  }
  const ScratchFolder folder("copy");
  const fs::path copy = folder.path() / "trace.sqlite";
  copy_database(*database, copy);
  return {open_to_read(copy, file), true, file};
}

size_t WholeFile::read(uint64_t offset, char* into, size_t size) const {
  ssize_t got = 0;
  do {
    got = ::pread(descriptor_.get(), into, size, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0)
    throw Error(file_, std::string("cannot be read: ") + std::strerror(errno), remedy_for(errno),
                errno);
  return static_cast<size_t>(got);
}

}  // namespace streamscope::trace
