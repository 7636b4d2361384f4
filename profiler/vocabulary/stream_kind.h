// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of streams.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in traces, in stream.kind: append only.
enum StreamKind : int32_t {
  kLegacyStream = 0,   ///< the default stream that all threads of a process share
  kPerThreadStream,    ///< the default stream of one thread
  kBlockingStream,     ///< waits for the legacy stream, and vice versa
  kNonBlockingStream,  ///< does not
  kGraphStream,        ///< created by the driver for branches of a graph
  kUnknownStream,
};

inline constexpr Term kStreamKinds[] = {
    {kLegacyStream, "legacy"},     {kPerThreadStream, "per-thread"},
    {kBlockingStream, "blocking"}, {kNonBlockingStream, "non-blocking"},
    {kGraphStream, "graph"},       {kUnknownStream, "unknown", "existed before recording"},
};
constexpr std::string_view to_string(StreamKind kind) { return name_of(kStreamKinds, kind); }

}  // namespace streamscope
