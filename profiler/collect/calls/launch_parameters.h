// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The parameters that a launch in the driver gives to its kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ring/calls.h"

namespace streamscope::collect {

struct LaunchParameters {
  /// CUfunction or, since 12.0, CUkernel; null if the call is no launch of one kernel.
  const void* function = nullptr;
  void** values = nullptr;                // one for each parameter, or null
  const unsigned char* buffer = nullptr;  // all of them, with `buffer_bytes`, or null
  size_t buffer_bytes = 0;

  /// The bytes of a parameter, as far as they are known to be there.
  std::span<const unsigned char> of(size_t index, size_t offset, size_t bytes) const;
};

/// `parameters` are those of the call itself, as CUPTI lays them out.
LaunchParameters launch_parameters(ring::CallId driver_call, const void* parameters);

/// Where a parameter lies in the buffer of all, as the driver says. False if there is none. The
/// function must be valid.
bool parameter_layout(const void* function, size_t index, size_t* offset, size_t* bytes);

}  // namespace streamscope::collect
