// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The deadlock detectors against the simulated device: random programs with memory waits, host
// functions, events, the legacy stream and synchronizations in between are explored in all orders,
// and the detectors run on their traces without device times. They must agree on whether a program
// hangs. STREAMSCOPE_EXPLORED_PROGRAMS=N tries more.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "analysis/detector.h"
#include "coord/coord.h"
#include "coord/explore.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

using namespace std::chrono_literals;
using test::StreamBuilder;
using test::TraceBuilder;

constexpr size_t kFlags = 3, kEvents = 3;

struct Step {
  enum Kind {
    kKernel,
    kHostFunction,
    kRecord,
    kWait,
    kWaitValue,
    kWriteValue,
    kStreamSync,
    kEventSync,
    kDeviceSync
  } kind;
  size_t stream, what;  // what: event or flag
};

struct RandomProgram {
  std::vector<bool> blocking;  // per created stream
  bool legacy = false;         // one more stream
  std::vector<Step> steps;
  size_t stream_count() const { return blocking.size() + legacy; }
};

// Every flag is written with 1 only, so whether a program hangs does not depend on the order.
RandomProgram random_program(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](size_t n) { return random() % n; };
  RandomProgram program;
  for (size_t i = 0, n = 2 + pick(2); i < n; ++i) program.blocking.push_back(pick(3) == 0);
  program.legacy = pick(4) == 0;
  std::vector<bool> recorded(kEvents);
  for (size_t i = 0, n = 5 + pick(8); i < n; ++i) {
    const size_t stream = pick(program.stream_count());
    Step step{static_cast<Step::Kind>(pick(7)), stream, pick(kFlags)};
    if (step.kind >= Step::kStreamSync) {
      step.kind = static_cast<Step::Kind>(Step::kStreamSync + pick(2));
      if (pick(2)) step.kind = Step::kWriteValue;  // rare: a hang hides all that follows
    }
    if (step.kind == Step::kRecord) recorded[step.what] = true;
    if ((step.kind == Step::kWait || step.kind == Step::kEventSync) && !recorded[step.what])
      step.kind = Step::kKernel;
    program.steps.push_back(step);
  }
  program.steps.push_back({Step::kDeviceSync, 0, 0});
  return program;
}

// Makes the calls on a device; calls `told` for each, and before and after a synchronization.
template <class Told>
void run_on(const coord::Device& device, const RandomProgram& program, Told&& told) {
  std::vector<coord::Stream> streams;
  for (const bool blocking : program.blocking)
    streams.push_back(device.create_stream({.non_blocking = !blocking}));
  const coord::HostBuffer<std::uint64_t> flags = device.allocate_host<std::uint64_t>(kFlags);
  std::fill_n(flags.data(), kFlags, 0);
  std::vector<coord::Event> events;
  for (size_t i = 0; i < kEvents; ++i) events.push_back(device.create_event({}));
  for (const Step& step : program.steps) {
    const coord::StreamRef stream = step.stream < streams.size()
                                        ? coord::StreamRef(streams[step.stream])
                                        : device.legacy_stream();
    switch (step.kind) {
      case Step::kKernel:
        stream.launch({.name = "kernel", .duration = 1us});
        break;
      case Step::kHostFunction:
        stream.host_function([] {});
        break;
      case Step::kRecord:
        stream.record(events[step.what]);
        break;
      case Step::kWait:
        stream.wait(events[step.what]);
        break;
      case Step::kWaitValue:
        stream.wait_value(&flags[step.what], 1);
        break;
      case Step::kWriteValue:
        stream.write_value(&flags[step.what], 1);
        break;
      case Step::kStreamSync:
      case Step::kEventSync:
      case Step::kDeviceSync:
        try {
          if (step.kind == Step::kStreamSync) stream.synchronize();
          if (step.kind == Step::kEventSync) events[step.what].synchronize();
          if (step.kind == Step::kDeviceSync) device.synchronize();
        } catch (const coord::Error&) {
          told(step, false);
          throw;
        }
        break;
    }
    told(step, true);
  }
}

// The trace of a run in which nobody learned when anything ran.
Trace trace_of(const RandomProgram& program) {
  TraceBuilder builder;
  std::vector<StreamBuilder> streams;
  for (size_t i = 0; i < program.blocking.size(); ++i)
    streams.push_back(builder.stream("s" + std::to_string(i), program.blocking[i]
                                                                  ? trace::kBlockingStream
                                                                  : trace::kNonBlockingStream));
  if (program.legacy) streams.push_back(builder.stream("null", trace::kLegacyStream));
  const auto note = [&](const Step& step, bool returned) {
    StreamBuilder& stream = streams[step.stream];
    const std::string event = "event " + std::to_string(step.what);
    const trace::Int flag = 0x1000 + static_cast<trace::Int>(step.what) * 8;
    constexpr Ns kNever = kUnknownNs;
    const Ns start = 1000 * static_cast<Ns>(&step - program.steps.data()) + 100,
             end = returned ? start + 10 : kNever;
    builder.at(start);
    switch (step.kind) {
      case Step::kKernel:
        stream.kernel("kernel", kNever, kNever);
        break;
      case Step::kHostFunction:
        stream.host_function(kNever, kNever);
        break;
      case Step::kRecord:
        stream.record(event);
        break;
      case Step::kWait:
        stream.wait(event);
        break;
      case Step::kWaitValue:
        stream.memory_wait(flag, 1, kNever, kNever);
        break;
      case Step::kWriteValue:
        stream.memory_write(flag, 1, kNever, kNever);
        break;
      case Step::kStreamSync:
        stream.synchronize(start, end);
        break;
      case Step::kEventSync:
        builder.synchronize_event(event, start, end);
        break;
      case Step::kDeviceSync:
        builder.synchronize_device(start, end);
        break;
    }
  };
  coord::sim::Config config;
  config.deadlock_patience = 0ms;
  const std::vector<coord::Device> devices = coord::sim::open_devices(config, 1);
  try {
    run_on(devices[0], program, note);
  } catch (const coord::Error& error) {
    EXPECT_EQ(error.kind(), coord::ErrorKind::kDeadlock) << error.what();
  }
  builder.columns().process.end_ns[0] = 60'000'000'000;
  return builder.trace();
}

bool found(std::string_view detector, Analyses& analyses) {
  const Verdict verdict =
      evaluate(*find_detector(detector), analyses, evidence_of(analyses.trace()));
  return verdict.outcome == Outcome::kFound;
}

TEST(HangDetectors, AgreeWithTheExplorationOfRandomPrograms) {
  const char* wanted = std::getenv("STREAMSCOPE_EXPLORED_PROGRAMS");
  const uint32_t count = wanted ? static_cast<uint32_t>(std::atoi(wanted)) : 150;
  uint32_t hung = 0, cycles = 0;
  for (uint32_t seed = 1; seed <= count; ++seed) {
    const RandomProgram program = random_program(seed);
    coord::sim::ExploreOptions options;
    options.max_runs = 30;
    options.samples = 10;
    const coord::sim::Report report = coord::sim::explore(
        [&](coord::sim::Run& run) { run_on(run.device(), program, [](const Step&, bool) {}); },
        options);
    const bool hangs = !report.clean();
    if (hangs) {
      ASSERT_EQ(report.findings[0].kind, coord::sim::FindingKind::kDeadlock)
          << seed << report.findings[0].text;
    }
    const Trace trace = trace_of(program);
    Analyses analyses(trace);
    const bool cycle = found("deadlock-cycle", analyses), lost = found("lost-signal", analyses);
    ASSERT_EQ(cycle || lost, hangs) << "seed " << seed;
    hung += hangs;
    cycles += cycle;
  }
  EXPECT_GT(hung, count / 10);
  EXPECT_GT(cycles, 0u);
  EXPECT_LT(hung, count);
}

}  // namespace
}  // namespace streamscope::analysis
