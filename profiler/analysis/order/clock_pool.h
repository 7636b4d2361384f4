// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Vector clocks of equal width with reference counts: the storage of HappensBefore only.
//
// A shared clock is never modified; a holder that learns something new takes a copy. So a record
// needs no copy, and streams that joined at a barrier share one clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "analysis/large_vector.h"

namespace streamscope::analysis {

/// A position in issue order; in a clock the newest known one of each chain, -1 for none.
using Position = int32_t;

/// Not thread-safe.
class ClockPool {
 public:
  using Ref = uint32_t;
  static constexpr Ref kNothing = 0;  ///< the empty clock; always exists
  static constexpr Ref kNone = UINT32_MAX;

  explicit ClockPool(size_t width)
      : lanes_((width + kLanes - 1) / kLanes), scratch_(lanes_ + (lanes_ == 0)) {
    const Ref nothing = take();
    std::fill_n(data(nothing), lanes_ * kLanes, Position{-1});
  }

  Position entry(Ref ref, size_t chain) const { return data(ref)[chain]; }
  void retain(Ref ref) { ++counts_[ref]; }
  void release(Ref ref) {
    if (--counts_[ref] == 0) free_.push_back(ref);
  }
  size_t live_bytes() const { return (counts_.size() - free_.size()) * lanes_ * sizeof(Lane); }
  size_t width() const { return lanes_ * kLanes; }

  /// Sets each entry of *clock to the newer of it and `news`, and the entry of `chain` also to
  /// `position` if newer. Entry `own`, that of the clock's own chain, is ignored; chains beyond the
  /// width have no entry. Shares `alike` instead of a separate clock if they are equal. Returns
  /// false and leaves *clock alone if there was nothing new.
  bool join(Ref* clock, size_t own, Ref news, size_t chain, Position position, Ref alike) {
    const bool known_chain = chain < width();
    // Usually the first check shows something new, and there is no clock to share.
    if (!known_chain || entry(*clock, chain) >= position || alike != kNone) {
      newest(scratch_.data(), lanes(*clock), lanes(news));
      Position* merged = reinterpret_cast<Position*>(scratch_.data());
      if (known_chain) merged[chain] = std::max(merged[chain], position);
      if (equals_scratch(*clock, own)) return false;
      if (alike != kNone && equals_scratch(alike, own)) {
        retain(alike);
        release(*clock);
        *clock = alike;
        return true;
      }
    }
    const Ref before = *clock;
    if (counts_[before] > 1) *clock = take();
    newest(lanes(*clock), lanes(before), lanes(news));
    if (known_chain) data(*clock)[chain] = std::max(data(*clock)[chain], position);
    if (*clock != before) release(before);
    return true;
  }

 private:
  static constexpr size_t kLanes = 4;
  using Lane __attribute__((vector_size(kLanes * sizeof(Position)))) = Position;

  struct Free {
    void operator()(Lane* slab) const { std::free(slab); }
  };
  Lane* new_slab() const {
    const size_t bytes = std::max<size_t>(1, per_slab_ * lanes_) * sizeof(Lane);
    const size_t whole = (bytes + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
    void* memory = std::aligned_alloc(kHugePageBytes, whole);
    if (!memory) throw std::bad_alloc();
    prefer_huge_pages(memory, whole);
    return static_cast<Lane*>(memory);
  }

  // *to may alias *a or *b.
  void newest(Lane* to, const Lane* a, const Lane* b) const {
    for (size_t i = 0; i < lanes_; ++i) to[i] = a[i] > b[i] ? a[i] : b[i];
  }
  static bool any(Lane lane) { return (lane[0] | lane[1] | lane[2] | lane[3]) != 0; }
  Lane* lanes(Ref ref) { return slabs_[ref / per_slab_].get() + ref % per_slab_ * lanes_; }
  const Lane* lanes(Ref ref) const {
    return slabs_[ref / per_slab_].get() + ref % per_slab_ * lanes_;
  }
  Position* data(Ref ref) { return reinterpret_cast<Position*>(lanes(ref)); }
  const Position* data(Ref ref) const { return reinterpret_cast<const Position*>(lanes(ref)); }

  // Compares all entries except `own`.
  bool equals_scratch(Ref clock, size_t own) const {
    const Lane* theirs = lanes(clock);
    Lane differs{};
    for (size_t i = 0; i < lanes_; ++i) {
      Lane lane = theirs[i] != scratch_[i];
      if (i == own / kLanes) lane[own % kLanes] = 0;
      differs |= lane;
    }
    return !any(differs);
  }
  Ref take() {
    if (!free_.empty()) {
      const Ref ref = free_.back();
      free_.pop_back();
      counts_[ref] = 1;
      return ref;
    }
    const Ref ref = static_cast<Ref>(counts_.size());
    if (ref % per_slab_ == 0) slabs_.emplace_back(new_slab());
    counts_.push_back(1);
    return ref;
  }

  size_t lanes_;
  size_t per_slab_ =
      lanes_ == 0 ? 1 << 16 : std::max<size_t>(1, kHugePageBytes / (lanes_ * sizeof(Lane)));
  std::vector<Lane> scratch_;
  std::vector<std::unique_ptr<Lane[], Free>> slabs_;
  std::vector<uint32_t> counts_;
  std::vector<Ref> free_;
};

}  // namespace streamscope::analysis
