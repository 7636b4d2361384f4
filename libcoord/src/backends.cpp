// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The list of built-in backends, one per line.

#include "coord/backend.h"
#include "cuda/cuda_backend.h"
#include "sim/sim_backend.h"

namespace coord {

const std::vector<BackendFactory>& backends() {
  static const std::vector<BackendFactory> kBackends{
      {"cuda", cuda::device_count, cuda::open},
      {"sim", [](std::string&) { return 1; }, [](int) { return sim::open_simulated({}); }},
  };
  return kBackends;
}

}  // namespace coord
