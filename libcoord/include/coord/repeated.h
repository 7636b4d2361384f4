// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A section of a program that submits the same operations again and again, as a training step or a
// solver's iteration does. The third run without a change captures it as a CUDA graph, which later
// runs launch with one call if that takes the host less time than submitting the operations.
//
//   coord::Repeated step(coordinator, stream, "step");
//   for (;;) {
//     step.run({.version = batch.version()}, [&](coord::Section& section) {
//       auto load = section.submit({.stream = copies}, ...);
//       section.submit({.stream = stream, .after = {load}}, ...);
//     });
//   }
//
// libcoord cannot see what the operations' functions enqueue: which kernels, with which arguments.
// The caller guarantees with the version that they are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string_view>
#include <utility>

#include "coord/coordinator.h"
#include "coord/export.h"
#include "coord/operation.h"
#include "coord/stream.h"

namespace coord {

class Repeated;

/// What the body of a Repeated submits its operations to. Valid during one call of the body, on the
/// thread that calls it.
class COORD_EXPORT Section {
 public:
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  /// As Coordinator::submit. `function` enqueues only on its stream, and the same work as long as
  /// the version is the same. `options.after` names only operations of this run of the section
  /// (others belong in RepeatedRun::after); group and timeout are not allowed.
  template <typename Function>
  OperationHandle submit(OperationOptions options, Function&& function,
                         std::source_location where = std::source_location::current()) {
    enter(options, where);
    const OperationHandle operation =
        coordinator_.submit(options, std::forward<Function>(function), where);
    leave(operation);
    return operation;
  }

 private:
  friend class Repeated;
  class Impl;
  Section(Coordinator& coordinator, Impl& impl) : coordinator_(coordinator), impl_(impl) {}
  void enter(OperationOptions& options, const std::source_location& where);
  void leave(OperationHandle operation);

  Coordinator& coordinator_;
  Impl& impl_;
};

struct RepeatedOptions {
  /// The run that captures the section, counting runs without a change: 3 means the third.
  std::uint32_t promote_after = 3;
};

/// Options of one run of a section.
struct RepeatedRun {
  /// Represents everything the work depends on apart from the arguments of Section::submit:
  /// addresses, sizes, values. A graph repeats the work of the run in which it was captured.
  std::uint64_t version = 0;
  /// The whole section runs after these operations.
  Dependencies after{};
};

struct RepeatedMetrics {
  std::uint64_t runs = 0;
  std::uint64_t submissions = 0;  // runs whose operations were submitted one by one
  std::uint64_t launches = 0;     // runs that launched a graph
  std::uint64_t promotions = 0;   // graphs made
  std::uint64_t fallbacks = 0;    // graphs dropped because the section changed or failed
  std::uint64_t refusals = 0;     // captures that failed, and graphs that were not cheaper
  std::size_t operations = 0;     // of the last submitted run
  /// Minimum host time of a run: submitted, and launched (of the first launches of a graph); 0
  /// while unknown.
  Nanoseconds submission_time{0}, launch_time{0};
};

/// Thread-compatible. Coordinator and streams must outlive it.
class COORD_EXPORT Repeated {
 public:
  /// The graph is launched on `stream`; other streams take part if operations use them.
  Repeated(Coordinator& coordinator, StreamRef stream, std::string_view name = "section",
           const RepeatedOptions& options = {});
  ~Repeated();
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  /// Runs the section: calls `body`, or launches its graph. Enqueues only. The returned operation
  /// represents all operations of the section; other operations may depend only on it. Each stream
  /// of the section continues after the section as if its operations had been submitted.
  ///
  /// In the run that captures, `body` is called while its streams are being captured (in CUDA's
  /// thread-local mode). If that fails, it is called again to submit the operations as before, and
  /// the section is not captured again until it changes: no work is lost or repeated.
  ///
  /// A graph is kept if its first launches take the host less time than submitting did. With a
  /// profiler, launches take about 20 times as long, so times cannot be compared: then graphs of at
  /// least 8 operations are kept. Sections are submitted, not launched, while `stream` is being
  /// captured, and while one of `run.after` is not submitted.
  ///
  /// Throws what `body` throws, and what submitting throws.
  OperationHandle run(const RepeatedRun& run, const std::function<void(Section&)>& body,
                      std::source_location where = std::source_location::current());

  [[nodiscard]] RepeatedMetrics metrics() const;
  /// Whether the next run launches a graph if its version is unchanged.
  [[nodiscard]] bool promoted() const;

 private:
  std::unique_ptr<Section::Impl> impl_;
};

}  // namespace coord
