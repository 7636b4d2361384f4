// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/native_frames.h"

#include <unwind.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "collect/process/code_range.h"
#include "collect/process/memory.h"
#include "collect/stacks/python_frames.h"

namespace streamscope::collect {
namespace {

constinit CodeRange own_code;

// Where in the stack a return address lies, and the address.
struct ReturnSlot {
  uintptr_t place;
  uintptr_t address;
};
constexpr uint32_t kMaxSlots = kMaxNativeFrames + 8;  // with the collector's own

/// What a walk found. It is still right if every place has the same return address as then: the
/// innermost place is in use now, and a return address says which function its frame is of, and so,
/// as frames of a function have one size at one place of its code (but for alloca), where the next
/// one is.
struct WalkedStack {
  uintptr_t innermost = 0;  // place of the first return address
  bool stop_at_python = false;
  uint32_t slot_count = 0;  // 0: none, or more than fit
  uint32_t frame_count = 0;
  ReturnSlot slots[kMaxSlots];
  uint64_t frames[kMaxNativeFrames];

  bool is_current(uintptr_t place, bool to_python) const {
    if (slot_count == 0 || innermost != place || stop_at_python != to_python) return false;
    for (uint32_t i = 0; i < slot_count; ++i) {
      uintptr_t address = 0;
      std::memcpy(&address, reinterpret_cast<const void*>(slots[i].place), sizeof address);
      if (address != slots[i].address) return false;
    }
    return true;
  }
};

// Whether the place of a return address is known: below the frame that it returns to.
#if defined(__x86_64__)
constexpr bool kKnowsPlaces = true;
#else
constexpr bool kKnowsPlaces = false;
#endif

struct Walk {
  WalkedStack& found;
  bool knows_places = kKnowsPlaces;
};

// The unwinder begins with the function that called it, of which no return address lies on the
// stack any more when it has returned.
void note_place(Walk& walk, uintptr_t address, uintptr_t place) {
  WalkedStack& found = walk.found;
  if (!walk.knows_places || (found.slot_count == 0 && place < found.innermost)) return;
  walk.knows_places =
      found.slot_count < kMaxSlots && (found.slot_count > 0 || place == found.innermost) &&
      std::memcmp(reinterpret_cast<const void*>(place), &address, sizeof address) == 0;
  if (walk.knows_places) found.slots[found.slot_count++] = {place, address};
}

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* pointer) {
  auto& walk = *static_cast<Walk*>(pointer);
  WalkedStack& found = walk.found;
  int before_instruction = 0;
  uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == 0) return _URC_END_OF_STACK;
  note_place(walk, address, _Unwind_GetCFA(context) - sizeof(uintptr_t));
  // A return address is after its call; the byte before it belongs to the calling line.
  if (before_instruction == 0) --address;
  if (own_code.contains(address)) return _URC_NO_REASON;
  if (found.stop_at_python && in_python(address)) return _URC_END_OF_STACK;
  found.frames[found.frame_count++] = address;
  return found.frame_count == kMaxNativeFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

// A thread's latest stacks, by where they begin.
struct WalkedStacks {
  static constexpr size_t kSlots = 16;
  WalkedStack slots[kSlots];
};

void prepare_native_frames() {
  static constinit std::once_flag once;  // CUDA and libcoord may both be in use
  std::call_once(once, [] { own_code = code_around(reinterpret_cast<uintptr_t>(&native_frames)); });
}

// Not inlined: its own return address is the innermost of those that must be the same.
[[gnu::noinline]] uint32_t native_frames(ThreadState& thread, bool stop_at_python,
                                         uint64_t* frames) {
  if (thread.walked_stacks == nullptr)
    thread.walked_stacks = static_cast<WalkedStacks*>(permanent_memory(sizeof(WalkedStacks)));
  if (thread.walked_stacks == nullptr) return 0;
  const uintptr_t place =
      reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) + sizeof(uintptr_t);
  WalkedStack& stack =
      thread.walked_stacks->slots[(place >> 4 ^ place >> 8) % WalkedStacks::kSlots];
  if (!stack.is_current(place, stop_at_python)) {
    stack.innermost = place;
    stack.stop_at_python = stop_at_python;
    stack.slot_count = stack.frame_count = 0;
    Walk walk{stack};
    _Unwind_Backtrace(add_frame, &walk);
    if (!walk.knows_places) stack.slot_count = 0;
  }
  std::copy_n(stack.frames, stack.frame_count, frames);
  return stack.frame_count;
}

}  // namespace streamscope::collect
