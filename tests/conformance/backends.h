// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which backends the conformance suite runs on, and how its tests get a device.
#pragma once

#include <coord/coord.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace conformance {

struct BackendUnderTest {
  std::string name;    // of the test instances
  std::string device;  // for Device::open
};

const std::vector<BackendUnderTest>& backends();

inline void PrintTo(const BackendUnderTest& backend, std::ostream* out) { *out << backend.device; }

/// A test of one backend; skipped, visibly, if there is no such device.
class OnDevice : public testing::TestWithParam<BackendUnderTest> {
 protected:
  void SetUp() override {
    try {
      device_.emplace(coord::Device::open(GetParam().device));
    } catch (const coord::Error& error) {
      if (error.kind() != coord::ErrorKind::kNoDevice) throw;
      GTEST_SKIP() << error.what();
    }
  }

  coord::Device& device() { return *device_; }
  coord::Stream stream() { return device_->create_stream(); }
  coord::Stream blocking_stream() { return device_->create_stream({.non_blocking = false}); }
  coord::Event event() { return device_->create_event(); }

  /// A kernel that sets the float at `target`.
  static void set(coord::StreamRef stream, float* target, float value) {
    stream.launch({.name = "set", .transform = {target, target, 1, 0.0f, value}});
  }

 private:
  std::optional<coord::Device> device_;
};

/// Holds the streams that it closes until it is opened, by a plain store of the host.
class Gate {
 public:
  explicit Gate(const coord::Device& device) : flag_(device.allocate_host<std::uint64_t>(1)) {}
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void close(coord::StreamRef stream) { stream.wait_value(flag_.data(), 1); }
  void open() { std::atomic_ref<std::uint64_t>(flag_[0]).store(1); }
  [[nodiscard]] std::uint64_t* flag() { return flag_.data(); }

 private:
  coord::HostBuffer<std::uint64_t> flag_;
};

/// One number on the device; a fresh one holds 0.
class Cell {
 public:
  explicit Cell(const coord::Device& device)
      : device_(device), memory_(device.allocate<float>(1)), host_(device.allocate_host<float>(1)) {
    const coord::Stream stream = device_.create_stream();
    stream.memset(memory_.data(), 0, sizeof(float));
    stream.synchronize();
  }

  [[nodiscard]] float* data() const { return memory_.data(); }
  /// Its value once nothing on the device writes it anymore.
  [[nodiscard]] float value() {
    const coord::Stream stream = device_.create_stream();
    stream.copy_to_host(host_.data(), memory_.data(), sizeof(float));
    stream.synchronize();
    return host_[0];
  }

 private:
  coord::Device device_;
  coord::DeviceBuffer<float> memory_;
  coord::HostBuffer<float> host_;
};

}  // namespace conformance

/// Runs the suite's tests on every backend.
#define CONFORMANCE_SUITE(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, testing::ValuesIn(conformance::backends()), \
                           [](const auto& instance) { return instance.param.name; })
