// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Maps the text hashes of rings to string ids of the trace, whether the text arrives before or
// after its first use.
#pragma once

#include <string>
#include <unordered_map>

#include "flat_map.h"
#include "record/recovery/id_journal.h"
#include "ring/record.h"
#include "trace/write/writer.h"

namespace streamscope::record {

/// One for all processes of a run: equal texts have equal hashes. Thread-compatible.
class TextTable {
 public:
  TextTable(trace::Writer& writer, IdJournal& journal) : writer_(writer), journal_(journal) {}

  /// Id of the text with this hash; a placeholder if it has not arrived yet; kNoId for 0.
  trace::Id id(ring::TextHash hash) {
    if (hash == 0) return trace::kNoId;
    const trace::Id* known = ids_.find(hash);
    return known != nullptr ? *known : reserve(hash);
  }
  /// The bytes with this hash, as they were sent; nullptr if they have not arrived yet.
  const std::string* find(ring::TextHash hash) const;
  /// Adds a complete text. Linker names of C++ functions are stored demangled. False if `text` does
  /// not have this hash.
  bool add(ring::TextHash hash, std::string&& text);
  /// Takes over the id that an earlier writer assigned; `known` says whether it had the text.
  void restore(ring::TextHash hash, trace::Id id, bool known);
  /// Number of placeholders whose text has not arrived.
  size_t missing() const { return missing_; }

 private:
  trace::Id reserve(ring::TextHash hash);

  trace::Writer& writer_;
  IdJournal& journal_;
  FlatMap<uint64_t, trace::Id> ids_;
  std::unordered_map<ring::TextHash, std::string> texts_;
  size_t missing_ = 0;
};

}  // namespace streamscope::record
