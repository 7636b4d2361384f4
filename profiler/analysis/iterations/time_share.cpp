// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "time_share.h"

namespace streamscope::analysis {
namespace {

constexpr std::array<ShareNames, kShareCount> kShareNames = {{
    {"kernels", "kernels"},
    {"collectives", "collectives"},
    {"copies", "copies"},
    {"other-work", "host functions and memory waits"},
    {"device-latency", "starting work on the device"},
    {"host-launching", "host launching"},
    {"host-outside", "host outside CUDA"},
    {"host-synchronization", "host synchronization"},
    {"memory-management", "managing memory"},
    {"code-loading", "loading code"},
    {"host-lock", "waiting for another thread"},
    {"recorder", "recorder"},
    {"unknown", "unknown"},
}};

}  // namespace

const ShareNames& names_of(TimeShare share) { return kShareNames[static_cast<size_t>(share)]; }

bool is_host_time(TimeShare share) {
  switch (share) {
    case TimeShare::kLaunching:
    case TimeShare::kOutside:
    case TimeShare::kSynchronizing:
    case TimeShare::kMemory:
    case TimeShare::kCodeLoading:
    case TimeShare::kLock:
    case TimeShare::kRecorder:
      return true;
    default:
      return false;
  }
}

}  // namespace streamscope::analysis
