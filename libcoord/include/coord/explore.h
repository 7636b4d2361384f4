// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Runs a program on simulated devices in every order that streams and threads allow.
//
//   coord::sim::Report report = coord::sim::explore([](coord::sim::Run& run) {
//     const coord::Stream stream = run.device().create_stream();
//     ...
//     stream.synchronize();
//     run.result(std::span(host));
//   });
//   if (!report.clean()) puts(report.findings[0].text.c_str());
//
// A GPU takes one of those orders, mostly the same one, so a missing wait shows on a bad day only.
// Here it shows at once: as a race (two accesses that nothing orders, judged in every order that is
// run), as a deadlock, as a result that depends on the order, or as an error that escapes.
//
// The program is run many times and has to do the same each time but for what the order changes: no
// clock, no random numbers, no state of its own outside. It uses Run's device and threads, and no
// other thread: libcoord's parts that have threads of their own do not work here. What kernels and
// host functions refer to has to outlive the buffers that they use, whose destruction waits for
// them. Orders are told apart by what calls share: plain memory that host threads share with each
// other or with the device is only seen through Run::wait_until, step, reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "coord/device.h"
#include "coord/export.h"
#include "coord/sim.h"

namespace coord::sim {

class Controller;

/// One run of a program: its devices and host threads. Valid while the program runs; all functions
/// are for host threads of the run only.
class COORD_EXPORT Run {
 public:
  explicit Run(Controller& controller) : controller_(controller) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] const Device& device(std::size_t index = 0) const;

  /// Starts another host thread. What it refers to has to live until join().
  void thread(std::function<void()> body);
  /// Waits for all threads that were started.
  void join();
  /// Waits until `condition` is true; also in host functions. Stands for locks, condition variables
  /// and the like: what it and the code after it do up to the next call is one indivisible step,
  /// ordered after everything that other host threads have done.
  void wait_until(const std::function<bool()>& condition);
  /// Lets other threads and the device go first, or not.
  void step();

  /// The calling thread now touches memory that the device uses too.
  void reads(const void* address, std::size_t bytes);
  void writes(const void* address, std::size_t bytes);

  /// Adds to what the program computes; every order has to give the same.
  void result(double value);
  template <typename T>
  void result(std::span<T> values) {
    static_assert(std::is_arithmetic_v<T>, "results are numbers");
    reads(values.data(), values.size_bytes());
    for (const T& value : values) result(static_cast<double>(value));
  }
  /// Finds a failure if `holds` is false.
  void check(bool holds, std::string_view what);

 private:
  Controller& controller_;
};

using Program = std::function<void(Run&)>;

/// The order of one run: at each point where several things could happen, which did. Replays
/// exactly on the same program and options.
struct Schedule {
  std::vector<std::uint32_t> choices;

  [[nodiscard]] COORD_EXPORT std::string text() const;
  /// What text() gave. Throws kInvalidArgument.
  [[nodiscard]] COORD_EXPORT static Schedule parse(std::string_view text);

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

enum class FindingKind {
  kRace,             // two accesses to memory, one of them a write, that nothing orders
  kDeadlock,         // threads or work that can never go on
  kOrderDependence,  // two orders give different results
  kFailure,          // an exception, a failed check, a device that failed, or no end
};
[[nodiscard]] COORD_EXPORT const char* to_string(FindingKind kind) noexcept;

struct Finding {
  FindingKind kind{};
  std::string text;   // who and what, for people
  Schedule schedule;  // the order that shows it
};

struct ExploreOptions {
  Config config{};
  std::uint32_t devices = 1;
  /// Orders to try exhaustively; equivalent ones are tried once. Beyond, random ones are sampled.
  std::uint64_t max_runs = 4000;
  std::uint64_t samples = 1000;
  /// Of the samples: each is found with a chance that depends on how many events have to be in a
  /// certain order for the bug to show, up to this many.
  std::uint32_t sample_depth = 3;
  std::uint64_t seed = 1;
  /// Steps after which a run counts as endless.
  std::uint32_t max_steps = 20'000;
  /// Stop after so many different findings.
  std::size_t max_findings = 1;
};

struct Report {
  std::vector<Finding> findings;
  std::uint64_t runs = 0;
  bool exhaustive = false;     // every order was covered
  std::vector<double> result;  // of the last run

  [[nodiscard]] bool clean() const noexcept { return findings.empty(); }
};

/// Blocks until done. Thread-safe. Throws kInvalidArgument for a config that makes no device; what
/// `program` throws is a finding.
[[nodiscard]] COORD_EXPORT Report explore(const Program& program,
                                          const ExploreOptions& options = {});

/// One run in that order; `options` as in the exploration that gave it.
[[nodiscard]] COORD_EXPORT Report replay(const Program& program, const Schedule& schedule,
                                         const ExploreOptions& options = {});

}  // namespace coord::sim
