// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/calls/launch_parameters.h"

#include <cupti.h>

#include <algorithm>
#include <string_view>

#include "collect/process/driver.h"

namespace streamscope::collect {

namespace {

void find_buffer(void** extra, LaunchParameters& found) {
  for (size_t i = 0; extra != nullptr && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      found.buffer = static_cast<const unsigned char*>(extra[i + 1]);
    else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      found.buffer_bytes = *static_cast<const size_t*>(extra[i + 1]);
  }
}

}  // namespace

std::span<const unsigned char> LaunchParameters::of(size_t index, size_t offset,
                                                    size_t bytes) const {
  if (values != nullptr) {
    const auto* const from = static_cast<const unsigned char*>(values[index]);
    return {from, from == nullptr ? 0 : bytes};
  }
  if (buffer == nullptr || offset >= buffer_bytes) return {};
  return {buffer + offset, std::min(bytes, buffer_bytes - offset)};
}

LaunchParameters launch_parameters(ring::CallId driver_call, const void* parameters) {
  LaunchParameters found;
  void** extra = nullptr;
  const std::string_view name = ring::call_info(driver_call).name;
  if (name == "cuLaunchKernel") {
    const auto& p = *static_cast<const cuLaunchKernel_params*>(parameters);
    found.function = p.f, found.values = p.kernelParams, extra = p.extra;
  } else if (name == "cuLaunchKernelEx") {
    const auto& p = *static_cast<const cuLaunchKernelEx_params*>(parameters);
    found.function = p.f, found.values = p.kernelParams, extra = p.extra;
  } else if (name == "cuLaunchCooperativeKernel") {
    const auto& p = *static_cast<const cuLaunchCooperativeKernel_params*>(parameters);
    found.function = p.f, found.values = p.kernelParams;
  }
  if (found.values == nullptr) find_buffer(extra, found);
  return found;
}

bool parameter_layout(const void* function, size_t index, size_t* offset, size_t* bytes) {
  const auto ask = [&](auto query) {
    return query != nullptr &&
           query(const_cast<void*>(function), index, offset, bytes) == CUDA_SUCCESS;
  };
  return ask(cuda.cuFuncGetParamInfo) || ask(cuda.cuKernelGetParamInfo);
}

}  // namespace streamscope::collect
