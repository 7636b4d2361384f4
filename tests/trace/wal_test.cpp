// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A trace becomes one plain file even if the system refuses locks and removals for a moment.
#include "trace/change/wal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <fstream>
#include <string>

#include "trace/read/reader.h"
#include "trace/write/writer.h"
#include "trace_file.h"

namespace streamscope::trace {
namespace {

int calls_left = 0;  // until one fails; 0: none does
bool failed = false;

bool fails_now() { return calls_left > 0 && --calls_left == 0 && (failed = true); }

int no_unlink(const char* file) {
  if (!fails_now()) return ::unlink(file);
  errno = EACCES;
  return -1;
}

int no_lock(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  auto* argument = va_arg(rest, struct flock*);
  va_end(rest);
  if (command != F_SETLK || argument->l_type == F_UNLCK || !fails_now())
    return ::fcntl(file, command, argument);
  errno = ENOLCK;
  return -1;
}

/// SQLite calls `function` instead of the system call `name`.
class Replaced {
 public:
  Replaced(const char* name, void* function) : name_(name) {
    vfs()->xSetSystemCall(vfs(), name_, reinterpret_cast<sqlite3_syscall_ptr>(function));
  }
  ~Replaced() {
    calls_left = 0;
    vfs()->xSetSystemCall(vfs(), name_, nullptr);
  }

 private:
  static sqlite3_vfs* vfs() { return sqlite3_vfs_find(nullptr); }
  const char* name_;
};

bool has(const std::filesystem::path& file, const char* suffix) {
  return std::filesystem::exists(file.string() + suffix);
}

/// Its header names no log.
bool is_plain(const std::filesystem::path& file) {
  char header[20] = {};
  std::ifstream(file, std::ios::binary).read(header, sizeof header);
  return header[18] == 1 && header[19] == 1;
}

/// Finishes a trace with the n-th call failing; false if it made fewer.
bool finish_with_failure(const std::filesystem::path& file, int n) {
  Writer writer = Writer::create(file);
  for (Ns i = 0; i < 10; ++i) writer.append(Op{.start_ns = i});
  writer.flush();
  failed = false;
  calls_left = n;
  writer.finish(true);
  calls_left = 0;
  return failed;
}

TEST(FoldWal, TheNextCommandRemovesWhatCouldNotBeRemoved) {
  const Replaced replaced("unlink", reinterpret_cast<void*>(no_unlink));
  int failures = 0;
  for (int n = 1;; ++n, ++failures) {
    const TempTrace file;
    if (!finish_with_failure(file, n)) break;
    EXPECT_TRUE(fold_wal(file));
    EXPECT_FALSE(has(file, "-wal") || has(file, "-shm")) << "removal " << n;
    EXPECT_EQ(read(file).op.size(), 10u);
  }
  EXPECT_GE(failures, 2) << "of the log and of its index";
}

TEST(FoldWal, ALockThatIsRefusedForAMomentLeavesNoLog) {
  const Replaced replaced("fcntl", reinterpret_cast<void*>(no_lock));
  int failures = 0;
  for (int n = 1;; ++n) {
    const TempTrace file;
    bool refused = true;
    try {
      refused = finish_with_failure(file, n);
    } catch (const Error&) {  // in the transaction before
      continue;
    }
    if (!refused) break;
    EXPECT_FALSE(has(file, "-wal") || has(file, "-shm")) << "lock " << n;
    EXPECT_TRUE(is_plain(file)) << "lock " << n;
    EXPECT_EQ(read(file).op.size(), 10u);
    ++failures;
  }
  EXPECT_GE(failures, 4);
}

}  // namespace
}  // namespace streamscope::trace
