// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Writes an OTF2 archive as Score-P does: a process per rank with one thread and some streams, in
// groups of their own. Times are in µs from the start; those of a location ascend.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace streamscope::test {

/// What an event refers to; none without a number.
struct Otf2References {
  int stream = -1;
  int64_t event = -1;
  int64_t call_site = -1;
};

class Otf2Archive {
 public:
  using References = Otf2References;
  /// Communicators. What a dup of kWorld is has no name, and its ranks are in the opposite order.
  static constexpr uint32_t kWorld = 0, kReversed = 1, kSelf = 2;
  static constexpr uint32_t kWindow = 0;

  struct Shape {
    int ranks = 0;  ///< of MPI; 0: one process without it
    int streams = 1;
    OTF2_LocationGroupType streams_in = OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
  };

  /// Creates the archive `folder`/traces.otf2.
  Otf2Archive(const std::filesystem::path& folder, const Shape& shape);
  Otf2Archive(const Otf2Archive&) = delete;
  Otf2Archive& operator=(const Otf2Archive&) = delete;
  ~Otf2Archive();

  /// A region for enter() and leave(), made on first use.
  uint32_t region(const std::string& name, OTF2_Paradigm paradigm = OTF2_PARADIGM_COMPILER,
                  OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION, const std::string& file = "",
                  uint32_t line = 0);

  // Locations.
  static uint64_t thread(int rank) { return static_cast<uint64_t>(rank); }
  static uint64_t stream(int rank, int number = 0) {
    return 1000 + 10 * static_cast<uint64_t>(rank) + static_cast<uint64_t>(number);
  }

  void enter(uint64_t location, int64_t at_us, uint32_t region, References references = {});
  void leave(uint64_t location, int64_t at_us, uint32_t region);
  /// A CUDA function.
  void call(uint64_t thread, const std::string& name, int64_t from_us, int64_t to_us,
            References references = {});
  void kernel(uint64_t stream, const std::string& name, int64_t from_us, int64_t to_us,
              int64_t call_site = -1);
  void copy_to_device(uint64_t stream, int64_t from_us, int64_t to_us, uint64_t bytes);
  void collective(int rank, const std::string& name, OTF2_CollectiveOp operation, int64_t from_us,
                  int64_t to_us, uint64_t sent, uint64_t received = 0,
                  uint32_t communicator = kWorld);
  OTF2_EvtWriter* events(uint64_t location);
  static uint64_t ticks(int64_t us) { return kStart + static_cast<uint64_t>(us) * 2000; }

  /// Writes everything; returns the file.
  std::filesystem::path close();

 private:
  static constexpr uint64_t kStart = 5000;  // of the clock, which has 2 ticks per ns

  uint32_t text(const std::string& text);
  void write_objects();
  void write_communicators();

  const std::filesystem::path folder_;
  const Shape shape_;
  OTF2_Archive* archive_;
  OTF2_GlobalDefWriter* definitions_ = nullptr;
  std::map<std::string, uint32_t> texts_;
  struct Region {
    std::string name, file;
    OTF2_Paradigm paradigm;
    OTF2_RegionRole role;
    uint32_t line;
  };
  std::vector<Region> regions_;
  std::map<uint64_t, OTF2_EvtWriter*> writers_;
};

}  // namespace streamscope::test
