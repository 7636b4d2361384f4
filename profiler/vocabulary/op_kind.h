// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of work on a device.
#pragma once

#include <cstdint>

namespace streamscope {

/// Stored in traces, in op.kind: append only.
enum OpKind : int32_t {
  kKernel = 0,
  kMemcpy,
  kMemset,
  kHostFunction,
  kMemoryWait,
  kMemoryWrite,
  kGraphLaunch,
};

}  // namespace streamscope
