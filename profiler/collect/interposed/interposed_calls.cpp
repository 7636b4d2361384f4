// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/interposed/interposed_calls.h"

#include <atomic>
#include <iterator>
#include <mutex>
#include <new>
#include <unordered_map>

#include "collect/calls/objects.h"
#include "collect/confirm/chosen_order.h"
#include "collect/interposed/graphs.h"
#include "collect/interposed/plain_call.h"
#include "collect/interposed/wrappers.h"
#include "collect/observed/observer.h"
#include "collect/process/session.h"

namespace streamscope::collect {
namespace {

// Of those that calls have used.
constinit std::atomic<CUcontext> first_context{nullptr};
constinit std::atomic<bool> several_contexts{false};

void count_context(CUcontext context) {
  CUcontext first = nullptr;
  if (!first_context.compare_exchange_strong(first, context) && first != context)
    several_contexts.store(true, std::memory_order_relaxed);
}

// Threads take numbers in blocks, so that they share a counter rarely.
constexpr uint32_t kNumbersAtOnce = 256;
constinit std::atomic<uint32_t> next_numbers{1};

// Contexts by the driver's own number, which is never used again, and streams by handle.
struct Numbers {
  std::mutex mutex;
  std::unordered_map<uint64_t, uint32_t> contexts;
  uint32_t next_stream = 1;
  uint32_t next_graph = 1;
};
alignas(Numbers) constinit unsigned char numbers_memory[sizeof(Numbers)] = {};  // never destroyed
constinit Numbers* numbers = nullptr;

uint32_t next_context_number(CUcontext context) {
  unsigned long long unique = reinterpret_cast<uintptr_t>(context);
  if (cuda.cuCtxGetId != nullptr && cuda.cuCtxGetId(context, &unique) != CUDA_SUCCESS)
    return ring::kNone32;
  std::lock_guard lock(numbers->mutex);
  const auto next = static_cast<uint32_t>(numbers->contexts.size() + 1);
  return numbers->contexts.try_emplace(unique, next).first->second;
}

// Activities will name streams by CUPTI's numbers, which their calls then show.
uint32_t no_stream_number(CUcontext, CUstream, bool) { return ring::kNone32; }

uint32_t next_stream_number(CUcontext, CUstream, bool) {
  std::lock_guard lock(numbers->mutex);
  return numbers->next_stream++;
}

template <class Handle>
uint32_t next_graph_number(Handle) {
  std::lock_guard lock(numbers->mutex);
  return numbers->next_graph++;
}

bool current_device(CUcontext, uint32_t* ordinal) {
  CUdevice device = 0;
  if (cuda.cuCtxGetDevice(&device) != CUDA_SUCCESS) return false;
  *ordinal = static_cast<uint32_t>(device);
  return true;
}

}  // namespace

void take_numbers(ThreadState& thread) {
  thread.next_number = next_numbers.fetch_add(kNumbersAtOnce, std::memory_order_relaxed);
  thread.end_of_numbers = thread.next_number + kNumbersAtOnce;
}

namespace {

// `kernel` was launched with success, and the program named it by `named`. Where no module was
// loaded as a whole, it is a CUkernel.
ring::TextHash learn_kernel(ThreadState& thread, const void* named, void* kernel) {
  const char* name = nullptr;
  if ((cuda.cuFuncGetName == nullptr || cuda.cuFuncGetName(&name, kernel) != CUDA_SUCCESS) &&
      (cuda.cuKernelGetName == nullptr || cuda.cuKernelGetName(&name, kernel) != CUDA_SUCCESS))
    return 0;
  if (name == nullptr) return 0;
  const ring::TextHash hash = send_text(thread, name);
  keep_kernel(thread, named, hash);
  return hash;
}

// Asks the driver for it (12 ns on an H100 machine).
CUcontext current_context() {
  CUcontext current = nullptr;
  return cuda.cuCtxGetCurrent(&current) == CUDA_SUCCESS ? current : nullptr;
}

uint32_t known_number(const ThreadState& thread, CUcontext context) {
  const ContextSlot& slot = thread.known_context;
  return context != nullptr && slot.context == context && slot.epoch == handles_epoch()
             ? slot.id
             : ring::kNone32;
}

// While calls have shown one context only, the driver is asked after the call, when the caches have
// what it needs for the answer.
bool may_guess_context(const ThreadState& thread) {
  return thread.known_context.epoch == handles_epoch() &&
         !several_contexts.load(std::memory_order_relaxed);
}

void forget_open_call(ThreadState& thread) {
  if (thread.open_entry->kind == CallKind::kCaptureBegin) count_captures(-1);
  thread.open_entry = nullptr;
  thread.open_call().close();
}

bool changes_objects(CallKind kind) {
  switch (kind) {
    case CallKind::kStreamCreate:
    case CallKind::kStreamDestroy:
    case CallKind::kGraphInstantiate:
    case CallKind::kGraphDestroy:
      return true;
    default:
      return false;
  }
}

}  // namespace

InterposedCall::InterposedCall(const CallEntry& entry, ThreadState& thread,
                               const WrapperFrame& begun_in)
    : InterposedCall(entry, entry, nullptr, {}, nullptr, nullptr) {
  const ring::CallRecord open = thread.open_call().call();
  thread_ = &thread;
  call_.context_id = open.context;
  call_.number = open.call_number;
  call_.kernel = open.object;
  needs_context_ = !is_created(open.stream);
  if (thread.open_entry == &entry && thread.interposed == &begun_in) frame_.open(thread);
}

uint32_t guess_context(const ThreadState& thread, CallFacts facts, uint64_t stream) {
  const bool legacy = stream == 1 || (stream == 0 && (facts.flags & kEntryPerThread) == 0);
  const bool takes_stack = session.stack_calls != 0 && (facts.flags & kEntryWork) != 0 &&
                           thread.legacy_calls < kEarlyLegacyCalls;
  return legacy && !takes_stack && may_guess_context(thread) ? thread.known_context.id
                                                             : ring::kNone32;
}

bool is_in_known_context(const ThreadState& thread) {
  return known_number(thread, current_context()) != ring::kNone32;
}

void leave_otherwise(const WrapperFrame& frame, ThreadState& thread, const CallEntry& entry,
                     int32_t result) {
  InterposedCall(entry, thread, frame).leave(result);
}

bool InterposedCall::enter(const void* top) {
  if (!running()) return false;
  ThreadState* thread = existing_thread();
  if (__builtin_expect(thread == nullptr, 0)) thread = make_thread_state();
  if (__builtin_expect(thread == nullptr, 0)) {  // there is no ring for it
    if ((facts_.flags & kEntryEnds) != 0) before_end(facts_.kind, values_);
    return false;
  }
  if (thread->in_collector) return false;
  thread_ = thread;
  if (thread->open_entry != nullptr && is_inside_another(*thread, top)) {
    if (kernel_ != nullptr) thread->launched = kernel_;
    return kernel_ != nullptr && session.reads_parameters;
  }
  if (session.window_off.load(std::memory_order_relaxed) && can_pass()) {
    pass();
    return true;
  }
  // A stream with a handle, and calls have shown where it is.
  const ContextSlot& slot = stream_slot(*thread, values_.stream);
  if (is_created(values_.stream) && has_context_of(slot, values_.stream)) {
    call_.context = static_cast<CUcontext>(slot.context);
    call_.context_id = slot.id;
  } else {
    find_context();
  }
  if (session.intervenes() && has_place(facts_.kind)) before_work();
  if (facts_.kind == CallKind::kLaunch) {
    thread->launched = kernel_;
    if (const KernelNameSlot* known = find_kernel(*thread, named_)) call_.kernel = known->hash;
  }
  call_.number = take_number(*thread);
  frame_.open(*thread);  // from here on a call of a signal handler is inside this one
  begin_call(thread, *entry_, facts_, values_, call_);
  frame_.open(*thread);  // one may have been before it
  return true;
}

void InterposedCall::leave(int32_t result) {
  ThreadState& thread = *thread_;
  if (!running() || inside_another_ || passes_ || thread.open_entry != entry_ ||
      thread.interposed != &frame_ || result == CUDA_ERROR_DEINITIALIZED)
    return leave_unrecorded(result);
  if (needs_context_) find_current_context();
  // Most successful calls show nothing new beside themselves.
  const bool new_kernel = facts_.kind == CallKind::kLaunch && call_.kernel == 0;
  if (result == 0 && (stream_is_new_ || call_.context_id == ring::kNone32 || new_kernel ||
                      (facts_.flags & kEntryIdentity) != 0 || session.reads_parameters ||
                      session.active_captures.load(std::memory_order_relaxed) > 0))
    learn_more();
  if (session.intervenes() && has_place(facts_.kind)) after_work(result);
  end_call(thread, facts_, call_, result);
  frame_.close(thread);
}

// The thread has an open call. True if this one is inside it.
bool InterposedCall::is_inside_another(ThreadState& thread, const void* top) {
  if (thread.interposed == nullptr || !thread.interposed->contains(top)) {
    forget_open_call(thread);
    return false;
  }
  inside_another_ = true;
  return true;
}

// While recording is off only to measure its cost: true if nothing follows from this call that must
// be known later. It is not stamped, so a hang does not show it; calls that wait are.
bool InterposedCall::can_pass() const {
  return may_pass(facts_) && session.active_captures.load(std::memory_order_relaxed) == 0 &&
         !session.reads_parameters;
}

void InterposedCall::pass() {
  passes_ = true;
  frame_.open(*thread_);
  thread_->open_entry = entry_;
  thread_->count_call();
}

void InterposedCall::find_current_context() {
  call_.context = current_context();
  call_.context_id = known_number(*thread_, call_.context);
}

// The context of a call whose stream does not tell.
void InterposedCall::find_context() {
  stream_is_new_ = is_created(values_.stream);
  needs_context_ = may_guess_context(*thread_) && (facts_.flags & kEntryEnds) == 0;
  if (!needs_context_) return find_current_context();
  call_.context_id = thread_->known_context.id;
}

// The exit of a call that is not recorded: inside another, passed on, or left by longjmp or an
// exception.
void InterposedCall::leave_unrecorded(int32_t result) {
  if (!running()) return;
  ThreadState& thread = *thread_;
  if (inside_another_) {
    if (result == 0) report_launch(thread, *entry_, call_.parameters);
    return;
  }
  if (thread.open_entry != entry_ || thread.interposed != &frame_) return;
  if (!passes_) return forget_open_call(thread);  // the process is ending, and the driver is gone
  thread.open_entry = nullptr;
  frame_.close(thread);
}

[[gnu::noinline]] void InterposedCall::learn_more() {
  if (stream_is_new_) note_stream();
  // The runtime makes a context in the first call that needs one.
  if (call_.context == nullptr && cuda.cuCtxGetCurrent(&call_.context) != CUDA_SUCCESS)
    call_.context = nullptr;
  const bool ends = (facts_.flags & kEntryEnds) != 0;
  const bool new_context = call_.context != nullptr && call_.context_id == ring::kNone32 && !ends;
  const bool new_kernel = facts_.kind == CallKind::kLaunch && call_.kernel == 0;
  if (new_context || new_kernel || changes_objects(facts_.kind) ||
      session.active_captures.load(std::memory_order_relaxed) > 0)
    learn(new_context);
  if (session.reads_parameters && facts_.kind == CallKind::kLaunch &&
      (facts_.flags & kEntryDriver) != 0)
    report_launch(*thread_, *entry_, call_.parameters);
}

// The handle that the thread itself would use.
uint64_t InterposedCall::own_stream() const {
  return values_.stream == 0 && (facts_.flags & kEntryPerThread) != 0
             ? reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD)
             : values_.stream;
}

// Of a call that puts work into a stream or allocates memory.
[[gnu::noinline]] void InterposedCall::before_work() const {
  if (session.observes && is_launch(facts_.kind)) observe_before_launch(own_stream());
  if (session.orders_calls) order_before(facts_.kind, own_stream());
}
[[gnu::noinline]] void InterposedCall::after_work(int32_t result) const {
  if (session.observes && is_launch(facts_.kind)) observe_after_launch();
  if (session.orders_calls) order_after(result);
}

// A successful call on a stream with a handle shows in which context it is, unless it ends it.
void InterposedCall::note_stream() const {
  ThreadState& thread = *thread_;
  const uint64_t stream = values_.stream;
  if (call_.context_id == ring::kNone32 || (facts_.flags & kEntryEnds) != 0) return;
  ContextSlot& slot = stream_slot(thread, stream);
  if (has_context_of(slot, stream)) return;
  slot = {stream, call_.context, call_.context_id, handles_epoch()};
  if (facts_.kind != CallKind::kStreamCreate &&
      !is_known_stream(thread, call_.context, call_.context_id, stream))
    report_loss(ring::Loss::kCallsMissing, 1);
}

// What this successful call shows of contexts, kernels, streams and graphs.
void InterposedCall::learn(bool new_context) {
  ThreadState& thread = *thread_;
  call_.end = stamp_end(thread);
  thread.in_collector = true;
  if (new_context) {
    // It is current in this thread, and a call that used it has just succeeded.
    count_context(call_.context);
    call_.context_id = numbering().context(call_.context);
    if (call_.context_id != ring::kNone32) {
      thread.known_context = {0, call_.context, call_.context_id, handles_epoch()};
      report_context(thread, call_.context, call_.context_id);
    }
  }
  if (facts_.kind == CallKind::kLaunch && call_.kernel == 0 && thread.launched != nullptr)
    thread.open_call().set_object(learn_kernel(thread, named_, thread.launched));
  if (changes_objects(facts_.kind)) report_objects();
  if (session.active_captures.load(std::memory_order_relaxed) > 0)
    note_captured_node(thread, *entry_);
  thread.in_collector = false;
}

void InterposedCall::report_objects() {
  ThreadState& thread = *thread_;
  CallValues values;
  entry_->read(call_.parameters, true, values);
  switch (facts_.kind) {
    case CallKind::kStreamCreate:
      report_stream_change(thread, call_.context, call_.context_id,
                           reinterpret_cast<CUstream>(values.stream), false, call_.end);
      break;
    case CallKind::kStreamDestroy:
      // As of the entry: the handle may be in use again.
      end_captured_stream(values.stream);
      report_stream_change(thread, call_.context, call_.context_id,
                           reinterpret_cast<CUstream>(values.stream), true, thread.begin);
      break;
    case CallKind::kGraphInstantiate:
      report_instantiated(thread, reinterpret_cast<CUgraph>(values.value),
                          reinterpret_cast<CUgraphExec>(values.object));
      break;
    case CallKind::kGraphDestroy:
      report_destroyed(thread, reinterpret_cast<CUgraphExec>(values.object));
      break;
    default:
      break;
  }
}

bool can_be_recorded() {
  return find_targets() && cuda.cuCtxGetCurrent != nullptr && cuda.cuCtxGetDevice != nullptr;
}

void start_interposed(const Numbering* by_cupti) {
  if (numbers == nullptr) numbers = new (numbers_memory) Numbers;
  const bool times_later = by_cupti == nullptr && session.control->on_demand != 0 &&
                           session.control->tier >= Tier::kTimes;
  // Nor must they take our graphs for theirs.
  if (times_later) numbers->next_graph = 1u << 30;
  set_numbering(by_cupti != nullptr
                    ? *by_cupti
                    : Numbering{times_later ? no_stream_number : next_stream_number, current_device,
                                next_context_number, next_graph_number<CUgraph>,
                                next_graph_number<CUgraphExec>});
  prepare_call_recorder(false);
  session.records_only.store(session.clock == ring::ClockKind::kTimeStampCounter &&
                                 session.stack_calls != kEntryTraced && !session.reads_parameters &&
                                 !session.intervenes(),
                             std::memory_order_relaxed);
  session.interposing.store(true, std::memory_order_release);
  session.passing_changed.store(send_calls, std::memory_order_release);
  send_calls();
}

void stop_interposed() {
  session.interposing.store(false, std::memory_order_relaxed);
  session.records_only.store(false, std::memory_order_relaxed);
}

void forget_interposed_after_fork() {
  stop_interposed();
  numbers = nullptr;
  next_numbers.store(1, std::memory_order_relaxed);
  first_context.store(nullptr, std::memory_order_relaxed);
  several_contexts.store(false, std::memory_order_relaxed);
  forget_wrappers_after_fork();
  forget_graphs_after_fork();
}

}  // namespace streamscope::collect
