// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Replaces the CUDA backend if the headers of the toolkit were not found.

#include "codes.h"
#include "cuda/cuda_backend.h"

namespace coord::cuda {

namespace {
constexpr const char* kWhy = "libcoord was built without the headers of the CUDA toolkit";
}

int device_count(std::string& why_none) {
  why_none = kWhy;
  return 0;
}

std::unique_ptr<Backend> open(int) { throw make_error(kCodeNoDevice, "cuda::open", kWhy); }
std::unique_ptr<Backend> open(CUctx_st*) {
  throw make_error(kCodeNoDevice, "Device::of_context", kWhy);
}

}  // namespace coord::cuda
