// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs of libcoord that hang because a thread does not arrive. They hang on a GPU and on the
// simulated device alike.
//
//   coord_hang NAME [--device sim|cuda] | coord_hang --list

#include <coord/coord.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace coord_hang {

using coord::Device;
using coord::Stream;
using coord::StreamRef;
using namespace std::chrono_literals;

std::mutex desk;
std::condition_variable never_notified;

// Where the missing thread is.
__attribute__((noinline)) void waits_for_news() {
  std::unique_lock hold(desk);
  never_notified.wait(hold);
}

void submit_kernel(coord::Coordinator& coordinator, StreamRef stream, const char* name) {
  coordinator.submit({.stream = stream, .description = name},
                     [name](StreamRef to) { to.launch({.name = name, .duration = 10us}); });
}

// Three threads meet at a barrier after each step; in the second step one does not arrive.
void missing_participant(const Device& device) {
  const Stream left = device.create_stream({.name = "left"}),
               right = device.create_stream({.name = "right"}),
               late = device.create_stream({.name = "late"});
  coord::Coordinator coordinator(device);
  const std::vector<StreamRef> streams{left, right, late};
  coord::Barrier barrier(coordinator, streams, "exchange");
  const auto work = [&](StreamRef stream) {
    for (int step = 0; step < 2; ++step) {
      submit_kernel(coordinator, stream, "compute");
      barrier.arrive_and_wait(stream);
    }
  };
  std::thread first([&] { work(left); }), second([&] { work(right); });
  submit_kernel(coordinator, late, "compute");
  barrier.arrive_and_wait(late);
  submit_kernel(coordinator, late, "gather");
  waits_for_news();
  first.join();
  second.join();
}

// The producer stops before the value that a stream and the host wait for.
void unsignaled_timeline(const Device& device) {
  const Stream producer = device.create_stream({.name = "producer"}),
               consumer = device.create_stream({.name = "consumer"});
  coord::TimelineSignal frames(device, {.name = "frames"});
  std::thread feeder([&] {
    for (std::uint64_t frame = 1; frame <= 3; ++frame) {
      producer.launch({.name = "render", .duration = 10us});
      frames.signal(producer, frame);
    }
    waits_for_news();
  });
  frames.wait(3);
  frames.wait(consumer, 4);
  consumer.launch({.name = "encode", .duration = 10us});
  frames.wait(4);
  feeder.join();
}

struct Program {
  const char* name;
  const char* verdict;  // of analysis/hang/hang.h
  const char* culprit;  // a regular expression that must match the explanation
  void (*run)(const Device&);
};

constexpr Program kPrograms[] = {
    {"missing-participant", "missing-participant",
     "barrier .exchange. .* missing: .*gather.*coord.cpp:[0-9]+ .*submit_kernel",
     missing_participant},
    {"unsignaled-timeline", "lost-signal",
     "waits for value 4 of timeline .frames., which was signaled up to 3", unsignaled_timeline},
};

}  // namespace coord_hang

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  const std::string device =
      argc > 3 && std::string(argv[2]) == "--device" ? argv[3] : std::string("auto");
  for (const coord_hang::Program& program : coord_hang::kPrograms) {
    if (wanted == "--list")
      std::printf("{\"program\":\"%s\",\"verdict\":\"%s\",\"culprit\":\"%s\"}\n", program.name,
                  program.verdict, program.culprit);
    if (wanted != program.name) continue;
    try {
      program.run(coord::Device::open(device));
    } catch (const coord::Error& error) {
      std::fprintf(stderr, "coord_hang: %s\n", error.what());
      return error.kind() == coord::ErrorKind::kNoDevice ? 77 : 1;
    }
    return 0;
  }
  if (wanted == "--list") return 0;
  std::fprintf(stderr, "usage: coord_hang NAME [--device sim|cuda] | coord_hang --list\n");
  return 2;
}
