// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "trace/model.h"
#include "trace/schema/own_schema.h"

namespace streamscope::trace {
namespace {

// What the first bytes of a SQLite file contain (https://sqlite.org/fileformat.html, 1.3).
struct Header {
  std::array<unsigned char, 100> bytes = {};
  size_t size = 0;

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), size}; }
  uint64_t number(size_t offset) const {
    return uint64_t{bytes[offset]} << 24 | bytes[offset + 1] << 16 | bytes[offset + 2] << 8 |
           bytes[offset + 3];
  }
  bool is_sqlite() const {
    return size == bytes.size() && text().starts_with(std::string_view("SQLite format 3\0", 16));
  }
  bool is_wal() const { return bytes[18] == 2; }
  uint64_t page_bytes() const {
    uint64_t size = bytes[16] << 8 | bytes[17];
    return size == 1 ? 65536 : size;
  }
  // 0 if the header does not contain it reliably.
  uint64_t page_count() const { return number(24) == number(92) ? number(28) : 0; }
};

[[noreturn]] void refuse_other_format(const std::filesystem::path& file, std::string_view head) {
  size_t first = head.find_first_not_of(" \t\r\n");
  if (head.starts_with("\x1f\x8b") ||
      (first != head.npos && (head[first] == '{' || head[first] == '['))) {
    throw Error(file, "is not a StreamScope trace; it looks like JSON",
                "streamscope import " + file.string());
  }
  if (head.starts_with("version https://git-lfs")) {
    throw Error(file, "is a Git LFS pointer, not the file itself", "fetch it with `git lfs pull`");
  }
  if (file.extension() == ".nsys-rep") {
    throw Error(file, "is a report of Nsight Systems",
                "nsys export --type sqlite, then streamscope import");
  }
  throw Error(file, "is not a SQLite file, so not a StreamScope trace", "check the name");
}

Header check_file(const std::filesystem::path& file) {
  struct stat status;
  if (stat(file.c_str(), &status) != 0) {
    int code = errno;
    throw Error(file, code == ENOENT ? "does not exist" : std::strerror(code), "check the path",
                code);
  }
  if (S_ISDIR(status.st_mode)) throw Error(file, "is a folder", "name the trace file in it");
  if (!S_ISREG(status.st_mode)) throw Error(file, "is not a plain file", "check the path");
  if (status.st_size == 0) throw Error(file, "is empty", "record it again");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    int code = errno;
    throw Error(file, std::string("cannot be read: ") + std::strerror(code),
                "check its permissions", code);
  }
  Header header;
  stream.read(reinterpret_cast<char*>(header.bytes.data()), header.bytes.size());
  header.size = static_cast<size_t>(stream.gcount());
  if (!header.is_sqlite()) refuse_other_format(file, header.text());
  uint64_t expected = header.page_count() * header.page_bytes();
  if (!header.is_wal() && static_cast<uint64_t>(status.st_size) < expected) {
    throw Error(file,
                "is truncated: " + std::to_string(status.st_size) + " of " +
                    std::to_string(expected) + " bytes",
                "copy it again or record it again");
  }
  return header;
}

bool has_table(const Database& database, const char* pattern) {
  Statement statement(database, "SELECT 1 FROM sqlite_schema WHERE name LIKE ?1 ESCAPE '\\'");
  statement.bind(1, std::string_view(pattern));
  return statement.step();
}

std::unique_ptr<Database> connect(const std::filesystem::path& file, const std::string& name,
                                  int flags) {
  auto database =
      std::make_unique<Database>(name, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | flags, file);
  sqlite3_busy_timeout(database->get(), 2'000);
  return database;
}

}  // namespace

void expect_trace(const Database& database) {
  const std::filesystem::path& file = database.file();
  const int64_t application = database.integer("PRAGMA application_id");
  if (application == kUnreleasedApplicationId)
    throw Error(file, "was recorded before the first release of StreamScope", "record it again");
  if (application != kApplicationId) {
    if (has_table(database, "StringIds") || has_table(database, "CUPTI\\_%") ||
        has_table(database, "META\\_DATA\\_EXPORT")) {
      throw Error(file, "is not a StreamScope trace but an export of Nsight Systems",
                  "streamscope import " + file.string());
    }
    if (has_table(database, "rocpd\\_%"))
      throw Error(file, "is not a StreamScope trace but a rocpd database", "");
    if (!has_table(database, "%"))
      throw Error(file, "is empty", "record it again; if it is being recorded, try again");
    throw Error(file, "is a SQLite database of another program, not a StreamScope trace",
                "check the name");
  }
  int64_t version = database.integer("PRAGMA user_version");
  if (version > kFormatVersion) {
    throw Error(file,
                "has trace format " + std::to_string(version) + ", this streamscope reads up to " +
                    std::to_string(kFormatVersion),
                "use a newer streamscope");
  }
  if (version < 1)
    throw Error(file, "has trace format " + std::to_string(version) + ", which never existed",
                "record it again");
  expect_own_tables(database);
}

std::string uri_of(const std::filesystem::path& file, std::string_view parameters) {
  std::string uri = "file:";
  for (unsigned char c : file.string()) {
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "%%%02X", c);
    uri += std::isalnum(c) || c == '/' || c == '.' || c == '_' || c == '-'
               ? std::string(1, static_cast<char>(c))
               : escaped;
  }
  return uri + "?" + std::string(parameters);
}

std::unique_ptr<Database> open_database(const std::filesystem::path& file) {
  Header header = check_file(file);
  std::unique_ptr<Database> database;
  try {
    database = connect(file, file.string(), 0);
    database->integer("PRAGMA application_id");
  } catch (const Error& error) {
    // A file in WAL mode needs a place for its -shm; in a folder that is not writable it is read as
    // it is, which is complete if there is no WAL.
    std::error_code ignored;
    bool wal_is_empty = std::filesystem::file_size(file.string() + "-wal", ignored) == 0 || ignored;
    if ((error.code() & 0xff) != SQLITE_CANTOPEN || !header.is_wal() || !wal_is_empty) throw;
    database = connect(file, uri_of(file, "immutable=1"), SQLITE_OPEN_URI);
  }
  return database;
}

// Does not open the file: closing it would end the locks that SQLite holds on it (POSIX keeps them
// per process and file).
std::unique_ptr<Database> open_again(const Database& trace) {
  const std::filesystem::path& file = trace.file();
  const bool immutable =
      sqlite3_uri_boolean(sqlite3_db_filename(trace.get(), "main"), "immutable", 0) != 0;
  return immutable ? connect(file, uri_of(file, "immutable=1"), SQLITE_OPEN_URI)
                   : connect(file, file.string(), 0);
}

bool is_unwritten(const std::filesystem::path& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  if (error) return error == std::errc::no_such_file_or_directory;
  if (bytes == 0) return true;
  try {
    return open_database(file)->integer("SELECT count(*) FROM sqlite_schema") == 0;
  } catch (const Error&) {
    return false;  // the reader reports what is wrong
  }
}

std::unique_ptr<Database> open_trace(const std::filesystem::path& file) {
  std::unique_ptr<Database> database = open_database(file);
  expect_trace(*database);
  return database;
}

void create_file(const std::filesystem::path& file, bool overwrite) {
  struct stat status;
  if (lstat(file.c_str(), &status) == 0) {
    if (!overwrite)
      throw Error(file, "exists already", "choose another name or overwrite it with --force",
                  EEXIST);
    if (!S_ISREG(status.st_mode))
      throw Error(file, "is not a plain file", "choose another name", EEXIST);
  }
  for (const char* suffix : {"-wal", "-journal", "-shm"}) {
    std::string left_over = file.string() + suffix;
    if (lstat(left_over.c_str(), &status) != 0) continue;
    if (!overwrite)
      throw Error(left_over, "is left from an earlier trace", "remove it or choose another name",
                  EEXIST);
    unlink(left_over.c_str());
  }
  if (overwrite) unlink(file.c_str());
  int descriptor = ::open(file.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    int code = errno;
    throw Error(file, std::string("cannot be created: ") + std::strerror(code),
                code == EEXIST ? "choose another name" : remedy_for(code), code);
  }
  ::close(descriptor);
}

}  // namespace streamscope::trace
