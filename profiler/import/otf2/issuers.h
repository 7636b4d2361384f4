// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the calls that issued the work of a process. An archive does not number calls and work, but
// a stream runs its work in the order of the calls, so the order decides where it is certain which
// calls are meant: those that name the stream (Score-P's "references"), those of the same call site
// ("kernel_callsite"), or all of a kind, if only one stream has such work. As many calls as work
// are needed; else their work stays without calls.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "import/assembly.h"

namespace streamscope::import::otf2 {

inline constexpr uint64_t kUnknownNumber = ~uint64_t{0};

/// Thread-compatible.
class Issuers {
 public:
  struct IssuingCall {
    trace::OpKind kind = trace::kKernel;  ///< of the work
    Ns start_ns = 0;
    Int correlation = kNoInt;
    Id stream = kNoId;                    ///< kNoId: not said
    uint64_t call_site = kUnknownNumber;  ///< kUnknownNumber: not said
  };

  void add(const IssuingCall& call) { calls_.push_back(call); }
  void add(const trace::Op& op, uint64_t call_site) { work_.push_back({op, call_site}); }

  /// Adds all work, with the correlation numbers of its calls.
  void finish(Assembly& assembly);

 private:
  struct Work {
    trace::Op op;
    uint64_t call_site;
  };
  /// Kind, stream and call site, where they count.
  using Key = std::tuple<Int, Id, uint64_t>;
  template <class KeyOfCall, class KeyOfWork>
  void match(KeyOfCall key_of_call, KeyOfWork key_of_work);

  std::vector<IssuingCall> calls_;  // those that are not matched
  std::vector<Work> work_;
};

}  // namespace streamscope::import::otf2
