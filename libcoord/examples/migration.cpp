// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The same work five times, from plain events to all features of libcoord for it: two parts
// computed concurrently on two streams, then reduced on one.
//
//   1. plain events, as in any CUDA program
//   2. pooled events, and fork and join, which cannot forget a wait
//   3. a Coordinator: dependencies are stated, waits follow
//   4. dependencies inferred from the memory that the operations access
//   5. a barrier, then callbacks and errors instead of a host that blocks
//
// The guide (docs/coord-guide.md) goes through them.

#include <array>
#include <chrono>
#include <cmath>
#include <future>
#include <stdexcept>

#include "example.h"

namespace {

using namespace std::chrono_literals;
using coord::StreamRef;

constexpr std::size_t kElements = 4096;
constexpr std::size_t kHalf = kElements / 2;

class Program {
 public:
  explicit Program(const example::Arguments& arguments)
      : device_(coord::Device::open(arguments.device)),
        data_(device_.allocate<float>(kElements)),
        host_(device_.allocate_host<float>(kElements)) {}

  // Common code of the steps.
  void upload(StreamRef stream) {
    for (std::size_t i = 0; i < kElements; ++i) host_[i] = static_cast<float>(i % 32);
    stream.copy_to_device(data_, host_);
    ++counts.copies;
  }
  void compute(StreamRef stream, std::size_t half) {
    float* const from = data_.data() + half * kHalf;
    stream.launch({.name = "compute", .duration = 20us, .transform = {from, from, kHalf, 2, 1}});
    ++counts.launches;
  }
  void reduce(StreamRef stream) {
    stream.launch({.name = "reduce",
                   .duration = 10us,
                   .transform = {data_.data(), data_.data(), kElements, 0.5f, 0}});
    stream.copy_to_host(host_, data_);
    ++counts.launches;
    ++counts.copies;
  }
  [[nodiscard]] bool right() const {
    for (std::size_t i = 0; i < kElements; ++i) {
      if (host_[i] != 0.5f * std::fma(2.0f, static_cast<float>(i % 32), 1.0f)) return false;
    }
    return true;
  }

  bool with_plain_events() {
    const coord::Event uploaded = device_.create_event(), computed = device_.create_event();
    upload(main_);
    main_.record(uploaded);
    side_.wait(uploaded);
    compute(main_, 0);
    compute(side_, 1);
    side_.record(computed);  // after the work that it covers
    main_.wait(computed);
    reduce(main_);
    main_.synchronize();
    counts.records += 2;
    counts.waits += 2;
    ++counts.syncs;
    return right();
  }

  bool with_fork_and_join() {
    coord::Coordinator coordinator(device_);
    const std::array<StreamRef, 1> branches{side_};
    upload(main_);
    {
      coord::ForkJoin fork(coordinator, main_, branches);
      compute(main_, 0);
      compute(side_, 1);
    }  // joined, even if something in between throws
    reduce(main_);
    main_.synchronize();
    ++counts.syncs;
    counts.add(coordinator.metrics());
    return right();
  }

  bool with_a_coordinator() {
    coord::Coordinator coordinator(device_);
    const auto uploaded = coordinator.submit(
        {.type = coord::OperationType::kMemoryTransfer, .stream = main_, .description = "upload"},
        [&](StreamRef stream) { upload(stream); });
    const auto first =
        coordinator.submit({.stream = main_, .after = {uploaded}, .description = "first half"},
                           [&](StreamRef stream) { compute(stream, 0); });
    const auto second =
        coordinator.submit({.stream = side_, .after = {uploaded}, .description = "second half"},
                           [&](StreamRef stream) { compute(stream, 1); });
    const auto reduced = coordinator.submit({.type = coord::OperationType::kReduction,
                                             .stream = main_,
                                             .after = {first, second},
                                             .description = "reduce"},
                                            [&](StreamRef stream) { reduce(stream); });
    coordinator.wait(reduced);
    counts.add(coordinator.metrics());
    return right();
  }

  bool with_inferred_dependencies() {
    coord::Coordinator coordinator(device_);
    const coord::MemoryRange all = data_, left(data_.data(), kHalf * sizeof(float)),
                             second(data_.data() + kHalf, kHalf * sizeof(float));
    const auto submit = [&](StreamRef stream, const coord::MemoryRange& writes, auto work) {
      return coordinator.submit({.stream = stream, .writes = {writes}, .infer_dependencies = true},
                                work);
    };
    submit(main_, all, [&](StreamRef stream) { upload(stream); });
    submit(main_, left, [&](StreamRef stream) { compute(stream, 0); });
    submit(side_, second, [&](StreamRef stream) { compute(stream, 1); });
    coordinator.wait(submit(main_, all, [&](StreamRef stream) { reduce(stream); }));
    counts.add(coordinator.metrics());
    return right();
  }

  bool with_a_barrier_and_callbacks() {
    coord::Coordinator coordinator(device_);
    const std::array<StreamRef, 2> streams{main_, side_};
    coord::Barrier barrier(coordinator, streams, "phase");
    const auto on = [&](StreamRef stream, auto work) {
      return coordinator.submit({.stream = stream}, work);
    };
    on(main_, [&](StreamRef stream) { upload(stream); });
    barrier.pass();
    on(main_, [&](StreamRef stream) { compute(stream, 0); });
    on(side_, [&](StreamRef stream) { compute(stream, 1); });
    barrier.pass();
    const auto reduced = on(main_, [&](StreamRef stream) { reduce(stream); });

    std::promise<bool> ended;
    coordinator.on_complete(reduced, [&](const coord::Outcome& outcome) {  // on our executor
      ended.set_value(outcome.state == coord::OperationState::kCompleted);
    });
    const bool completed = ended.get_future().get();

    // A function that throws fails its operation and those that depend on it.
    const auto gate = coordinator.register_operation({.stream = side_, .description = "gate"});
    const auto faulty = coordinator.submit({.stream = side_, .after = {gate}}, [](StreamRef) {
      throw std::runtime_error("the input was wrong");
    });
    const auto after = coordinator.submit({.stream = main_, .after = {faulty}}, [](StreamRef) {});
    coordinator.begin(gate);
    coordinator.complete(gate);
    bool hooks = false;
    try {
      coordinator.wait(after);
    } catch (const std::runtime_error&) {
      hooks = true;
    }
    counts.add(coordinator.metrics());
    return completed && hooks && right();
  }

  example::Counts counts;

 private:
  coord::Device device_;
  coord::Stream main_ = device_.create_stream({.name = "main"});
  coord::Stream side_ = device_.create_stream({.name = "side"});
  coord::DeviceBuffer<float> data_;
  coord::HostBuffer<float> host_;
};

int run_migration(const example::Arguments& arguments) {
  Program program(arguments);
  bool right = true;
  for (int i = 0; i < arguments.iterations && right; ++i) {
    right = program.with_plain_events() && program.with_fork_and_join() &&
            program.with_a_coordinator() && program.with_inferred_dependencies() &&
            program.with_a_barrier_and_callbacks();
  }
  return program.counts.finish(right);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_migration); }
