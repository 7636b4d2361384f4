// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "op_order.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <type_traits>

#include "trace/error.h"

namespace streamscope::record {
namespace {

static_assert(std::is_trivially_copyable_v<OpOrder::Held>);

/// An open file that is closed at the end.
class File {
 public:
  File(const std::filesystem::path& path, int flags)
      : path_(path), descriptor_(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  size_t size() const {
    struct stat facts {};
    if (::fstat(descriptor_, &facts) != 0) fail("read");
    return static_cast<size_t>(facts.st_size);
  }
  /// Moves all bytes by `call`, which is ::read or ::write.
  template <class Call, class Byte>
  void move(Call call, Byte* at, size_t left, const char* what) const {
    while (left > 0) {
      const ssize_t moved = call(descriptor_, at, left);
      if (moved < 0 && errno == EINTR) continue;
      if (moved == 0) errno = EIO;
      if (moved <= 0) fail(what);
      at += moved;
      left -= static_cast<size_t>(moved);
    }
  }
  [[noreturn]] void fail(const char* what) const {
    throw Error(path_, std::string("cannot be ") + what + ": " + std::strerror(errno),
                remedy_for(errno), errno);
  }

 private:
  const std::filesystem::path& path_;
  int descriptor_;
};

}  // namespace

void OpOrder::save(const std::filesystem::path& path) const {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open()) file.fail("opened");
  file.move(::write, reinterpret_cast<const char*>(held_.data()), held_.size() * sizeof(Held),
            "written");
}

void OpOrder::restore(const std::filesystem::path& path) {
  const File file(path, O_RDONLY);
  if (!file.is_open()) {
    if (errno == ENOENT) return;
    file.fail("opened");
  }
  held_.resize(file.size() / sizeof(Held));
  file.move(::read, reinterpret_cast<char*>(held_.data()), held_.size() * sizeof(Held), "read");
}

trace::Id OpOrder::store_now(const trace::Op& op, trace::Id operation) {
  const trace::Id id = writer_.append(op);
  if (operation != trace::kNoId) writer_.append(trace::OperationOp{operation, id});
  return id;
}

void OpOrder::store(size_t count) {
  for (size_t i = 0; i < count; ++i) store_now(held_[i].op, held_[i].operation);
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(count));
}

void OpOrder::store_settled() {
  const auto earlier = [](const Held& a, const Held& b) { return a.op.start_ns < b.op.start_ns; };
  if (!std::is_sorted(held_.begin(), held_.end(), earlier))
    std::stable_sort(held_.begin(), held_.end(), earlier);
  const auto unsettled = std::partition_point(held_.begin(), held_.end(), [&](const Held& held) {
    return held.op.start_ns < newest_before_;
  });
  const trace::Ns newest = held_.empty() ? newest_before_ : held_.back().op.start_ns;
  store(static_cast<size_t>(unsettled - held_.begin()));
  newest_before_ = std::max(newest_before_, newest);
}

void OpOrder::store_all() {
  trace::Ns newest = newest_before_;
  for (const Held& held : held_) newest = std::max(newest, held.op.start_ns);
  newest_before_ = std::numeric_limits<trace::Ns>::max();
  store_settled();
  newest_before_ = newest;
}

}  // namespace streamscope::record
