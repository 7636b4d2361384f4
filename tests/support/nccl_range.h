// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A call of NCCL as its NVTX ranges describe it.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <cstdint>

namespace streamscope::test {

/// What a newer NCCL reports of a call: domain, and a payload whose layout only its name tells.
struct NcclPayload {
  uint64_t communicator, bytes;
  int32_t number;  ///< peer, root or reduction
};
inline void push_nccl(nvtxDomainHandle_t domain, const char* name, const NcclPayload& payload) {
  const struct {
    uint64_t schema;
    size_t size;
    const void* bytes;
  } data = {1, sizeof payload, &payload};
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.payloadType = static_cast<int32_t>(0xDFBD0009);
  attributes.payload.ullValue = reinterpret_cast<uint64_t>(&data);
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxDomainRangePushEx(domain, &attributes);
}

/// A call, as long as it lives.
class NcclRange {
 public:
  NcclRange(nvtxDomainHandle_t domain, const char* call, uint64_t communicator, uint64_t bytes)
      : domain_(domain) {
    push_nccl(domain, call, {communicator, bytes, 0});
  }
  ~NcclRange() { nvtxDomainRangePop(domain_); }
  NcclRange(const NcclRange&) = delete;
  NcclRange& operator=(const NcclRange&) = delete;

 private:
  nvtxDomainHandle_t domain_;
};

}  // namespace streamscope::test
