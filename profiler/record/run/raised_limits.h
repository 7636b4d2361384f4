// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The limits of the recorder's process, raised as far as permitted: the limits that were set are
// meant for the program.
#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace streamscope::record {

class RaisedLimits {
 public:
  RaisedLimits() {
    for (size_t i = 0; i < kCount; ++i) {
      known_[i] = ::getrlimit(kResources[i], &before_[i]) == 0;
      if (!known_[i]) continue;
      rlimit raised = before_[i];
      raised.rlim_cur = raised.rlim_max;
      ::setrlimit(kResources[i], &raised);
    }
  }
  ~RaisedLimits() { restore(); }
  RaisedLimits(const RaisedLimits&) = delete;
  RaisedLimits& operator=(const RaisedLimits&) = delete;

  /// The address space that the program may have.
  rlim_t address_space() const { return known_[1] ? before_[1].rlim_cur : RLIM_INFINITY; }
  /// In the child: restores them.
  void restore() const {
    for (size_t i = 0; i < kCount; ++i) {
      if (known_[i]) ::setrlimit(kResources[i], &before_[i]);
    }
  }

 private:
  // Not the size of files: a limit on the size of the trace applies to the recorder.
  static constexpr __rlimit_resource kResources[] = {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA,
                                                     RLIMIT_CPU};
  static constexpr size_t kCount = sizeof kResources / sizeof kResources[0];
  rlimit before_[kCount] = {};
  bool known_[kCount] = {};
};

}  // namespace streamscope::record
