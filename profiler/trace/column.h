// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A column of a table in memory: packed, as the reader creates it, or open, while a trace is built
// row by row. Both read the same way.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "packed.h"

namespace streamscope::trace {

/// All const functions leave the column unchanged and are thread-safe. Non-const functions open it,
/// which takes the memory of a plain vector: read large traces through a const Trace.
template <class T>
class Column {
 public:
  using value_type = T;

  Column() = default;
  Column(std::vector<T> values) : open_(std::move(values)) {}
  Column(std::initializer_list<T> values) : open_(values) {}
  explicit Column(Packed<T> packed) : packed_(std::move(packed)), is_packed_(true) {}

  size_t size() const { return is_packed_ ? packed_.size() : open_.size(); }
  bool empty() const { return size() == 0; }
  T operator[](size_t index) const { return is_packed_ ? packed_[index] : open_[index]; }
  T front() const { return (*this)[0]; }
  T back() const { return (*this)[size() - 1]; }
  /// Values [from, from + count), all of them below size(): faster than one by one.
  void read(size_t from, size_t count, T* out) const {
    if (is_packed_) return packed_.read(from, count, out);
    std::copy_n(open_.begin() + static_cast<ptrdiff_t>(from), count, out);
  }
  using Iterator = IndexIterator<Column>;
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, static_cast<ptrdiff_t>(size())}; }
  friend bool operator==(const Column& a, const Column& b) { return std::ranges::equal(a, b); }

  /// Closes the column and frees the excess memory of the vector.
  void pack() {
    if (is_packed_) return;
    packed_ = Packed<T>(open_);
    open_ = {};
    is_packed_ = true;
  }

  T& operator[](size_t index) { return open()[index]; }
  T& back() { return open().back(); }
  auto begin() { return open().begin(); }
  auto end() { return open().end(); }
  void push_back(T value) { open().push_back(value); }
  void pop_back() { open().pop_back(); }
  void resize(size_t size, T value) { open().resize(size, value); }
  void assign(size_t size, T value) { open().assign(size, value); }
  void reserve(size_t size) { open().reserve(size); }

 private:
  std::vector<T>& open() {
    if (is_packed_) {
      open_.resize(packed_.size());
      packed_.read(0, packed_.size(), open_.data());
      packed_ = {};
      is_packed_ = false;
    }
    return open_;
  }

  std::vector<T> open_;
  Packed<T> packed_;
  bool is_packed_ = false;
};

}  // namespace streamscope::trace
