// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A rank of a job on a simulated device: its collectives are kernels with NCCL's names in ranges
// with NCCL's names and payload.
#include <coord/coord.h>
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdint>

namespace {

using namespace std::chrono_literals;

// As a newer NCCL describes an all-reduce: communicator, bytes, reduction.
class AllReduce {
 public:
  AllReduce(nvtxDomainHandle_t domain, uint64_t communicator, uint64_t bytes)
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
    attributes.message.ascii = "ncclAllReduce";
    nvtxDomainRangePushEx(domain_, &attributes);
  }
  ~AllReduce() { nvtxDomainRangePop(domain_); }
  AllReduce(const AllReduce&) = delete;
  AllReduce& operator=(const AllReduce&) = delete;

 private:
  nvtxDomainHandle_t domain_;
  uint64_t words_[3];
};

}  // namespace

int main() {
  const coord::Device device = coord::Device::open("sim");
  const coord::Stream compute = device.create_stream({.name = "compute"});
  const coord::Stream network = device.create_stream({.name = "network"});
  const coord::Event computed = device.create_event(), reduced = device.create_event();
  nvtxDomainHandle_t nccl = nvtxDomainCreateA("NCCL");
  for (int step = 0; step < 10; ++step) {
    nvtxRangePushA("step");
    compute.launch({.name = "forward", .duration = 80us});
    compute.record(computed);
    network.wait(computed);
    {
      const AllReduce call(nccl, 0xd0, 1 << 20);
      network.launch({.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", .duration = 40us});
    }
    network.record(reduced);
    compute.wait(reduced);
    compute.launch({.name = "optimizer", .duration = 20us});
    nvtxRangePop();
  }
  compute.synchronize();
}
