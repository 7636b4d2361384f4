// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/call.h"

#include <algorithm>
#include <atomic>

#include "codes.h"
#include "device_state.h"
#include "observer.h"

namespace coord::sim {

namespace {

thread_local bool is_inside_device = false;
std::atomic<std::uint32_t> next_correlation_id{1};

}  // namespace

bool inside_device() noexcept { return is_inside_device; }
InsideDevice::InsideDevice() noexcept { is_inside_device = true; }
InsideDevice::~InsideDevice() { is_inside_device = false; }

SimBackend::Call::Call(SimBackend& backend, const char* name)
    : backend_(backend),
      name_(name),
      lock_(inside_device()
                ? throw make_error(kCodeNotPermitted, name, "called by a kernel or host function")
                : std::unique_lock(backend.mutex_)),
      clock_ns_(backend.host_clocks_[this_thread_number()]),
      correlation_id_(next_correlation_id.fetch_add(1, std::memory_order_relaxed)) {
  begin_ns = end_ns_ = clock_ns_;
}

SimBackend::Call::~Call() {
  if (!left_) leave(end_ns_, kCodeUnknown);
}

void SimBackend::Call::on_stream(NativeStream handle) {
  stream_handle_ = handle;
  stream = backend_.find_stream(handle, name_);
  has_stream_ = true;
}

void SimBackend::Call::on_event(NativeEvent handle) {
  object_ = handle;
  event = backend_.find_event(handle, name_);
  has_event_ = true;
}

void SimBackend::Call::enter() {
  Engine& engine = backend_.engine_;
  begin_ns = std::max(clock_ns_, engine.now_ns());
  if (has_stream_) begin_ns = std::max(begin_ns, backend_.streams_[stream].last_call_ns);
  if (has_event_) begin_ns = std::max(begin_ns, backend_.events_[event].last_call_ns);
  backend_.see_memory_until(begin_ns);
  engine.recheck_memory();  // the host may have stored a value since its last call
  end_ns_ = begin_ns;
  if (!engine.failure().empty()) fail(kCodeLaunchFailed, engine.failure());
}

OpRef SimBackend::Call::submit(OpSpec spec, std::span<const OpRef> after) {
  spec.stream = stream;
  spec.correlation_id = correlation_id_;
  spec.earliest_ns = begin_ns + backend_.config_.calibration.launch_latency_ns;
  std::vector<OpRef> all = backend_.barrier_before(stream);
  all.insert(all.end(), after.begin(), after.end());
  const OpRef op = backend_.engine_.submit(std::move(spec), all);
  backend_.submitted_.notify_all();
  return op;
}

void SimBackend::Call::block_until(std::span<const OpRef> ops, std::int64_t idle_ns,
                                   std::int64_t wake_ns) {
  using Clock = std::chrono::steady_clock;
  Engine& engine = backend_.engine_;
  InsideDevice inside;
  engine.advance(begin_ns);
  const bool idle = std::all_of(ops.begin(), ops.end(), [&](OpRef op) { return engine.done(op); });
  Clock::time_point give_up = Clock::now() + backend_.config_.deadlock_patience;
  for (std::size_t i = 0; i < ops.size();) {
    if (engine.run_until(ops[i])) {
      ++i;
      continue;
    }
    // Nothing can happen by itself. Another host thread may store a value or submit work.
    const std::uint64_t steps = engine.steps();
    if (Clock::now() >= give_up) {
      std::string text = "deadlock: the host waits for work that can never end";
      if (has_stream_) text += ", of stream \"" + std::string(engine.stream_name(stream)) + "\"";
      if (const auto& mark = observer().mark; mark != nullptr) mark("deadlock", engine.now_ns());
      leave(std::max(begin_ns, engine.now_ns()), kCodeUnknown);
      throw Error(ErrorKind::kDeadlock, kCodeUnknown, name_of_code(kCodeUnknown), name_,
                  text + engine.explain_stuck());
    }
    backend_.submitted_.wait_for(lock_, std::chrono::milliseconds(1));
    engine.recheck_memory();
    if (engine.steps() != steps) give_up = Clock::now() + backend_.config_.deadlock_patience;
  }
  if (!engine.failure().empty()) fail(kCodeLaunchFailed, engine.failure());
  end_ns_ = idle ? begin_ns + idle_ns : std::max(begin_ns, engine.now_ns()) + wake_ns;
}

void SimBackend::Call::finish(std::int64_t cost_ns) { leave(end_ns_ + cost_ns, kCodeSuccess); }

void SimBackend::Call::finish_not_ready(std::int64_t cost_ns) {
  leave(end_ns_ + cost_ns, kCodeNotReady);
}

void SimBackend::Call::fail(int code, const std::string& detail) {
  leave(end_ns_, code);
  throw make_error(code, name_, detail);
}

void SimBackend::Call::leave(std::int64_t end_ns, int result) {
  left_ = true;
  clock_ns_ = end_ns;
  if (has_stream_) backend_.streams_[stream].last_call_ns = end_ns;
  if (has_event_) backend_.events_[event].last_call_ns = end_ns;
  backend_.see_memory_until(end_ns);
  if (observer().sim_call == nullptr) return;
  coord_sim_call facts{};
  facts.name = name_;
  facts.correlation_id = correlation_id_;
  facts.context = backend_.properties_.context;
  facts.result = result;
  facts.flags = stream_handle_ == kPerThreadStream ? 1 : 0;
  facts.begin_ns = begin_ns;
  facts.end_ns = end_ns;
  facts.stream = stream_handle_;
  facts.object = object_;
  facts.value = value_;
  observer().sim_call(&facts);
}

}  // namespace coord::sim
