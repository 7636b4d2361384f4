// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What most tests of streams begin with: a simulated device and a stream of it, and work that is
// none.
#pragma once

#include <coord/device.h>
#include <coord/stream.h>
#include <gtest/gtest.h>

class OneStream : public testing::Test {
 protected:
  const coord::Device device = coord::Device::open("sim");
  const coord::Stream stream = device.create_stream();
};

/// Work that issues nothing.
inline constexpr auto kNothing = [](coord::StreamRef) {};
