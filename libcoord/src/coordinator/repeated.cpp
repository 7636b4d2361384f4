// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/repeated.h"

#include <algorithm>
#include <string>
#include <vector>

#include "codes.h"
#include "coordinator_impl.h"
#include "nvtx.h"

namespace coord {

namespace {

/// Trial launches to decide whether the graph is cheaper.
constexpr std::uint32_t kTrialLaunches = 3;
/// Minimum operations for keeping a graph when a profiler makes the comparison meaningless: without
/// one, a launch takes about 2.7 us, and submitting an operation with its record and a kernel at
/// least half a microsecond.
constexpr std::size_t kWorthAGraph = 8;

constexpr auto kNoWork = [](StreamRef) {};

bool overlap(const std::vector<MemoryRange>& a, const std::vector<MemoryRange>& b) {
  const auto begin = [](const MemoryRange& range) {
    return reinterpret_cast<std::uintptr_t>(range.address);
  };
  for (const MemoryRange& x : a) {
    for (const MemoryRange& y : b) {
      if (begin(x) < begin(y) + y.bytes && begin(y) < begin(x) + x.bytes) return true;
    }
  }
  return false;
}

/// The section changed when it was to be captured.
struct Changed {};

/// The arguments of Section::submit for one operation.
struct Step {
  StreamRef stream;
  OperationType type{};
  OperationPriority priority{};
  std::vector<std::size_t> after;  // steps
  std::vector<MemoryRange> reads, writes;
  bool infers = false;
  std::uint32_t line = 0;

  friend bool operator==(const Step&, const Step&) = default;
};

bool conflict(const Step& a, const Step& b) {
  return overlap(a.writes, b.writes) || overlap(a.writes, b.reads) || overlap(a.reads, b.writes);
}

}  // namespace

class Section::Impl {
 public:
  Impl(Coordinator& coordinator, StreamRef stream, std::string_view name,
       const RepeatedOptions& options)
      : coordinator_(coordinator), stream_(stream), name_(name), options_(options) {
    if (!stream.id().valid())
      throw make_error(kCodeInvalidHandle, "Repeated", "the stream is null");
    if (options.promote_after == 0)
      throw make_error(kCodeInvalidValue, "Repeated", "promote_after is 0");
  }

  OperationHandle run(const RepeatedRun& run, const std::function<void(Section&)>& body,
                      const std::source_location& where) {
    ++metrics_.runs;
    if (unchanged_ > 0 && run.version != version_) forget("its version has changed");
    version_ = run.version;
    const bool known = graph_ != nullptr || unchanged_ + 1 >= options_.promote_after;
    const bool by_graph = known && !refused_ && !structure_.empty() &&
                          stream_.capture_status() == CaptureStatus::kNone &&
                          all_submitted(run.after);
    if (by_graph && graph_ == nullptr && !capture(body)) {
      refused_ = true;
      ++metrics_.refusals;
      notify("could not be captured");
    }
    if (by_graph && graph_ != nullptr) {
      try {
        return launch(run, where);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kDeviceFailure) throw;
        forget("its graph could not be launched");
        refused_ = true;
      }
    }
    return submit(run, body, where);
  }

  /// Registers the step that is about to be submitted.
  void enter(OperationOptions& options, const std::source_location& where) {
    constexpr const char* kCall = "Section::submit";
    if (options.group.id().valid() || options.timeout != Nanoseconds::max())
      throw make_error(kCodeInvalidValue, kCall,
                       "an operation of a section cannot have a group or timeout");
    Step step{.stream = options.stream,
              .type = options.type,
              .priority = options.priority,
              .reads = options.reads,
              .writes = options.writes,
              .infers = options.infer_dependencies,
              .line = where.line()};
    for (const OperationHandle& after : options.after) {
      const auto found = std::ranges::find(handles_, after);
      if (found == handles_.end()) foreign_ = true;
      step.after.push_back(static_cast<std::size_t>(found - handles_.begin()));
    }
    if (!capturing_) {
      steps_.push_back(std::move(step));
      options.group = group_;
      return;
    }
    if (handles_.size() >= structure_.size() || foreign_ || step != structure_[handles_.size()])
      throw Changed{};
    // Ranges also matter outside of the graph, so its launch has them. The order that they imply
    // inside was kept.
    options.reads.clear();
    options.writes.clear();
    options.infer_dependencies = false;
    for (std::size_t i = 0; step.infers && i < handles_.size(); ++i) {
      if (conflict(structure_[i], step)) options.after.push_back(handles_[i]);
    }
  }

  void leave(OperationHandle operation) { handles_.push_back(operation); }

  [[nodiscard]] const RepeatedMetrics& metrics() const noexcept { return metrics_; }
  [[nodiscard]] bool promoted() const noexcept { return graph_ != nullptr; }

 private:
  /// Submits the operations one by one.
  OperationHandle submit(const RepeatedRun& run, const std::function<void(Section&)>& body,
                         const std::source_location& where) {
    capturing_ = foreign_ = false;
    handles_.clear();
    steps_.clear();
    const TimeNs begin = coordinator_.now();
    group_ = coordinator_.open_group({.after = run.after, .description = name_}, where);
    Section section(coordinator_, *this);
    try {
      body(section);
    } catch (...) {
      coordinator_.close_group(group_);
      forget("its body has thrown");
      throw;
    }
    coordinator_.close_group(group_);
    const Nanoseconds time(coordinator_.now().value - begin.value);
    if (steps_ != structure_) {
      forget("its operations have changed");
      structure_.swap(steps_);
      sum_up();
    }
    ++unchanged_;
    ++metrics_.submissions;
    metrics_.operations = structure_.size();
    if (unchanged_ == 1 || time < metrics_.submission_time) metrics_.submission_time = time;
    if (foreign_ && !refused_) {
      refused_ = true;
      ++metrics_.refusals;
      notify("depends on operations outside the section, so it cannot be a graph");
    }
    return group_;
  }

  /// Creates the graph. False if that fails, with no side effects left.
  bool capture(const std::function<void(Section&)>& body) {
    capturing_ = true;
    foreign_ = false;
    handles_.clear();
    try {
      stream_.begin_capture(CaptureMode::kThreadLocal);
    } catch (const Error&) {
      return false;
    }
    try {
      // The branches join the capture, and are joined back at its end.
      const OperationHandle root = coordinator_.submit({.stream = stream_}, kNoWork);
      for (StreamRef branch : branches_)
        coordinator_.post({.stream = branch, .after = {root}}, kNoWork);
      Section section(coordinator_, *this);
      body(section);
      if (handles_.size() != structure_.size()) throw Changed{};
      Dependencies ends;
      for (StreamRef branch : branches_)
        ends.push_back(coordinator_.submit({.stream = branch}, kNoWork));
      coordinator_.post({.stream = stream_, .after = ends}, kNoWork);
      graph_ = std::make_shared<ExecutableGraph>(stream_.end_capture().instantiate());
    } catch (...) {
      try {
        if (stream_.capture_status() != CaptureStatus::kNone) (void)stream_.end_capture();
      } catch (const Error&) {
        // Invalidated, or its branches were not joined: the capture has ended either way.
      }
      return false;
    }
    launches_ = 0;
    ++metrics_.promotions;
    notify("is promoted to a graph");
    return true;
  }

  /// Launches the graph as one operation that comes after all earlier ones of its streams, and
  /// before all later ones.
  OperationHandle launch(const RepeatedRun& run, const std::source_location& where) {
    const bool on_trial = launches_ < kTrialLaunches;  // reading the clock costs a launch as well
    const TimeNs begin = on_trial ? coordinator_.now() : TimeNs{};
    OperationOptions options{.stream = stream_, .after = run.after, .description = name_};
    for (const OperationHandle& last : coordinator_.newest(streams_)) options.after.push_back(last);
    options.reads = reads_;
    options.writes = writes_;
    options.infer_dependencies = infers_;
    const OperationHandle launched = coordinator_.submit(
        options, [graph = graph_](StreamRef stream) { graph->launch(stream); }, where);
    const bool in_stream = all_submitted({launched});  // if not, it is deferred
    for (StreamRef branch : branches_) {
      if (in_stream) {
        coordinator_.order_after(branch, launched);
      } else {
        coordinator_.post({.stream = branch, .after = {launched}}, kNoWork);
      }
    }
    ++metrics_.launches;
    if (!on_trial) return launched;
    const Nanoseconds time(coordinator_.now().value - begin.value);
    if (launches_ == 0 || time < metrics_.launch_time) metrics_.launch_time = time;
    if (++launches_ == kTrialLaunches && !worth_it()) {
      graph_.reset();
      refused_ = true;
      ++metrics_.refusals;
      notify("is not cheaper as a graph");
    }
    return launched;
  }

  [[nodiscard]] bool worth_it() const {
    const bool profiled = !coordinator_.simulated() && (nvtx::listening() || is_observed());
    return profiled ? structure_.size() >= kWorthAGraph
                    : metrics_.launch_time < metrics_.submission_time;
  }

  /// Drops what is known about the section.
  void forget(const char* why) {
    if (graph_ != nullptr) {
      ++metrics_.fallbacks;
      notify(why);
    }
    graph_.reset();
    structure_.clear();
    unchanged_ = 0;
    refused_ = false;
  }

  [[nodiscard]] bool all_submitted(const Dependencies& operations) const {
    return std::ranges::all_of(operations, [&](const OperationHandle& operation) {
      return coordinator_.state(operation) >= OperationState::kSubmitted;
    });
  }

  /// Collects what all steps together use.
  void sum_up() {
    branches_.clear();
    reads_.clear();
    writes_.clear();
    infers_ = false;
    for (const Step& step : structure_) {
      reads_.insert(reads_.end(), step.reads.begin(), step.reads.end());
      writes_.insert(writes_.end(), step.writes.begin(), step.writes.end());
      infers_ |= step.infers;
      const bool known = std::ranges::find(branches_, step.stream) != branches_.end();
      if (!known && !(step.stream == stream_)) branches_.push_back(step.stream);
    }
    streams_ = branches_;
    streams_.insert(streams_.begin(), stream_);
  }

  void notify(const char* what) const {
    if (observer().mark == nullptr) return;
    const std::string text = name_ + " " + what;
    observer().mark(text.c_str(), coordinator_.simulated() ? coordinator_.now().value : 0);
  }

  Coordinator& coordinator_;
  const StreamRef stream_;
  const std::string name_;
  const RepeatedOptions options_;

  // The section as last submitted, and how many times in a row.
  std::vector<Step> structure_;
  std::vector<StreamRef> branches_, streams_;  // without and with stream_
  std::vector<MemoryRange> reads_, writes_;
  bool infers_ = false;
  std::uint64_t version_ = 0;
  std::uint32_t unchanged_ = 0;
  bool refused_ = false;  // no graph until it changes

  std::shared_ptr<ExecutableGraph> graph_;  // a deferred launch shares it
  std::uint32_t launches_ = 0;              // of this graph
  RepeatedMetrics metrics_;

  // For the current run:
  bool capturing_ = false;
  bool foreign_ = false;  // an operation outside the section was named
  OperationHandle group_;
  std::vector<Step> steps_;
  std::vector<OperationHandle> handles_;
};

void Section::enter(OperationOptions& options, const std::source_location& where) {
  impl_.enter(options, where);
}
void Section::leave(OperationHandle operation) { impl_.leave(operation); }

Repeated::Repeated(Coordinator& coordinator, StreamRef stream, std::string_view name,
                   const RepeatedOptions& options)
    : impl_(std::make_unique<Section::Impl>(coordinator, stream, name, options)) {}

Repeated::~Repeated() = default;

OperationHandle Repeated::run(const RepeatedRun& run, const std::function<void(Section&)>& body,
                              std::source_location where) {
  return impl_->run(run, body, where);
}

RepeatedMetrics Repeated::metrics() const { return impl_->metrics(); }

bool Repeated::promoted() const { return impl_->promoted(); }

}  // namespace coord
