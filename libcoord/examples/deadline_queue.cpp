// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A server with one stream and two kinds of requests: long ones with late deadlines, and short ones
// with early deadlines. All arrive at once; the short ones run first because of their deadlines.

#include <chrono>
#include <vector>

#include "example.h"

namespace {

using namespace std::chrono_literals;

constexpr int kLongEach = 4;  // one in this many requests is long

int run_deadline_queue(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  const coord::Stream stream = device.create_stream({.name = "requests"});
  coord::Coordinator coordinator(device);
  coord::DeadlineQueue queue(coordinator, stream);

  const auto requests = static_cast<std::size_t>(arguments.iterations);
  const coord::DeviceBuffer<float> answers = device.allocate<float>(requests);
  const coord::HostBuffer<float> host = device.allocate_host<float>(requests);
  std::vector<std::size_t> order;  // in which they were submitted to the stream
  // Holds the work until all requests have arrived.
  const coord::OperationHandle open =
      coordinator.register_operation({.stream = stream, .description = "open"});
  const coord::TimeNs now = device.now();
  for (std::size_t i = 0; i < requests; ++i) {
    const bool is_long = i % kLongEach == 0;
    const coord::Nanoseconds patience = is_long ? coord::Nanoseconds(1h) : coord::Nanoseconds(1min);
    float* const answer = answers.data() + i;
    queue.submit({now.value + patience.count()},
                 [&order, i, is_long, answer](coord::StreamRef to) {
                   order.push_back(i);
                   to.launch({.name = is_long ? "report" : "look up",
                              .duration = is_long ? 200us : 20us,
                              .transform = {answer, answer, 1, 0.0f, static_cast<float>(i)}});
                 },
                 {.after = {open}, .description = is_long ? "report" : "look up"});
  }
  coordinator.submit(open, [](coord::StreamRef) {});
  queue.wait();
  coordinator.wait(coordinator.submit(
      {.type = coord::OperationType::kMemoryTransfer, .stream = stream, .description = "answers"},
      [&](coord::StreamRef to) { to.copy_to_host(host, answers); }));

  bool right = order.size() == requests && queue.metrics().missed == 0;
  for (std::size_t i = 0; i < requests; ++i) right = right && host[i] == static_cast<float>(i);
  // Except for pieces already in flight, no report runs before a look-up.
  bool reports_only = false;
  for (std::size_t at = 2; at < order.size(); ++at) {
    const bool is_long = order[at] % kLongEach == 0;
    right = right && (is_long || !reports_only);
    reports_only = reports_only || is_long;
  }
  example::Counts counts;
  counts.launches = requests;
  counts.copies = 1;
  counts.add(coordinator.metrics());
  return counts.finish(right);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_deadline_queue); }
