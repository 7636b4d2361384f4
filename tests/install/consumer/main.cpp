// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The smallest useful program on libcoord: two operations on two streams, the second after the
// first.
#include <coord/coord.h>

#include <cstdio>

int main() {
  coord::Device device = coord::Device::open("sim");
  coord::Coordinator coordinator(device);
  coord::Stream first = device.create_stream({.name = "first"});
  coord::Stream second = device.create_stream({.name = "second"});

  int value = 0;
  auto produce =
      coordinator.submit({.stream = first, .description = "produce"}, [&](coord::StreamRef stream) {
        stream.launch({.name = "produce",
                       .duration = std::chrono::microseconds(20),
                       .function = [&] { value = 41; }});
      });
  auto consume =
      coordinator.submit({.stream = second, .after = {produce}, .description = "consume"},
                         [&](coord::StreamRef stream) {
                           stream.launch({.name = "consume",
                                          .duration = std::chrono::microseconds(20),
                                          .function = [&] { ++value; }});
                         });
  coordinator.wait(consume);

  std::printf("%d\n", value);
  return value == 42 ? 0 : 1;
}
