// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/touched_ranges.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace streamscope::collect {

namespace {

struct Piece {
  uint64_t begin, end;
};

// Items that begin at or after such an address do not overlap those that begin before it.
constexpr uint64_t kLargestGranule = kUnits * 4;
uint64_t whole_granules(uint64_t address) {
  return (address + kLargestGranule - 1) / kLargestGranule * kLargestGranule;
}

// Launches have 16 bits, addresses 57.
constexpr uint64_t order_of(uint32_t launch, uint64_t address) {
  return uint64_t{launch} << 48 | address / kUnits;
}
uint64_t order_of(GranuleKey key) { return order_of(launch_of(key), address_of(key)); }

uint64_t end_of(const TouchRun& run) {
  return address_of(run.first) + uint64_t{run.granules} * kUnits * unit_bytes(run.first);
}

void add_granule(const TouchSlot& granule, Touch how, std::vector<Piece>& pieces) {
  const uint64_t base = address_of(granule.key);
  const uint64_t unit = unit_bytes(granule.key);
  for (uint32_t word = 0; word < kMaskWords; ++word) {
    uint32_t bits = granule.touched[static_cast<uint32_t>(how)].bits[word];
    for (uint32_t from = 0; bits != 0;) {
      const auto gap = static_cast<uint32_t>(std::countr_zero(bits));
      bits >>= gap;
      const auto length = static_cast<uint32_t>(std::countr_one(bits));
      from += gap;
      const uint64_t begin = base + (word * 32 + from) * unit;
      pieces.push_back({begin, begin + length * unit});
      bits = length == 32 ? 0 : bits >> length;
      from += length;
    }
  }
}

// Pieces in the order of their addresses -> ranges.
class Joiner {
 public:
  Joiner(Touch how, const std::function<bool(const TouchedRange&)>& visit)
      : how_(how), visit_(visit) {}

  void add(const Piece& piece) {
    if (piece.begin <= whole_.end && whole_.end != 0) {
      whole_.end = std::max(whole_.end, piece.end);
      return;
    }
    if (whole_.end != 0) add_row(whole_);
    whole_ = piece;
  }
  void finish() {
    if (whole_.end != 0) add_row(whole_);
    if (range_.bytes != 0) give(range_);
  }
  bool goes_on() const { return goes_on_; }

 private:
  // Pieces of equal size at equal distances become rows of one range.
  void add_row(const Piece& piece) {
    const uint64_t bytes = piece.end - piece.begin;
    if (range_.bytes != 0) {
      const uint64_t last = range_.address + uint64_t{range_.rows - 1} * range_.pitch;
      const uint64_t distance = piece.begin - last;
      if (range_.bytes == bytes && distance <= std::numeric_limits<uint32_t>::max() &&
          (range_.rows == 1 || range_.pitch == distance)) {
        range_.pitch = static_cast<uint32_t>(distance);
        ++range_.rows;
        return;
      }
      // Two of a kind are no pattern: the second may begin one.
      if (range_.rows == 2) {
        give({how_, range_.address, range_.bytes});
        range_ = {how_, last, range_.bytes};
        return add_row(piece);
      }
      give(range_);
    }
    range_ = {how_, piece.begin, bytes};
  }
  void give(const TouchedRange& range) { goes_on_ = goes_on_ && visit_(range); }

  Touch how_;
  const std::function<bool(const TouchedRange&)>& visit_;
  Piece whole_ = {};         // may still grow
  TouchedRange range_ = {};  // the one before it, which may still get rows
  bool goes_on_ = true;
};

}  // namespace

TouchedRanges::TouchedRanges(std::span<const TouchRun> runs, std::span<const TouchSlot> granules) {
  items_.reserve(runs.size() + granules.size());
  for (const TouchRun& run : runs) items_.push_back({order_of(run.first), &run, nullptr});
  for (const TouchSlot& granule : granules)
    items_.push_back({order_of(granule.key), nullptr, &granule});
  std::ranges::sort(items_, {}, &Item::order);
}

void TouchedRanges::of_launch(uint32_t launch,
                              const std::function<bool(const TouchedRange&)>& visit) const {
  const auto begin = std::ranges::lower_bound(items_, order_of(launch, 0), {}, &Item::order);
  const auto end = std::ranges::lower_bound(items_, order_of(launch + 1, 0), {}, &Item::order);
  std::vector<Piece> pieces;  // of items that may overlap
  for (uint32_t way = 0; way < kTouches; ++way) {
    const auto how = static_cast<Touch>(way);
    Joiner joiner(how, visit);
    for (auto item = begin; item != end && joiner.goes_on();) {
      pieces.clear();
      for (uint64_t until = 0; item != end; ++item) {
        const uint64_t from =
            item->run != nullptr ? address_of(item->run->first) : address_of(item->granule->key);
        if (until != 0 && from >= until) break;
        until =
            std::max(until, whole_granules(item->run != nullptr ? end_of(*item->run) : from + 1));
        if (item->granule != nullptr) {
          add_granule(*item->granule, how, pieces);
        } else if ((item->run->how >> way & 1) != 0) {
          pieces.push_back({from, end_of(*item->run)});
        }
      }
      std::ranges::sort(pieces, {}, &Piece::begin);
      for (const Piece& piece : pieces) joiner.add(piece);
    }
    joiner.finish();
    if (!joiner.goes_on()) return;
  }
}

}  // namespace streamscope::collect
