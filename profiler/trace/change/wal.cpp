// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "wal.h"

#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "trace/model.h"
#include "trace/sqlite/open.h"

namespace streamscope::trace {
namespace {

constexpr int kBusyTimeoutMs = 2'000;

bool exists(const std::filesystem::path& file, const char* suffix) {
  struct stat status;
  return lstat((file.string() + suffix).c_str(), &status) == 0;
}

bool is_busy(int code) { return (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED; }

// Read from the bytes, since a file with a journal to roll back cannot be opened for reading.
// Offsets: https://sqlite.org/fileformat.html, 1.3.
struct Header {
  explicit Header(const std::filesystem::path& file) {
    std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(bytes), sizeof bytes);
  }
  bool is_wal() const { return bytes[18] == 2 || bytes[19] == 2; }
  bool is_ours() const {
    return (bytes[68] << 24 | bytes[69] << 16 | bytes[70] << 8 | bytes[71]) == kApplicationId;
  }
  unsigned char bytes[72] = {};
};

bool is_finished(const std::filesystem::path& file) {
  return open_trace(file)->integer(
             "SELECT count(*) FROM meta WHERE key = 'finished' AND value = 1") > 0;
}

/// Files that SQLite could not remove when the log was in the file, which it does not report. The
/// lock keeps others from starting a new log meanwhile. The trace is complete with or without them.
void remove_left_over(Database& database) {
  const std::string log = database.file().string() + "-wal";
  if (!exists(database.file(), "-wal") && !exists(database.file(), "-shm")) return;
  try {
    database.run("BEGIN EXCLUSIVE");
    std::error_code error;
    if (std::filesystem::file_size(log, error) == 0 || error) {
      for (const char* suffix : {"-wal", "-shm"})
        std::filesystem::remove(database.file().string() + suffix, error);
    }
    database.run("COMMIT");
  } catch (const Error&) {
  }
}

bool try_to_fold(Database& database) {
  const int code = sqlite3_wal_checkpoint_v2(database.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE,
                                             nullptr, nullptr);
  if (is_busy(code)) return false;
  if (code != SQLITE_OK) database.fail(code);
  try {
    // Not DELETE: the change of the header would create a journal, which only users with write
    // access can roll back. It is one page, which is written completely or not at all.
    database.run("PRAGMA journal_mode=MEMORY");
  } catch (const Error& error) {
    if (is_busy(error.code())) return false;
    throw;
  }
  remove_left_over(database);
  return true;
}

}  // namespace

bool fold_wal(Database& database) {
  // A lock that the system refuses for a moment looks like one held by another process, for which
  // SQLite waits.
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(50);
  while (!try_to_fold(database)) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool fold_wal(const std::filesystem::path& file) {
  const Header header(file);
  if (exists(file, "-wal") || exists(file, "-shm") || header.is_wal()) {
    if (!is_finished(file)) return false;
  } else if (!exists(file, "-journal")) {
    return true;
  } else if (!header.is_ours()) {
    return false;
  }
  Database database(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
  sqlite3_busy_timeout(database.get(), kBusyTimeoutMs);
  database.integer("SELECT count(*) FROM sqlite_schema");  // rolls back
  return fold_wal(database);
}

}  // namespace streamscope::trace
