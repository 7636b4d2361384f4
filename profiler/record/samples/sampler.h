// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Samples what the threads that issue work do: their state and their call stacks, from outside.
//
// Python frames are read from memory, and so is the stack of a thread that waits in the kernel;
// only a running thread without Python is stopped, while its registers and stack are copied.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "python_stacks.h"
#include "sampled_stack.h"
#include "trace/model.h"

namespace streamscope::record {

/// A thread to sample.
struct WatchedThread {
  trace::Id process = trace::kNoId;  ///< row
  pid_t pid = 0;
  uint32_t tid = 0;
  PythonThread python;

  bool operator==(const WatchedThread&) const = default;
};

struct HostSample {
  trace::Id process = trace::kNoId;  ///< row
  uint32_t tid = 0;
  uint64_t at = 0;  ///< ticks, as in the rings
  bool runs = false;
  std::optional<int> system_call;             ///< in which it waits; -1: elsewhere in the kernel
  std::optional<int64_t> ran_ns;              ///< on a processor since the sample before
  std::optional<int64_t> delayed_ns;          ///< ready, but without a processor, since then
  std::shared_ptr<const SampledStack> stack;  ///< nullptr: could not be read
};

/// Has a thread of its own. Thread-safe.
class Sampler {
 public:
  /// `hz`: samples a second of each thread, on average: the intervals vary, so that no repeated
  /// work is missed. Positive.
  explicit Sampler(uint32_t hz);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Replaces the threads that are sampled.
  void watch(std::vector<WatchedThread> threads);
  /// Samples since the call before, by time.
  std::vector<HostSample> take();
  /// Samples that were not made because nobody took them.
  uint64_t dropped() const;
  /// How long threads were stopped, in all.
  int64_t stopped_ns() const;

 private:
  struct Work;  // of the sampling thread

  void run(const std::stop_token& stop);

  uint32_t hz_;
  mutable std::mutex mutex_;
  std::condition_variable_any stopping_;
  std::vector<WatchedThread> watched_;
  bool changed_ = false;
  std::vector<HostSample> samples_;
  uint64_t dropped_ = 0;
  int64_t stopped_ns_ = 0;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace streamscope::record
