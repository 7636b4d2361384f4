// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "process.h"

#include <algorithm>
#include <charconv>

namespace streamscope::import::otf2 {
namespace {

constexpr Ns kLatestNs = Ns{1} << 61;  // 73 years

// "CUDA[0:7]" is stream 7 of device 0.
struct StreamNumbers {
  Int device = kNoInt, stream = kNoInt;
};
StreamNumbers numbers_of(std::string_view name) {
  StreamNumbers found;
  const size_t open = name.find('['), colon = name.find(':', open), close = name.find(']', colon);
  if (open == name.npos || colon == name.npos || close == name.npos) return found;
  const auto number = [](std::string_view text) {
    Int value = kNoInt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : kNoInt;
  };
  found.device = number(name.substr(open + 1, colon - open - 1));
  found.stream = number(name.substr(colon + 1, close - colon - 1));
  return found;
}

bool is_default_stream(const Definitions& definitions, uint64_t location) {
  const auto known = definitions.location_properties.find(location);
  return known != definitions.location_properties.end() &&
         std::ranges::any_of(known->second, [](std::string_view name) {
           return name == "CUDA_NULL_STREAM" || name == "hipNullStream";
         });
}

}  // namespace

ProcessRows::ProcessRows(const Definitions& definitions, uint32_t group, RankClaim rank,
                         Assembly& assembly)
    : definitions_(definitions), assembly_(assembly), rank_(rank), id_(assembly.process(group)) {
  trace::Process& row = assembly_.process_row(id_);
  row.os_pid = kNoSmall;
  row.collector_id = assembly_.intern("otf2");
  const auto known = definitions.location_groups.find(group);
  if (known != definitions.location_groups.end() && !known->second.name.empty())
    row.name_id = assembly_.intern(known->second.name);
  if (rank.is_known()) assembly_.set_rank(rank);
  for (const auto& [reference, name] : definitions.parameters) {
    if (name == "callsite id") call_site_parameter_ = reference;
  }
}

std::optional<Ns> ProcessRows::time(uint64_t ticks) {
  const __int128 since = static_cast<__int128>(ticks) - definitions_.start_ticks;
  const __int128 ns = since * 1'000'000'000 / definitions_.ticks_per_second;
  if (ns <= -kLatestNs || ns >= kLatestNs) {
    ++invalid_;
    return std::nullopt;
  }
  return static_cast<Ns>(ns);
}

// The numbers of threads are the archive's own, so the rows have none.
Id ProcessRows::thread(const Location& location) {
  const Id id = assembly_.thread(id_, static_cast<Int>(location.id));
  trace::Thread& row = assembly_.thread_row(id);
  row.os_tid = kNoSmall;
  if (!location.name.empty()) row.name_id = assembly_.intern(location.name);
  return id;
}

Id ProcessRows::device(uint32_t node, Int ordinal) {
  const auto known = definitions_.nodes.find(node);
  if (ordinal == kNoInt && known == definitions_.nodes.end()) return kNoId;
  const Id id = assembly_.device(ordinal == kNoInt ? -1 - static_cast<Int>(node) : ordinal);
  trace::Device& row = assembly_.device_row(id);
  if (ordinal != kNoInt) row.ordinal = trace::small_or_none(ordinal);
  if (known == definitions_.nodes.end()) return id;
  for (const auto& [name, value] : known->second.properties) {
    if (name == "Device name") row.name_id = assembly_.intern(value);
  }
  return id;
}

Id ProcessRows::stream(const Location& location) {
  if (const Id known = find_stream(location.id); known != kNoId) return known;
  const StreamNumbers numbers = numbers_of(location.name);
  const auto group = definitions_.location_groups.find(location.group);
  const bool is_on_device = group != definitions_.location_groups.end() &&
                            group->second.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
  const uint32_t node = is_on_device ? group->second.node : OTF2_UNDEFINED_UINT32;
  const Id context =
      assembly_.context(id_, static_cast<Int>(location.group), device(node, numbers.device));
  const Id id = assembly_.stream(
      context, numbers.stream == kNoInt ? -1 - static_cast<Int>(streams_.size()) : numbers.stream);
  trace::Stream& row = assembly_.stream_row(id);
  if (numbers.stream == kNoInt) {
    row.native_id = kNoSmall;
    row.name_id = assembly_.intern(location.name);
  }
  if (is_default_stream(definitions_, location.id)) row.kind = trace::kLegacyStream;
  streams_[location.id] = id;
  return id;
}

Id ProcessRows::find_stream(uint64_t location) const {
  const auto known = streams_.find(location);
  return known == streams_.end() ? kNoId : known->second;
}

Membership ProcessRows::membership(OTF2_CommRef communicator) {
  const auto [known, is_new] = memberships_.try_emplace(communicator);
  Membership& result = known->second;
  if (!is_new) return result;
  const auto defined = definitions_.communicators.find(communicator);
  if (defined == definitions_.communicators.end()) return result;
  const auto group_of = [&](uint32_t group) {
    const auto found = definitions_.groups.find(group);
    return found == definitions_.groups.end() ? nullptr : &found->second;
  };
  const Group* const group = group_of(defined->second.group);
  const Group* const other = group_of(defined->second.other_group);
  // Several may have the same name, or none.
  std::string name(defined->second.name);
  const auto namesakes = std::ranges::count_if(definitions_.communicators, [&](const auto& each) {
    return each.second.name == defined->second.name;
  });
  if (name.empty()) name = "Comm";
  if (namesakes > 1 || defined->second.name.empty()) name += " " + std::to_string(communicator);
  result.name = assembly_.intern(name);
  if (!group) return result;
  if (group->type == OTF2_GROUP_TYPE_COMM_SELF) {
    result.size = 1;
    return result;
  }
  result.size = trace::small_or_none(group->members.size() + (other ? other->members.size() : 0));
  if (other) return result;
  const auto self = std::ranges::find(group->members, static_cast<uint64_t>(rank_.rank));
  if (self != group->members.end())
    result.rank = trace::small_or_none(self - group->members.begin());
  return result;
}

bool ProcessRows::is_stream(OTF2_RmaWinRef window, uint32_t rank) const {
  const auto communicator = definitions_.windows.find(window);
  if (communicator == definitions_.windows.end()) return false;
  const auto defined = definitions_.communicators.find(communicator->second);
  if (defined == definitions_.communicators.end()) return false;
  const auto group = definitions_.groups.find(defined->second.group);
  if (group == definitions_.groups.end() || rank >= group->second.members.size()) return false;
  const std::vector<uint64_t>* const locations = definitions_.ranks_of(group->second.paradigm);
  const uint64_t member = group->second.members[rank];
  return locations && member < locations->size() && find_stream((*locations)[member]) != kNoId;
}

void ProcessRows::finish() {
  issuers_.finish(assembly_);
  assembly_.losses().add("record-invalid", invalid_);
  for (const auto& [what, count] : ignored_)
    assembly_.losses().add("import-not-understood", count, kNoId, what);
  assembly_.set_origin("otf2");
}

uint64_t number_of(const OTF2_AttributeList* attributes, uint32_t attribute, OTF2_Type type) {
  OTF2_Type found = OTF2_TYPE_NONE;
  OTF2_AttributeValue value;
  if (!attributes || !OTF2_AttributeList_TestAttributeByID(attributes, attribute) ||
      OTF2_AttributeList_GetAttributeByID(attributes, attribute, &found, &value) != OTF2_SUCCESS ||
      found != type)
    return kUnknownNumber;
  switch (type) {
    case OTF2_TYPE_LOCATION:
      return value.locationRef;
    case OTF2_TYPE_UINT32:
      return value.uint32;
    case OTF2_TYPE_UINT64:
      return value.uint64;
    default:
      return kUnknownNumber;
  }
}

uint32_t attribute_named(const Definitions& definitions, std::string_view name) {
  for (const auto& [reference, attribute] : definitions.attributes) {
    if (attribute == name) return reference;
  }
  return OTF2_UNDEFINED_ATTRIBUTE;
}

}  // namespace streamscope::import::otf2
