// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "copy_rows.h"

#include <algorithm>
#include <string_view>

namespace streamscope::trace {
namespace {

constexpr size_t kFlushBytes = 32 << 20;

size_t index_of(std::string_view table) {
  const auto found = std::ranges::find(tables(), table, &TableInfo::name);
  return static_cast<size_t>(found - tables().begin());
}

// Ids count from the number of rows that the file had before.
class Copy {
 public:
  Copy(const Trace& trace, Writer& writer, const CopyOptions& options)
      : trace_(trace), writer_(writer), options_(options), texts_(trace.strings.size(), kNoId) {
#define STREAMSCOPE_BASE(sql_name, Row, COLUMNS) \
  bases_[static_cast<size_t>(TableIndex::k##Row)] = writer.count<Row>();
    STREAMSCOPE_TABLES(STREAMSCOPE_BASE)
#undef STREAMSCOPE_BASE
    if (options.only == nullptr) return;
    for (size_t table = 0; table < kTableCount; ++table)
      places_[table] = options.only->places(static_cast<TableIndex>(table));
  }

  void run() {
#define STREAMSCOPE_CELL(type, name) \
  row.name = moved(table, #name, columns.name[id], id, std::string_view(#type) == "Ns");
#define STREAMSCOPE_COPY(sql_name, Row, COLUMNS)                                             \
  if (!is_derived(TableIndex::k##Row)) {                                                     \
    const auto& columns = trace_.sql_name;                                                   \
    for (Id id = 0; id < columns.size(); ++id) {                                             \
      if (options_.only != nullptr && !options_.only->has(TableIndex::k##Row, id)) continue; \
      const char* const table = #sql_name;                                                   \
      Row row;                                                                               \
      COLUMNS(STREAMSCOPE_CELL)                                                              \
      writer_.append(row);                                                                   \
      if (writer_.buffered_bytes() > kFlushBytes) writer_.flush();                           \
    }                                                                                        \
  }
    STREAMSCOPE_TABLES(STREAMSCOPE_COPY)
#undef STREAMSCOPE_COPY
#undef STREAMSCOPE_CELL
  }

 private:
  // Times are moved; durations, addresses and numbers are not.
  Int moved(const char*, std::string_view, Int value, Id, bool is_instant) {
    return value == kNoInt || !is_instant || !options_.clock ? value : options_.clock(value);
  }
  Small moved(const char*, std::string_view, Small value, Id, bool) { return value; }
  Id moved(const char* table, std::string_view column, Id value, Id row, bool) {
    if (value == kNoId) return value;
    const char* target = referenced_table(table, column);
    if (!target) {
      const size_t object = index_of(hang_object_table(trace_.hang_node.kind[row]));
      return object < kTableCount ? place(object, value) : value;
    }
    if (target == std::string_view("string")) return text(table, column, value);
    return place(index_of(target), value);
  }

  Id place(size_t table, Id row) const {
    const std::vector<Id>& places = places_[table];
    return bases_[table] + (row < places.size() ? places[row] : row);
  }

  // Only texts that a row refers to are written, so that texts of omitted columns are not kept.
  Id text(std::string_view table, std::string_view column, Id value) {
    const bool is_private =
        table == "process" && (column == "command_line_id" || column == "environment_id");
    if (value >= texts_.size() || (options_.redact && is_private)) return kNoId;
    if (texts_[value] == kNoId) texts_[value] = writer_.intern(trace_.strings[value]);
    return texts_[value];
  }

  const Trace& trace_;
  Writer& writer_;
  const CopyOptions& options_;
  std::array<Id, kTableCount> bases_{};
  std::array<std::vector<Id>, kTableCount> places_;  // with a selection
  std::vector<Id> texts_;                            // of the trace, by id; kNoId: not written yet
};

}  // namespace

Selection::Selection(const Trace& trace) {
#define STREAMSCOPE_SIZE(sql_name, Row, COLUMNS) \
  rows_[static_cast<size_t>(TableIndex::k##Row)].resize(trace.sql_name.size());
  STREAMSCOPE_TABLES(STREAMSCOPE_SIZE)
#undef STREAMSCOPE_SIZE
}

bool Selection::add(TableIndex table, Id row) {
  auto selected = rows_[static_cast<size_t>(table)][row];
  if (selected) return false;
  selected = true;
  return true;
}

std::vector<Id> Selection::places(TableIndex table) const {
  std::vector<Id> places;
  places.reserve(row_count(table));
  Id count = 0;
  for (const bool selected : at(table)) {
    places.push_back(count);
    count += selected ? 1 : 0;
  }
  return places;
}

void copy_rows(const Trace& trace, Writer& writer, const CopyOptions& options) {
  Copy(trace, writer, options).run();
}

}  // namespace streamscope::trace
