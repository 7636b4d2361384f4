// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/controller.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "codes.h"
#include "device_state.h"
#include "sim/sim_backend.h"

namespace coord::sim {

namespace {

constexpr std::uint64_t kExecutors = std::uint64_t{1} << 20;   // and the device's number
constexpr std::uint64_t kOperations = std::uint64_t{1} << 40;  // and the serial number
constexpr std::uint64_t kStreams = std::uint64_t{1} << 30;     // lanes: and the stream's number

thread_local std::size_t this_thread = 0;  // index in the controller of its run

Error given_up_error(const char* call) {
  return make_error(ErrorKind::kDeadlock, kCodeUnknown, call,
                    "this run of the program is being abandoned");
}

}  // namespace

bool commute(const Step& a, const Step& b) {
  const auto synced = [](const Step& with, const Step& other) {
    return with.syncs_hosts && (other.host || other.host_memory);
  };
  if (a.who == b.who || synced(a, b) || synced(b, a)) {
    return false;
  }
  for (const Touch& mine : a.touches) {
    for (const Touch& other : b.touches) {
      if (mine.object == other.object && (mine.writes || other.writes)) return false;
    }
  }
  return true;
}

Controller::Controller(const ExploreOptions& options, Decider& decider)
    : options_(options), decider_(decider) {
  for (auto& backend : open_simulated(options.config, options.devices, this)) {
    machine_ = &static_cast<SimBackend&>(*backend).machine();
    devices_.emplace_back(std::make_shared<DeviceState>(std::move(backend)));
  }
  Thread& main = add_thread();
  main.state = State::kRunning;
}

Controller::~Controller() {
  {
    std::lock_guard lock(mutex_);
    quit_ = true;
    for (Thread& thread : threads_) thread.wake.notify_one();
  }
  for (Thread& thread : threads_) {
    if (thread.os.joinable()) thread.os.join();
  }
}

Controller::Thread& Controller::self() { return threads_[this_thread]; }

Controller::Thread& Controller::add_thread() {
  Thread& thread = threads_.emplace_back();
  thread.index = threads_.size() - 1;
  return thread;
}

std::uint64_t Controller::who(const Thread& thread) {
  return thread.executor ? kExecutors + thread.device : thread.index;
}

void Controller::run(const Program& program) {
  this_thread = 0;
  run_guarded("the program", [&] {
    Run run(*this);
    program(run);
  });
  std::unique_lock lock(mutex_);
  Thread& main = threads_[0];
  main.state = State::kEnding;
  move_on();
  main.wake.wait(lock, [this] { return running_ == 0; });
  lock.unlock();
  if (!engine().failure().empty()) found(FindingKind::kFailure, engine().failure());
}

void Controller::run_guarded(const std::string& who, const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    found(FindingKind::kFailure, who + " threw: " + error.what());
  } catch (...) {
    found(FindingKind::kFailure, who + " threw");
  }
}

void Controller::found(FindingKind kind, const std::string& text) {
  if (giving_up_ || finding_) return;
  finding_ = Finding{kind, text, schedule_};
  giving_up_ = true;
}

void Controller::hand_to(Thread& thread) {
  thread.state = State::kRunning;
  running_ = thread.index;
  thread.wake.notify_one();
}

bool Controller::pend(Wish wish) {
  Thread& thread = self();
  std::unique_lock lock(mutex_);
  if (giving_up_) return false;
  thread.wish = std::move(wish);
  thread.state = State::kPending;
  move_on();
  thread.wake.wait(lock, [&] { return running_ == thread.index; });
  thread.not_ready_at_step = 0;
  return !giving_up_;
}

void Controller::move_on() {
  std::vector<Step> next;
  for (;;) {
    if (giving_up_) {  // the first thread last: others use what it owns
      for (std::size_t i = threads_.size(); i-- > 0;) {
        Thread& thread = threads_[i];
        if (thread.state == State::kPending || thread.state == State::kEnding)
          return hand_to(thread);
      }
      return;
    }
    collect(next);
    if (std::ranges::none_of(next, [](const Step& step) { return step.enabled; })) {
      const bool over =
          threads_[0].state == State::kEnding && next.empty() && engine().pending().empty();
      if (over) return hand_to(threads_[0]);
      found(FindingKind::kDeadlock, explain_stuck());
      continue;
    }
    if (++steps_ > options_.max_steps) {
      found(FindingKind::kFailure, "no end after " + std::to_string(options_.max_steps) + " steps");
      continue;
    }
    const auto choice = decider_.decide(last_ ? &*last_ : nullptr, next);
    if (!choice) {
      given_up_ = giving_up_ = true;
      continue;
    }
    schedule_.choices.push_back(static_cast<std::uint32_t>(*choice));
    last_ = std::move(next[*choice]);
    if (last_->who >= kOperations) {
      const std::uint64_t serial = last_->who - kOperations;
      const auto& ready = engine().ready();
      const std::uint32_t slot = *std::ranges::find_if(
          ready, [&](std::uint32_t each) { return engine().op(each).serial == serial; });
      const bool handed = engine().op(slot).kind == OpKind::kHostFunction;
      perform(slot);
      if (handed) return;
      continue;
    }
    const auto chosen = std::ranges::find_if(threads_, [&](const Thread& thread) {
      return thread.state == State::kPending && who(thread) == last_->who;
    });
    return hand_to(*chosen);
  }
}

void Controller::collect(std::vector<Step>& steps) {
  steps.clear();
  for (const Thread& thread : threads_) {
    if (thread.state == State::kPending) collect_thread(thread, steps);
  }
  for (const std::uint32_t slot : engine().ready())
    collect_op(slot, engine().can_perform(slot), steps);
  std::ranges::sort(steps, {}, &Step::who);
}

void Controller::collect_thread(const Thread& thread, std::vector<Step>& steps) {
  Step& step = steps.emplace_back();
  step.who = step.lane = who(thread);
  step.host = true;
  step.syncs_hosts = thread.wish.syncs_hosts;
  step.touches = thread.wish.touches;
  step.touches.push_back(Touch::of(Touch::kThread, thread.index, true));
  if (thread.wish.needs_touches) {
    for (const Touch& touch : thread.wish.touches) step.needs.push_back(touch.object);
  }
  if (thread.executor) {
    step.touches.push_back(Touch::of(Touch::kHostExecutor, thread.device, true));
    step.touches.push_back(Touch::of(Touch::kOp, thread.job_op.serial, true));
  }
  const bool looks_again_too_soon =
      thread.not_ready_at_step != 0 && thread.not_ready_at_step == steps_;
  const std::function<bool()>* const ready = thread.wish.ready;
  step.enabled = !looks_again_too_soon && (ready == nullptr || (*ready)());
}

void Controller::collect_op(std::uint32_t slot, bool enabled, std::vector<Step>& steps) {
  const Op& op = engine().op(slot);
  const std::uint32_t device = engine().device_of(op.stream);
  Step& step = steps.emplace_back();
  step.who = kOperations + op.serial;
  step.lane = kStreams + op.stream;
  step.enabled = enabled;
  step.touches.push_back(Touch::of(Touch::kOp, op.serial, true));
  step.needs.push_back(step.touches.back().object);
  for (const std::uint64_t serial : after_[op.serial]) {
    step.touches.push_back(Touch::of(Touch::kOp, serial, false));
    step.needs.push_back(step.touches.back().object);
  }
  if (op.address != nullptr) {
    step.touches.push_back(Touch::of(Touch::kWord, machine_->trace_address(op.address),
                                     op.kind == OpKind::kMemoryWrite));
    const auto range = machine_->find_range(op.address);
    step.host_memory = range != machine_->memory.end() && range->second.on_host;
  }
  if (op.kind == OpKind::kKernel)
    step.touches.push_back(Touch::of(Touch::kMultiprocessors, device, op.address != nullptr));
  if (op.kind == OpKind::kHostFunction)
    step.touches.push_back(Touch::of(Touch::kHostExecutor, device, true));
  if (op.computes) step.touches.push_back(Touch::of(Touch::kUnknownMemory, 0, true));
  step.host_memory = step.host_memory || op.computes || op.kind == OpKind::kCopyToHost;
}

void Controller::perform(std::uint32_t slot) {
  const Op& op = engine().op(slot);
  const OpRef ref{slot, op.serial};
  if (!engine().would_spin(slot)) {
    if (const auto race = races_.performed(op, text_of(op))) {
      found(FindingKind::kRace, *race);
      if (op.kind != OpKind::kHostFunction) return;
    }
  }
  if (op.kind != OpKind::kHostFunction) {
    InsideDevice inside;
    engine().perform(slot);
    return;
  }
  const std::uint32_t device = engine().device_of(op.stream);
  const auto executor = std::ranges::find_if(
      threads_, [&](const Thread& thread) { return thread.executor && thread.device == device; });
  const bool is_new = executor == threads_.end();
  Thread& thread = is_new ? add_thread() : *executor;
  if (is_new) {
    thread.executor = true;
    thread.device = device;
    thread.state = State::kIdle;
    thread.os = std::thread([this, &thread] { executor_loop(thread); });
  }
  engine().begin_host_function(slot);
  thread.job = slot;
  thread.job_op = ref;
  races_.enters(thread.index, ref);
  hand_to(thread);
}

void Controller::executor_loop(Thread& thread) {
  this_thread = thread.index;
  std::unique_lock lock(mutex_);
  for (;;) {
    thread.wake.wait(lock, [&] {
      return quit_ || (running_ == thread.index && thread.state == State::kRunning);
    });
    if (quit_) return;
    lock.unlock();
    run_guarded(text_of(engine().op(thread.job)), [&] {
      InsideDevice inside;
      engine().op(thread.job).work();
    });
    races_.leaves(thread.index, thread.job_op);
    engine().end_host_function(thread.job);
    lock.lock();
    if (last_) last_->touches.push_back(Touch::of(Touch::kOp, thread.job_op.serial, true));
    thread.state = State::kIdle;
    move_on();
  }
}

void Controller::start_thread(std::function<void()> body) {
  std::lock_guard lock(mutex_);
  Thread& thread = add_thread();
  races_.started(this_thread, thread.index);
  thread.os = std::thread([this, &thread, body = std::move(body)] {
    this_thread = thread.index;
    bool begin = false;
    {
      std::unique_lock waiting(mutex_);
      thread.wake.wait(waiting, [&] { return running_ == thread.index; });
      begin = !giving_up_;
    }
    if (begin) run_guarded("a thread", body);
    const std::lock_guard ended(mutex_);
    thread.state = State::kFinished;
    move_on();
  });
}

void Controller::turn(const char* call, std::span<const Touch> touches, bool may_throw) {
  const bool chosen = pend({.doing = call, .touches = {touches.begin(), touches.end()}});
  if (!chosen && may_throw) throw given_up_error(call);
}

bool Controller::wait(const char* call, std::span<const Touch> touches,
                      const std::function<bool()>& ready) {
  return pend({.doing = call,
               .touches = {touches.begin(), touches.end()},
               .needs_touches = true,
               .ready = &ready});
}

void Controller::join() {
  const std::function<bool()> ended = [this] {
    return std::all_of(threads_.begin() + 1, threads_.end(), [](const Thread& thread) {
      return thread.executor || thread.state == State::kFinished;
    });
  };
  std::vector<Touch> touches;
  for (const Thread& thread : threads_) {
    if (thread.index != this_thread && !thread.executor)
      touches.push_back(Touch::of(Touch::kThread, thread.index, false));
  }
  if (!wait("join", touches, ended)) throw given_up_error("join");
  races_.follows_all(this_thread);
}

void Controller::wait_until(const std::function<bool()>& condition) {
  const bool chosen = pend({.doing = "wait_until",
                            .touches = {Touch::of(Touch::kHostState, 0, true)},
                            .syncs_hosts = true,
                            .ready = &condition});
  if (!chosen) throw given_up_error("wait_until");
  races_.follows_all(this_thread);
}

void Controller::step() {
  const bool chosen = pend(
      {.doing = "step", .touches = {Touch::of(Touch::kHostState, 0, true)}, .syncs_hosts = true});
  if (!chosen) throw given_up_error("step");
}

void Controller::polled_not_ready() { self().not_ready_at_step = steps_; }

void Controller::submitted(OpRef op, std::span<const OpRef> after) {
  races_.submitted(this_thread, op, after);
  std::vector<std::uint64_t>& serials = after_[op.serial];
  for (const OpRef other : after) {
    if (other.serial != 0) serials.push_back(other.serial);
  }
  if (last_) last_->touches.push_back(Touch::of(Touch::kOp, op.serial, true));
}

void Controller::seen(std::span<const OpRef> ops) { races_.seen(this_thread, ops); }

void Controller::host_access(const Access& access) {
  if (giving_up_) return;
  if (const auto race = races_.accessed(this_thread, access, text_of(self())))
    found(FindingKind::kRace, *race);
}

std::string Controller::text_of(const Thread& thread) const {
  if (thread.executor) return "the host function";
  return thread.index == 0 ? "the first host thread"
                           : "host thread " + std::to_string(thread.index + 1);
}

std::string Controller::text_of(const Op& op) {
  std::string text = describe(op.kind);
  if (op.kind == OpKind::kKernel) text += " \"" + std::string(op.name) + "\"";
  const std::string_view stream = engine().stream_name(op.stream);
  text += stream.empty() ? " in stream " + std::to_string(op.stream)
                         : " in stream \"" + std::string(stream) + "\"";
  return op.in_graph ? text + " (of a graph)" : text;
}

std::string Controller::explain_stuck() {
  std::string text = "deadlock: nothing can proceed";
  for (const Thread& thread : threads_) {
    if (thread.state != State::kPending) continue;
    text += "\n  " + text_of(thread) +
            (thread.not_ready_at_step != 0 ? " polls without progress in " : " waits in ") +
            thread.wish.doing;
  }
  return text + engine().explain_stuck();
}

const Device& Run::device(std::size_t index) const { return controller_.device(index); }
void Run::thread(std::function<void()> body) { controller_.start_thread(std::move(body)); }
void Run::join() { controller_.join(); }
void Run::wait_until(const std::function<bool()>& condition) { controller_.wait_until(condition); }
void Run::step() { controller_.step(); }

void Run::reads(const void* address, std::size_t bytes) {
  controller_.host_access({reinterpret_cast<std::uintptr_t>(address), bytes, false});
}

void Run::writes(const void* address, std::size_t bytes) {
  controller_.host_access({reinterpret_cast<std::uintptr_t>(address), bytes, true});
}

void Run::result(double value) { controller_.add_result(value); }

void Run::check(bool holds, std::string_view what) {
  if (!holds) controller_.found(FindingKind::kFailure, "does not hold: " + std::string(what));
}

}  // namespace coord::sim
