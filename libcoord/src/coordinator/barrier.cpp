// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/barrier.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "codes.h"
#include "coord/deadlock.h"
#include "coordinator_impl.h"
#include "device_state.h"
#include "wait_graph.h"

namespace coord {

namespace {

std::atomic<std::uint64_t> next_barrier{1};

}  // namespace

class Barrier::Impl {
 public:
  Impl(Coordinator& coordinator, std::span<const StreamRef> streams, std::string_view name)
      : coordinator_(coordinator), streams_(streams.begin(), streams.end()), name_(name) {
    constexpr const char* kCall = "Barrier";
    if (streams_.empty()) throw make_error(kCodeInvalidValue, kCall, "there are no streams");
    for (StreamRef stream : streams_) {
      if (std::ranges::count(streams_, stream) > 1)
        throw make_error(kCodeInvalidValue, kCall, "a stream is named twice");
    }
  }

  OperationHandle pass(const std::source_location& where) {
    const Lock lock(mutex_);
    return pass_now(where, {});
  }

  OperationHandle arrive_and_wait(StreamRef stream, const std::source_location& where) {
    constexpr const char* kCall = "Barrier::arrive_and_wait";
    Lock lock(mutex_);
    if (std::ranges::find(streams_, stream) == streams_.end())
      throw make_error(kCodeInvalidValue, kCall, "the stream is not part of \"" + name_ + "\"");
    if (has_arrived(stream))
      throw make_error(kCodeNotPermitted, kCall,
                       "the stream has already arrived at \"" + name_ + "\", others have not");
    arrived_.push_back({stream, this_thread_number(), coordinator_.arrival_time(), where});
    if (arrived_.size() == streams_.size()) {
      ++generation_;
      const std::vector<Arrival> arrived = std::exchange(arrived_, {});
      error_ = nullptr;
      try {
        std::vector<std::int64_t> times;
        times.reserve(streams_.size());
        for (StreamRef one : streams_)
          times.push_back(std::ranges::find(arrived, one, &Arrival::stream)->time_ns);
        passed_ = pass_now(where, times);
      } catch (...) {
        error_ = std::current_exception();
      }
      all_here_.notify_all();
      if (error_ != nullptr) std::rethrow_exception(error_);
      return passed_;
    }
    const std::uint64_t mine = generation_;
    while (generation_ == mine) {
      const auto until = std::chrono::system_clock::now() + std::chrono::milliseconds(20);
      if (all_here_.wait_until(lock, until) == std::cv_status::no_timeout) continue;
      lock.unlock();
      WaitGraph waits = all_waits();
      const DeadlockReport report = waits.report();
      lock.lock();
      if (report.cycles.empty() || generation_ != mine) continue;
      std::erase_if(arrived_, [&](const Arrival& one) { return one.stream == stream; });
      waits.give_up(kCall, report, coordinator_.arrival_time());
    }
    if (error_ != nullptr) std::rethrow_exception(error_);
    return passed_;
  }

  BarrierMetrics metrics() const {
    const Lock lock(mutex_);
    return metrics_;
  }

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Arrival {
    StreamRef stream;
    std::uint64_t thread;
    std::int64_t time_ns;
    std::source_location where;
  };

  [[nodiscard]] bool has_arrived(StreamRef stream) const {
    return std::ranges::find(arrived_, stream, &Arrival::stream) != arrived_.end();
  }

  OperationHandle pass_now(const std::source_location& where,
                           std::span<const std::int64_t> arrivals) {
    ++metrics_.uses;
    return coordinator_.pass_barrier(streams_, name_, where, metrics_, arrivals);
  }

  void notify_waits(WaitGraph& graph) const {
    const Lock lock(mutex_);
    if (arrived_.empty()) return;
    std::string missing, here;
    std::vector<Coordinator::LastOperation> last;
    for (StreamRef stream : streams_) {
      if (has_arrived(stream)) continue;
      missing += (missing.empty() ? " " : "; ") + std::to_string(stream.id().value);
      last.push_back(coordinator_.last_operation(stream));
      missing += last.back().text.empty() ? ", last operation unknown"
                                          : ", last operation: " + last.back().text;
    }
    for (const Arrival& arrival : arrived_)
      here += (here.empty() ? "" : ", ") + text_of(arrival.where);
    const std::size_t node = graph.node(
        COORD_WAITS_BARRIER, "barrier " + std::to_string(number_),
        "barrier \"" + name_ + "\" (reached at " + here + "); streams missing:" + missing);
    graph.orphan(node);
    for (const auto& [operation, text] : last) {
      if (!text.empty())
        graph.edge(node, graph.node(COORD_WAITS_OPERATION, "operation " + std::to_string(operation),
                                    text, operation));
    }
    for (const Arrival& arrival : arrived_) graph.edge(graph.thread(arrival.thread), node);
  }

  Coordinator& coordinator_;
  const std::vector<StreamRef> streams_;
  const std::string name_;
  const std::uint64_t number_ = next_barrier.fetch_add(1);
  mutable std::mutex mutex_;
  std::condition_variable all_here_;
  std::vector<Arrival> arrived_;
  std::uint64_t generation_ = 0;
  OperationHandle passed_;
  std::exception_ptr error_;
  BarrierMetrics metrics_;
  const WaitGraphSource source_{[this](WaitGraph& graph) { notify_waits(graph); }};
};

Barrier::Barrier(Coordinator& coordinator, std::span<const StreamRef> streams,
                 std::string_view name)
    : impl_(std::make_unique<Impl>(coordinator, streams, name)) {}

Barrier::~Barrier() = default;

OperationHandle Barrier::pass(std::source_location where) { return impl_->pass(where); }

OperationHandle Barrier::arrive_and_wait(StreamRef stream, std::source_location where) {
  return impl_->arrive_and_wait(stream, where);
}

BarrierMetrics Barrier::metrics() const { return impl_->metrics(); }

}  // namespace coord
