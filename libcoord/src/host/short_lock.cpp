// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "short_lock.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "relax.h"

namespace coord {

namespace {

/// A thread becomes favored after this many locks in a row: those have cost more than ending the
/// favor, which takes a few microseconds.
constexpr std::uint32_t kInARow = 4096;

bool command(int which) noexcept { return syscall(SYS_membarrier, which, 0, 0) == 0; }

/// Whether the system has the call; a process must register before it uses it.
bool can_lean() noexcept {
  static const bool can = command(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  return can;
}

/// Waits until `free` returns true. A running holder finishes within the first polls; a preempted
/// one needs the processor.
template <typename Free>
void await(Free free) noexcept {
  constexpr int kLooks = 200, kYields = 20;
  for (int looks = 0; !free(); ++looks) {
    if (looks < kLooks) {
      relax();
    } else if (looks < kLooks + kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
}

}  // namespace

void ShortLock::take(std::uint64_t self) noexcept {
  await([&] {
    return !taken_.load(std::memory_order_relaxed) &&
           !taken_.exchange(true, std::memory_order_acquire);
  });
  if (favored_.load(std::memory_order_relaxed) != 0) {
    favored_.store(0, std::memory_order_relaxed);
    // After this, either this thread sees that the favored one is inside, or the favored one sees
    // that it is no longer favored.
    command(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    await([&] { return !inside_.load(std::memory_order_acquire); });
    leaning_ = false;
    in_a_row_ = 0;
  }
  in_a_row_ = last_ == self ? in_a_row_ + 1 : 0;
  last_ = self;
  if (in_a_row_ < kInARow || (candidate_ != 0 && candidate_ != self) || !can_lean()) return;
  // Never another one: a thread that has read which thread the lock favors may still be about to
  // write `inside_`, no matter how long ago, which is harmless only if no other thread writes it.
  candidate_ = self;
  leaning_ = true;
  inside_.store(true, std::memory_order_relaxed);
  favored_.store(self, std::memory_order_relaxed);
  taken_.store(false, std::memory_order_release);
}

}  // namespace coord
