// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What can be selected: a row of one of the trace's tables, or what samples of a thread agree in.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trace/read/reader.h"

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
  kSamples,  ///< a run of HostFrames, not a row of a table
};

/// Names of the kinds, for people and for --select.
inline constexpr std::array<std::string_view, 11> kItemKindNames = {
    "", "op", "call", "record", "wait", "sync", "range", "operation", "barrier", "task", "samples"};
constexpr std::string_view to_string(ItemKind kind) {
  return kItemKindNames[static_cast<size_t>(kind)];
}

/// Anything that can be selected.
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

/// What `use` returns for the table that the item is a row of; `none` if the trace has no such row.
template <class Result, class Use>
Result in_table(const trace::Trace& trace, Item item, Result none, Use use) {
  const auto look = [&](const auto& table) -> Result {
    return item.id < table.size() ? use(table) : none;
  };
  switch (item.kind) {
    case ItemKind::kNone:
    case ItemKind::kSamples:
      return none;
    case ItemKind::kOp:
      return look(trace.op);
    case ItemKind::kApiCall:
      return look(trace.api_call);
    case ItemKind::kEventRecord:
      return look(trace.event_record);
    case ItemKind::kEventWait:
      return look(trace.event_wait);
    case ItemKind::kHostSync:
      return look(trace.host_sync);
    case ItemKind::kRange:
      return look(trace.range);
    case ItemKind::kOperation:
      return look(trace.operation);
    case ItemKind::kBarrier:
      return look(trace.barrier);
    case ItemKind::kTask:
      return look(trace.task);
  }
  return none;
}

}  // namespace streamscope::viewer
