// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "signal_words.h"

#include <algorithm>

#include "vocabulary/access_source.h"
#include "vocabulary/kernel_signals.h"

namespace streamscope::analysis {

namespace {

// All rows of the access.
uint64_t end_of(const Trace& trace, const MemoryUse& use) {
  const trace::Int rows = trace.access.rows[use.access],
                   pitch = trace.access.pitch_bytes[use.access];
  if (rows == trace::kNoInt || pitch == trace::kNoInt) return use.end;
  return use.end + static_cast<uint64_t>((rows - 1) * pitch);
}

}  // namespace

SignalWords::SignalWords(const Trace& trace, std::span<const MemoryUse> uses,
                         const HappensBefore& before)
    : before_(before) {
  for (const MemoryUse& use : uses) {
    const trace::Small signals = trace.access.signals[use.access];
    if (signals == trace::kNoSmall || use.by_host()) continue;
    const Piece piece{use.begin, end_of(trace, use)};
    if ((signals & kMaySignal) != 0 && use.write) add(signalers_, use.last_op, piece);
    if ((signals & kMayWait) != 0 && (!use.write || use.atomic)) add(waiters_, use.last_op, piece);
  }
  for (auto* kernels : {&signalers_, &waiters_}) {
    for (Kernel& kernel : *kernels) std::ranges::sort(kernel.pieces, {}, &Piece::begin);
  }
}

void SignalWords::add(std::vector<Kernel>& kernels, Id op, Piece piece) {
  if (kernels.empty() || kernels.back().op != op) kernels.push_back({op, {}});
  kernels.back().pieces.push_back(piece);
}

std::optional<uint64_t> SignalWords::common(const Kernel& one, const Kernel& other) {
  std::optional<Piece> smallest;  // a word to wait for is small
  auto a = one.pieces.begin(), b = other.pieces.begin();
  while (a != one.pieces.end() && b != other.pieces.end()) {
    const Piece both{std::max(a->begin, b->begin), std::min(a->end, b->end)};
    if (both.begin < both.end &&
        (!smallest || both.end - both.begin < smallest->end - smallest->begin))
      smallest = both;
    a->end < b->end ? ++a : ++b;
  }
  if (!smallest) return std::nullopt;
  return smallest->begin;
}

std::optional<uint64_t> SignalWords::between(Id earlier, Id later) const {
  for (const Kernel& signaler : signalers_) {
    if (signaler.op != earlier && !before_.ordered(earlier, signaler.op)) continue;
    for (const Kernel& waiter : waiters_) {
      if (waiter.op == signaler.op || (waiter.op != later && !before_.ordered(waiter.op, later)) ||
          before_.ordered(waiter.op, signaler.op))
        continue;
      if (const auto word = common(signaler, waiter)) return word;
    }
  }
  return std::nullopt;
}

}  // namespace streamscope::analysis
