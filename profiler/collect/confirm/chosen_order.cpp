// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/confirm/chosen_order.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "collect/process/driver.h"
#include "collect/process/session.h"
#include "ring/descriptor.h"

namespace streamscope::collect {

namespace {

using ring::OrderMode;
using ring::OrderOutcome;
using ring::TakeBytes;

constexpr useconds_t kPollUs = 50;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kMostEndMs = 2000;  // that the end of the program waits for the two calls' work
constexpr int kKinds = static_cast<int>(std::size(kCallKinds));

// What one call does is visible to the watchdog once its flag is set. Each call is made once.
struct Test {
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;        // what is compared
  void* taken = nullptr;         // host memory for it
  uint32_t* released = nullptr;  // host memory: work that waits for 1 here goes on
  CUevent first_ended = nullptr, second_ended = nullptr;
  CUstream first_stream = nullptr;
  uint32_t handles_epoch = 0;  // when that was used
  std::atomic<bool> prepared{false}, first_begun{false}, first_made{false}, second_made{false};
  std::atomic<int64_t> held_since{0};
  std::atomic<bool> was_late{false};
  std::atomic<OrderOutcome> failure{OrderOutcome::kTaken};
  std::atomic<bool> ends{false}, written{false};
  std::atomic<uint32_t> threads{0};
};
// Never destroyed: the driver may call while the process exits.
alignas(Test) constinit unsigned char test_memory[sizeof(Test)] = {};
constinit Test* test = nullptr;

enum class Role : uint8_t { kNone, kFirst, kSecond };

struct Thread {
  bool known;
  uint32_t number;
  Role open;  // of its open call
  CUstream stream;
  uint64_t made[kKinds];
};
constinit thread_local Thread thread = {};

const ring::ChosenOrder& plan() { return session.control->chosen_order; }

bool is_at(const CallPlace& place, CallKind kind) {
  return place.kind == kind && place.thread == thread.number &&
         place.number == thread.made[static_cast<int>(kind)];
}

void fail(OrderOutcome why) {
  OrderOutcome none = OrderOutcome::kTaken;
  test->failure.compare_exchange_strong(none, why);
}
bool failed() { return test->failure.load() != OrderOutcome::kTaken; }

// A thread whose first call this is may have no context yet.
class InContext {
 public:
  InContext() {
    CUcontext current = nullptr;
    pushed_ = cuda.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == nullptr &&
              cuda.cuCtxPushCurrent(test->context) == CUDA_SUCCESS;
  }
  ~InContext() {
    CUcontext before = nullptr;
    if (pushed_) cuda.cuCtxPopCurrent(&before);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  bool pushed_;
};

void expect(CUresult result) {
  if (result != CUDA_SUCCESS) fail(OrderOutcome::kRefused);
}

void take_bytes(CUstream stream) {
  expect(cuda.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(test->taken), test->memory, plan().bytes,
                            stream));
}

void mark_end(CUevent* event, CUstream stream) {
  if (cuda.cuEventCreate(event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
    return fail(OrderOutcome::kRefused);
  expect(cuda.cuEventRecord(*event, stream));
}

void write_result(OrderOutcome outcome) {
  const int file =
      ring::open_high(plan().result_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;
  ring::OrderResult result{.outcome = outcome,
                           .bytes = outcome == OrderOutcome::kTaken ? plan().bytes : 0};
  std::memcpy(result.magic, ring::kOrderMagic, sizeof result.magic);
  if (ring::write_all(file, &result, sizeof result))
    ring::write_all(file, test->taken, result.bytes);
  ::close(file);
}

void before_first(CUstream stream) {
  if (!test->prepared.load()) {  // so there is no watchdog
    fail(OrderOutcome::kNoMemory);
    return write_result(test->failure.load());
  }
  if (session.active_captures.load() > 0) return fail(OrderOutcome::kCaptured);
  if (plan().mode == OrderMode::kFirstLate) {
    test->held_since.store(monotonic_ns());  // from here on the watchdog lets it go in time
    expect(cuda.cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(test->released), 1,
                                    CU_STREAM_WAIT_VALUE_GEQ));
  }
  if (plan().take == TakeBytes::kBeforeFirst) take_bytes(stream);
  test->first_begun.store(true);
}

void after_first(CUstream stream) {
  test->first_stream = stream;
  test->handles_epoch = session.handles_epoch.load();
  if (plan().take == TakeBytes::kAfterBoth && plan().mode == OrderMode::kFirstLate)
    take_bytes(stream);
  mark_end(&test->first_ended, stream);
  test->first_made.store(true);
}

void before_second(CUstream stream) {
  if (!test->first_made.load()) return fail(OrderOutcome::kOtherOrder);
  if (session.active_captures.load() > 0) return fail(OrderOutcome::kCaptured);
  if (plan().mode == OrderMode::kInOrder)
    expect(cuda.cuStreamWaitEvent(stream, test->first_ended, 0));
  if (plan().take == TakeBytes::kBeforeSecond) take_bytes(stream);
}

void after_second(CUstream stream) {
  if (plan().take == TakeBytes::kAfterBoth && plan().mode == OrderMode::kInOrder)
    take_bytes(stream);
  mark_end(&test->second_ended, stream);
  // What the program does later in the two streams shall not change the bytes before they are
  // taken.
  if (plan().mode == OrderMode::kFirstLate) {
    expect(cuda.cuStreamWaitEvent(stream, test->first_ended, 0));
  } else if (session.handles_epoch.load() == test->handles_epoch) {  // it was not destroyed
    expect(cuda.cuStreamWaitEvent(test->first_stream, test->second_ended, 0));
  }
  test->second_made.store(true);
}

bool is_released() { return __atomic_load_n(test->released, __ATOMIC_RELAXED) != 0; }
void release() { __atomic_store_n(test->released, 1u, __ATOMIC_RELEASE); }

bool has_ended(CUevent event) { return cuda.cuEventQuery(event) == CUDA_SUCCESS; }

// Lets the first call's work go: behind that of the second, or when it has waited long enough.
void watch_held(int64_t now) {
  if (is_released() || test->held_since.load() == 0) return;
  if (test->second_made.load() && !failed() && has_ended(test->second_ended)) {
    test->was_late.store(true);
    release();
  } else if (failed() || (test->ends.load() && !test->second_made.load()) ||
             now - test->held_since.load() > plan().most_ms * kNsPerMs) {
    release();
  }
}

// True once there is nothing more to do.
bool watch(int64_t ends_since) {
  const int64_t now = monotonic_ns();
  watch_held(now);
  if (failed()) {
    write_result(test->failure.load());
    return true;
  }
  const bool both_made = test->first_made.load() && test->second_made.load();
  const bool may_end = plan().mode == OrderMode::kInOrder || is_released();
  if (both_made && may_end && has_ended(test->first_ended) && has_ended(test->second_ended)) {
    const bool in_order = plan().mode == OrderMode::kInOrder || test->was_late.load();
    write_result(in_order ? OrderOutcome::kTaken : OrderOutcome::kNotLate);
    return true;
  }
  if (ends_since == 0 || (both_made && now - ends_since < kMostEndMs * kNsPerMs)) return false;
  // If the first call was not made, another process of the run may make it.
  if (test->first_begun.load()) write_result(OrderOutcome::kNotReached);
  return true;
}

void* run_watchdog(void*) {
  int64_t ends_since = 0;
  cuda.cuCtxPushCurrent(test->context);
  while (!watch(ends_since)) {
    ::usleep(kPollUs);
    if (ends_since == 0 && test->ends.load()) ends_since = monotonic_ns();
  }
  release();  // also what another thread holds back from now on
  test->written.store(true);
  return nullptr;
}

// Everything that may wait for the device is done here, before anything is held back.
void prepare(uint64_t address) {
  if (cuda.cuCtxGetCurrent(&test->context) != CUDA_SUCCESS || test->context == nullptr ||
      plan().bytes > ring::kMostTakenBytes)
    return fail(OrderOutcome::kRefused);
  test->memory = address + plan().offset;
  void* released = nullptr;
  expect(cuda.cuMemHostAlloc(&test->taken, plan().bytes, CU_MEMHOSTALLOC_PORTABLE));
  expect(cuda.cuMemHostAlloc(&released, sizeof(uint32_t),
                             CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  if (failed()) return;
  test->released = static_cast<uint32_t*>(released);
  *test->released = 0;
  if (!start_thread("streamscope-ord", run_watchdog, nullptr)) return fail(OrderOutcome::kRefused);
  test->prepared.store(true);
}

void know_thread() {
  if (thread.known) return;
  thread.known = true;
  thread.number = test->threads.fetch_add(1);
}

}  // namespace

bool start_chosen_order() {
  if (!find_cuda() || cuda.cuStreamWaitValue32 == nullptr || cuda.cuMemcpyAsync == nullptr ||
      cuda.cuMemHostAlloc == nullptr || cuda.cuStreamWaitEvent == nullptr ||
      cuda.cuEventRecord == nullptr || cuda.cuCtxPushCurrent == nullptr ||
      cuda.cuCtxPopCurrent == nullptr)
    return false;
  if (test == nullptr) test = new (test_memory) Test;
  session.orders_calls = true;
  return true;
}

void order_before(CallKind kind, uint64_t handle) {
  know_thread();
  if (allocates_memory(kind)) return;
  const bool first = is_at(plan().first, kind), second = is_at(plan().second, kind);
  ++thread.made[static_cast<int>(kind)];
  thread.open = Role::kNone;
  if (failed() || (!first && !second)) return;
  const InContext in_context;
  thread.stream = reinterpret_cast<CUstream>(handle);
  thread.open = first ? Role::kFirst : Role::kSecond;
  first ? before_first(thread.stream) : before_second(thread.stream);
}

void order_after(int32_t result) {
  const Role role = thread.open;
  if (role == Role::kNone) return;
  thread.open = Role::kNone;
  if (result != 0) fail(OrderOutcome::kRefused);
  if (failed()) return;
  const InContext in_context;
  role == Role::kFirst ? after_first(thread.stream) : after_second(thread.stream);
}

void order_allocated(CallKind kind, uint64_t address) {
  if (!thread.known) return;
  const bool wanted = is_at(plan().memory, kind);
  ++thread.made[static_cast<int>(kind)];
  if (wanted && !test->prepared.load() && !failed()) prepare(address);
}

void finish_chosen_order() {
  if (!session.orders_calls || !test->prepared.load()) return;
  test->ends.store(true);
  const int64_t begin = monotonic_ns();
  while (!test->written.load() && monotonic_ns() - begin < 2 * kMostEndMs * kNsPerMs)
    ::usleep(kPollUs);
}

void forget_chosen_order_after_fork() {
  session.orders_calls = false;
  test = nullptr;
  thread = {};
}

}  // namespace streamscope::collect
