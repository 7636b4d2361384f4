// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Host functions, locks and threads of the program.
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "hang.h"

namespace hang {
namespace {

std::mutex lock;
std::atomic<bool> go{false};

__attribute__((noinline)) void CUDART_CB takes_the_lock(void*) {
  const std::lock_guard guard(lock);
  go = true;
}

// The function waits for a lock that is held by the thread that waits for the function.
void host_function_on_mutex() {
  const cudaStream_t stream = make_stream();
  const std::lock_guard guard(lock);
  CHECK(cudaLaunchHostFunc(stream, takes_the_lock, nullptr));
  launch_delay(stream, 1e-6);
  wait_for_stream(stream);
}

__attribute__((noinline)) void CUDART_CB waits_for_a_flag(void*) {
  while (!go) usleep(1000);
}
void CUDART_CB sets_the_flag(void*) { go = true; }

// The flag is set by later work of the same stream.
void host_function_on_flag() {
  const cudaStream_t stream = make_stream();
  CHECK(cudaLaunchHostFunc(stream, waits_for_a_flag, nullptr));
  CHECK(cudaLaunchHostFunc(stream, sets_the_flag, nullptr));
  wait_for_stream(stream);
}

std::mutex first, second;

__attribute__((noinline)) void locks(std::mutex& one, std::mutex& other) {
  const cudaStream_t stream = make_stream();
  const std::lock_guard outer(one);
  launch_delay(stream, 0.2);
  wait_for_stream(stream);
  const std::lock_guard inner(other);
}

void opposite_locks() {
  std::thread thread([] { locks(second, first); });
  locks(first, second);
  thread.join();
}

constexpr Program kPrograms[] = {
    {"host-function-on-mutex", "deadlock", "waits for a lock held by", host_function_on_mutex},
    {"host-function-on-flag", "host-function-blocked", "waits_for_a_flag", host_function_on_flag},
    {"opposite-locks", "deadlock", "waits for a lock held by", opposite_locks},
};

}  // namespace

std::span<const Program> host_programs() { return kPrograms; }

}  // namespace hang
