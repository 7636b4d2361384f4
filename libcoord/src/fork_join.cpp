// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/fork_join.h"

#include <exception>
#include <utility>

#include "coord/error.h"

namespace coord {

ForkJoin::ForkJoin(EventPool& pool, StreamRef trunk, std::span<const StreamRef> branches)
    : pool_(pool), trunk_(trunk), captured_(trunk.capture_status() != CaptureStatus::kNone) {
  branches_.reserve(branches.size());
  const EventRef forked = pool_.acquire();
  try {
    trunk_.record(forked);
    for (StreamRef branch : branches) {
      branch.wait(forked);
      branches_.push_back(branch);
    }
  } catch (...) {
    give_back(forked);
    try {
      join();
    } catch (const Error&) {
      // The first error is the one to tell.
    }
    throw;
  }
  give_back(forked);
}

// All waits for it were issued. What was recorded in a capture must not be queried by its next
// user.
void ForkJoin::give_back(EventRef event) {
  captured_ ? pool_.discard(event) : pool_.release(event);
}

ForkJoin::~ForkJoin() {
  try {
    join();
  } catch (const Error&) {
    // The device has failed, or a stream is gone: there is no order to keep.
  }
}

void ForkJoin::join() {
  std::exception_ptr first;
  for (StreamRef branch : std::exchange(branches_, {})) {
    EventRef joined;
    try {
      joined = pool_.acquire();
      branch.record(joined);
      trunk_.wait(joined);
    } catch (const Error&) {
      if (first == nullptr) first = std::current_exception();
    }
    if (joined.id().valid()) give_back(joined);
  }
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace coord
