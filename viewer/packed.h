// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A column of integers in as few bits as its values need, still read by index in constant time.
//
// Of every block of 256 the least value is kept once, and of each value only how far it lies
// above that. Times of neighbors differ by microseconds, their streams and names by a handful,
// and unknown values cost next to nothing: a table of ten million rows takes an eighth of what
// plain columns do. Filled once, then only read.
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

namespace streamscope::viewer {

/// Thread-safe once finished: all const.
template <class T>
class Packed {
 private:
  static constexpr size_t kBlock = 256;
  // Beyond the last code, for those that are read with what lies behind them.
  static constexpr size_t kWordsBehind = 2;
  // A value takes the code `value - least + 1`, an unknown one 0.
  struct Block {
    uint64_t least;
    uint64_t first_bit : 56;
    uint64_t bits : 8;
  };
  // What reading a value of a block takes.
  struct Decoded {
    uint64_t base, first_bit, bits, mask;

    explicit Decoded(const Block& block)
        : base(block.least - 1),
          first_bit(block.first_bit),
          bits(block.bits),
          mask(bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits)) {}
    T operator()(const uint64_t* words, size_t index) const {
      const uint64_t at = first_bit + index * bits;
      uint64_t code = 0;
      if (bits <= 57) {  // within the eight bytes from the one in which it begins
        static_assert(std::endian::native == std::endian::little);
        std::memcpy(&code, reinterpret_cast<const char*>(words) + at / 8, sizeof code);
        code >>= at % 8;
      } else {
        code = words[at / 64] >> at % 64 | words[at / 64 + 1] << 1 << (63 - at % 64);
      }
      code &= mask;
      return code == 0 ? kNone : static_cast<T>(base + code);
    }
  };

 public:
  /// An unknown value, as trace/model.h has it; what is read beyond the end.
  static constexpr T kNone =
      std::is_signed_v<T> ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();

  Packed() = default;
  explicit Packed(std::span<const T> values) {
    for (const T value : values) push(value);
    finish();
  }

  void push(T value) {
    open_.push_back(value);
    if (open_.size() == kBlock) close_block();
  }
  /// Call once after the last push; reading is allowed from then on.
  void finish() {
    if (!open_.empty()) close_block();
    open_ = {};
    words_.resize(words_.size() + kWordsBehind);
    blocks_.shrink_to_fit();
    words_.shrink_to_fit();
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](size_t index) const {
    if (index >= size_) return kNone;
    return Decoded(blocks_[index / kBlock])(words_.data(), index % kBlock);
  }
  /// Values [from, from + count), all of them below size(): cheaper than one by one.
  void read(size_t from, size_t count, T* out) const {
    for (const size_t end = from + count; from < end;) {
      const Decoded decoded(blocks_[from / kBlock]);
      const size_t until = std::min(end, (from / kBlock + 1) * kBlock);
      const uint64_t* words = words_.data();
      for (; from < until; ++from) *out++ = decoded(words, from % kBlock);
    }
  }
  size_t byte_count() const { return blocks_.size() * sizeof(Block) + words_.size() * 8; }

  /// Random access by value.
  class Iterator {
   public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = ptrdiff_t;
    using reference = T;
    using pointer = void;
    Iterator() = default;
    Iterator(const Packed* column, ptrdiff_t index) : column_(column), index_(index) {}
    T operator*() const { return (*column_)[static_cast<size_t>(index_)]; }
    T operator[](difference_type by) const { return *(*this + by); }
    Iterator& operator+=(difference_type by) { return index_ += by, *this; }
    Iterator& operator-=(difference_type by) { return index_ -= by, *this; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this - 1); }
    friend Iterator operator+(Iterator it, difference_type by) { return it += by; }
    friend Iterator operator+(difference_type by, Iterator it) { return it += by; }
    friend Iterator operator-(Iterator it, difference_type by) { return it -= by; }
    friend difference_type operator-(Iterator a, Iterator b) { return a.index_ - b.index_; }
    auto operator<=>(const Iterator& other) const { return index_ <=> other.index_; }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Packed* column_ = nullptr;
    ptrdiff_t index_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, static_cast<ptrdiff_t>(size_)}; }

  friend bool operator==(const Packed& a, const Packed& b) { return std::ranges::equal(a, b); }

 private:
  void close_block() {
    T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::min();
    bool any = false;
    for (const T value : open_) {
      if (value == kNone) continue;
      any = true;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    const auto wide = [](T value) { return static_cast<uint64_t>(int64_t{value}); };
    const auto bits = static_cast<unsigned>(any ? std::bit_width(wide(most) - wide(least) + 1) : 0);
    blocks_.push_back({wide(least), end_bit_, bits});
    for (size_t i = 0; bits > 0 && i < open_.size(); ++i) {
      const uint64_t code = open_[i] == kNone ? 0 : wide(open_[i]) - wide(least) + 1;
      const unsigned shift = end_bit_ % 64;
      if (shift == 0) words_.push_back(0);
      words_.back() |= code << shift;
      if (shift + bits > 64) words_.push_back(code >> (64 - shift));
      end_bit_ += bits;
    }
    size_ += open_.size();
    open_.clear();
  }

  std::vector<Block> blocks_;
  std::vector<uint64_t> words_;
  std::vector<T> open_;  // the block being filled
  uint64_t end_bit_ = 0;
  size_t size_ = 0;
};

}  // namespace streamscope::viewer
