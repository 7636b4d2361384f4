// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A section of a program that submits the same operations again and again, as a training step or a
// solver's iteration does. After three runs without a change it is captured as a CUDA graph, and
// from then on launched with one call, if that takes the host less time than submitting it.
//
//   coord::Repeated step(coordinator, stream, "step");
//   for (;;) {
//     step.run({.version = batch.version()}, [&](coord::Section& section) {
//       auto load = section.submit({.stream = copies}, ...);
//       section.submit({.stream = stream, .after = {load}}, ...);
//     });
//   }
//
// What libcoord cannot see is what the operations' functions enqueue: which kernels, with which
// arguments. That they are the same is the caller's word, given as the version.
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

  /// As Coordinator::submit. `function` enqueues on its stream only, the same work each time that
  /// the version is the same. `options.after` names operations of this run of the section alone
  /// (others belong into RepeatedRun::after); it has no group and no timeout.
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
  /// Runs without a change before the section is captured.
  std::uint32_t promote_after = 3;
};

/// How a section is run once.
struct RepeatedRun {
  /// Stands for everything that the work depends on besides what Section::submit is told:
  /// addresses, sizes, values. A graph repeats the work of the run in which it was captured.
  std::uint64_t version = 0;
  /// All of the section comes after these operations.
  Dependencies after{};
};

struct RepeatedMetrics {
  std::uint64_t runs = 0;
  std::uint64_t submissions = 0;  // runs whose operations were submitted one by one
  std::uint64_t launches = 0;     // runs by launching a graph
  std::uint64_t promotions = 0;   // graphs made
  std::uint64_t fallbacks = 0;    // graphs given up because the section had changed, or failed
  std::uint64_t refusals = 0;     // captures that failed, and graphs that were not cheaper
  std::size_t operations = 0;     // of the last run that was submitted
  /// What a run takes the host at the least, submitted and, of the first launches of a graph,
  /// launched; 0 as long as it is not known.
  Nanoseconds submission_time{0}, launch_time{0};
};

/// Thread-compatible. Coordinator and streams must outlive it.
class COORD_EXPORT Repeated {
 public:
  /// `stream` is where the graph is launched; others take part as the operations use them.
  Repeated(Coordinator& coordinator, StreamRef stream, std::string_view name = "section",
           const RepeatedOptions& options = {});
  ~Repeated();
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

  /// Runs the section: calls `body`, or launches the graph that was made of it. Enqueues only. What
  /// is returned stands for all of its operations, the only ones of it that others may depend on.
  /// Each stream of the section goes on after the section as if its operations had been submitted.
  ///
  /// In the run that captures, `body` is called while its streams are being captured (in CUDA's
  /// thread-local mode). If that fails, it is called again to submit the operations as before, and
  /// the section is not captured again until it changes: no work is lost, none is done twice.
  ///
  /// A graph is kept if launching it takes the host less time than submitting did, which the first
  /// launches show. If a profiler listens, launches take some 20 times as long and are no measure:
  /// then graphs of at least 8 operations are kept. Sections are submitted, not launched, while
  /// `stream` is being captured, and as long as one of `run.after` is not submitted.
  ///
  /// Throws what `body` throws, and what submitting throws.
  OperationHandle run(const RepeatedRun& run, const std::function<void(Section&)>& body,
                      std::source_location where = std::source_location::current());

  [[nodiscard]] RepeatedMetrics metrics() const;
  /// Whether the next run launches a graph, if its version is the last one's.
  [[nodiscard]] bool promoted() const;

 private:
  std::unique_ptr<Section::Impl> impl_;
};

}  // namespace coord
