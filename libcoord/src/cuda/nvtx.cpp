// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "nvtx.h"

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>

#include "cuda/handles.h"

namespace coord::nvtx {

namespace {

nvtxDomainHandle_t coord_domain() noexcept {
  static nvtxDomainHandle_t const domain = nvtxDomainCreateA("coord");
  return domain;
}

}  // namespace

// NVTX looks for a tool at its first call, and returns a null domain if there is none.
bool listening() noexcept { return coord_domain() != nullptr; }

void push(const char* name) noexcept {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxDomainRangePushEx(coord_domain(), &attributes);
}

void pop() noexcept { nvtxDomainRangePop(coord_domain()); }

void name_stream(std::uint64_t handle, const char* name) noexcept {
  nvtxNameCuStreamA(cuda::to_stream(handle), name);
}

void name_event(std::uint64_t handle, const char* name) noexcept {
  nvtxNameCuEventA(cuda::to_event(handle), name);
}

}  // namespace coord::nvtx
