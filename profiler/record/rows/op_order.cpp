// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "op_order.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <type_traits>

#include "record/run/files.h"

namespace streamscope::record {

static_assert(std::is_trivially_copyable_v<OpOrder::Held>);

void OpOrder::save(const std::filesystem::path& path) const {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) throw file_error(path, "opened", errno);
  if (!write_all(file.get(), held_.data(), held_.size() * sizeof(Held)))
    throw file_error(path, "written", errno);
}

void OpOrder::restore(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ENOENT) return;
  if (!file) throw file_error(path, "opened", errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) throw file_error(path, "read", errno);
  held_.resize(static_cast<size_t>(facts.st_size) / sizeof(Held));
  if (!read_all(file.get(), held_.data(), held_.size() * sizeof(Held)))
    throw file_error(path, "read", errno);
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
  const auto start = [](const Held& held) { return held.op.start_ns; };
  if (!std::ranges::is_sorted(held_, {}, start)) std::ranges::stable_sort(held_, {}, start);
  const auto unsettled = std::ranges::lower_bound(held_, newest_before_, {}, start);
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
