// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A hash map for integers in one array, for the look-ups that the drain makes for every record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace streamscope::record {

/// One key of two numbers below 2^32.
constexpr uint64_t pair_key(uint64_t high, uint64_t low) { return high << 32 | low; }

/// Open addressing, linear probing, erasure without tombstones. `Spread` decides where keys go:
/// kMix for arbitrary numbers, kDense for numbers that are handed out in sequence and leave in
/// about that order (their places are then neighbours in memory). Pointers into it hold until the
/// next insertion or erasure. Thread-compatible.
enum class Spread { kMix, kDense };

template <class Key, class Value, Spread spread = Spread::kMix>
class FlatMap {
  static_assert(std::is_unsigned_v<Key>);

 public:
  Value* find(Key key) { return const_cast<Value*>(std::as_const(*this).find(key)); }
  const Value* find(Key key) const {
    if (size_ == 0) return nullptr;
    for (size_t at = home(key);; at = next(at)) {
      if (!slots_[at].used) return nullptr;
      if (slots_[at].key == key) return &slots_[at].value;
    }
  }

  /// The value of `key`, made by default if absent; `*inserted` says which.
  Value& get(Key key, bool* inserted = nullptr) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    size_t at = home(key);
    while (slots_[at].used && slots_[at].key != key) at = next(at);
    Slot& slot = slots_[at];
    if (inserted != nullptr) *inserted = !slot.used;
    if (!slot.used) {
      slot = {key, Value{}, true};
      ++size_;
    }
    return slot.value;
  }
  /// The value of `key`, which `make()` returns if it is absent; that may add other keys.
  template <class Make>
  Value& get_or_add(Key key, Make make) {
    if (Value* known = find(key)) return *known;
    Value made = make();
    return get(key) = std::move(made);
  }
  void insert_or_assign(Key key, Value value) { get(key) = std::move(value); }

  bool erase(Key key) {
    if (size_ == 0) return false;
    size_t hole = home(key);
    while (slots_[hole].key != key || !slots_[hole].used) {
      if (!slots_[hole].used) return false;
      hole = next(hole);
    }
    // Close the hole: whatever follows and may stand there moves up.
    for (size_t at = next(hole); slots_[at].used; at = next(at)) {
      const size_t distance_from_home = (at - home(slots_[at].key)) & mask();
      if (distance_from_home >= ((at - hole) & mask())) {
        slots_[hole] = std::move(slots_[at]);
        hole = at;
      }
    }
    slots_[hole].used = false;
    --size_;
    return true;
  }

  template <class Function>
  void for_each(Function function) {
    for (Slot& slot : slots_) {
      if (slot.used) function(slot.key, slot.value);
    }
  }

  size_t size() const { return size_; }
  void clear() {
    slots_.clear();
    size_ = 0;
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
    bool used = false;
  };

  size_t mask() const { return slots_.size() - 1; }
  size_t next(size_t at) const { return (at + 1) & mask(); }
  size_t home(Key key) const {
    if constexpr (spread == Spread::kDense) return static_cast<size_t>(key) & mask();
    uint64_t hash = static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15ull;
    return static_cast<size_t>(hash ^ (hash >> 32)) & mask();
  }
  void grow() {
    std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 16 : 2 * slots_.size()));
    size_ = 0;
    for (Slot& slot : old) {
      if (slot.used) get(slot.key) = std::move(slot.value);
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace streamscope::record
