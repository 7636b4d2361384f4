// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "nvtx.h"

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>

namespace coord::nvtx {

namespace {

nvtxDomainHandle_t domain() noexcept {
  static nvtxDomainHandle_t const kDomain = nvtxDomainCreateA("coord");
  return kDomain;
}

}  // namespace

void push(const char* name) noexcept {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxDomainRangePushEx(domain(), &attributes);
}

void pop() noexcept { nvtxDomainRangePop(domain()); }

void name_stream(std::uint64_t handle, const char* name) noexcept {
  nvtxNameCuStreamA(reinterpret_cast<CUstream>(handle), name);
}

void name_event(std::uint64_t handle, const char* name) noexcept {
  nvtxNameCuEventA(reinterpret_cast<CUevent>(handle), name);
}

}  // namespace coord::nvtx
