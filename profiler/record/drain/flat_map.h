// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Maps of integers for the lookups that the drain makes for every record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace streamscope::record {

/// One key of two numbers below 2^32.
constexpr uint64_t pair_key(uint64_t high, uint64_t low) { return high << 32 | low; }

/// A hash map in one array: open addressing, linear probing, erasure without tombstones. Pointers
/// into it are valid until the next insertion or erasure. Thread-compatible.
template <class Key, class Value>
class FlatMap {
  static_assert(std::is_unsigned_v<Key>);

 public:
  Value* find(Key key) { return const_cast<Value*>(std::as_const(*this).find(key)); }
  const Value* find(Key key) const {
    if (size_ == 0) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.used ? &slot.value : nullptr;
  }

  /// The value of `key`, created by default if absent; `*inserted` says which.
  Value& get(Key key, bool* inserted = nullptr) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
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
    size_t hole = place_of(key);
    if (!slots_[hole].used) return false;
    // Close the hole: following entries that may be stored there move up.
    for (size_t at = next(hole); slots_[at].used; at = next(at)) {
      const size_t distance_from_home = (at - home(slots_[at].key)) & mask();
      if (distance_from_home >= ((at - hole) & mask())) {
        slots_[hole] = std::move(slots_[at]);
        hole = at;
      }
    }
    slots_[hole] = {};
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
    uint64_t hash = static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15ull;
    return static_cast<size_t>(hash ^ (hash >> 32)) & mask();
  }
  // Where the key is, or where it can be added.
  size_t place_of(Key key) const {
    size_t at = home(key);
    while (slots_[at].used && slots_[at].key != key) at = next(at);
    return at;
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

/// For numbers that are assigned in sequence and erased in about that order: neighbors are adjacent
/// in memory, and the cost of each operation does not depend on their number. Pointers into it are
/// valid until their key is erased. Thread-compatible.
template <class Value>
class SequenceMap {
 public:
  Value* find(uint32_t key) {
    Block* const block = block_of(key);
    return block != nullptr && (block->used & bit(key)) != 0 ? &block->values[key % kBlock]
                                                             : nullptr;
  }
  /// The value of `key`, created by default if absent.
  Value& get(uint32_t key) {
    Block* block = block_of(key);
    if (block == nullptr) {
      if (spare_.empty()) spare_.push_back(std::make_unique<Block>());
      block = (blocks_.get(key / kBlock) = std::move(spare_.back())).get();
      spare_.pop_back();
    }
    Value& value = block->values[key % kBlock];
    if ((block->used & bit(key)) == 0) {
      block->used |= bit(key);
      value = Value{};
      ++size_;
    }
    return value;
  }
  /// The value of `key`, which `make()` returns if it is absent; that may add other keys.
  template <class Make>
  Value& get_or_add(uint32_t key, Make make) {
    if (Value* known = find(key)) return *known;
    Value made = make();
    return get(key) = std::move(made);
  }
  bool erase(uint32_t key) {
    Block* const block = block_of(key);
    if (block == nullptr || (block->used & bit(key)) == 0) return false;
    block->used &= ~bit(key);
    --size_;
    if (block->used == 0) {
      std::unique_ptr<Block>& owner = *blocks_.find(key / kBlock);
      if (spare_.size() < kMostSpare) spare_.push_back(std::move(owner));
      blocks_.erase(key / kBlock);
    }
    return true;
  }
  template <class Function>
  void for_each(Function function) {
    blocks_.for_each([&](uint32_t number, std::unique_ptr<Block>& block) {
      for (uint32_t i = 0; i < kBlock; ++i) {
        if ((block->used >> i & 1) != 0) function(number * kBlock + i, block->values[i]);
      }
    });
  }
  size_t size() const { return size_; }
  void clear() {
    blocks_.clear();
    size_ = 0;
  }

 private:
  // A block with one remaining key takes the memory of a full one, so it is small.
  static constexpr uint32_t kBlock = 16;
  static constexpr size_t kMostSpare = 64;
  struct Block {
    uint32_t used = 0;  // bit i: values[i]
    std::array<Value, kBlock> values;
  };
  static uint32_t bit(uint32_t key) { return uint32_t{1} << key % kBlock; }
  Block* block_of(uint32_t key) {
    const std::unique_ptr<Block>* const found = blocks_.find(key / kBlock);
    return found == nullptr ? nullptr : found->get();
  }

  FlatMap<uint32_t, std::unique_ptr<Block>> blocks_;
  std::vector<std::unique_ptr<Block>> spare_;
  size_t size_ = 0;
};

}  // namespace streamscope::record
