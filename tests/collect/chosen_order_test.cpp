// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The order test of a repeated run against a driver whose streams are threads.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "collect/confirm/chosen_order.h"
#include "collect/process/driver.h"
#include "collect/process/session.h"
#include "support/thread_stream.h"

namespace streamscope::collect {

// What the file under test needs of the collector.
constinit Session session;
constinit DriverFunctions cuda = {};
bool find_cuda() { return true; }
int64_t monotonic_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}
std::thread watchdog;
bool start_thread(const char*, void* (*body)(void*), void* argument) {
  watchdog = std::thread([=] { body(argument); });
  return true;
}

namespace {

using namespace std::chrono_literals;
using ring::OrderMode;
using ring::OrderOutcome;
using ring::TakeBytes;

using Stream = test::ThreadStream;
using Event = std::atomic<bool>;
Event& event_of(CUevent handle) { return *reinterpret_cast<Event*>(handle); }
CUresult refusal = CUDA_SUCCESS;  // of waits for a word
// The collector keeps them until the process ends.
std::deque<std::vector<char>> host_memory;
std::deque<Event> events;

void make_driver() {
  cuda.cuCtxGetCurrent = [](CUcontext* context) {
    *context = reinterpret_cast<CUcontext>(0xc0);
    return CUDA_SUCCESS;
  };
  cuda.cuCtxPushCurrent = [](CUcontext) { return CUDA_SUCCESS; };
  cuda.cuCtxPopCurrent = [](CUcontext*) { return CUDA_SUCCESS; };
  cuda.cuMemHostAlloc = [](void** memory, size_t bytes, unsigned) {
    *memory = host_memory.emplace_back(bytes).data();
    return CUDA_SUCCESS;
  };
  cuda.cuEventCreate = [](CUevent* event, unsigned) {
    *event = reinterpret_cast<CUevent>(&events.emplace_back(false));
    return CUDA_SUCCESS;
  };
  cuda.cuEventRecord = [](CUevent event, CUstream stream) {
    Stream::of(stream).run([event] { event_of(event) = true; });
    return CUDA_SUCCESS;
  };
  cuda.cuEventQuery = [](CUevent event) {
    return event_of(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  };
  cuda.cuStreamWaitEvent = [](CUstream stream, CUevent event, unsigned) {
    Stream::of(stream).run([event] {
      while (!event_of(event)) std::this_thread::yield();
    });
    return CUDA_SUCCESS;
  };
  cuda.cuStreamWaitValue32 = [](CUstream stream, CUdeviceptr word, cuuint32_t value, unsigned) {
    Stream::of(stream).run([=] {
      const auto* at = reinterpret_cast<const uint32_t*>(word);
      while (__atomic_load_n(at, __ATOMIC_ACQUIRE) < value) std::this_thread::yield();
    });
    return refusal;
  };
  cuda.cuMemcpyAsync = [](CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    Stream::of(stream).run(
        [=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); });
    return CUDA_SUCCESS;
  };
}

constexpr CallPlace kFirst{CallKind::kLaunch, 0, 0}, kSecond{CallKind::kLaunch, 0, 1},
    kMemory{CallKind::kMalloc, 0, 1};

class OrderTests : public testing::Test {
 protected:
  OrderTests() {
    make_driver();
    refusal = CUDA_SUCCESS;
    session.active_captures = 0;
    control_ = std::make_unique<ring::Control>();
    session.control = control_.get();
    file_ = std::filesystem::temp_directory_path() /
            ("streamscope-order-" + std::to_string(::getpid()) + "-" +
             testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove(file_);
    file_.native().copy(control_->chosen_order.result_file, 1000);
  }
  ~OrderTests() override {
    finish_chosen_order();
    if (watchdog.joinable()) watchdog.join();
    forget_chosen_order_after_fork();
    std::filesystem::remove(file_);
  }

  void begin(OrderMode mode, TakeBytes take, CallPlace first = kFirst, CallPlace second = kSecond) {
    ring::ChosenOrder& plan = control_->chosen_order;
    plan.mode = mode;
    plan.take = take;
    plan.first = first, plan.second = second, plan.memory = kMemory;
    plan.offset = 4, plan.bytes = 2, plan.most_ms = 100;
    ASSERT_TRUE(start_chosen_order());
  }
  // Of the program.
  static void allocate(void* memory) {
    order_before(CallKind::kMalloc, 0);
    order_after(0);
    order_allocated(CallKind::kMalloc, reinterpret_cast<uint64_t>(memory));
  }
  void allocate_both() {
    allocate(other_);
    allocate(memory_);
  }
  static void launch(Stream& stream, std::function<void()> kernel, int32_t result = 0) {
    order_before(CallKind::kLaunch, reinterpret_cast<uint64_t>(stream.handle()));
    stream.run(std::move(kernel));
    order_after(result);
  }
  std::function<void()> write(char value, std::chrono::milliseconds after = 0ms) {
    return [=, this] {
      std::this_thread::sleep_for(after);
      memory_[4] = memory_[5] = value;
    };
  }
  // The outcome, and the bytes that were taken.
  std::pair<OrderOutcome, std::string> result() {
    finish_chosen_order();
    if (watchdog.joinable()) watchdog.join();
    std::ifstream file(file_, std::ios::binary);
    ring::OrderResult found{};
    EXPECT_TRUE(file.read(reinterpret_cast<char*>(&found), sizeof found)) << "no result";
    std::string bytes(found.bytes, 0);
    EXPECT_TRUE(file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())));
    return {found.outcome, bytes};
  }

  std::unique_ptr<ring::Control> control_;
  std::filesystem::path file_;
  char other_[16] = {}, memory_[16] = "...............";
  Stream a_, b_;
};

using Outcome = std::pair<OrderOutcome, std::string>;

TEST_F(OrderTests, AReaderSeesOldBytesIfTheWriterIsLate) {
  begin(OrderMode::kFirstLate, TakeBytes::kBeforeSecond);
  allocate_both();
  launch(a_, write('x'));
  launch(b_, [] {});
  EXPECT_EQ(result(), (Outcome{OrderOutcome::kTaken, ".."}));
  a_.synchronize();
  EXPECT_EQ(memory_[4], 'x') << "it was let go";
}

TEST_F(OrderTests, AReaderSeesNewBytesInOrder) {
  begin(OrderMode::kInOrder, TakeBytes::kBeforeSecond);
  allocate_both();
  launch(a_, write('x', 30ms));
  launch(b_, [] {});
  EXPECT_EQ(result(), (Outcome{OrderOutcome::kTaken, "xx"}));
}

TEST_F(OrderTests, AReaderThatIsLateSeesWhatWasWrittenMeanwhile) {
  for (const auto mode : {OrderMode::kFirstLate, OrderMode::kInOrder}) {
    SCOPED_TRACE(static_cast<int>(mode));
    std::memset(memory_, '.', sizeof memory_);
    begin(mode, TakeBytes::kBeforeFirst);
    allocate_both();
    launch(a_, [] {});
    launch(b_, write('y'));
    EXPECT_EQ(result(), (Outcome{OrderOutcome::kTaken, mode == OrderMode::kInOrder ? ".." : "yy"}));
    forget_chosen_order_after_fork();
    std::filesystem::remove(file_);
  }
}

TEST_F(OrderTests, TheLastOfTwoWritersRemains) {
  for (const auto mode : {OrderMode::kFirstLate, OrderMode::kInOrder}) {
    SCOPED_TRACE(static_cast<int>(mode));
    begin(mode, TakeBytes::kAfterBoth);
    allocate_both();
    launch(a_, write('x', 10ms));
    launch(b_, write('y'));
    EXPECT_EQ(result(), (Outcome{OrderOutcome::kTaken, mode == OrderMode::kInOrder ? "yy" : "xx"}));
    forget_chosen_order_after_fork();
    std::filesystem::remove(file_);
  }
}

TEST_F(OrderTests, LaterWorkChangesNothing) {
  for (const auto mode : {OrderMode::kFirstLate, OrderMode::kInOrder}) {
    SCOPED_TRACE(static_cast<int>(mode));
    begin(mode, TakeBytes::kAfterBoth);
    allocate_both();
    launch(a_, write('x'));
    launch(b_, write('y', 30ms));
    launch(mode == OrderMode::kInOrder ? a_ : b_, write('z'));
    EXPECT_EQ(result(), (Outcome{OrderOutcome::kTaken, mode == OrderMode::kInOrder ? "yy" : "xx"}));
    a_.synchronize();
    b_.synchronize();
    forget_chosen_order_after_fork();
    std::filesystem::remove(file_);
  }
}

TEST_F(OrderTests, IsNotLateIfTheProgramOrdersBoth) {
  begin(OrderMode::kFirstLate, TakeBytes::kBeforeSecond);
  allocate_both();
  launch(a_, write('x'));
  Event done = false;
  const auto own = reinterpret_cast<CUevent>(&done);
  cuda.cuEventRecord(own, a_.handle());
  cuda.cuStreamWaitEvent(b_.handle(), own, 0);
  launch(b_, [] {});
  EXPECT_EQ(result().first, OrderOutcome::kNotLate);
}

TEST_F(OrderTests, NeverHangsAProgramThatWaits) {
  begin(OrderMode::kFirstLate, TakeBytes::kBeforeSecond);
  allocate_both();
  launch(a_, write('x'));
  a_.synchronize();
  launch(b_, [] {});
  EXPECT_EQ(result().first, OrderOutcome::kNotLate);
}

TEST_F(OrderTests, LetsGoIfTheProgramEndsBeforeTheSecondCall) {
  begin(OrderMode::kFirstLate, TakeBytes::kBeforeSecond);
  control_->chosen_order.most_ms = 1'000'000;
  allocate_both();
  launch(a_, write('x'));
  EXPECT_EQ(result().first, OrderOutcome::kNotReached);
  a_.synchronize();
}

TEST_F(OrderTests, NoticesWhatItCannotTest) {
  const auto outcome = [&](const std::function<void()>& program) {
    begin(OrderMode::kFirstLate, TakeBytes::kBeforeSecond);
    program();
    const OrderOutcome found = result().first;
    a_.synchronize();
    b_.synchronize();
    forget_chosen_order_after_fork();
    std::filesystem::remove(file_);
    session.active_captures = 0;
    refusal = CUDA_SUCCESS;
    return found;
  };
  const auto both = [&] {
    launch(a_, [] {});
    launch(b_, [] {});
  };
  EXPECT_EQ(outcome([&] {
              allocate(other_);
              both();
            }),
            OrderOutcome::kNoMemory);
  EXPECT_EQ(outcome([&] {
              allocate_both();
              session.active_captures = 1;
              both();
            }),
            OrderOutcome::kCaptured);
  EXPECT_EQ(outcome([&] {
              allocate_both();
              refusal = CUDA_ERROR_NOT_SUPPORTED;
              both();
            }),
            OrderOutcome::kRefused);
  EXPECT_EQ(outcome([&] {
              allocate_both();
              launch(
                  a_, [] {}, CUDA_ERROR_INVALID_VALUE);
            }),
            OrderOutcome::kRefused);
}

// One thread may hold work back while another finds that nothing can be tested.
TEST_F(OrderTests, HoldsNothingBackOnceItIsOver) {
  begin(OrderMode::kFirstLate, TakeBytes::kBeforeSecond, kSecond, kFirst);
  allocate_both();
  launch(b_, [] {});
  EXPECT_EQ(result().first, OrderOutcome::kOtherOrder);
  uint32_t word = 0;
  std::memcpy(&word, host_memory.back().data(), sizeof word);
  EXPECT_EQ(word, 1u);
}

TEST_F(OrderTests, NoticesTheOtherOrder) {
  begin(OrderMode::kInOrder, TakeBytes::kBeforeSecond, kSecond, kFirst);
  allocate_both();
  launch(b_, [] {});
  launch(a_, write('x'));
  EXPECT_EQ(result().first, OrderOutcome::kOtherOrder);
}

TEST_F(OrderTests, CountsTheCallsOfEachThreadAndKind) {
  begin(OrderMode::kFirstLate, TakeBytes::kBeforeSecond, {CallKind::kLaunch, 1, 0},
        {CallKind::kMemsetAsync, 0, 0});
  allocate_both();
  launch(b_, [] {});  // of thread 0
  std::thread([&] { launch(a_, write('x')); }).join();
  launch(b_, [] {});
  order_before(CallKind::kMemsetAsync, reinterpret_cast<uint64_t>(b_.handle()));
  order_after(0);
  EXPECT_EQ(result(), (Outcome{OrderOutcome::kTaken, ".."}));
}

}  // namespace
}  // namespace streamscope::collect
