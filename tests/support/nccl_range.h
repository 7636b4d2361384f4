// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A call of NCCL as its NVTX ranges describe it.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <cstdint>

namespace streamscope::test {

/// As a newer NCCL describes an all-reduce: communicator, bytes, reduction.
class NcclRange {
 public:
  NcclRange(nvtxDomainHandle_t domain, const char* call, uint64_t communicator, uint64_t bytes)
      : domain_(domain), words_{communicator, bytes, 0} {
    const struct {
      uint64_t schema;
      size_t size;
      const void* bytes;
    } payload = {1, sizeof words_, words_};
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.payloadType = static_cast<int32_t>(0xDFBD0009);
    attributes.payload.ullValue = reinterpret_cast<uint64_t>(&payload);
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = call;
    nvtxDomainRangePushEx(domain_, &attributes);
  }
  ~NcclRange() { nvtxDomainRangePop(domain_); }
  NcclRange(const NcclRange&) = delete;
  NcclRange& operator=(const NcclRange&) = delete;

 private:
  nvtxDomainHandle_t domain_;
  uint64_t words_[3];
};

}  // namespace streamscope::test
