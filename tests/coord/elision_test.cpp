// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Random programs of operations on streams of several devices, with waits of the host in between,
// against brute force: no order is lost, none is gained beyond the order of the streams themselves,
// and there are never more waits than the transitive reduction over the streams needs.
//
// STREAMSCOPE_ELISION_PROGRAMS sets their number (default 2000); the million is for `./dev
// elision`.

#include <coord/coord.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "coord/fake_observer.h"
#include "support/sanitized.h"

namespace {

using coord::Coordinator;
using coord::OperationHandle;

using Set = std::uint32_t;  // of operations, by number
constexpr std::size_t kMost = 24;

struct ElidedProgram {
  struct Operation {
    std::size_t stream = 0;
    Set after = 0;
    std::optional<std::size_t> host_waits_first;  // for this operation, before submitting
    bool posted = false;                          // nobody depends on it
  };
  std::size_t devices = 1, streams = 1;
  std::vector<Operation> operations;

  static ElidedProgram random(std::mt19937_64& generator) {
    const auto pick = [&](std::size_t low, std::size_t high) {
      return low + generator() % (high - low + 1);
    };
    ElidedProgram program;
    program.devices = pick(1, 3);
    program.streams = pick(1, 6);  // with more, the device is queried for proofs in between
    const std::size_t count = pick(1, kMost);
    Set nameable = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Operation operation;
      operation.stream = pick(0, program.streams - 1);
      operation.posted = pick(0, 7) == 0;
      for (std::size_t d = pick(0, 4); d > 0 && i > 0; --d) operation.after |= 1u << pick(0, i - 1);
      operation.after &= nameable;
      if (nameable != 0 && pick(0, 11) == 0) {
        std::size_t target = pick(0, i - 1);
        while ((nameable >> target & 1) == 0) target = (target + 1) % i;
        operation.host_waits_first = target;
      }
      if (!operation.posted) nameable |= 1u << i;
      program.operations.push_back(operation);
    }
    return program;
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& operation = operations[i];
      if (operation.host_waits_first)
        text += "host waits for " + std::to_string(*operation.host_waits_first) + "; ";
      text += std::to_string(i) + (operation.posted ? " posted" : "") + " on stream " +
              std::to_string(operation.stream) + " after";
      for (std::size_t d = 0; d < i; ++d) {
        if ((operation.after >> d & 1) != 0) text += " " + std::to_string(d);
      }
      text += "\n";
    }
    return text;
  }
};

/// What must hold, by brute force.
struct Truth {
  std::vector<Set> before;  // all operations before an operation, itself included
  std::vector<Set> proved;  // what the host had observed to end when it was submitted
  std::size_t waits = 0;

  explicit Truth(const ElidedProgram& program) {
    std::vector<Set> stream(program.streams, 0);
    Set seen = 0;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      const ElidedProgram::Operation& operation = program.operations[i];
      if (operation.host_waits_first) seen |= before[*operation.host_waits_first];
      Set& row = stream[operation.stream];
      // The dependencies that no other one implies.
      const Set open = operation.after & ~row & ~seen;
      for (std::size_t d = 0; d < i; ++d) {
        if ((open >> d & 1) == 0) continue;
        bool brought = false;
        for (std::size_t other = 0; other < i; ++other)
          brought |= other != d && (open >> other & 1) != 0 && (before[other] >> d & 1) != 0;
        if (!brought) ++waits;
      }
      for (std::size_t d = 0; d < i; ++d) {
        if ((open >> d & 1) != 0) row |= before[d];
      }
      row |= 1u << i;
      before.push_back(row);
      proved.push_back(seen);
    }
  }
};

/// What the calls to the driver order: each wait is for the operation whose record the event had
/// last.
std::vector<Set> order_of_calls(const ElidedProgram& program,
                                const fake_observer::Observed& observed,
                                const std::map<std::uint32_t, std::size_t>& numbers,
                                std::size_t& waits) {
  std::map<std::uint64_t, Set> event;  // what the last record of an event comes after
  std::vector<Set> stream(program.streams, 0), before(program.operations.size(), 0);
  std::vector<bool> begun(program.operations.size(), false);
  waits = 0;
  for (const fake_observer::Call& call : observed.calls) {
    const auto found = numbers.find(call.operation);
    if (found == numbers.end()) continue;
    const std::size_t number = found->second;
    Set& row = stream[program.operations[number].stream];
    if (call.name == "simStreamWaitEvent") {
      ++waits;
      row |= event[call.facts.object];
    } else if (call.name == "simLaunchKernel") {
      row |= 1u << number;
      before[number] = row;
    } else if (call.name == "simEventRecord") {
      event[call.facts.object] = row;
    }
  }
  return before;
}

TEST(ElisionAgainstBruteForce, RandomProgramsKeepTheirOrderWithTheFewestWaits) {
  const char* wanted = std::getenv("STREAMSCOPE_ELISION_PROGRAMS");
  const std::uint64_t programs =
      wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : streamscope::test::sample_of(2000);
  std::mt19937_64 generator(20261121);
  std::uint64_t all_waits = 0, all_dependencies = 0;
  std::vector<coord::Device> devices;
  std::vector<coord::Stream> streams;
  for (std::uint64_t trial = 0; trial < programs; ++trial) {
    if (trial % 256 == 0) {  // devices are expensive, and their streams can be reused
      streams.clear();
      devices = coord::sim::open_devices({}, 3);
      for (std::size_t i = 0; i < 6 * 3; ++i) streams.push_back(devices[i % 3].create_stream());
    }
    const ElidedProgram program = ElidedProgram::random(generator);
    const Truth truth(program);
    const auto stream_of = [&](std::size_t stream) -> const coord::Stream& {
      return streams[3 * stream + stream % program.devices];
    };
    fake_observer::start();
    std::vector<OperationHandle> handles(program.operations.size());
    std::uint64_t placed = 0;
    {
      Coordinator coordinator(devices[0], {.polled = true, .history = 0});
      for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const ElidedProgram::Operation& operation = program.operations[i];
        if (operation.host_waits_first) coordinator.wait(handles[*operation.host_waits_first]);
        coord::Dependencies after;
        for (std::size_t d = 0; d < i; ++d) {
          if ((operation.after >> d & 1) != 0) after.push_back(handles[d]);
        }
        all_dependencies += after.size();
        const auto work = [](coord::StreamRef stream) { stream.launch({}); };
        if (operation.posted) {
          coordinator.post({.stream = stream_of(operation.stream), .after = after}, work);
        } else {
          handles[i] =
              coordinator.submit({.stream = stream_of(operation.stream), .after = after}, work);
        }
      }
      placed = coordinator.metrics().waits_placed;
    }
    const fake_observer::Observed observed = fake_observer::stop();
    std::map<std::uint32_t, std::size_t> numbers;
    for (const auto& operation : observed.operations)
      numbers.emplace(operation.operation, numbers.size());
    ASSERT_EQ(numbers.size(), program.operations.size());
    std::size_t waits = 0;
    const std::vector<Set> before = order_of_calls(program, observed, numbers, waits);
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      ASSERT_EQ(program.operations[i].after & ~(before[i] | truth.proved[i]), 0u)
          << "order lost at " << i << " of program " << trial << "\n"
          << program.text();
      ASSERT_EQ(before[i] & ~truth.before[i], 0u)
          << "order gained at " << i << " of program " << trial << "\n"
          << program.text();
    }
    ASSERT_EQ(waits, placed) << program.text();
    ASSERT_LE(waits, truth.waits) << "program " << trial << "\n" << program.text();
    all_waits += waits;
  }
  std::printf("%llu programs, %llu dependencies, %llu waits\n",
              static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(all_dependencies),
              static_cast<unsigned long long>(all_waits));
}

}  // namespace
