// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/call.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string_view>

#include "codes.h"
#include "device_state.h"
#include "observer.h"

namespace coord::sim {

namespace {

// Taken under the machine's lock when nothing can come in between: calls are numbered in the order
// in which they take effect, which shows an observer what a wait is bound to.
std::atomic<std::uint32_t> next_correlation_id{1};

bool is_device_failure(int code) { return kind_of_code(code) == ErrorKind::kDeviceFailure; }

}  // namespace

SimBackend::Call::Call(SimBackend& backend, const char* name)
    : backend_(backend),
      machine_(backend.machine_),
      name_(name),
      lock_(inside_device()
                ? throw make_error(kCodeNotPermitted, name, "called by a kernel or host function")
                : std::unique_lock(machine_.mutex)),
      clock_ns_(machine_.host_clocks[this_thread_number()]),
      correlation_id_(next_correlation_id.fetch_add(1, std::memory_order_relaxed)) {
  begin_ns = end_ns_ = clock_ns_;
}

SimBackend::Call::Call(SimBackend& backend, const char* name, CaptureRule rule)
    : Call(backend, name) {
  enter(rule);
}

SimBackend::Call::Call(SimBackend& backend, const char* name, NativeStream handle, CaptureRule rule)
    : Call(backend, name) {
  on_stream(handle);
  enter(rule);
}

SimBackend::Call::~Call() {
  if (!left_) leave(end_ns_, kCodeUnknown);
}

void SimBackend::Call::on_stream(NativeStream handle) {
  stream_handle_ = handle;
  stream = machine_.find_stream(backend_.device_, handle, name_);
  has_stream_ = true;
  if (machine_.scheduler == nullptr) return;
  const StreamEntry& entry = machine_.streams[stream];
  touches_.push_back(Touch::of(Touch::kStreamTail, stream, true));
  if (entry.kind != StreamKind::kNonBlocking)
    touches_.push_back(Touch::of(Touch::kLegacy, entry.device, entry.kind == StreamKind::kLegacy));
}

void SimBackend::Call::on_event(NativeEvent handle, bool changes_it) {
  object_ = handle;
  event = machine_.find_event(handle, name_);
  has_event_ = true;
  if (machine_.scheduler != nullptr)
    touches_.push_back(Touch::of(Touch::kEvent, event, changes_it));
}

std::vector<Touch> SimBackend::Call::touches_of(std::span<const OpRef> ops) const {
  std::vector<Touch> touches;
  if (machine_.scheduler == nullptr) return touches;
  for (const OpRef op : ops) touches.push_back(Touch::of(Touch::kOp, op.serial, false));
  return touches;
}

void SimBackend::Call::touches(const std::vector<OpRef>& ops) {
  std::ranges::copy(touches_of(ops), std::back_inserter(touches_));
}

void SimBackend::Call::enter(CaptureRule rule) {
  Engine& engine = machine_.engine;
  if (machine_.scheduler != nullptr) {
    const bool asks = rule == CaptureRule::kLooks || rule == CaptureRule::kUnsafe ||
                      rule == CaptureRule::kWholeDevice;
    if (asks || rule == CaptureRule::kCaptures)
      touches_.push_back(Touch::of(Touch::kCaptures, 0, !asks));
    lock_.unlock();
    machine_.scheduler->turn(name_, touches_, may_throw_);
    lock_.lock();
    correlation_id_ = next_correlation_id.fetch_add(1, std::memory_order_relaxed);
  }
  begin_ns = std::max(clock_ns_, engine.now_ns());
  if (has_stream_) begin_ns = std::max(begin_ns, machine_.streams[stream].last_call_ns);
  if (has_event_) begin_ns = std::max(begin_ns, machine_.events[event].last_call_ns);
  machine_.see_memory_until(begin_ns);
  engine.recheck_memory();  // the host may have stored a value since its last call
  end_ns_ = begin_ns;
  if (!machine_.injections.empty()) {
    if (const int code = machine_.injected(name_); code != 0) {
      if (is_device_failure(code)) engine.fail(code, "injected failure");
      fail(code, "injected failure");
    }
  }
  if (!engine.failure().empty()) fail(engine.failure_code(), engine.failure());
  if (!machine_.captures.empty()) check_captures(rule);
}

bool SimBackend::Call::captured() const { return machine_.streams[stream].capture != 0; }

void SimBackend::Call::break_capture(Capture& capture, int code, const std::string& detail) {
  capture.invalid = true;
  fail(code, detail);
}

void SimBackend::Call::check_captures(CaptureRule rule) {
  if (rule == CaptureRule::kSafe || rule == CaptureRule::kCaptures) return;
  const auto capture_of = [this](std::uint64_t id) {
    const auto found = machine_.captures.find(id);
    return found == machine_.captures.end() ? nullptr : &found->second;
  };
  if (has_stream_) {
    const StreamEntry& entry = machine_.streams[stream];
    if (Capture* capture = capture_of(entry.capture)) {
      was_captured_ = true;
      if (capture->invalid)
        fail(kCodeCaptureInvalidated, "the capture was invalidated by an earlier error");
      if (rule != CaptureRule::kEnqueues)
        break_capture(*capture, kCodeCaptureUnsupported, "the stream is being captured");
      return;
    }
    if (entry.kind == StreamKind::kLegacy) {
      for (const std::uint32_t other : machine_.blocking_streams[entry.device]) {
        if (Capture* capture = capture_of(machine_.streams[other].capture)) {
          break_capture(*capture, kCodeCaptureImplicit,
                        "the legacy stream would wait for a stream that is being captured");
        }
      }
    }
  }
  if (has_event_ && rule == CaptureRule::kLooks && machine_.events[event].capture != 0) {
    // Querying it has its own error code; for other calls on it, CUDA 13.0 returns "invalid value".
    if (Capture* capture = capture_of(machine_.events[event].capture);
        capture != nullptr && std::string_view(name_) == "simEventQuery")
      break_capture(*capture, kCodeCapturedEvent, "the event was recorded in a capture");
    fail(kCodeInvalidValue, "the event's newest record is part of a graph");
  }
  if (rule == CaptureRule::kWholeDevice) {
    for (auto& [id, capture] : machine_.captures) {
      if (capture.device == backend_.device_)
        break_capture(capture, kCodeCaptureUnsupported, "a stream of the device is being captured");
    }
  }
  if (rule == CaptureRule::kUnsafe || (rule == CaptureRule::kLooks && has_event_)) {
    const std::uint64_t thread = this_thread_number();
    const auto chosen = machine_.capture_modes.find(thread);
    const CaptureMode mode =
        chosen == machine_.capture_modes.end() ? CaptureMode::kGlobal : chosen->second;
    if (mode == CaptureMode::kRelaxed) return;
    for (auto& [id, capture] : machine_.captures) {
      const bool forbids = capture.thread == thread ? capture.mode != CaptureMode::kRelaxed
                                                    : mode == CaptureMode::kGlobal &&
                                                          capture.mode == CaptureMode::kGlobal;
      if (forbids)
        break_capture(capture, kCodeCaptureUnsupported, "not allowed while a stream is captured");
    }
  }
}

OpRef SimBackend::Call::submit(OpSpec spec, std::span<const OpRef> after) {
  Engine& engine = machine_.engine;
  spec.stream = stream;
  spec.priority = engine.stream_priority(stream);
  StreamEntry& entry = machine_.streams[stream];
  if (entry.capture != 0) {
    GraphNodes& nodes = machine_.captures.at(entry.capture).nodes;
    GraphNode node{.name = std::string(spec.name), .after = std::move(entry.capture_tail)};
    node.spec = std::move(spec);
    entry.capture_tail = {static_cast<std::uint32_t>(nodes.size())};
    nodes.push_back(std::move(node));
    return {};
  }
  const std::uint32_t depth = machine_.config.stream_queue_depth;
  if (spec.kind < OpKind::kRecord && !spec.in_graph && engine.depth(stream) >= depth) {
    const OpRef tail = engine.tail(stream);
    block([&] { return engine.depth(stream) < depth || engine.done(tail); },
          {Touch::of(Touch::kStreamTail, stream, false)});
    begin_ns = end_ns_ = std::max(begin_ns, engine.now_ns());
  }
  spec.correlation_id = correlation_id_;
  spec.called_ns = begin_ns;
  spec.earliest_ns = begin_ns + machine_.config.calibration.launch_latency_ns;
  for (const Access& access : spec.accesses) {
    notify_access(machine_.hooks(), COORD_NONE, correlation_id_,
                  machine_.observer_address(reinterpret_cast<const void*>(access.address)),
                  access.bytes, access.writes, begin_ns);
  }
  if (machine_.scheduler == nullptr && entry.kind == StreamKind::kNonBlocking) {
    const OpRef op = engine.submit(std::move(spec), after);
    if (engine.pending_memory_waits() != 0) machine_.submitted.notify_all();
    return op;
  }
  std::vector<OpRef> all;
  machine_.add_barrier(stream, all);
  all.insert(all.end(), after.begin(), after.end());
  const OpRef previous = spec.in_graph ? OpRef{} : engine.tail(stream);
  const OpRef op = engine.submit(std::move(spec), all);
  machine_.submitted.notify_all();
  if (machine_.scheduler != nullptr) {
    if (previous.serial != 0) all.push_back(previous);
    machine_.scheduler->submitted(op, all);
  }
  return op;
}

void SimBackend::Call::block(const std::function<bool()>& ready, std::vector<Touch> needs) {
  using Clock = std::chrono::steady_clock;
  Engine& engine = machine_.engine;
  std::string stuck;
  if (machine_.scheduler != nullptr) {
    lock_.unlock();
    const bool came = machine_.scheduler->wait(name_, needs, ready);
    lock_.lock();
    if (came) return;
  } else {
    InsideDevice inside;
    engine.advance(begin_ns);
    Clock::time_point give_up = Clock::now() + machine_.config.deadlock_patience;
    while (!ready()) {
      if (engine.run_step()) continue;
      // The device cannot proceed on its own. Another host thread may store a value or submit work.
      const std::uint64_t steps = engine.steps();
      if (Clock::now() >= give_up) break;
      machine_.submitted.wait_for(lock_, std::chrono::milliseconds(1));
      engine.recheck_memory();
      if (engine.steps() != steps) give_up = Clock::now() + machine_.config.deadlock_patience;
    }
    if (ready()) return;
  }
  std::string text = "deadlock: the host waits for work that can never end";
  if (has_stream_) text += ", of stream \"" + std::string(engine.stream_name(stream)) + "\"";
  if (const auto& mark = machine_.hooks().mark; mark != nullptr) mark("deadlock", engine.now_ns());
  leave(std::max(begin_ns, engine.now_ns()), kCodeUnknown);
  throw make_error(ErrorKind::kDeadlock, kCodeUnknown, name_, text + engine.explain_stuck());
}

void SimBackend::Call::block_until(std::span<const OpRef> ops, std::int64_t idle_ns,
                                   std::int64_t wake_ns) {
  Engine& engine = machine_.engine;
  machine_.advance(begin_ns);
  const bool idle = machine_.ended(ops);
  block([&] { return machine_.ended(ops); }, touches_of(ops));
  if (!engine.failure().empty()) fail(engine.failure_code(), engine.failure());
  if (machine_.scheduler != nullptr) machine_.scheduler->seen(ops);
  end_ns_ = idle ? begin_ns + idle_ns : std::max(begin_ns, engine.now_ns()) + wake_ns;
}

bool SimBackend::Call::poll(std::span<const OpRef> ops) {
  Engine& engine = machine_.engine;
  machine_.advance(begin_ns);
  // The failure may just have happened, and dropped the queried work.
  if (!engine.failure().empty()) fail(engine.failure_code(), engine.failure());
  const bool done = machine_.ended(ops);
  if (machine_.scheduler == nullptr) return done;
  if (done) {
    machine_.scheduler->seen(ops);
  } else {
    machine_.scheduler->polled_not_ready();
  }
  return done;
}

bool SimBackend::Call::drain() {
  Engine& engine = machine_.engine;
  std::vector<OpRef> all;
  for (std::uint32_t device = 0; device < machine_.contexts.size(); ++device) {
    const std::vector<OpRef> last = machine_.all_tails(device);
    all.insert(all.end(), last.begin(), last.end());
  }
  bool ended = true;
  if (machine_.scheduler != nullptr) {
    lock_.unlock();
    ended = machine_.scheduler->wait(name_, touches_of(all), [&] { return machine_.ended(all); });
    lock_.lock();
    if (ended) machine_.scheduler->seen(all);
  } else {
    InsideDevice inside;
    engine.advance(begin_ns);
    for (const OpRef op : all) ended = engine.run_until(op) && ended;
  }
  end_ns_ = std::max(end_ns_, engine.now_ns());
  return ended;
}

void SimBackend::Call::finish(std::int64_t cost_ns, bool ready) {
  leave(end_ns_ + cost_ns, ready ? kCodeSuccess : kCodeNotReady);
}

void SimBackend::Call::fail(int code, const std::string& detail) {
  leave(end_ns_, code);
  throw make_error(code, name_, detail);
}

void SimBackend::Call::leave(std::int64_t end_ns, int result) {
  left_ = true;
  clock_ns_ = end_ns;
  if (has_stream_) machine_.streams[stream].last_call_ns = end_ns;
  if (has_event_) machine_.events[event].last_call_ns = end_ns;
  machine_.see_memory_until(end_ns);
  if (machine_.hooks().sim_call == nullptr) return;
  const coord_sim_call facts{
      .name = name_,
      .correlation_id = correlation_id_,
      .context = backend_.properties_.context,
      .result = result,
      .flags = (stream_handle_ == kPerThreadStream ? 1u : 0u) | (was_captured_ ? 2u : 0u),
      .begin_ns = begin_ns,
      .end_ns = end_ns,
      .stream = stream_handle_,
      .object = object_,
      .value = value_};
  machine_.hooks().sim_call(&facts);
}

}  // namespace coord::sim
