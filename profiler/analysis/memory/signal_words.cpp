// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "signal_words.h"

#include <algorithm>

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
    if ((signals & kMaySignal) != 0 && use.write) add(signalers_, use, piece);
    if ((signals & kMayWait) != 0 && (!use.write || use.atomic)) add(waiters_, use, piece);
  }
  for (auto* kernels : {&signalers_, &waiters_}) {
    for (Kernel& kernel : *kernels) std::ranges::sort(kernel.pieces, {}, &Piece::begin);
  }
}

void SignalWords::add(Kernels& kernels, const MemoryUse& use, Piece piece) {
  if (kernels.empty() || kernels.back().op != use.last_op)
    kernels.push_back({use.last_op, use.item, {}});
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

std::vector<const SignalWords::Kernel*> SignalWords::signalers_from(const MemoryUse& use) const {
  std::vector<const Kernel*> found;
  for (auto at = std::ranges::lower_bound(signalers_, use.item, {}, &Kernel::item);
       at != signalers_.end() && found.size() < kMost; ++at) {
    if (at->op == use.last_op || before_.ordered(use.last_op, at->op)) found.push_back(&*at);
  }
  return found;
}

std::vector<const SignalWords::Kernel*> SignalWords::waiters_until(const MemoryUse& use) const {
  std::vector<const Kernel*> found;
  for (auto at = std::ranges::upper_bound(waiters_, use.item, {}, &Kernel::item);
       at != waiters_.begin() && found.size() < kMost;) {
    --at;
    if (at->op == use.last_op || before_.ordered(at->op, use.first_op)) found.push_back(&*at);
  }
  return found;
}

std::optional<uint64_t> SignalWords::between(const MemoryUse& earlier,
                                             const MemoryUse& later) const {
  if (signalers_.empty() || waiters_.empty()) return std::nullopt;
  const auto waiters = waiters_until(later);
  for (const Kernel* signaler : signalers_from(earlier)) {
    for (const Kernel* waiter : waiters) {
      if (waiter->op == signaler->op || before_.ordered(waiter->op, signaler->op)) continue;
      if (const auto word = common(*signaler, *waiter)) return word;
    }
  }
  return std::nullopt;
}

}  // namespace streamscope::analysis
