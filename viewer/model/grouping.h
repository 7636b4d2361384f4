// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of a table, grouped by a key.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "trace/model.h"
#include "trace/packed.h"

namespace streamscope::viewer {

using trace::Packed;

class Grouping {
 public:
  Grouping() = default;
  /// Groups `rows` rows by one of `keys` keys; a row may have none.
  template <class KeyOf>
  Grouping(size_t keys, size_t rows, KeyOf key_of) {
    std::vector<uint32_t> offsets(keys + 1);
    for (uint32_t row = 0; row < rows; ++row) {
      if (const trace::Id key = key_of(row); key < keys) ++offsets[key + 1];
    }
    for (size_t i = 0; i < keys; ++i) offsets[i + 1] += offsets[i];
    offsets_ = Packed<uint32_t>(offsets);
    rows_.resize(offsets.back());
    for (uint32_t row = 0; row < rows; ++row) {
      if (const trace::Id key = key_of(row); key < keys) rows_[offsets[key]++] = row;
    }
  }

  /// The rows with a key, in ascending order.
  std::span<const uint32_t> of(trace::Id key) const {
    if (size_t{key} + 1 >= offsets_.size()) return {};
    return std::span(rows_).subspan(offsets_[key], offsets_[key + 1] - offsets_[key]);
  }
  /// Sorts the rows of each key by a value.
  template <class ValueOf>
  void sort_each(ValueOf value_of) {
    for (size_t key = 0; key + 1 < offsets_.size(); ++key)
      std::ranges::sort(rows_.begin() + offsets_[key], rows_.begin() + offsets_[key + 1], {},
                        value_of);
  }

 private:
  Packed<uint32_t> offsets_;
  std::vector<uint32_t> rows_;
};

}  // namespace streamscope::viewer
