// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/interposed/interposed_calls.h"

#include <atomic>
#include <iterator>
#include <mutex>
#include <new>
#include <unordered_map>

#include "collect/calls/objects.h"
#include "collect/interposed/graphs.h"
#include "collect/interposed/wrappers.h"
#include "collect/process/driver.h"
#include "collect/process/session.h"

namespace streamscope::collect {
namespace {

// Threads take numbers in blocks, so that they share a counter rarely.
constexpr uint32_t kNumbersAtOnce = 256;
constinit std::atomic<uint32_t> next_numbers{1};

uint32_t take_number(ThreadState& thread) {
  if (thread.next_number == thread.end_of_numbers) {
    thread.next_number = next_numbers.fetch_add(kNumbersAtOnce, std::memory_order_relaxed);
    thread.end_of_numbers = thread.next_number + kNumbersAtOnce;
  }
  return thread.next_number++;
}

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

uint32_t handles_epoch() { return session.handles_epoch.load(std::memory_order_relaxed); }

// A stream with a handle, not one of the default streams.
bool is_created(uint64_t stream) { return stream > 2; }

ContextSlot& stream_slot(ThreadState& thread, uint64_t stream) {
  return thread.stream_contexts[(stream >> 4) % std::size(thread.stream_contexts)];
}

// The context of a call on `stream`, as far as it is known: that of the stream, else the current
// one, which only the driver knows (12 ns on an H100 machine, a third of what a wrapper adds).
void find_context(ThreadState* thread, uint64_t stream, SeenCall& call) {
  if (thread != nullptr && is_created(stream)) {
    const ContextSlot& slot = stream_slot(*thread, stream);
    if (slot.stream == stream && slot.epoch == handles_epoch()) {
      call.context = static_cast<CUcontext>(slot.context);
      call.context_id = slot.id;
      return;
    }
  }
  if (cuda.cuCtxGetCurrent(&call.context) != CUDA_SUCCESS) call.context = nullptr;
  if (thread == nullptr || call.context == nullptr) return;
  const ContextSlot& slot = thread->known_context;
  if (slot.context == call.context && slot.epoch == handles_epoch()) call.context_id = slot.id;
}

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

void forget_open_call(ThreadState& thread) {
  if (thread.open_entry->kind == CallKind::kCaptureBegin) session.active_captures.fetch_sub(1);
  thread.open_entry = nullptr;
  thread.open_call().begin.store(0, std::memory_order_release);
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

void report_objects(ThreadState& thread, const CallEntry& entry, const SeenCall& call) {
  CallValues values;
  entry.read(call.parameters, true, values);
  switch (entry.kind) {
    case CallKind::kStreamCreate:
      report_stream_change(thread, call.context, call.context_id,
                           reinterpret_cast<CUstream>(values.stream), false, call.end);
      break;
    case CallKind::kStreamDestroy:
      // As of the entry: the handle may be in use again.
      end_captured_stream(values.stream);
      report_stream_change(thread, call.context, call.context_id,
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

}  // namespace

// True if a frame that begins at `top` is below this one, which has not been overwritten. Else the
// open call was left by longjmp or an exception.
bool InterposedCall::contains(const void* top) const {
  return reinterpret_cast<uintptr_t>(top) <= reinterpret_cast<uintptr_t>(this) && alive_ == this;
}

bool InterposedCall::enter(const void* top, const CallEntry& entry, const void* parameters,
                           const void* named, void* kernel) {
  if (!running()) return false;
  ThreadState* thread = existing_thread();
  if (__builtin_expect(thread == nullptr, 0)) thread = make_thread_state();
  if (thread != nullptr) {
    if (thread->in_collector) return false;
    if (__builtin_expect(thread->open_entry != nullptr, 0)) {
      if (thread->interposed != nullptr && thread->interposed->contains(top)) {
        if (kernel != nullptr) thread->launched = kernel;
        thread_ = thread;
        inside_another_ = true;
        return kernel != nullptr && session.tells_arguments;
      }
      forget_open_call(*thread);
    }
  }
  inside_another_ = false;
  named_ = named;
  call_ = {.parameters = parameters, .own_number = true};
  CallValues values;
  entry.read(parameters, false, values);
  find_context(thread, values.stream, call_);
  if (thread != nullptr) {
    thread->launched = kernel;
    if (named != nullptr) {
      if (const KernelNameSlot* known = find_kernel(*thread, named)) call_.kernel = known->hash;
    }
    call_.number = take_number(*thread);
    // From here on a call of a signal handler is inside this one.
    thread->interposed = this;
    alive_ = this;
  }
  thread_ = begin_call(thread, entry, values, call_);
  if (thread_ == nullptr) return false;
  thread_->interposed = this;
  alive_ = this;
  return true;
}

void InterposedCall::leave(const CallEntry& entry, const void* parameters, int32_t result) {
  if (!running()) return;
  ThreadState& thread = *thread_;
  if (inside_another_) {
    if (result == 0) report_launch(thread, entry, parameters);
    return;
  }
  if (thread.open_entry != &entry || thread.interposed != this) return;
  // The process is ending, and the driver is gone: nothing happened.
  if (result == CUDA_ERROR_DEINITIALIZED) return forget_open_call(thread);
  if (result == 0) {
    note_stream();
    // The runtime makes a context in the first call that needs one.
    if (__builtin_expect(call_.context == nullptr, 0) &&
        cuda.cuCtxGetCurrent(&call_.context) != CUDA_SUCCESS)
      call_.context = nullptr;
    const bool ends = (entry.flags & kEntryEnds) != 0;
    const bool new_context = call_.context != nullptr && call_.context_id == ring::kNone32 && !ends;
    const bool new_kernel = entry.kind == CallKind::kLaunch && call_.kernel == 0;
    if (__builtin_expect(new_context || new_kernel || changes_objects(entry.kind), 0) ||
        session.active_captures.load(std::memory_order_relaxed) > 0)
      learn(entry, new_context);
    if (session.tells_arguments && entry.kind == CallKind::kLaunch &&
        (entry.flags & kEntryDriver) != 0)
      report_launch(thread, entry, parameters);
  }
  end_call(thread, call_, result);
  thread.interposed = nullptr;
  alive_ = nullptr;
}

// A successful call on a stream with a handle shows in which context it is, unless it ends it.
void InterposedCall::note_stream() const {
  ThreadState& thread = *thread_;
  const uint64_t stream = thread.open_call().stream.load(std::memory_order_relaxed);
  if (!is_created(stream) || call_.context_id == ring::kNone32 ||
      (thread.open_entry->flags & kEntryEnds) != 0)
    return;
  ContextSlot& slot = stream_slot(thread, stream);
  const uint32_t now = handles_epoch();
  if (slot.stream == stream && slot.epoch == now) return;
  slot = {stream, call_.context, call_.context_id, now};
  if (thread.open_entry->kind != CallKind::kStreamCreate &&
      !is_known_stream(thread, call_.context, call_.context_id, stream))
    report_loss(ring::Loss::kCallsMissing, 1);
}

// What this successful call shows of contexts, kernels, streams and graphs.
void InterposedCall::learn(const CallEntry& entry, bool new_context) {
  ThreadState& thread = *thread_;
  call_.end = stamp_end(thread);
  thread.in_collector = true;
  if (new_context) {
    // It is current in this thread, and a call that used it has just succeeded.
    call_.context_id = numbering().context(call_.context);
    if (call_.context_id != ring::kNone32) {
      thread.known_context = {0, call_.context, call_.context_id, handles_epoch()};
      report_context(thread, call_.context, call_.context_id);
    }
  }
  if (entry.kind == CallKind::kLaunch && call_.kernel == 0 && thread.launched != nullptr)
    thread.open_call().object.store(learn_kernel(thread, named_, thread.launched),
                                    std::memory_order_relaxed);
  if (changes_objects(entry.kind)) report_objects(thread, entry, call_);
  if (session.active_captures.load(std::memory_order_relaxed) > 0)
    note_captured_node(thread, entry);
  thread.in_collector = false;
}

bool can_be_recorded() {
  return find_targets() && cuda.cuCtxGetCurrent != nullptr && cuda.cuCtxGetDevice != nullptr;
}

void start_interposed(const Numbering* by_cupti) {
  if (numbers == nullptr) numbers = new (numbers_memory) Numbers;
  set_numbering(by_cupti != nullptr
                    ? *by_cupti
                    : Numbering{next_stream_number, current_device, next_context_number,
                                next_graph_number<CUgraph>, next_graph_number<CUgraphExec>});
  prepare_call_recorder(false);
  session.interposing.store(true, std::memory_order_release);
}

void stop_interposed() { session.interposing.store(false, std::memory_order_relaxed); }

void forget_interposed_after_fork() {
  session.interposing.store(false, std::memory_order_relaxed);
  numbers = nullptr;
  next_numbers.store(1, std::memory_order_relaxed);
  forget_wrappers_after_fork();
  forget_graphs_after_fork();
}

}  // namespace streamscope::collect
