// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "packed_tables.h"

#include <utility>

namespace streamscope::viewer {
namespace {

template <class T>
void take_column(std::vector<T>& from, Packed<T>& to) {
  to = Packed<T>(std::exchange(from, {}));
}

template <class T>
void copy_column(const Packed<T>& from, std::vector<T>& to) {
  to.assign(from.begin(), from.end());
}

}  // namespace

void PackedTables::take(trace::Trace& trace) {
#define STREAMSCOPE_TAKE_COLUMN(type, name) take_column(from.name, to.name);
#define STREAMSCOPE_TAKE(sql_name, Row, COLUMNS)     \
  if (!trace.sql_name.empty()) {                     \
    auto& from = trace.sql_name;                     \
    auto& to = sql_name;                             \
    to.row_count = std::exchange(from.row_count, 0); \
    COLUMNS(STREAMSCOPE_TAKE_COLUMN)                 \
  }
  STREAMSCOPE_PACKED_TABLES(STREAMSCOPE_TAKE)
#undef STREAMSCOPE_TAKE
#undef STREAMSCOPE_TAKE_COLUMN
}

void PackedTables::copy_to(trace::Trace& trace) const {
#define STREAMSCOPE_COPY_COLUMN(type, name) copy_column(from.name, to.name);
#define STREAMSCOPE_COPY(sql_name, Row, COLUMNS) \
  {                                              \
    const auto& from = sql_name;                 \
    auto& to = trace.sql_name;                   \
    to.row_count = from.row_count;               \
    COLUMNS(STREAMSCOPE_COPY_COLUMN)             \
  }
  STREAMSCOPE_PACKED_TABLES(STREAMSCOPE_COPY)
#undef STREAMSCOPE_COPY
#undef STREAMSCOPE_COPY_COLUMN
}

std::vector<std::string_view> PackedTables::names() {
#define STREAMSCOPE_NAME(sql_name, Row, COLUMNS) #sql_name,
  return {STREAMSCOPE_PACKED_TABLES(STREAMSCOPE_NAME)};
#undef STREAMSCOPE_NAME
}

}  // namespace streamscope::viewer
