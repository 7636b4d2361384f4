// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which streams stall because others are blocked: measures the number of hardware queues.

#include <atomic>
#include <string>

#include "codes.h"
#include "coord/sim.h"
#include "coord/stream_pool.h"

namespace coord {

namespace {

/// Words that streams wait for and write: one gate, and one per stream.
class Experiment {
 public:
  Experiment(const Device& device, std::size_t streams)
      : device_(device), words_(device.allocate_host<std::uint64_t>(streams + 1)) {
    for (std::size_t i = 0; i < streams; ++i) streams_.push_back(device.create_stream());
  }
  ~Experiment() { let_go(); }
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  /// Blocks the first `count` streams; returns the other streams that stall.
  std::vector<std::size_t> stalled_by(std::size_t count, Nanoseconds patience) {
    ++round_;
    std::vector<std::size_t> stalled;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (i < count) streams_[i].wait_value(&words_[0], round_);
      streams_[i].launch({.name = "probe"});
      streams_[i].write_value(&words_[i + 1], round_);
      // One after the other: a burst of launches would fill the free queues.
      if (i >= count && !gets_through(i, patience)) stalled.push_back(i);
    }
    let_go();
    for (const Stream& stream : streams_) stream.synchronize();
    return stalled;
  }

 private:
  bool gets_through(std::size_t stream, Nanoseconds patience) {
    const TimeNs begin = device_.now();
    while (std::atomic_ref(words_[stream + 1]).load(std::memory_order_acquire) < round_) {
      if (device_.now() - begin >= patience) return false;
      if (device_.simulated()) sim::host_work(device_, std::chrono::microseconds(20));
    }
    return true;
  }
  void let_go() { std::atomic_ref(words_[0]).store(round_, std::memory_order_release); }

  const Device device_;
  HostBuffer<std::uint64_t> words_;
  std::vector<Stream> streams_;
  std::uint64_t round_ = 0;
};

}  // namespace

ConnectionProbe probe_connections(const Device& device, std::size_t most, std::size_t streams,
                                  Nanoseconds patience) {
  if (most == 0 || most >= streams)
    throw make_error(kCodeInvalidValue, "probe_connections",
                     "blocking " + std::to_string(most) + " of " + std::to_string(streams) +
                         " streams leaves none to test, or blocks none");
  Experiment experiment(device, streams);
  ConnectionProbe result;
  result.stalled.emplace_back();
  (void)experiment.stalled_by(0, patience);  // the first launches take longer
  for (std::size_t count = 1; count <= most; ++count) {
    result.stalled.push_back(experiment.stalled_by(count, patience));
    const std::size_t stalled = result.stalled.back().size();
    if (stalled == 0 && result.free_of_stalls == count - 1) result.free_of_stalls = count;
    if (stalled == streams - count) {
      result.connections = count;
      break;
    }
  }
  return result;
}

}  // namespace coord
