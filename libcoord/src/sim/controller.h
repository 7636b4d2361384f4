// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One run of an explored program: host threads of which one runs at a time, a device that does
// nothing on its own, and a decider that chooses each next step (explore.cpp).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "coord/device.h"
#include "coord/explore.h"
#include "sim/machine.h"
#include "sim/races.h"
#include "sim/scheduler.h"

namespace coord::sim {

/// What happens, or can happen, in one step, and the state it shares with other steps.
struct Step {
  std::uint64_t who = 0;     // a host thread or operation; the same in runs with the same history
  std::uint64_t lane = 0;    // the thread or stream, for priorities
  bool host = false;         // code of a host thread
  bool syncs_hosts = false;  // depends on what other host threads do, and on host memory
  bool host_memory = false;  // device work that host threads can see
  bool enabled = false;
  std::vector<Touch> touches;
  std::vector<std::uint64_t> needs;  // objects that had to be written for the step to be enabled
};

/// Whether the order of the two steps makes no difference.
[[nodiscard]] bool commute(const Step& a, const Step& b);

/// Decides what happens next.
class Decider {
 public:
  virtual ~Decider() = default;
  /// `last`, the step chosen before, is now complete; `next` are the pending steps, sorted by
  /// `who`, at least one of them enabled. Returns the index of the next step, or nothing to abandon
  /// the run.
  virtual std::optional<std::size_t> decide(const Step* last, const std::vector<Step>& next) = 0;
};

class Controller final : public Scheduler {
 public:
  Controller(const ExploreOptions& options, Decider& decider);
  ~Controller() override;

  /// Runs the program to its end. Called once, by the thread that becomes the first host thread.
  void run(const Program& program);

  [[nodiscard]] std::optional<Finding> take_finding() { return std::move(finding_); }
  /// The decider abandoned the run.
  [[nodiscard]] bool given_up() const { return given_up_; }
  [[nodiscard]] const std::vector<double>& result() const { return result_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }

  // For Run.
  [[nodiscard]] const Device& device(std::size_t index) const { return devices_.at(index); }
  void start_thread(std::function<void()> body);
  void join();
  void wait_until(const std::function<bool()>& condition);
  void step();
  void add_result(double value) { result_.push_back(value); }
  void found(FindingKind kind, const std::string& text);

  // Scheduler
  void turn(const char* call, std::span<const Touch> touches, bool may_throw) override;
  bool wait(const char* call, std::span<const Touch> touches,
            const std::function<bool()>& ready) override;
  void polled_not_ready() override;
  void submitted(OpRef op, std::span<const OpRef> after) override;
  void seen(std::span<const OpRef> ops) override;
  void host_access(const Access& access) override;

 private:
  enum class State { kPending, kRunning, kIdle, kEnding, kFinished };
  /// What a pending thread is about to do.
  struct Wish {
    const char* doing = "start";
    std::vector<Touch> touches{};
    bool needs_touches = false;  // enabled only once they are written
    bool syncs_hosts = false;
    const std::function<bool()>* ready = nullptr;
  };
  struct Thread {
    std::size_t index = 0;
    State state = State::kPending;
    bool executor = false;
    std::uint32_t device = 0;  // executors
    std::uint32_t job = 0;     // executors: slot of the host function
    OpRef job_op{};
    Wish wish;
    std::uint64_t not_ready_at_step =
        0;  // number of the step that polled without progress; 0: none
    std::condition_variable wake;
    std::thread os;
  };

  [[nodiscard]] Engine& engine() { return machine_->engine; }
  Thread& self();
  Thread& add_thread();
  [[nodiscard]] static std::uint64_t who(const Thread& thread);
  /// The calling thread waits to be chosen. Returns false if the run is being abandoned.
  bool pend(Wish wish);
  /// Code of the program; what it throws is a finding that begins with `who`.
  void run_guarded(const std::string& who, const std::function<void()>& body);
  /// Performs device steps until a thread is chosen, which then runs. With the lock held.
  void move_on();
  void hand_to(Thread& thread);
  void collect(std::vector<Step>& steps);
  void collect_thread(const Thread& thread, std::vector<Step>& steps);
  void collect_op(std::uint32_t slot, bool enabled, std::vector<Step>& steps);
  void perform(std::uint32_t slot);
  void executor_loop(Thread& thread);
  [[nodiscard]] std::string explain_stuck();
  [[nodiscard]] std::string text_of(const Op& op);
  [[nodiscard]] std::string text_of(const Thread& thread) const;

  const ExploreOptions& options_;
  Decider& decider_;
  Races races_;
  std::mutex mutex_;
  std::deque<Thread> threads_;  // the first runs the program
  std::size_t running_ = 0;
  bool quit_ = false;
  bool giving_up_ = false, given_up_ = false;
  std::uint64_t steps_ = 0;
  std::optional<Step> last_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> after_;  // by serial: serials
  std::vector<double> result_;
  Schedule schedule_;
  std::optional<Finding> finding_;
  Machine* machine_ = nullptr;
  std::vector<Device> devices_;
};

}  // namespace coord::sim
