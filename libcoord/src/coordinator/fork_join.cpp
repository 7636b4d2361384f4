// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/fork_join.h"

#include <exception>
#include <utility>

#include "coord/error.h"

namespace coord {

namespace {

constexpr auto kForkOrJoin = [](StreamRef) {};  // no work of its own

/// A point of a stream: all its current work.
OperationOptions point(StreamRef stream, const char* what) {
  return {.type = OperationType::kSynchronization, .stream = stream, .description = what};
}

}  // namespace

ForkJoin::ForkJoin(Coordinator& coordinator, StreamRef trunk, std::span<const StreamRef> branches,
                   std::source_location where)
    : coordinator_(coordinator), trunk_(trunk), where_(where) {
  branches_.reserve(branches.size());
  try {
    const OperationHandle forked = coordinator_.submit(point(trunk_, "fork"), kForkOrJoin, where_);
    for (StreamRef branch : branches) {
      OperationOptions options = point(branch, "branch");
      options.after = {forked};
      coordinator_.post(options, kForkOrJoin, where_);
      branches_.push_back(branch);
    }
  } catch (...) {
    try {
      join();
    } catch (const Error&) {
      // The first error is the one to report.
    }
    throw;
  }
}

ForkJoin::~ForkJoin() {
  try {
    join();
  } catch (const Error&) {
    // The device has failed, or a stream is gone: there is no order to keep.
  }
}

void ForkJoin::join() {
  if (branches_.empty()) return;
  std::exception_ptr first;
  OperationOptions joined = point(trunk_, "join");
  for (StreamRef branch : std::exchange(branches_, {})) {
    try {
      joined.after.push_back(coordinator_.submit(point(branch, "branch end"), kForkOrJoin, where_));
    } catch (const Error&) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  try {
    coordinator_.post(joined, kForkOrJoin, where_);
  } catch (const Error&) {
    if (first == nullptr) first = std::current_exception();
  }
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace coord
