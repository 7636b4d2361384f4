// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A library that a Python program loads with ctypes: one blocking CUDA call on top of the fakes.
#include "fake/fake.h"

#include <cuda_runtime_api.h>

FAKE_API void synchronize() {
  cuInit(0);
  const cudaEventSynchronize_v3020_params parameters{nullptr};
  FakeCall call;
  fake_enter(&call, CUPTI_CB_DOMAIN_RUNTIME_API,
             CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, &parameters, nullptr, nullptr,
             nullptr);
  fake_exit(&call, 0);
}

/// Makes the call below a function of the caller's.
FAKE_API void call_back(void (*function)()) { function(); }
