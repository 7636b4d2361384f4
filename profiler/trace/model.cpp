// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "model.h"

namespace streamscope::trace {

#define STREAMSCOPE_PUSH(type, name) name.push_back(row.name);
#define STREAMSCOPE_PACK(type, name) name.pack();
#define STREAMSCOPE_DEFINE(sql_name, Row, COLUMNS) \
  Id Row##Columns::append(const Row& row) {        \
    COLUMNS(STREAMSCOPE_PUSH)                      \
    return static_cast<Id>(row_count++);           \
  }                                                \
  void Row##Columns::pack() { COLUMNS(STREAMSCOPE_PACK) }
STREAMSCOPE_TABLES(STREAMSCOPE_DEFINE)
#undef STREAMSCOPE_DEFINE
#undef STREAMSCOPE_PACK
#undef STREAMSCOPE_PUSH

}  // namespace streamscope::trace
