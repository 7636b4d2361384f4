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
// A GPU takes one of those orders, usually the same one, so a missing wait rarely shows. Here it
// shows at once: as a race (two unordered accesses, checked in every order that is run), as a
// deadlock, as a result that depends on the order, or as an uncaught error.
//
// The program is run many times and must do the same each time except for effects of the order: no
// clock, no random numbers, no state that persists between runs. It uses Run's device and threads,
// and no other thread: the parts of libcoord that start threads do not work here. What kernels and
// host functions refer to must outlive the buffers that they use, whose destruction waits for them.
// Orders are distinguished by what calls share: plain memory that host threads share with each
// other or with the device is visible only through Run::wait_until, step, reads and writes.
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

  /// Starts another host thread. What it refers to must live until join().
  void thread(std::function<void()> body);
  /// Waits for all started threads.
  void join();
  /// Waits until `condition` is true; also in host functions. Models locks, condition variables and
  /// the like: what it and the code after it do up to the next call is one indivisible step,
  /// ordered after everything that other host threads have done.
  void wait_until(const std::function<bool()>& condition);
  /// A scheduling point: other threads and the device may go first.
  void step();

  /// Declares that the calling thread now accesses memory that the device also uses.
  void reads(const void* address, std::size_t bytes);
  void writes(const void* address, std::size_t bytes);

  /// Adds to the program's result, which must be the same in every order.
  void result(double value);
  template <typename T>
  void result(std::span<T> values) {
    static_assert(std::is_arithmetic_v<T>, "results are numbers");
    reads(values.data(), values.size_bytes());
    for (const T& value : values) result(static_cast<double>(value));
  }
  /// Reports a failure if `holds` is false.
  void check(bool holds, std::string_view what);

 private:
  Controller& controller_;
};

using Program = std::function<void(Run&)>;

/// The order of one run: the choice made at each point where several steps were possible. Replays
/// exactly with the same program and options.
struct Schedule {
  std::vector<std::uint32_t> choices;

  [[nodiscard]] COORD_EXPORT std::string text() const;
  /// Parses the result of text(). Throws kInvalidArgument.
  [[nodiscard]] COORD_EXPORT static Schedule parse(std::string_view text);

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

enum class FindingKind {
  kRace,             // two unordered accesses to memory, one of them a write
  kDeadlock,         // threads or work that can never proceed
  kOrderDependence,  // two orders give different results
  kFailure,          // an exception, a failed check, a failed device, or an endless run
};
[[nodiscard]] COORD_EXPORT const char* to_string(FindingKind kind) noexcept;

struct Finding {
  FindingKind kind{};
  std::string text;   // human-readable description
  Schedule schedule;  // an order that shows it
};

struct ExploreOptions {
  Config config{};
  std::uint32_t devices = 1;
  /// Orders to try exhaustively; equivalent ones are tried once. Beyond that, random orders are
  /// sampled.
  std::uint64_t max_runs = 4000;
  std::uint64_t samples = 1000;
  /// Depth of the samples: the number of events that must be in a certain order for a bug to show.
  /// The probability of finding a bug depends on it.
  std::uint32_t sample_depth = 3;
  std::uint64_t seed = 1;
  /// Steps after which a run counts as endless.
  std::uint32_t max_steps = 20'000;
  /// Stop after this many different findings.
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

/// One run in that order; `options` as in the exploration that returned it.
[[nodiscard]] COORD_EXPORT Report replay(const Program& program, const Schedule& schedule,
                                         const ExploreOptions& options = {});

}  // namespace coord::sim
