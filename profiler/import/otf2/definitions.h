// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the definitions of an OTF2 archive say about clock, places, regions and communicators, as
// far as an import needs it.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace streamscope::import::otf2 {

struct Location {
  uint64_t id = 0;
  std::string_view name;
  OTF2_LocationType type = OTF2_LOCATION_TYPE_UNKNOWN;
  uint64_t event_count = 0;
  uint32_t group = 0;
};

struct LocationGroup {
  std::string_view name;
  OTF2_LocationGroupType type = OTF2_LOCATION_GROUP_TYPE_UNKNOWN;
  uint32_t node = OTF2_UNDEFINED_UINT32;     ///< where it is in the system tree
  uint32_t creator = OTF2_UNDEFINED_UINT32;  ///< of an accelerator: the process
};

struct Region {
  std::string_view name;
  OTF2_RegionRole role = OTF2_REGION_ROLE_UNKNOWN;
  OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
  std::string_view file;  ///< "": unknown
  uint32_t line = 0;      ///< 0: unknown
};

struct Group {
  OTF2_GroupType type = OTF2_GROUP_TYPE_UNKNOWN;
  OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
  std::vector<uint64_t> members;
};

struct Communicator {
  std::string_view name;
  uint32_t group = OTF2_UNDEFINED_UINT32;
  uint32_t other_group = OTF2_UNDEFINED_UINT32;  ///< of an inter-communicator
};

struct SystemNode {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> properties;
};

/// By the references of the archive. Texts live as long as this.
struct Definitions {
  Definitions() = default;
  Definitions(Definitions&&) = default;

  uint64_t ticks_per_second = 0;
  uint64_t start_ticks = 0;
  uint64_t start_realtime_ns = OTF2_UNDEFINED_TIMESTAMP;

  std::unordered_map<uint32_t, std::string> strings;
  std::vector<Location> locations;  ///< in the order of the archive
  std::map<uint32_t, LocationGroup> location_groups;
  std::unordered_map<uint32_t, Region> regions;
  std::map<uint32_t, Group> groups;
  std::unordered_map<uint32_t, Communicator> communicators;
  std::unordered_map<uint32_t, uint32_t> windows;  ///< communicator of each
  std::unordered_map<uint32_t, std::string_view> attributes, parameters, paradigms;
  std::unordered_map<uint32_t, SystemNode> nodes;
  std::unordered_map<uint64_t, std::vector<std::string_view>> location_properties;  ///< names

  std::string_view text(uint32_t reference) const;
  /// The locations that are the members of COMM_GROUPs of a paradigm; nullptr if there are none.
  const std::vector<uint64_t>* ranks_of(OTF2_Paradigm paradigm) const;
};

/// Reads all global definitions; returns the library's word. An exception is one of lacking memory.
OTF2_ErrorCode read_definitions(OTF2_Reader* reader, Definitions& definitions);

}  // namespace streamscope::import::otf2
