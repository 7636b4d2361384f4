// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// tables.def as data: what writer and reader need to know about each table at run time.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "model.h"

namespace streamscope::trace {

enum class ColumnType : uint8_t { kId, kNs, kInt, kSmall };

namespace detail {
// Ns and Int are the same C++ type; the name of the alias in tables.def tells them apart.
inline constexpr ColumnType kTypeOf_Id = ColumnType::kId;
inline constexpr ColumnType kTypeOf_Ns = ColumnType::kNs;
inline constexpr ColumnType kTypeOf_Int = ColumnType::kInt;
inline constexpr ColumnType kTypeOf_Small = ColumnType::kSmall;
}  // namespace detail

struct ColumnInfo {
  const char* name;
  ColumnType type;
  uint32_t offset;  // of the field in its row struct
};

struct TableInfo {
  const char* name;
  size_t row_bytes;
  std::span<const ColumnInfo> columns;
};

/// Position of each table in tables().
enum class TableIndex : int {
#define STREAMSCOPE_INDEX(sql_name, Row, COLUMNS) k##Row,
  STREAMSCOPE_TABLES(STREAMSCOPE_INDEX)
#undef STREAMSCOPE_INDEX
      kCount
};

template <class Row>
constexpr TableIndex table_index();
#define STREAMSCOPE_INDEX_OF(sql_name, Row, COLUMNS) \
  template <>                                        \
  constexpr TableIndex table_index<Row>() {          \
    return TableIndex::k##Row;                       \
  }
STREAMSCOPE_TABLES(STREAMSCOPE_INDEX_OF)
#undef STREAMSCOPE_INDEX_OF

inline constexpr size_t kTableCount = static_cast<size_t>(TableIndex::kCount);
inline constexpr size_t kMostColumns = 20;  // of any table, without id

/// A field of a row struct in 64 bits; kNoInt for NULL.
inline Int field_value(const ColumnInfo& column, const unsigned char* row) {
  const auto load = [&]<class T>(T value) {
    std::memcpy(&value, row + column.offset, sizeof value);
    return value == detail::none<T>() ? kNoInt : Int{value};
  };
  if (column.type == ColumnType::kId) return load(Id{});
  if (column.type == ColumnType::kSmall) return load(Small{});
  return load(Int{});
}

/// All tables of tables.def in its order.
std::span<const TableInfo, kTableCount> tables();

/// Table that an Id column refers to, by its name; "string" for texts, nullptr if it depends on
/// another column (hang_node.object_id). schema.sql has the same in REFERENCES; a test compares
/// them.
const char* referenced_table(const char* table, std::string_view column);
/// Table that hang_node.object_id refers to in a row of this kind; "" for none.
std::string_view hang_object_table(Small kind);

}  // namespace streamscope::trace
