// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A column of integers in as few bits as its values need, still indexed in constant time.
//
// For every block of 256 the smallest value is stored once, and for each value only its difference
// from that. Times of neighbors differ by microseconds, their streams and names by a few, and
// unknown or constant values cost almost nothing: a table of ten million rows takes an eighth of
// what plain columns take. Filled once, then only read.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace streamscope::trace {

/// Random access by value to anything that has an index.
template <class Values>
class IndexIterator {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = typename Values::value_type;
  using difference_type = ptrdiff_t;
  using reference = value_type;
  using pointer = void;
  IndexIterator() = default;
  IndexIterator(const Values* values, ptrdiff_t index) : values_(values), index_(index) {}
  value_type operator*() const { return (*values_)[static_cast<size_t>(index_)]; }
  value_type operator[](difference_type by) const { return *(*this + by); }
  IndexIterator& operator+=(difference_type by) { return index_ += by, *this; }
  IndexIterator& operator-=(difference_type by) { return index_ -= by, *this; }
  IndexIterator& operator++() { return *this += 1; }
  IndexIterator& operator--() { return *this -= 1; }
  IndexIterator operator++(int) { return std::exchange(*this, *this + 1); }
  IndexIterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend IndexIterator operator+(IndexIterator it, difference_type by) { return it += by; }
  friend IndexIterator operator+(difference_type by, IndexIterator it) { return it += by; }
  friend IndexIterator operator-(IndexIterator it, difference_type by) { return it -= by; }
  friend difference_type operator-(IndexIterator a, IndexIterator b) { return a.index_ - b.index_; }
  auto operator<=>(const IndexIterator& other) const { return index_ <=> other.index_; }
  bool operator==(const IndexIterator& other) const { return index_ == other.index_; }

 private:
  const Values* values_ = nullptr;
  ptrdiff_t index_ = 0;
};

/// Thread-safe once finished: all const.
template <class T>
class Packed {
 public:
  using value_type = T;
  static constexpr size_t kBlock = 256;
  /// An unknown value, as in model.h; also returned beyond the end.
  static constexpr T kNone =
      std::is_signed_v<T> ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();

 private:
  // After the last code, for codes that are read together with what follows them.
  static constexpr size_t kWordsBehind = 2;
  // Bits of a code that lies within the eight bytes from its first byte on.
  static constexpr uint64_t kMostInEight = 57;
  // A value has the code `value - base`. If any value is unknown, that is code 0 and `base` is one
  // below the smallest value. The codes of a whole block fill whole words.
  struct Block {
    uint64_t base;
    uint64_t first_word : 48;
    uint64_t bits : 8;
    uint64_t has_unknown : 8;
  };
  // What is needed to read a value of a block.
  struct Decoded {
    const unsigned char* bytes;
    uint64_t base, bits, mask, unknown;

    Decoded(const Block& block, const uint64_t* words)
        : bytes(reinterpret_cast<const unsigned char*>(words + block.first_word)),
          base(block.base),
          bits(block.bits),
          mask(bits <= kMostInEight ? (uint64_t{1} << bits) - 1 : ~uint64_t{0} >> (64 - bits)),
          unknown(block.has_unknown ? 0 : ~uint64_t{0}) {}  // ~0 is not a code: see add_block()
    [[gnu::always_inline]] T operator()(size_t index) const {
      static_assert(std::endian::native == std::endian::little);
      const uint64_t at = index * bits;
      uint64_t code = 0;
      if (bits <= kMostInEight) [[likely]] {
        std::memcpy(&code, bytes + at / 8, sizeof code);
        code >>= at % 8;
      } else {
        uint64_t next = 0;
        std::memcpy(&code, bytes + at / 64 * 8, sizeof code);
        std::memcpy(&next, bytes + at / 64 * 8 + 8, sizeof next);
        code = code >> at % 64 | next << 1 << (63 - at % 64);
      }
      code &= mask;
      return code == unknown ? kNone : static_cast<T>(base + code);
    }
  };

 public:
  Packed() = default;
  explicit Packed(std::span<const T> values) {
    for (size_t from = 0; from < values.size(); from += kBlock)
      add_block(values.subspan(from, std::min(kBlock, values.size() - from)));
    finish();
  }

  void push(T value) {
    if (open_.capacity() == 0) open_.reserve(kBlock);
    open_.push_back(value);
    if (open_.size() < kBlock) return;
    add_block(open_);
    open_.clear();
  }
  /// The next values, at most kBlock of them, instead of push(); only the last block is shorter.
  void add_block(std::span<const T> values) {
    T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::min();
    bool any = false, has_unknown = false;
    for (const T value : values) {
      const bool known = value != kNone;
      any |= known;
      has_unknown |= !known;
      least = known && value < least ? value : least;
      most = known && value > most ? value : most;
    }
    const auto wide = [](T value) { return static_cast<uint64_t>(int64_t{value}); };
    // At most 2^64 - 2 without an unknown one, as kNone is not a value.
    const uint64_t most_code = any ? wide(most) - wide(least) + has_unknown : 0;
    const uint64_t base = any ? wide(least) - has_unknown : 0;
    const auto bits = static_cast<unsigned>(std::bit_width(most_code));
    blocks_.push_back({base, words_.size(), bits, has_unknown});
    size_ += values.size();
    if (bits == 0) return;
    words_.resize(words_.size() + (values.size() * bits + 63) / 64);
    uint64_t* word = words_.data() + blocks_.back().first_word;
    uint64_t filling = 0;
    unsigned shift = 0;
    for (const T value : values) {
      const uint64_t code = value == kNone ? 0 : wide(value) - base;
      filling |= code << shift;
      shift += bits;
      if (shift < 64) continue;
      *word++ = filling;
      shift -= 64;
      filling = shift == 0 ? 0 : code >> (bits - shift);
    }
    if (shift > 0) *word = filling;
  }
  /// Call once after the last value; reading is allowed afterwards.
  void finish() {
    if (!open_.empty()) add_block(open_);
    open_ = {};
    words_.resize(words_.size() + kWordsBehind);
    blocks_.shrink_to_fit();
    words_.shrink_to_fit();
  }
  /// The values of all parts, one after the other; all but the last contain whole blocks. The parts
  /// are finished, and empty afterwards.
  static Packed joined(std::span<Packed> parts) {
    if (parts.size() == 1) return std::exchange(parts[0], {});
    Packed result;
    size_t blocks = 0, words = kWordsBehind;
    for (const Packed& part : parts) {
      blocks += part.blocks_.size();
      words += part.words_.size();
    }
    result.blocks_.reserve(blocks);
    result.words_.reserve(words);
    for (Packed& part : parts) {
      const size_t first_word = result.words_.size();
      for (Block block : part.blocks_) {
        block.first_word += first_word;
        result.blocks_.push_back(block);
      }
      result.words_.insert(result.words_.end(), part.words_.begin(), part.words_.end());
      if (!part.words_.empty()) result.words_.resize(result.words_.size() - kWordsBehind);
      result.size_ += part.size_;
      part = {};
    }
    result.words_.resize(result.words_.size() + kWordsBehind);
    return result;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Inlined: a loop over ops reads several columns of each.
  [[gnu::always_inline]] T operator[](size_t index) const {
    if (index >= size_) return kNone;
    return Decoded(blocks_[index / kBlock], words_.data())(index % kBlock);
  }
  /// Values [from, from + count), all of them below size(): faster than one by one.
  void read(size_t from, size_t count, T* out) const {
    for (const size_t end = from + count; from < end;) {
      const Decoded decoded(blocks_[from / kBlock], words_.data());
      const size_t until = std::min(end, (from / kBlock + 1) * kBlock);
      for (; from < until; ++from) *out++ = decoded(from % kBlock);
    }
  }
  size_t byte_count() const { return blocks_.size() * sizeof(Block) + words_.size() * 8; }

  using Iterator = IndexIterator<Packed>;
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, static_cast<ptrdiff_t>(size_)}; }

  friend bool operator==(const Packed& a, const Packed& b) { return std::ranges::equal(a, b); }

 private:
  std::vector<Block> blocks_;
  std::vector<uint64_t> words_;
  std::vector<T> open_;  // values that do not fill a block yet
  size_t size_ = 0;
};

}  // namespace streamscope::trace
