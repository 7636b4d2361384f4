// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "checks.h"

#include <algorithm>
#include <charconv>

#include "loss.h"
#include "trace/read/reader.h"
#include "trace/schema/stored_terms.h"

namespace streamscope::trace {
namespace {

constexpr Int kMostDuration = 2 * kMostNs;
constexpr Int kMostSmall = std::numeric_limits<Small>::max();

struct Rule {
  std::string_view table;  // "" for the columns of this name of all other tables
  std::string_view column;
  Int least, most;
};

// Columns that are not listed here, are not times and have no terms may have any value: numbers
// assigned elsewhere (handles, hashes, correlation ids, results, process ids) have no limits.
constexpr Rule kRules[] = {
    {"op", "detail", 0, 255},
    {"lod", "detail", 0, 255},
    {"op", "memory_kinds", 0, 255},
    // Counts and durations with limits of their own, and Unix time.
    {"", "polls", 1, kMostSmall},
    {"", "peer", 0, kMostSmall},
    {"collective_call", "sequence", 0, std::numeric_limits<uint32_t>::max()},
    {"", "world_size", 1, kMostSmall},
    {"lod", "level", 0, 31},
    {"", "offset_ns", -kMostDuration, kMostDuration},
    {"", "gain_ns", -kMostDuration, kMostDuration},
    {"", "realtime_ns", -kMostRealtimeNs, kMostRealtimeNs},
};
constexpr std::string_view kBooleans[] = {"complete", "simulated", "executable", "inferred",
                                          "elided",   "on_device", "in_cycle",   "steady"};
constexpr std::string_view kSizes[] = {
    "bytes",      "pitch_bytes", "memory_bytes", "static_shared_bytes", "dynamic_shared_bytes",
    "rows",       "count",       "capacity",     "available",           "in_use",
    "high_water", "left_out"};
constexpr std::string_view kSmallCounts[] = {
    "frame_count",  "depth",           "step",      "workers",    "worker", "sm",        "sm_count",
    "copy_engines", "max_connections", "grid_x",    "grid_y",     "grid_z", "block_x",   "block_y",
    "block_z",      "registers",       "parameter", "rank_count", "rank",   "local_rank"};
constexpr std::string_view kDurations[] = {"duration_ns", "wait_ns",      "ran_ns",
                                           "busy_ns",     "iteration_ns", "repaired_iteration_ns"};

constexpr Bounds look_up(std::string_view table, std::string_view column, ColumnType type) {
  if (type == ColumnType::kId) return {};
  if (type == ColumnType::kNs) return {-kMostNs, kMostNs};
  for (const Rule& rule : kRules) {
    if (rule.column == column && (rule.table.empty() || rule.table == table))
      return {rule.least, rule.most};
  }
  const std::optional<StoredTerms> stored = stored_terms(table, column);
  if (stored && stored->form == StoredTerms::kNumber)
    return {stored->terms.front().number, stored->terms.back().number};
  const auto is_one_of = [&](const auto& names) {
    return std::ranges::find(names, column) != std::end(names);
  };
  if (is_one_of(kBooleans)) return {0, 1};
  if (is_one_of(kSizes)) return {0, kMostBytes};
  if (is_one_of(kSmallCounts)) return {0, kMostSmall};
  if (is_one_of(kDurations)) return {0, kMostDuration};
  return {};
}

// A field of a row as a column of one row.
template <class T>
struct Field {
  using value_type = T;
  T& value;
  size_t size() const { return 1; }
  T& operator[](size_t) const { return value; }
};

#define STREAMSCOPE_FIELD(type, name) Field<type> name{row.name};
#define STREAMSCOPE_FIELDS(sql_name, Row, COLUMNS) \
  struct Row##Fields {                             \
    explicit Row##Fields(Row& row_) : row(row_) {} \
    Row& row;                                      \
    COLUMNS(STREAMSCOPE_FIELD)                     \
  };
STREAMSCOPE_TABLES(STREAMSCOPE_FIELDS)
#undef STREAMSCOPE_FIELDS
#undef STREAMSCOPE_FIELD

// A column of rows that were read from a file.
struct BlockColumn {
  using value_type = Int;
  Int* values;
  size_t count;
  size_t size() const { return count; }
  Int& operator[](size_t row) const { return values[row]; }
};

}  // namespace

Bounds bounds_of(std::string_view table, std::string_view column, ColumnType type) {
  return look_up(table, column, type);
}

void Damage::add(const char* table, uint64_t row, const char* column, Int value) {
  add(table, row, column, std::to_string(value));
}

void Damage::add(const char* table, uint64_t row, const char* column, std::string_view value) {
  auto found = std::ranges::find(tables_, std::string_view(table), &OfTable::table);
  if (found == tables_.end())
    found = tables_.insert(
        found,
        {table, 0, "row " + std::to_string(row) + ", " + column + " = " + std::string(value)});
  ++found->values;
}

void Damage::add(const Damage& later) {
  for (const OfTable& table : later.tables_) {
    auto found = std::ranges::find(tables_, std::string_view(table.table), &OfTable::table);
    if (found == tables_.end()) {
      tables_.push_back(table);
    } else {
      found->values += table.values;
    }
  }
}

std::string describe(const Damage::OfTable& table) {
  return "table " + std::string(table.table) + ": " + table.first +
         (table.values > 1 ? ", and others" : "");
}

bool fits_into_memory(Int address, Int bytes, Int pitch, Int rows) {
  if (address == kNoInt || bytes == kNoInt) return true;
  using Wide = unsigned __int128;
  Wide end = Wide{static_cast<uint64_t>(address)} + static_cast<uint64_t>(bytes);
  if (pitch > 0 && rows > 1)
    end += Wide{static_cast<uint64_t>(pitch)} * static_cast<uint64_t>(rows - 1);
  return end <= std::numeric_limits<uint64_t>::max();
}

#define STREAMSCOPE_CHECK_COLUMN(type, name)                                  \
  {                                                                           \
    constexpr Bounds kBounds = look_up(table, #name, detail::kTypeOf_##type); \
    if constexpr (!kBounds.allow_all())                                       \
      check_column(table, #name, kBounds, columns.name, damage, first_row);   \
  }
#define STREAMSCOPE_CHECK_ROW(sql_name, Row, COLUMNS)            \
  template <>                                                    \
  void check_row(uint64_t first_row, Row& row, Damage& damage) { \
    constexpr const char* table = #sql_name;                     \
    Row##Fields columns(row);                                    \
    COLUMNS(STREAMSCOPE_CHECK_COLUMN)                            \
    check_rows(table, columns, damage, first_row);               \
  }
STREAMSCOPE_TABLES(STREAMSCOPE_CHECK_ROW)
#undef STREAMSCOPE_CHECK_ROW

#define STREAMSCOPE_BLOCK_COLUMN(type, name) BlockColumn name{*next_++, rows_};
#define STREAMSCOPE_CHECK_BLOCK(sql_name, Row, COLUMNS)                     \
  [](Int* const* values, size_t rows, uint64_t first_row, Damage& damage) { \
    constexpr const char* table = #sql_name;                                \
    struct Row##Block {                                                     \
      Int* const* next_;                                                    \
      size_t rows_;                                                         \
      COLUMNS(STREAMSCOPE_BLOCK_COLUMN)                                     \
    } columns{values, rows};                                                \
    COLUMNS(STREAMSCOPE_CHECK_COLUMN)                                       \
    check_rows(table, columns, damage, first_row);                          \
  },
CheckBlock block_check(TableIndex index) {
  static constexpr CheckBlock kChecks[] = {STREAMSCOPE_TABLES(STREAMSCOPE_CHECK_BLOCK)};
  return kChecks[static_cast<size_t>(index)];
}
#undef STREAMSCOPE_CHECK_BLOCK

void check(Trace& trace, Damage& damage) {
  constexpr uint64_t first_row = 0;
#define STREAMSCOPE_CHECK_TABLE(sql_name, Row, COLUMNS) \
  {                                                     \
    constexpr const char* table = #sql_name;            \
    Row##Columns& columns = trace.sql_name;             \
    COLUMNS(STREAMSCOPE_CHECK_COLUMN)                   \
    check_rows(table, columns, damage, first_row);      \
  }
  STREAMSCOPE_TABLES(STREAMSCOPE_CHECK_TABLE)
#undef STREAMSCOPE_CHECK_TABLE
}
#undef STREAMSCOPE_BLOCK_COLUMN
#undef STREAMSCOPE_CHECK_COLUMN

std::optional<Int> meta_integer(const Trace& trace, std::string_view key) {
  const auto found = trace.meta.find(key);
  if (found == trace.meta.end()) return std::nullopt;
  const char* const end = found->second.data() + found->second.size();
  Int value = 0;
  const auto [stop, error] = std::from_chars(found->second.data(), end, value);
  if (error != std::errc() || stop != end || value < -kMostRealtimeNs || value > kMostRealtimeNs)
    return std::nullopt;
  return value;
}

void add_losses(const Damage& damage, Trace& trace) {
  const auto intern = [&](std::string text) {
    trace.strings.push_back(std::move(text));
    return static_cast<Id>(trace.strings.size() - 1);
  };
  if (damage.empty()) return;
  const Id name = intern(std::string(kDamagedValues));
  for (const Damage::OfTable& table : damage.tables()) {
    trace.loss.append({.name_id = name,
                       .severity = static_cast<Small>(loss_info(kDamagedValues).severity),
                       .count = table.values,
                       .detail_id = intern(describe(table))});
  }
}

}  // namespace streamscope::trace
