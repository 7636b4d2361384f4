// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/gate.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

#include "collect/coord/coord_observer.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"
#include "vocabulary/range_name.h"

namespace streamscope::collect {

namespace {

enum class GateState : uint8_t {
  kOn,
  kPaused,     // the writer or the capture range does not allow recording
  kWindowOff,  // off only to measure what recording costs
};

constinit std::mutex gate_mutex;  // guards the next four
constinit GateState gate_state = GateState::kPaused;
constinit int open_capture_ranges = 0;
constinit bool window_off = false;           // wanted by the watching thread
constinit bool device_times_paused = false;  // only that thread pauses and resumes them

constinit std::atomic<bool> windows_ended{false};
constinit std::atomic<bool> switching_device_times{false};

// On demand: what reports device times is switched before and after the calls.
enum class DeviceTimes : uint8_t { kNotSwitched, kOn, kOff };
constinit std::atomic<DeviceTimes> device_times{DeviceTimes::kNotSwitched};

// Of the watching thread alone.
constinit int64_t window_ends_ns = 0;  // 0: no window has begun
constinit uint64_t random_state = 0;

// Where ranges show progress, a window that is over ends with the next of them, so that it contains
// whole iterations. The watching thread sleeps on it (futex).
enum class RangeEnd : uint32_t { kNotAwaited, kAwaited, kSeen };
constinit std::atomic<RangeEnd> range_end{RangeEnd::kNotAwaited};
// In lengths of a window: recording must not stay off where no range ends.
constexpr int64_t kLongestWait = 40;

// Correlation ids of operations issued while paused: the newest pauses, as first << 32 | last, and
// the current one.
constexpr size_t kMaxPauses = 4096;
constinit std::atomic<uint64_t> pauses[kMaxPauses] = {};
constinit std::atomic<size_t> pause_count{0};
constinit std::atomic<uint32_t> pause_first{ring::kNone32};
constinit std::atomic<uint32_t> pause_last{0};

// At each switch: calls that still note their ids afterwards must not make the interval span more
// than themselves.
void close_interval() {
  const uint32_t first = pause_first.exchange(ring::kNone32), last = pause_last.exchange(0);
  if (first == ring::kNone32) return;
  const size_t count = pause_count.load(std::memory_order_relaxed);
  pauses[count % kMaxPauses].store(uint64_t{first} << 32 | last, std::memory_order_relaxed);
  pause_count.store(count + 1, std::memory_order_release);
}

bool is_measuring() { return session.control->measure_cost_window_ms != 0; }

// False while work would lack its times.
bool has_device_times() {
  if (session.control->on_demand == 0) return true;
  const bool exist = session.start_device_times.load(std::memory_order_relaxed) != nullptr ||
                     session.pause_device_times.load(std::memory_order_relaxed) != nullptr;
  return !exist || device_times.load(std::memory_order_relaxed) == DeviceTimes::kOn;
}

bool is_allowed() {
  const ring::Control& control = *session.control;
  return control.collecting.load(std::memory_order_relaxed) != 0 && has_device_times() &&
         (control.capture_range == ring::CaptureRange::kNone || open_capture_ranges > 0);
}

bool ranges_show_progress() { return session.control->measure_cost_range[0] != '\0'; }

uint64_t progress() {
  return ranges_show_progress() ? session.range_ends.load(std::memory_order_relaxed)
                                : total_calls();
}

// True if calls concern nothing but the recording.
bool only_recorded() {
  const ring::Control& control = *session.control;
  return (control.with & (ring::kWithArgs | ring::kWithAccesses)) == 0 &&
         control.chosen_order.mode == ring::OrderMode::kNone;
}

ring::CollectingRecord mark(GateState next) {
  ring::CollectingRecord record{};
  record.kind = ring::RecordKind::kCollecting;
  record.on = next == GateState::kOn ? 1 : 0;
  return record;
}

void push(const ring::CollectingRecord& record) {
  if (ThreadState* thread = this_thread()) thread->push(record);
}

// Marks the change; false if there is none. `gate_mutex` is held. While device times are paused,
// recording can only be off: work would lack its times.
bool switch_state() {
  const GateState next = !is_allowed()                       ? GateState::kPaused
                         : window_off || device_times_paused ? GateState::kWindowOff
                                                             : GateState::kOn;
  if (next == gate_state) return false;
  close_interval();
  ring::CollectingRecord record = mark(next);
  record.measuring = next == GateState::kWindowOff || gate_state == GateState::kWindowOff ? 1 : 0;
  // A pause is one, even if a window ends with it.
  if (next == GateState::kPaused) record.measuring = 0;
  if (record.measuring != 0) record.progress = progress();
  record.begin = ticks();
  // A call that begins in a window has no device times, so it is not recorded even if it ends
  // later.
  const uint64_t since = next != GateState::kOn ? kNever : record.measuring != 0 ? record.begin : 0;
  if (record.measuring == 0 && coord_is_simulated()) {
    record.flags = ring::kVirtualTime;
    record.begin = coord_latest_virtual();
    record.call_number = coord_latest_call();
  }
  // No call may be read before the mark since which calls are known.
  if (next == GateState::kOn) push(record);
  session.collecting_since.store(since, std::memory_order_release);
  session.window_off.store(next == GateState::kWindowOff, std::memory_order_relaxed);
  let_calls_pass(next == GateState::kPaused && only_recorded());
  gate_state = next;
  if (next != GateState::kOn) push(record);
  return true;
}

// A window that is like the one before. `gate_mutex` is held.
void mark_window() {
  ring::CollectingRecord record = mark(gate_state);
  record.measuring = 1;
  record.progress = progress();
  record.begin = ticks();
  push(record);
}

bool is_next_window_off(bool over) {
  switch (session.control->measured_windows) {
    case ring::MeasuredWindows::kNotRecorded:
      return true;
    case ring::MeasuredWindows::kRecorded:
      return false;
    case ring::MeasuredWindows::kInTurns:
      break;
  }
  return window_off != over;
}

int64_t window_length_ns() { return int64_t{session.control->measure_cost_window_ms} * 1'000'000; }

// 80 to 120 % of the length that the writer wants, so that windows do not follow a period of the
// program.
int64_t next_window_ns() {
  if (random_state == 0) random_state = static_cast<uint64_t>(monotonic_ns()) | 1;
  random_state ^= random_state << 13;  // xorshift
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return window_length_ns() * static_cast<int64_t>(80 + random_state % 41) / 100;
}

struct NextWindow {
  bool begins = false;            // now
  bool awaits_range_end = false;  // and begins then
  bool off = false;               // the next one, or the current one if there is none
};

// `gate_mutex` is held.
NextWindow next_window() {
  if (!is_allowed()) {
    window_ends_ns = 0;
    range_end.store(RangeEnd::kNotAwaited, std::memory_order_relaxed);
    return {};
  }
  const int64_t now_ns = monotonic_ns();
  const bool first = window_ends_ns == 0, over = !first && now_ns >= window_ends_ns;
  const bool waits = over && ranges_show_progress() &&
                     range_end.load(std::memory_order_relaxed) != RangeEnd::kSeen &&
                     now_ns < window_ends_ns + kLongestWait * window_length_ns();
  return {.begins = first || (over && !waits),
          .awaits_range_end = waits,
          .off = is_next_window_off(over)};
}

// `gate_mutex` is held.
void begin_window(bool off) {
  range_end.store(RangeEnd::kNotAwaited, std::memory_order_relaxed);
  window_ends_ns = monotonic_ns() + next_window_ns();
  window_off = off;
  const bool in_turns = session.control->measured_windows == ring::MeasuredWindows::kInTurns;
  if (!switch_state() && !in_turns) mark_window();
}

// CUPTI may wait for calls of the program, which may wait for `gate_mutex`: it is not held here.
void pause_device_times(bool pause) {
  switching_device_times.store(true);
  auto* const function = session.pause_device_times.load(std::memory_order_acquire);
  if (function != nullptr && !windows_ended.load()) function(pause);
  switching_device_times.store(false);
}

DeviceTimes wanted_device_times() {
  return session.control->device_times.load(std::memory_order_acquire) != 0 ? DeviceTimes::kOn
                                                                            : DeviceTimes::kOff;
}

// They cannot be switched on before CUDA is in use, which nobody announces.
bool waits_for_device_times() {
  return session.control->on_demand != 0 && wanted_device_times() == DeviceTimes::kOn &&
         device_times.load(std::memory_order_relaxed) != DeviceTimes::kOn;
}

// They end after the calls, so that all recorded work gets its times.
void switch_device_times() {
  const DeviceTimes wanted = wanted_device_times();
  const bool on = wanted == DeviceTimes::kOn;
  if (device_times.load(std::memory_order_relaxed) == wanted) return;
  auto* const start = on ? session.start_device_times.exchange(nullptr) : nullptr;
  if (start != nullptr) {
    switching_device_times.store(true);
    if (!windows_ended.load()) start();
    switching_device_times.store(false);
  } else if (session.pause_device_times.load(std::memory_order_acquire) == nullptr) {
    return;  // not yet, or never
  } else {
    pause_device_times(!on);
  }
  device_times.store(wanted, std::memory_order_relaxed);
}

void change_capture_ranges(int change) {
  std::lock_guard lock(gate_mutex);
  open_capture_ranges = std::max(open_capture_ranges + change, 0);
  switch_state();
}

}  // namespace

bool open_gate() {
  std::lock_guard lock(gate_mutex);
  gate_state = is_allowed() ? GateState::kOn : GateState::kPaused;
  session.collecting_since.store(gate_state == GateState::kOn ? 0 : kNever,
                                 std::memory_order_relaxed);
  let_calls_pass(gate_state == GateState::kPaused && only_recorded());
  return gate_state == GateState::kOn;
}

void capture_range_opened() { change_capture_ranges(1); }
void capture_range_closed() { change_capture_ranges(-1); }

void sleep_until_switch(uint32_t seen, bool soon) {
  constexpr int64_t kSoonNs = 10'000'000, kLongNs = 100'000'000;
  timespec pause{0, kSoonNs};
  if (range_end.load(std::memory_order_relaxed) != RangeEnd::kNotAwaited) {
    ::syscall(SYS_futex, &range_end, FUTEX_WAIT_PRIVATE, RangeEnd::kAwaited, &pause, nullptr, 0);
  } else if (window_ends_ns != 0) {
    pause.tv_nsec = std::clamp(window_ends_ns - monotonic_ns(), int64_t{0}, kSoonNs);
    ::nanosleep(&pause, nullptr);
  } else {
    const bool polls = soon || is_measuring() || waits_for_device_times();
    ring::wait_for_change(*session.control, seen, polls ? kSoonNs : kLongNs);
  }
}

void update_gate() {
  if (session.control->on_demand != 0) switch_device_times();
  std::unique_lock lock(gate_mutex);
  if (!is_measuring() || windows_ended.load()) {
    range_end.store(RangeEnd::kNotAwaited, std::memory_order_relaxed);
    switch_state();
    return;
  }
  const NextWindow next = next_window();
  if (device_times_paused && !next.off) {
    lock.unlock();
    pause_device_times(false);
    lock.lock();
    device_times_paused = false;
  }
  if (next.awaits_range_end) {
    RangeEnd expected = RangeEnd::kNotAwaited;
    range_end.compare_exchange_strong(expected, RangeEnd::kAwaited, std::memory_order_relaxed);
    return;
  }
  if (next.begins) {
    begin_window(next.off);
  } else {
    window_off = next.off;
    switch_state();
  }
  if (!window_off || device_times_paused) return;
  device_times_paused = true;  // calls are not recorded any more when their work loses its times
  lock.unlock();
  pause_device_times(true);
}

void note_range_end() {
  session.range_ends.fetch_add(1, std::memory_order_relaxed);
  RangeEnd expected = RangeEnd::kAwaited;
  if (range_end.load(std::memory_order_relaxed) != expected ||
      !range_end.compare_exchange_strong(expected, RangeEnd::kSeen, std::memory_order_relaxed))
    return;
  ::syscall(SYS_futex, &range_end, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void end_windows() {
  constexpr int kMostMs = 1000;
  windows_ended.store(true);
  for (int i = 0; i < kMostMs && switching_device_times.load(); ++i) {
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

bool shows_progress(std::string_view range) {
  if (!running() || !is_measuring()) return false;
  const std::string_view wanted = session.control->measure_cost_range;
  return !wanted.empty() && is_named(range, wanted);
}

void note_paused_correlation(uint32_t correlation_id) {
  uint32_t seen = pause_first.load(std::memory_order_relaxed);
  while (correlation_id < seen && !pause_first.compare_exchange_weak(seen, correlation_id)) {
  }
  seen = pause_last.load(std::memory_order_relaxed);
  while (correlation_id > seen && !pause_last.compare_exchange_weak(seen, correlation_id)) {
  }
}

bool was_paused(uint32_t correlation_id) {
  if (correlation_id >= pause_first.load(std::memory_order_relaxed) &&
      correlation_id <= pause_last.load(std::memory_order_relaxed))
    return true;
  const size_t count = pause_count.load(std::memory_order_acquire);
  for (size_t i = count; i > 0 && count - i < kMaxPauses; --i) {
    const uint64_t pause = pauses[(i - 1) % kMaxPauses].load(std::memory_order_relaxed);
    const auto first = static_cast<uint32_t>(pause >> 32), last = static_cast<uint32_t>(pause);
    if (correlation_id >= first && correlation_id <= last) return true;
    if (correlation_id > last) return false;  // pauses follow each other
  }
  return false;
}

void forget_gate_after_fork() {
  new (&gate_mutex) std::mutex;
  gate_state = GateState::kPaused;
  open_capture_ranges = 0;
  window_off = device_times_paused = false;
  windows_ended.store(false, std::memory_order_relaxed);
  switching_device_times.store(false, std::memory_order_relaxed);
  device_times.store(DeviceTimes::kNotSwitched, std::memory_order_relaxed);
  window_ends_ns = 0;
  range_end.store(RangeEnd::kNotAwaited, std::memory_order_relaxed);
  pause_count.store(0, std::memory_order_relaxed);
  pause_first.store(ring::kNone32, std::memory_order_relaxed);
  pause_last.store(0, std::memory_order_relaxed);
  session.collecting_since.store(kNever, std::memory_order_relaxed);
  session.window_off.store(false, std::memory_order_relaxed);
  session.passing.store(false, std::memory_order_relaxed);
  session.pause_device_times.store(nullptr, std::memory_order_relaxed);
  session.start_device_times.store(nullptr, std::memory_order_relaxed);
  session.range_ends.store(0, std::memory_order_relaxed);
}

}  // namespace streamscope::collect
