// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels that order themselves: one writes a value in memory, another that runs beside it waits
// for that value. No call shows this order, and the values are not recorded. What is known is which
// kernels have the code for it (access.signals), and which bytes they touched.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/order/happens_before.h"
#include "memory_uses.h"

namespace streamscope::analysis {

class SignalWords {
 public:
  /// Keeps a reference to `before`.
  SignalWords(const Trace& trace, std::span<const MemoryUse> uses, const HappensBefore& before);

  /// An address that `earlier`, or a kernel after it, writes, and that `later`, or a kernel before
  /// it, may wait for: then a value there may order the two ops. Only the nearest such kernels are
  /// considered, kMost on either side.
  std::optional<uint64_t> between(const MemoryUse& earlier, const MemoryUse& later) const;
  static constexpr size_t kMost = 256;

 private:
  struct Piece {
    uint64_t begin, end;
  };
  struct Kernel {
    Id op;
    uint32_t item;  // in issue order
    std::vector<Piece> pieces;
  };
  using Kernels = std::vector<Kernel>;
  static void add(Kernels& kernels, const MemoryUse& use, Piece piece);
  static std::optional<uint64_t> common(const Kernel& one, const Kernel& other);
  std::vector<const Kernel*> signalers_from(const MemoryUse& use) const;
  std::vector<const Kernel*> waiters_until(const MemoryUse& use) const;

  const HappensBefore& before_;
  Kernels signalers_;  // what they write; in issue order
  Kernels waiters_;    // what they read
};

}  // namespace streamscope::analysis
