// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One process of an archive, while its events become rows: its objects, its communicators, and what
// its locations share.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "definitions.h"
#include "import/assembly.h"
#include "issuers.h"

namespace streamscope::import::otf2 {

/// A communicator as this process is part of it.
struct Membership {
  Id name = kNoId;  ///< equal on all ranks
  Small size = kNoSmall;
  Small rank = kNoSmall;  ///< of this process there
};

/// Keeps references to its arguments. Thread-compatible.
class ProcessRows {
 public:
  /// `group`: the location group that is the process.
  ProcessRows(const Definitions& definitions, uint32_t group, RankClaim rank, Assembly& assembly);

  const Definitions& definitions() const { return definitions_; }
  Assembly& assembly() { return assembly_; }
  Issuers& issuers() { return issuers_; }
  Id id() const { return id_; }
  /// Score-P's parameter with a number of the call site, of a call and of what it launched;
  /// OTF2_UNDEFINED_PARAMETER: the archive has none.
  uint32_t call_site_parameter() const { return call_site_parameter_; }

  /// Nothing for a time that no trace can have, which is counted.
  std::optional<Ns> time(uint64_t ticks);
  Id thread(const Location& location);
  /// A stream of this process.
  Id stream(const Location& location);
  Id find_stream(uint64_t location) const;
  Membership membership(OTF2_CommRef communicator);
  /// True if the rank of a window's communicator is a stream.
  bool is_stream(OTF2_RmaWinRef window, uint32_t rank) const;
  Int next_correlation() { return ++last_correlation_; }

  void count_invalid(uint64_t count = 1) { invalid_ += count; }
  void count_ignored(const std::string& what, uint64_t count = 1) { ignored_[what] += count; }
  /// Adds what was collected.
  void finish();

 private:
  Id device(uint32_t node, Int ordinal);

  const Definitions& definitions_;
  Assembly& assembly_;
  Issuers issuers_;
  RankClaim rank_;
  Id id_;
  uint32_t call_site_parameter_ = OTF2_UNDEFINED_PARAMETER;
  std::unordered_map<uint64_t, Id> streams_;  // by location
  std::unordered_map<uint32_t, Membership> memberships_;
  Int last_correlation_ = 0;
  uint64_t invalid_ = 0;
  std::map<std::string, uint64_t> ignored_;
};

/// The attribute of an event with this reference, if it has this type; kUnknownNumber without it.
uint64_t number_of(const OTF2_AttributeList* attributes, uint32_t attribute, OTF2_Type type);
/// The reference of the attribute with this name; OTF2_UNDEFINED_ATTRIBUTE if there is none.
uint32_t attribute_named(const Definitions& definitions, std::string_view name);

}  // namespace streamscope::import::otf2
