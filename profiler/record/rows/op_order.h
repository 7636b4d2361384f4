// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Sorts device work by its start before it is stored.
//
// Activities arrive in buffers, in about the order in which the work ended. Ops whose ids ascend
// with their start need no index on start, which saves a quarter of the file; so ops are held back
// for one more batch and sorted. Whenever rows are stored, held-back ops are written to a file next
// to the rings, as their records may be released then.
#pragma once

#include <filesystem>
#include <span>

#include <vector>

#include "trace/write/writer.h"

namespace streamscope::record {

/// Thread-compatible.
class OpOrder {
 public:
  struct Held {
    trace::Op op;
    trace::Id operation;
  };

  explicit OpOrder(trace::Writer& writer) : writer_(writer) {}

  /// An op whose times are known, and the libcoord operation whose function issued it (kNoId if
  /// none).
  void add(const trace::Op& op, trace::Id operation) { held_.push_back({op, operation}); }
  /// Stores an op without times now and returns its id.
  trace::Id store_now(const trace::Op& op, trace::Id operation);
  /// Stores the ops that started before the newest one known at the last call; no older one is
  /// expected any more.
  void store_settled();
  /// Stores everything. Later ops are sorted as before, after these.
  void store_all();

  /// Writes what is held back to `file`, replacing its content. Throws Error.
  void save(const std::filesystem::path& file) const;
  /// Takes over what an earlier writer saved; nothing if there is no such file. Throws Error.
  void restore(const std::filesystem::path& file);
  std::span<const Held> held() const { return held_; }

 private:
  void store(size_t count);

  trace::Writer& writer_;
  std::vector<Held> held_;
  trace::Ns newest_before_ = trace::kUnknownNs;
};

}  // namespace streamscope::record
