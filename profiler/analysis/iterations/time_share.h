// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the time of an iteration can go into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/model.h"

namespace streamscope::analysis {

enum class TimeShare : uint8_t {
  kKernels,        ///< kernels and graphs ran
  kCollectives,    ///< kernels of collectives ran
  kCopies,         ///< copies and memsets ran
  kOtherWork,      ///< host functions and memory waits of streams
  kLatency,        ///< the device started work that was issued
  kLaunching,      ///< the host was on its way to the next launch, in CUDA calls or shortly between
  kOutside,        ///< the host was outside CUDA for long
  kSynchronizing,  ///< the host waited, or caught up after it had waited
  kMemory,         ///< the host allocated or freed memory
  kCodeLoading,    ///< the host loaded code
  kLock,           ///< the host waited for another thread's call
  kRecorder,       ///< the recorder delayed the host
  kUnknown,
};
inline constexpr size_t kShareCount = 13;

struct ShareNames {
  std::string_view id;     ///< in JSON and assertions
  std::string_view shown;  ///< in reports
};
const ShareNames& names_of(TimeShare share);

/// True for what the host spends.
bool is_host_time(TimeShare share);

/// By TimeShare.
using Shares = std::array<trace::Ns, kShareCount>;

}  // namespace streamscope::analysis
