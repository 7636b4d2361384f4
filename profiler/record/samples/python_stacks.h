// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The Python frames of threads of another process, read from outside without stopping anything.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ring/python_frames.h"
#include "sampled_stack.h"

namespace streamscope::record {

/// Where the frames of a thread are, as the collector in its process reported.
struct PythonThread {
  uint64_t state = 0;  ///< PyThreadState; 0: no Python thread
  uint64_t code_type = 0, text_type = 0;
  uint32_t minor = 0;

  bool operator==(const PythonThread&) const = default;
};

/// How many of the outer frames two readings of a running thread have in common, its innermost
/// frame included while it is in the same function.
size_t frames_in_common(const std::vector<ring::PythonFrame>& a,
                        const std::vector<ring::PythonFrame>& b);

/// Of one process. Thread-compatible.
class PythonStacks {
 public:
  explicit PythonStacks(pid_t process) : process_(process) {}

  /// Fills `frames`; empty if the thread runs no Python. The thread runs on while it is read, so it
  /// is read until two readings agree; if they never do, only what they have in common is kept: the
  /// outer frames. About 1 µs per frame.
  void read(const PythonThread& thread, std::vector<SampledFrame>& frames);

 private:
  struct Named {
    uint64_t file, name;
    int first_line;
    std::string text;
  };
  struct Key {
    uint64_t code;
    int32_t offset;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return (key.code ^ static_cast<uint64_t>(key.offset) << 40) * 0x9e3779b97f4a7c15u;
    }
  };
  struct Memory {
    pid_t process;
    bool read(uint64_t from, void* to, size_t bytes) const;
  };
  using Reader = ring::PythonReader<Memory>;

  std::vector<ring::PythonFrame> walk(const PythonThread& thread);
  const std::string& name(const PythonThread& thread, const ring::PythonFrame& frame);
  std::string look_up(const PythonThread& thread, const ring::PythonFrame& frame);

  pid_t process_;
  std::unordered_map<Key, Named, Hash> names_;
};

}  // namespace streamscope::record
