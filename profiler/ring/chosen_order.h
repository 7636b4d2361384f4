// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A test whether the order of two calls' work decides which bytes the program sees (`streamscope
// confirm`): what a collector is asked to do in a repeated run, and the file in which it answers.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "vocabulary/call_place.h"

namespace streamscope::ring {

enum class OrderMode : uint32_t {
  kNone = 0,
  kInOrder,    // the second call's work waits until that of the first has ended
  kFirstLate,  // the first call's work waits until that of the second has ended
};

/// When the bytes are taken that the test compares.
enum class TakeBytes : uint32_t { kBeforeFirst = 0, kBeforeSecond, kAfterBoth };

struct ChosenOrder {
  OrderMode mode;
  TakeBytes take;
  CallPlace first, second;
  CallPlace memory;        // the call that allocates it
  uint64_t offset, bytes;  // what both access there
  uint32_t most_ms;        // the first call's work never waits longer
  char result_file[1024];  // OrderResult and the bytes; NUL-terminated
};

inline constexpr uint64_t kMostTakenBytes = 64 << 20;

enum class OrderOutcome : uint32_t {
  kTaken = 0,   // in the order that was asked for
  kNotReached,  // the program ended before the second call
  kOtherOrder,  // the second call came first
  kNoMemory,    // the memory was not allocated before the first call
  kCaptured,    // calls were being captured into a graph
  kNotLate,     // the first call's work waited for most_ms, and that of the second had not ended
  kRefused,     // by the driver
};
/// By number; for messages.
inline constexpr std::array<std::string_view, 7> kOrderOutcomes = {
    "",
    "the program ended before both calls were made",
    "the calls were made in the other order",
    "the memory was allocated after the first call",
    "a graph was being captured",
    "the second did not end while the first was held back",
    "the driver refused to hold work back",
};

/// The start of the result file.
struct OrderResult {
  char magic[8];
  OrderOutcome outcome;
  uint32_t unused;
  uint64_t bytes;  // that follow; 0 unless kTaken
};
inline constexpr char kOrderMagic[8] = {'S', 'S', 'O', 'R', 'D', 'E', 'R', '\1'};

}  // namespace streamscope::ring
