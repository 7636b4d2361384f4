// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What can be selected: a row of one of the trace's tables.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trace/model.h"

namespace streamscope::viewer {

using trace::Id;
using trace::kNoId;

enum class ItemKind : uint8_t {
  kNone = 0,
  kOp,
  kApiCall,
  kEventRecord,
  kEventWait,
  kHostSync,
  kRange,
  kOperation,
  kBarrier,
  kTask,
};

/// Names of the kinds, for people and for --select.
inline constexpr std::array<std::string_view, 10> kItemKindNames = {
    "", "op", "call", "record", "wait", "sync", "range", "operation", "barrier", "task"};
constexpr std::string_view to_string(ItemKind kind) {
  return kItemKindNames[static_cast<size_t>(kind)];
}

/// Anything that can be selected: a row of one of the trace's tables.
struct Item {
  ItemKind kind = ItemKind::kNone;
  Id id = kNoId;

  explicit operator bool() const { return kind != ItemKind::kNone; }
  bool operator==(const Item&) const = default;
};

/// An item in 32 bits, as rows hold them: 4 bits of kind, 28 of id.
constexpr uint32_t pack(Item item) {
  return static_cast<uint32_t>(item.kind) << 28 | (item.id & 0x0fffffffu);
}
constexpr Item unpack(uint32_t packed) {
  return {static_cast<ItemKind>(packed >> 28), packed & 0x0fffffffu};
}

}  // namespace streamscope::viewer
