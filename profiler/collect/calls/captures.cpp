// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/calls/captures.h"

namespace streamscope::collect {
namespace {

// cudaStreamLegacy, cudaStreamPerThread
constexpr uint64_t kLegacyHandle = 1, kPerThreadHandle = 2;

// True if a call to end a capture had no effect: the arguments were invalid, or it came from
// another stream or thread than the capture's own.
bool was_refused(int32_t result) {
  constexpr int32_t kInvalidValue = 1, kInvalidHandle = 400, kUnmatched = 903, kWrongThread = 908;
  return result == kInvalidValue || result == kInvalidHandle || result == kUnmatched ||
         result == kWrongThread;
}

}  // namespace

Captures::Stream Captures::stream(uint64_t handle, bool per_thread, uint32_t context,
                                  uint32_t tid) {
  if (handle > kPerThreadHandle) return handle;
  if (handle == kLegacyHandle || (handle == 0 && !per_thread)) return 0;
  // Not a valid address.
  return uint64_t{1} << 63 | uint64_t{context & 0x7fffffff} << 32 | tid;
}

void Captures::begin(Stream stream, uint32_t context) {
  if (stream == 0) return;
  end_stream(stream);  // if its end was not seen
  captures_[next_] = {stream, context};
  streams_[stream] = next_++;
}

void Captures::record(Stream stream, uint64_t event) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) {
    events_.erase(event);
  } else {
    events_[event] = found->second;
  }
}

void Captures::wait(Stream stream, uint64_t event) {
  const auto found = events_.find(event);
  if (stream != 0 && found != events_.end()) streams_.emplace(stream, found->second);
}

void Captures::end(Stream stream, int32_t result) {
  const auto found = streams_.find(stream);
  if (found != streams_.end() && !was_refused(result)) drop(found->second);
}

void Captures::end_stream(Stream stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  // Without its origin stream nothing can end it, and all calls in it fail.
  if (captures_.at(found->second).origin == stream) return drop(found->second);
  streams_.erase(found);
}

void Captures::end_context(uint32_t context) {
  for (auto each = captures_.begin(); each != captures_.end();) {
    const uint32_t capture = each->first;
    const bool gone = (each++)->second.context == context;
    if (gone) drop(capture);
  }
}

void Captures::drop(uint32_t capture) {
  const auto is_of = [capture](const auto& member) { return member.second == capture; };
  std::erase_if(streams_, is_of);
  std::erase_if(events_, is_of);
  captures_.erase(capture);
}

}  // namespace streamscope::collect
