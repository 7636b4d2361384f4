// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Helpers for the scenarios of the child program: it plays the CUDA runtime on top of the fakes.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>

#include <functional>
#include <string>
#include <vector>

#include "fake/fake.h"

#define RUNTIME_ID(name) CUPTI_RUNTIME_TRACE_CBID_##name
#define DRIVER_ID(name) CUPTI_DRIVER_TRACE_CBID_##name

namespace child {

using Inside = std::function<void(const FakeCall&)>;

inline CUcontext context() {
  return reinterpret_cast<CUcontext>(uintptr_t{0x7001});
}  // its id is 1
template <class Handle>
Handle handle(uintptr_t value) {
  return reinterpret_cast<Handle>(value);
}

struct Call {
  int32_t result = 0;
  const char* symbol = nullptr;
  const FakeCall* outer = nullptr;
  Inside inside = nullptr;
  CUcontext context = child::context();
};

/// One call with its two callbacks; `options.inside` runs in between. Returns the correlation id.
template <class Parameters>
uint32_t call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const Parameters& parameters,
              const Call& options = {}) {
  FakeCall made;
  fake_enter(&made, domain, id, &parameters, options.symbol, options.context, options.outer);
  if (options.inside) options.inside(made);
  fake_exit(&made, options.result);
  return made.data.correlationId;
}
template <class Parameters>
uint32_t runtime(CUpti_CallbackId id, const Parameters& parameters, const Call& options = {}) {
  return call(CUPTI_CB_DOMAIN_RUNTIME_API, id, parameters, options);
}
template <class Parameters>
uint32_t driver(CUpti_CallbackId id, const Parameters& parameters, const Call& options = {}) {
  return call(CUPTI_CB_DOMAIN_DRIVER_API, id, parameters, options);
}

uint32_t launch(cudaStream_t stream, const char* name = "_Z6kernelv");
/// A launch and its finished activity.
void run_kernel(cudaStream_t stream, const char* name);
uint32_t record(cudaEvent_t event, cudaStream_t stream);
uint32_t wait(cudaStream_t stream, cudaEvent_t event);
void create_event(cudaEvent_t event, unsigned flags = 0);
/// cudaStreamCreateWithPriority with its resource callback inside.
void create_stream(cudaStream_t stream, unsigned flags = 0, int priority = 0);
/// Also if the call returns an error: its handle is dead then.
void destroy_stream(cudaStream_t stream, int32_t result = 0);
void destroy_event(cudaEvent_t event, int32_t result = 0);
/// Creates the context.
void create_context();
void say(const char* line);
void pause_ms(int ms);

using Arguments = std::vector<std::string>;
struct Scenario {
  const char* name;
  int (*run)(const Arguments&);
};

}  // namespace child
