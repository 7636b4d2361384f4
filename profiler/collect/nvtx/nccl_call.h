// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the payload of NCCL's NVTX ranges says about collectives and communicators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "ring/record.h"
#include "vocabulary/collective_kind.h"

namespace streamscope::collect {

/// NVTX_PAYLOAD_TYPE_EXT and nvtxPayloadData_t of nvToolsExtPayload.h, which older toolkits lack.
inline constexpr auto kStructuredPayload = static_cast<int32_t>(0xDFBD0009);
struct StructuredPayload {
  uint64_t schema;
  size_t size;
  const void* bytes;
};

struct NcclCall {
  bool is_collective = false;     ///< also a send or receive; false: the rest means nothing
  uint64_t communicator = 0;      ///< a hash that is equal on all its ranks; 0: unknown
  uint64_t bytes = 0;             ///< 0: unknown
  uint32_t peer = ring::kNone32;  ///< of a send or receive: rank in the communicator
};

/// `name` of a range in the domain "NCCL", and its payload, whose `bytes` may be null.
///
/// The payload is the size of the message, and for all but all-gather and all-to-all a number: the
/// peer, the root or the reduction. In newer versions the hash of the communicator precedes them.
inline NcclCall nccl_call(std::string_view name, const StructuredPayload& payload) {
  NcclCall call;
  const CollectiveKind kind = collective_kind(name);
  call.is_collective = kind != CollectiveKind::kOther;
  constexpr size_t kWord = sizeof(uint64_t);
  const bool has_number = kind != CollectiveKind::kAllGather && kind != CollectiveKind::kAllToAll;
  const size_t words = payload.size / kWord, least = has_number ? 2 : 1;
  if (!call.is_collective || payload.bytes == nullptr || words < least) return call;
  const bool has_communicator = words > least;
  const auto* at = static_cast<const unsigned char*>(payload.bytes);
  if (has_communicator) {
    std::memcpy(&call.communicator, at, kWord);
    at += kWord;
  }
  std::memcpy(&call.bytes, at, kWord);
  if (kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive)
    std::memcpy(&call.peer, at + kWord, sizeof call.peer);
  return call;
}

/// A communicator as a process that has joined it sees it.
struct NcclCommunicator {
  uint64_t hash = 0;
  uint32_t rank_count = 0;
  uint32_t rank = ring::kNone32;  ///< of the process; kNone32: it has several
};

/// The payload at the end of a range in the domain "NCCL", if it is that of one of NCCL's functions
/// that make a communicator: its hash, the number of its ranks and the own rank, by the fixed
/// numbers that NCCL gives its payloads. That of a split describes the parent.
inline std::optional<NcclCommunicator> nccl_communicator(const StructuredPayload& payload) {
  constexpr uint64_t kFirstSchema = 1 << 24;
  constexpr uint64_t kInitRank = 0, kInitAll = 1, kInitRankConfig = 11, kInitRankScalable = 12;
  struct Fields {
    uint64_t hash;
    int32_t rank_count, rank;
  };
  const uint64_t made_by = payload.schema - kFirstSchema;
  const bool has_rank =
      made_by == kInitRank || made_by == kInitRankConfig || made_by == kInitRankScalable;
  if (payload.bytes == nullptr || payload.size < sizeof(Fields) ||
      (!has_rank && made_by != kInitAll))
    return std::nullopt;
  Fields fields;
  std::memcpy(&fields, payload.bytes, sizeof fields);
  if (fields.hash == 0 || fields.rank_count <= 0) return std::nullopt;
  NcclCommunicator result{fields.hash, static_cast<uint32_t>(fields.rank_count)};
  if (has_rank && fields.rank >= 0 && fields.rank < fields.rank_count)
    result.rank = static_cast<uint32_t>(fields.rank);
  return result;
}

}  // namespace streamscope::collect
