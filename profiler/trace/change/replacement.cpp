// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "replacement.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/fs.h>
#include <sys/sendfile.h>
#endif

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "trace/error.h"
#include "trace/folder_names.h"

namespace streamscope::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".streamscope-";
// Leaves space for the suffix if file names have at most 255 bytes.
constexpr size_t kLongestName = 200;

#ifdef __linux__
// 0, or the errno of the failure. The kernel copies; if the file system can, it only shares blocks.
int copy_content(int from, int to, off_t bytes) {
  if (ioctl(to, FICLONE, from) == 0) return 0;
  bool in_kernel = true;
  for (off_t done = 0; done < bytes;) {
    const auto left = static_cast<size_t>(bytes - done);
    const ssize_t copied = in_kernel ? copy_file_range(from, nullptr, to, nullptr, left, 0)
                                     : sendfile(to, from, nullptr, left);
    if (copied > 0) {
      done += copied;
    } else if (copied == 0) {
      return EIO;  // the file was truncated meanwhile
    } else if (errno != EINTR) {
      // Some file systems refuse the first call with one of several errors.
      if (!in_kernel || errno == ENOSPC || errno == EDQUOT || errno == EFBIG) return errno;
      in_kernel = false;
    }
  }
  return 0;
}
#else
// A web page changes no files.
int copy_content(int, int, off_t) { return ENOTSUP; }
#endif

// The original's owner and mode. No one may read the copy who may not read the original.
void take_owner(int descriptor, const struct stat& original) {
  mode_t mode = original.st_mode & 07777;
  if (fchown(descriptor, original.st_uid, original.st_gid) != 0 &&
      fchown(descriptor, static_cast<uid_t>(-1), original.st_gid) != 0)
    mode &= S_IRWXU;
  fchmod(descriptor, mode);
}

bool is_copy(std::string_view name) {
  constexpr size_t kRandom = 6;
  const size_t at = name.rfind(kEnding);
  return name.starts_with('.') && at != name.npos && name.size() - at == kEnding.size() + kRandom;
}

}  // namespace

Replacement::Replacement(const fs::path& file) : file_(file) {
  std::error_code error;
  target_ = fs::canonical(file, error);
  if (error) fail("cannot be opened", error.value());
  if (access(target_.c_str(), W_OK) != 0) fail("is not writable", errno);
  const fs::path folder = target_.parent_path();
  remove_abandoned(folder);
  try {
    make_copy(folder);
  } catch (...) {
    discard();
    throw;
  }
}

void Replacement::make_copy(const fs::path& folder) {
  struct stat facts {};
  do {
    if (copy_descriptor_ >= 0) close(copy_descriptor_);
    std::string name = folder / ("." + target_.filename().string().substr(0, kLongestName) +
                                 std::string(kEnding) + "XXXXXX");
    copy_descriptor_ = mkostemp(name.data(), O_CLOEXEC);
    if (copy_descriptor_ < 0) fail("cannot be copied", errno);
    try {
      copy_ = name;
    } catch (...) {
      unlink(name.c_str());
      throw;
    }
    if (flock(copy_descriptor_, LOCK_EX) != 0 || fstat(copy_descriptor_, &facts) != 0)
      fail("cannot be copied", errno);
  } while (facts.st_nlink == 0);  // removed as abandoned before it was locked
  source_descriptor_ = open(target_.c_str(), O_RDONLY | O_CLOEXEC);
  if (source_descriptor_ < 0 || fstat(source_descriptor_, &facts) != 0)
    fail("cannot be read", errno);
  take_owner(copy_descriptor_, facts);
  if (const int error = copy_content(source_descriptor_, copy_descriptor_, facts.st_size))
    fail("cannot be copied", error);
}

Replacement::~Replacement() { discard(); }

void Replacement::discard() {
  if (!committed_ && copy_descriptor_ >= 0) unlink(copy_.c_str());
  for (const int descriptor : {copy_descriptor_, source_descriptor_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

void Replacement::commit() {
  if (fsync(copy_descriptor_) != 0) fail("cannot be written", errno);
  if (rename(copy_.c_str(), target_.c_str()) != 0) fail("cannot be replaced", errno);
  committed_ = true;
  // Only determines when the new name is on the disk; either name is that of a complete file.
  const int folder = open(target_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

void Replacement::fail(const char* what, int error) const {
  throw Error(file_, std::string(what) + ": " + std::strerror(error), remedy_for(error), error);
}

void Replacement::remove_abandoned(const fs::path& folder) {
  for (const std::string& name : try_names_in(folder).value_or(std::vector<std::string>())) {
    if (!is_copy(name)) continue;
    const fs::path copy = folder / name;
    const int descriptor = open(copy.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    struct stat facts {};
    if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
        flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      unlink(copy.c_str());
    close(descriptor);
  }
}

}  // namespace streamscope::trace
