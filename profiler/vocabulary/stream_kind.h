// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of streams.
#pragma once

#include <cstdint>

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

}  // namespace streamscope
