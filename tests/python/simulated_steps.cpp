// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Work on a simulated device for a Python process, which calls it through ctypes: so the Python
// package is tested on a recorded process without a GPU.
//
// In a step, stream "copies" loads a batch into a buffer, stream "math" reads it in kernel "gemm",
// and kernel "AllGather" runs on stream "network". Two mistakes can be planted: a load that does
// not wait until the last batch was read, and an AllGather that is ordered with every gemm.
#include <coord/coord.h>

#include <chrono>
#include <cstddef>
#include <vector>

namespace {

constexpr std::size_t kElements = 1 << 12;

class Steps {
 public:
  void step(bool racy, bool serial, std::chrono::microseconds gemm) {
    const bool first = step_count_++ == 0;
    if (!racy && !first) copies_.wait(read_);
    copies_.copy_to_device(batch_.data(), host_.data(), batch_.bytes());
    copies_.record(loaded_);
    math_.wait(loaded_);
    if (serial && !first) math_.wait(gathered_);
    math_.launch({.name = "gemm",
                  .duration = gemm,
                  .transform = {batch_.data(), sum_.data(), kElements, 1.0f, 0.0f}});
    math_.record(read_);
    if (serial) network_.wait(read_);
    network_.launch({.name = "AllGather", .duration = std::chrono::microseconds(15)});
    network_.record(gathered_);
  }
  void finish() {
    network_.synchronize();
    math_.synchronize();
  }

 private:
  coord::Device device_ = coord::Device::open("sim");
  coord::Stream copies_ = device_.create_stream({.name = "copies"});
  coord::Stream math_ = device_.create_stream({.name = "math"});
  coord::Stream network_ = device_.create_stream({.name = "network"});
  coord::Event loaded_ = device_.create_event();
  coord::Event read_ = device_.create_event();
  coord::Event gathered_ = device_.create_event();
  int step_count_ = 0;
  coord::HostBuffer<float> host_ = device_.allocate_host<float>(kElements);
  coord::DeviceBuffer<float> batch_ = device_.allocate<float>(kElements);
  coord::DeviceBuffer<float> sum_ = device_.allocate<float>(kElements);
};

}  // namespace

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED void* steps_create() { return new Steps; }
EXPORTED void steps_step(void* steps, int racy, int serial, int gemm_us) {
  static_cast<Steps*>(steps)->step(racy != 0, serial != 0, std::chrono::microseconds(gemm_us));
}
EXPORTED void steps_finish(void* steps) { static_cast<Steps*>(steps)->finish(); }
EXPORTED void steps_destroy(void* steps) { delete static_cast<Steps*>(steps); }
