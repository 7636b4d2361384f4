// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Puts device work into the order of its start before it is stored.
//
// Activities arrive in buffers, in about the order in which the work ended. Ops whose ids ascend
// with their start need no index on start, which saves a quarter of the file; so ops are held back
// for one more batch and sorted.
#pragma once

#include <vector>

#include "trace/writer.h"

namespace streamscope::record {

/// Thread-compatible.
class OpOrder {
 public:
  explicit OpOrder(trace::Writer& writer) : writer_(writer) {}

  /// An op whose times are known, and the libcoord operation whose function issued it (kNoId if
  /// none).
  void add(const trace::Op& op, trace::Id operation) { held_.push_back({op, operation}); }
  /// Stores an op without times now and returns its id.
  trace::Id store_now(const trace::Op& op, trace::Id operation);
  /// Stores the ops that started before the newest one known at the last call; no older one is
  /// expected any more.
  void store_settled();
  /// Stores everything. What comes later is put into order as before, behind it.
  void store_all();

 private:
  struct Held {
    trace::Op op;
    trace::Id operation;
  };
  void store(size_t count);

  trace::Writer& writer_;
  std::vector<Held> held_;
  trace::Ns newest_before_ = trace::kUnknownNs;
};

}  // namespace streamscope::record
