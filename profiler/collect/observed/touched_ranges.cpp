// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/touched_ranges.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

namespace streamscope::collect {

namespace {

struct Piece {
  uint32_t launch;
  Touch how;
  uint64_t begin, end;
  auto order() const { return std::tuple(launch, how, begin); }
};

void add_run(const TouchRun& run, std::vector<Piece>& pieces) {
  const uint64_t begin = address_of(run.first);
  const uint64_t end = begin + uint64_t{run.granules} * kUnits * unit_bytes(run.first);
  for (uint32_t how = 0; how < kTouches; ++how) {
    if ((run.how >> how & 1) != 0)
      pieces.push_back({launch_of(run.first), static_cast<Touch>(how), begin, end});
  }
}

void add_granule(const TouchSlot& granule, std::vector<Piece>& pieces) {
  const uint64_t base = address_of(granule.key);
  const uint64_t unit = unit_bytes(granule.key);
  for (uint32_t how = 0; how < kTouches; ++how) {
    for (uint32_t word = 0; word < kMaskWords; ++word) {
      uint32_t bits = granule.touched[how].bits[word];
      for (uint32_t from = 0; bits != 0;) {
        const auto gap = static_cast<uint32_t>(std::countr_zero(bits));
        bits >>= gap;
        const auto length = static_cast<uint32_t>(std::countr_one(bits));
        from += gap;
        const uint64_t begin = base + (word * 32 + from) * unit;
        pieces.push_back(
            {launch_of(granule.key), static_cast<Touch>(how), begin, begin + length * unit});
        bits = length == 32 ? 0 : bits >> length;
        from += length;
      }
    }
  }
}

// Ranges of equal size at equal distances become rows of one.
void add_range(const Piece& piece, std::vector<TouchedRange>& ranges) {
  const uint64_t bytes = piece.end - piece.begin;
  if (!ranges.empty()) {
    TouchedRange& last = ranges.back();
    const uint64_t distance = piece.begin - (last.address + uint64_t{last.rows - 1} * last.pitch);
    if (last.launch == piece.launch && last.how == piece.how && last.bytes == bytes &&
        distance <= std::numeric_limits<uint32_t>::max() &&
        (last.rows == 1 || last.pitch == distance)) {
      last.pitch = static_cast<uint32_t>(distance);
      ++last.rows;
      return;
    }
    // Two of a kind are no pattern: the second may begin one.
    if (last.rows == 2) {
      const TouchedRange second = {last.launch, last.how, last.address + last.pitch, last.bytes};
      last.rows = 1;
      last.pitch = 0;
      ranges.push_back(second);
      return add_range(piece, ranges);
    }
  }
  ranges.push_back({piece.launch, piece.how, piece.begin, bytes});
}

}  // namespace

std::vector<TouchedRange> touched_ranges(std::span<const TouchRun> runs,
                                         std::span<const TouchSlot> granules) {
  std::vector<Piece> pieces;
  pieces.reserve(runs.size() + 4 * granules.size());
  for (const TouchRun& run : runs) add_run(run, pieces);
  for (const TouchSlot& granule : granules) add_granule(granule, pieces);
  std::ranges::sort(pieces, {}, &Piece::order);

  std::vector<TouchedRange> ranges;
  for (size_t i = 0; i < pieces.size();) {
    Piece whole = pieces[i++];
    for (; i < pieces.size() && pieces[i].launch == whole.launch && pieces[i].how == whole.how &&
           pieces[i].begin <= whole.end;
         ++i)
      whole.end = std::max(whole.end, pieces[i].end);
    add_range(whole, ranges);
  }
  return ranges;
}

}  // namespace streamscope::collect
