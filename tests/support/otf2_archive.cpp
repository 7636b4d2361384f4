// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/otf2_archive.h"

#include <algorithm>

namespace streamscope::test {
namespace {

constexpr uint32_t kStreamAttribute = 0, kEventAttribute = 1;
constexpr uint32_t kCallSite = 0;
constexpr uint64_t kCopyNumber = 42;  // of all copies, as Score-P has it

OTF2_FlushType pre_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
OTF2_TimeStamp post_flush(void*, OTF2_FileType, OTF2_LocationRef) { return 0; }
constexpr OTF2_FlushCallbacks kFlush{pre_flush, post_flush};

}  // namespace

Otf2Archive::Otf2Archive(const std::filesystem::path& folder, const Shape& shape)
    : folder_(folder),
      shape_(shape),
      archive_(OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                 OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)) {
  OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
  OTF2_Archive_OpenEvtFiles(archive_);
}

Otf2Archive::~Otf2Archive() {
  if (archive_) OTF2_Archive_Close(archive_);
}

uint32_t Otf2Archive::region(const std::string& name, OTF2_Paradigm paradigm, OTF2_RegionRole role,
                             const std::string& file, uint32_t line) {
  const auto known = std::ranges::find(regions_, name, &Region::name);
  if (known != regions_.end()) return static_cast<uint32_t>(known - regions_.begin());
  regions_.push_back({name, file, paradigm, role, line});
  return static_cast<uint32_t>(regions_.size() - 1);
}

OTF2_EvtWriter* Otf2Archive::events(uint64_t location) {
  OTF2_EvtWriter*& writer = writers_[location];
  if (!writer) writer = OTF2_Archive_GetEvtWriter(archive_, location);
  return writer;
}

void Otf2Archive::enter(uint64_t location, int64_t at_us, uint32_t region, References references) {
  OTF2_AttributeList* const attributes = OTF2_AttributeList_New();
  if (references.stream >= 0) {
    OTF2_AttributeList_AddLocationRef(attributes, kStreamAttribute,
                                      stream(static_cast<int>(location), references.stream));
  }
  if (references.event >= 0) {
    OTF2_AttributeList_AddUint64(attributes, kEventAttribute,
                                 static_cast<uint64_t>(references.event));
  }
  OTF2_EvtWriter_Enter(events(location), attributes, ticks(at_us), region);
  OTF2_AttributeList_Delete(attributes);
  if (references.call_site >= 0) {
    OTF2_EvtWriter_ParameterUnsignedInt(events(location), nullptr, ticks(at_us), kCallSite,
                                        static_cast<uint64_t>(references.call_site));
  }
}

void Otf2Archive::leave(uint64_t location, int64_t at_us, uint32_t region) {
  OTF2_EvtWriter_Leave(events(location), nullptr, ticks(at_us), region);
}

void Otf2Archive::call(uint64_t thread, const std::string& name, int64_t from_us, int64_t to_us,
                       References references) {
  const uint32_t which = region(name, OTF2_PARADIGM_CUDA, OTF2_REGION_ROLE_WRAPPER);
  enter(thread, from_us, which, references);
  leave(thread, to_us, which);
}

void Otf2Archive::kernel(uint64_t stream, const std::string& name, int64_t from_us, int64_t to_us,
                         int64_t call_site) {
  const uint32_t which = region(name, OTF2_PARADIGM_CUDA);
  enter(stream, from_us, which, {.call_site = call_site});
  leave(stream, to_us, which);
}

void Otf2Archive::copy_to_device(uint64_t stream, int64_t from_us, int64_t to_us, uint64_t bytes) {
  OTF2_EvtWriter_RmaGet(events(stream), nullptr, ticks(from_us), kWindow, 0, bytes, kCopyNumber);
  OTF2_EvtWriter_RmaOpCompleteBlocking(events(stream), nullptr, ticks(to_us), kWindow, kCopyNumber);
}

void Otf2Archive::collective(int rank, const std::string& name, OTF2_CollectiveOp operation,
                             int64_t from_us, int64_t to_us, uint64_t sent, uint64_t received,
                             uint32_t communicator) {
  const uint32_t which = region(name, OTF2_PARADIGM_MPI);
  const uint64_t location = thread(rank);
  enter(location, from_us, which);
  OTF2_EvtWriter_MpiCollectiveBegin(events(location), nullptr, ticks(from_us));
  OTF2_EvtWriter_MpiCollectiveEnd(events(location), nullptr, ticks(to_us), operation, communicator,
                                  OTF2_COLLECTIVE_ROOT_NONE, sent, received);
  leave(location, to_us, which);
}

uint32_t Otf2Archive::text(const std::string& text) {
  const auto [known, is_new] = texts_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
  if (is_new) OTF2_GlobalDefWriter_WriteString(definitions_, known->second, text.c_str());
  return known->second;
}

std::filesystem::path Otf2Archive::close() {
  std::map<uint64_t, uint64_t> counts;
  for (const auto& [location, writer] : writers_) {
    OTF2_EvtWriter_GetNumberOfEvents(writer, &counts[location]);
    OTF2_Archive_CloseEvtWriter(archive_, writer);
  }
  OTF2_Archive_CloseEvtFiles(archive_);
  OTF2_Archive_OpenDefFiles(archive_);
  for (const auto& [location, count] : counts)
    OTF2_Archive_CloseDefWriter(archive_, OTF2_Archive_GetDefWriter(archive_, location));
  OTF2_Archive_CloseDefFiles(archive_);
  definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
  OTF2_GlobalDefWriter_WriteClockProperties(definitions_, 2'000'000'000, kStart, 1'000'000,
                                            1'700'000'000'000'000'000);
  text("");
  write_objects();
  for (const auto& [location, count] : counts) {
    const bool on_device = location >= stream(0);
    const auto rank = static_cast<uint32_t>(on_device ? (location - stream(0)) / 10 : location);
    const bool apart = shape_.streams_in == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
    const std::string name = "CUDA[0:" + std::to_string(7 + location % 10) + "]";
    OTF2_GlobalDefWriter_WriteLocation(
        definitions_, location, text(on_device ? name : "Master thread"),
        on_device ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM : OTF2_LOCATION_TYPE_CPU_THREAD, count,
        on_device && apart ? 100 + rank : rank);
  }
  write_communicators();
  OTF2_Archive_Close(archive_);
  archive_ = nullptr;
  return folder_ / "traces.otf2";
}

void Otf2Archive::write_objects() {
  const auto node = [&](uint32_t self, const char* name, const char* kind, uint32_t parent) {
    OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, self, text(name), text(kind), parent);
  };
  node(0, "host", "node", OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  node(1, "0", "CUDA Device", 0);
  OTF2_AttributeValue device;
  device.stringRef = text("NVIDIA H100");
  OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(definitions_, 1, text("Device name"),
                                                   OTF2_TYPE_STRING, device);
  for (int rank = 0; rank < std::max(shape_.ranks, 1); ++rank) {
    const auto self = static_cast<uint32_t>(rank);
    const std::string name = shape_.ranks == 0 ? "Process" : "MPI Rank " + std::to_string(rank);
    OTF2_GlobalDefWriter_WriteLocationGroup(definitions_, self, text(name),
                                            OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                            OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocationGroup(definitions_, 100 + self, text("CUDA Context 1"),
                                            OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 1, self);
  }
  for (uint32_t i = 0; i < regions_.size(); ++i) {
    const Region& region = regions_[i];
    OTF2_GlobalDefWriter_WriteRegion(definitions_, i, text(region.name), text(region.name),
                                     text(""), region.role, region.paradigm, OTF2_REGION_FLAG_NONE,
                                     text(region.file), region.line, 0);
  }
  OTF2_GlobalDefWriter_WriteAttribute(definitions_, kStreamAttribute, text("CUDA_STREAM_REF"),
                                      text(""), OTF2_TYPE_LOCATION);
  OTF2_GlobalDefWriter_WriteAttribute(definitions_, kEventAttribute, text("CUDA_EVENT_REF"),
                                      text(""), OTF2_TYPE_UINT64);
  OTF2_GlobalDefWriter_WriteParameter(definitions_, kCallSite, text("callsite id"),
                                      OTF2_PARAMETER_TYPE_UINT64);
}

void Otf2Archive::write_communicators() {
  std::vector<uint64_t> ranks, reversed, locations;
  for (int rank = 0; rank < shape_.ranks; ++rank) {
    ranks.push_back(thread(rank));
    reversed.insert(reversed.begin(), thread(rank));
  }
  const auto group = [&](uint32_t self, OTF2_GroupType type, OTF2_Paradigm paradigm,
                         const std::vector<uint64_t>& members) {
    OTF2_GlobalDefWriter_WriteGroup(definitions_, self, text(""), type, paradigm,
                                    OTF2_GROUP_FLAG_NONE, static_cast<uint32_t>(members.size()),
                                    members.data());
  };
  group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_CUDA, {thread(0), stream(0)});
  group(1, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_CUDA, {0, 1});
  const auto communicator = [&](uint32_t self, const char* name, uint32_t members) {
    OTF2_GlobalDefWriter_WriteComm(definitions_, self, text(name), members, OTF2_UNDEFINED_COMM,
                                   OTF2_COMM_FLAG_NONE);
  };
  communicator(10, "", 1);
  OTF2_GlobalDefWriter_WriteRmaWin(definitions_, kWindow, text("CUDA_WINDOW"), 10,
                                   OTF2_RMA_WIN_FLAG_NONE);
  if (ranks.empty()) return;
  group(2, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, ranks);
  group(3, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, ranks);
  group(4, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, reversed);
  group(5, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, {});
  communicator(kWorld, "MPI_COMM_WORLD", 3);
  communicator(kReversed, "", 4);
  communicator(kSelf, "MPI_COMM_SELF", 5);
}

}  // namespace streamscope::test
