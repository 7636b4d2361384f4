// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The recording of this process: whether there is one, where its rings are, whether it is paused.
//
// All state is in constant-initialized globals without destructors: the library's constructor may
// run before its own static initialization, and other threads may call CUDA while the process
// exits.
#pragma once

#include <atomic>
#include <cstdint>

#include "ring/control.h"
#include "ring/losses.h"
#include "ring/ring.h"

namespace streamscope::collect {

enum class SessionState : uint32_t {
  kIdle = 0,  // nothing was requested yet; no file, thread or mapping exists
  kStarting,
  kRunning,
  kRefused,  // recording is not possible; the user was notified
  kEnded,    // the writer is leaving or the process is
};

inline constexpr uint64_t kNever = ~uint64_t{0};

/// What every callback reads comes first, in one cache line: after a CUDA call little else of ours
/// is left in the cache.
struct alignas(64) Session {
  std::atomic<SessionState> state{SessionState::kIdle};
  // True if more than one thread of the program is or was recorded. As long as there is only one,
  // there are no other calls to order against its own.
  std::atomic<bool> several_threads{false};
  std::atomic<bool> attached_late{false};
  std::atomic<bool> interposing{false};  // wrappers record (interposed/interposed_calls.h)
  std::atomic<bool> work_seen{false};    // the program gave the device work; see note_work()
  // Calls that begin before this are not recorded, in ticks; kNever while paused (gate.h).
  std::atomic<uint64_t> collecting_since{kNever};
  // Wrappers record, and the settings of the run ask for nothing but a record of each call.
  std::atomic<bool> records_only{false};
  // Both are set before callbacks are enabled: CallEntryFlags of calls whose stack is taken, and
  // whether the parameters of kernels are recorded.
  uint16_t stack_calls = 0;
  bool reads_parameters = false;
  bool observes = false;      // the accesses of kernels (observed/observer.h)
  bool orders_calls = false;  // of two calls (confirm/chosen_order.h)
  bool intervenes() const { return observes || orders_calls; }  // around calls that make work
  std::atomic<bool> window_off{false};  // paused only to measure what recording costs (gate.h)
  // Paused, and calls concern nothing but the recording: those that nothing later depends on may
  // pass at once. Changed by let_calls_pass().
  std::atomic<bool> passing{false};
  ring::ClockKind clock = ring::ClockKind::kMonotonic;
  // Stream captures in the whole process that have begun, or are about to, and have not ended.
  // Changed by count_captures().
  std::atomic<int32_t> active_captures{0};
  // Raised when module code is unloaded: names that are cached by address become invalid.
  std::atomic<uint32_t> names_epoch{1};
  // Raised when a stream, a context or a module may be destroyed: what is known of their handles
  // becomes invalid.
  std::atomic<uint32_t> handles_epoch{1};
  // Raised in a forked child: everything that threads cached before is invalid.
  std::atomic<uint32_t> epoch{0};
  // Which program of the process this is (ring/image.h), and the process: a child that shares our
  // memory (vfork) is another one. 0 until there is a ring.
  std::atomic<uint32_t> image{0};
  std::atomic<uint32_t> pid{0};
  uint64_t process_start = 0;              // its start time, valid with `pid`
  const ring::Control* control = nullptr;  // mapped; valid from kRunning on, until the process ends
  // Called once if the writer leaves before the process ends.
  std::atomic<void (*)()> detach{nullptr};
  // Stops or resumes the recording of device times, if there are any. Never called from callbacks.
  std::atomic<void (*)(bool)> pause_device_times{nullptr};
  // Starts it, which sets the function above; null: it is started already, or there are none. On
  // demand only, once. Never called from callbacks.
  std::atomic<void (*)()> start_device_times{nullptr};
  // Brings the device times that are known into the rings before _exit(), in another thread and for
  // a short time; makes only system calls, for a signal handler.
  std::atomic<void (*)()> deliver_device_times{nullptr};
  // Called when passes_calls() may have changed.
  std::atomic<void (*)()> passing_changed{nullptr};
  std::atomic<uint64_t> range_ends{0};  // of the range that shows progress (--measure-cost=NAME)
  char rings_folder[4096] = {};
};

extern constinit Session session;

inline bool running() {
  return session.state.load(std::memory_order_acquire) == SessionState::kRunning;
}
inline bool collecting() {
  return session.collecting_since.load(std::memory_order_relaxed) != kNever;
}
/// True while calls that nothing later depends on go to the driver at once. One cache line.
inline bool passes_calls() {
  return session.passing.load(std::memory_order_relaxed) &&
         session.active_captures.load(std::memory_order_relaxed) == 0;
}
/// Recording is paused, or goes on, as far as calls may pass. Thread-safe.
void let_calls_pass(bool pass);
/// This many captures more have begun than ended. Thread-safe.
void count_captures(int32_t change);
/// True if work of calls that were recorded is reported: on demand until all of it is.
inline bool reports_work() {
  return collecting() || (session.control->on_demand != 0 &&
                          session.control->device_times.load(std::memory_order_relaxed) != 0);
}
/// True if a call that began then is recorded.
inline bool collects(uint64_t begin) {
  return begin >= session.collecting_since.load(std::memory_order_relaxed);
}
/// The program gave the device work. Called from callbacks.
inline void note_work() {
  if (__builtin_expect(!session.work_seen.load(std::memory_order_relaxed), 0))
    session.work_seen.store(true, std::memory_order_relaxed);
}

/// Time stamp on the recording's clock. Works before a session starts.
inline uint64_t ticks() { return ring::read_clock(session.clock); }
int64_t monotonic_ns();

/// Joins the run this process belongs to or starts a writer for it, and records the process. False
/// if that is not possible; then the user has been notified once and nothing was created.
/// Thread-safe; later calls return the same. `collector` is asked once the settings of the run are
/// known, and names what records, for ProcessRecord.
bool start_session(const char* (*collector)());

/// What records is known only now: libcoord has started the session. Replaces what `collector` of
/// start_session() returned.
void report_collector(const char* text);

/// Remembers which file standard error is. Called when the library is loaded.
void note_standard_error();
/// True while standard error is still that file: a program that closed it may have opened a file of
/// its own in its place.
bool has_standard_error();
/// Reports on stderr, in one line, that recording is not possible or incomplete.
void report_to_user(const char* what, const char* cause, const char* remedy);

/// Writes a loss into the calling thread's ring. `first` and `last` are ticks; 0 means now.
void report_loss(ring::Loss loss, uint64_t count, const char* detail = nullptr, uint64_t first = 0,
                 uint64_t last = 0);

/// Ends the recording: EndRecord, rings closed. The process is leaving.
void end_session(uint64_t cupti_dropped);

/// In a forked child: forgets the session without touching the parent's rings; the child may start
/// its own.
void forget_session_after_fork();

/// A thread of ours: all signals blocked, named, small stack. Returns false if it could not be
/// started.
bool start_thread(const char* name, void* (*body)(void*), void* argument);

}  // namespace streamscope::collect
