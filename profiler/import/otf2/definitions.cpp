// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "definitions.h"

#include <algorithm>
#include <memory>

#include "callbacks.h"

namespace streamscope::import::otf2 {
namespace {

class DefinitionReceiver : public Receiver {
 public:
  explicit DefinitionReceiver(Definitions& definitions) : all_(definitions) {}

  void clock(uint64_t resolution, uint64_t offset, uint64_t, uint64_t realtime) {
    all_.ticks_per_second = resolution;
    all_.start_ticks = offset;
    all_.start_realtime_ns = realtime;
  }
  void string(OTF2_StringRef self, const char* text) { all_.strings.try_emplace(self, text); }
  void paradigm(OTF2_Paradigm self, OTF2_StringRef name, OTF2_ParadigmClass) {
    all_.paradigms[self] = all_.text(name);
  }
  void attribute(OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_Type) {
    all_.attributes[self] = all_.text(name);
  }
  void parameter(OTF2_ParameterRef self, OTF2_StringRef name, OTF2_ParameterType) {
    all_.parameters[self] = all_.text(name);
  }
  void node(OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef,
            OTF2_SystemTreeNodeRef) {
    all_.nodes[self].name = all_.text(name);
  }
  void node_property(OTF2_SystemTreeNodeRef node, OTF2_StringRef name, OTF2_Type type,
                     OTF2_AttributeValue value) {
    if (type == OTF2_TYPE_STRING)
      all_.nodes[node].properties.emplace_back(all_.text(name), all_.text(value.stringRef));
  }
  void location_group(OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType type,
                      OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef creator) {
    all_.location_groups[self] = {all_.text(name), type, node, creator};
  }
  void location(OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                uint64_t event_count, OTF2_LocationGroupRef group) {
    all_.locations.push_back({self, all_.text(name), type, event_count, group});
  }
  void location_property(OTF2_LocationRef location, OTF2_StringRef name, OTF2_Type,
                         OTF2_AttributeValue) {
    all_.location_properties[location].push_back(all_.text(name));
  }
  void region(OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef,
              OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag, OTF2_StringRef file,
              uint32_t line, uint32_t) {
    all_.regions[self] = {all_.text(name), role, paradigm, all_.text(file), line};
  }
  void group(OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
             OTF2_GroupFlag, uint32_t count, const uint64_t* members) {
    all_.groups[self] = {type, paradigm, {members, members + count}};
  }
  void communicator(OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef,
                    OTF2_CommFlag) {
    all_.communicators[self] = {all_.text(name), group};
  }
  void inter_communicator(OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                          OTF2_GroupRef other, OTF2_CommRef, OTF2_CommFlag) {
    all_.communicators[self] = {all_.text(name), group, other};
  }
  void window(OTF2_RmaWinRef self, OTF2_StringRef, OTF2_CommRef communicator, OTF2_RmaWinFlag) {
    all_.windows[self] = communicator;
  }

 private:
  Definitions& all_;
};

}  // namespace

std::string_view Definitions::text(uint32_t reference) const {
  const auto known = strings.find(reference);
  return known == strings.end() ? std::string_view() : known->second;
}

const std::vector<uint64_t>* Definitions::ranks_of(OTF2_Paradigm paradigm) const {
  for (const auto& [reference, group] : groups) {
    if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS && group.paradigm == paradigm)
      return &group.members;
  }
  return nullptr;
}

OTF2_ErrorCode read_definitions(OTF2_Reader* reader, Definitions& definitions) {
  using To = DefinitionReceiver;
  OTF2_GlobalDefReader* from = OTF2_Reader_GetGlobalDefReader(reader);
  if (!from) return OTF2_ERROR_FILE_CAN_NOT_OPEN;
  const std::unique_ptr<OTF2_GlobalDefReaderCallbacks, void (*)(OTF2_GlobalDefReaderCallbacks*)>
      owned(OTF2_GlobalDefReaderCallbacks_New(), OTF2_GlobalDefReaderCallbacks_Delete);
  auto* const to = owned.get();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(to, forward_definition<&To::clock>);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(to, forward_definition<&To::string>);
  OTF2_GlobalDefReaderCallbacks_SetParadigmCallback(to, forward_definition<&To::paradigm>);
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(to, forward_definition<&To::attribute>);
  OTF2_GlobalDefReaderCallbacks_SetParameterCallback(to, forward_definition<&To::parameter>);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(to, forward_definition<&To::node>);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(
      to, forward_definition<&To::node_property>);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(to,
                                                         forward_definition<&To::location_group>);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(to, forward_definition<&To::location>);
  OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(
      to, forward_definition<&To::location_property>);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(to, forward_definition<&To::region>);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(to, forward_definition<&To::group>);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(to, forward_definition<&To::communicator>);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(to,
                                                     forward_definition<&To::inter_communicator>);
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(to, forward_definition<&To::window>);
  DefinitionReceiver receiver(definitions);
  OTF2_ErrorCode result = OTF2_Reader_RegisterGlobalDefCallbacks(reader, from, to, &receiver);
  uint64_t count = 0;
  if (result == OTF2_SUCCESS) result = OTF2_Reader_ReadAllGlobalDefinitions(reader, from, &count);
  receiver.rethrow();
  OTF2_Reader_CloseGlobalDefReader(reader, from);
  return result;
}

}  // namespace streamscope::import::otf2
