// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/trace_mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <set>

#include "trace/checks.h"
#include "trace/sqlite/sqlite.h"
#include "trace/tables.h"

namespace streamscope::test {
namespace {

using trace::ColumnInfo;
using trace::ColumnType;
using trace::Database;
using trace::Statement;
using trace::TableInfo;
using Mutation = TraceInput::Mutation;

constexpr size_t kMostMutations = 64;
constexpr uint32_t kMostRepeats = 100;
constexpr int64_t kMostRows = 600;  // of a table of a seed, more than two blocks of a packed column

constexpr int64_t kEdges[] = {0,
                              1,
                              -1,
                              2,
                              INT64_MAX,
                              INT64_MIN,
                              INT64_MIN + 1,
                              INT32_MAX,
                              INT32_MIN,
                              int64_t{INT32_MIN} + 1,
                              UINT32_MAX,
                              trace::kMostNs,
                              -trace::kMostNs,
                              trace::kMostNs + 1,
                              trace::kMostNs - 1,
                              trace::kMostBytes,
                              trace::kMostBytes + 1,
                              2 * trace::kMostNs,
                              int64_t{1} << 40,
                              int64_t{1} << 32,
                              255,
                              256,
                              1 << 16};

// Texts that might break report formats or the parsing of names.
const std::vector<std::string>& texts() {
  static const std::vector<std::string> kTexts = [] {
    std::vector<std::string> all = {
        "",
        "?",
        "=cmd|'/C calc'!A0",
        "+1",
        "-1",
        "@SUM(1)",
        "\t=1",
        "\r=1",
        "a,b\"c\"\n'd'",
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "&lt;&#0;&",
        "]]>",
        "::error::x",
        "%0A::error::x",
        "\x1b[31mred\x1b]0;title\x07",
        "\xff\xfe\x80",
        "\xc3",
        "\xed\xa0\x80",
        "\xf4\x90\x80\x80",
        "\xe2\x80\xae"
        "abc\xe2\x80\xac",
        "\xe2\x81\xa6"
        "x\xe2\x81\xa9",
        "\xe2\x80\x8f",
        std::string("a\0b", 3),
        std::string("\0", 1),
        "\x01\x02\x7f",
        "|`*_[x](javascript:alert(1))|",
        "../../etc/passwd",
        "/home/someone/secret/train.py:12 step",
        "C:\\Users\\someone\\x",
        "nvtx:step",
        "cudaMemcpyBatchAsync",
        "cudaMallocManaged",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "void gemm<float, (int)4>(float const*, float*, int)",
        "_Z4gemmPKfPfi",
        "_ZN1aIXadL_Z1bEEE1cE",
        "operator<<(a, b)",
        "f(()((<>>[[",
        "((((((((",
        "))))))))",
        "10",
        "flight-recorder",
        "recording-ended-early",
        "ring-full",
        "unknown-history",
        "late-attach",
        "calls-missing",
        "structure",
        "9223372036854775807",
    };
    all.emplace_back(100'000, 'x');
    all.emplace_back(20'000, '(');
    all.emplace_back(20'000, '<');
    all.push_back("_Z" + std::string(5'000, 'P') + "i");
    all.push_back("_Z1fI" + std::string(3'000, 'I'));
    std::string wide;
    for (int i = 0; i < 3'000; ++i) wide += "\xf0\x9f\x98\x80";
    all.push_back(wide);
    std::string lines;
    for (int i = 0; i < 3'000; ++i) lines += "x\n";
    all.push_back(lines);
    return all;
  }();
  return kTexts;
}

constexpr const char* kMetaKeys[] = {"format_version",
                                     "producer",
                                     "complete",
                                     "finished",
                                     "trace_start_realtime_ns",
                                     "duration_ns",
                                     "tier",
                                     "stack_ns",
                                     "stack_count",
                                     "imported_from",
                                     "kernel_arguments",
                                     "analysis_version",
                                     "verdicts",
                                     "graphs",
                                     "calls"};

// A seed in memory. What an input changes is rolled back, so that its schema is parsed only once.
class Seed {
 public:
  Seed(const std::filesystem::path& file, bool with_views)
      : database_(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY) {
    load(file);
    if (!with_views) drop_views();
    for (size_t i = 0; i < trace::kTableCount; ++i)
      columns_.push_back(stored_columns(trace::tables()[i]));
    shrink();
  }

  void write(const std::vector<Mutation>& mutations, const std::filesystem::path& file) {
    database_.run("BEGIN");
    try {
      for (const Mutation& mutation : mutations) apply(mutation);
      store(file);
    } catch (const Error&) {
      database_.run("ROLLBACK");
      throw;
    }
    database_.run("ROLLBACK");
  }

 private:
  void load(const std::filesystem::path& file) {
    const Database stored(file, SQLITE_OPEN_READONLY);
    sqlite3_backup* const backup =
        sqlite3_backup_init(database_.get(), "main", stored.get(), "main");
    if (backup == nullptr) database_.fail(sqlite3_errcode(database_.get()));
    sqlite3_backup_step(backup, -1);
    if (const int code = sqlite3_backup_finish(backup); code != SQLITE_OK) database_.fail(code);
  }

  void drop_views() {
    std::string drops;
    Statement views(database_, "SELECT name FROM sqlite_schema WHERE type = 'view'");
    while (views.step()) drops += "DROP VIEW " + std::string(views.text(0)) + ";";
    views.reset();
    database_.run(drops);
  }

  // More rows reach nothing new and take longer.
  void shrink() {
    for (const TableInfo& table : trace::tables()) {
      if (has(table) && row_count(table.name) > kMostRows) cut(table.name, kMostRows);
    }
    sqlite3_limit(database_.get(), SQLITE_LIMIT_ATTACHED, 1);  // VACUUM needs it
    database_.run("VACUUM");
  }

  void store(const std::filesystem::path& file) const {
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, void (*)(void*)> bytes(
        sqlite3_serialize(database_.get(), "main", &size, 0), sqlite3_free);
    if (!bytes) throw std::bad_alloc();
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.get()), static_cast<std::streamsize>(size));
  }

  void apply(const Mutation& mutation) {
    if (mutation.act % Mutation::kActCount == Mutation::kSetText) return set_text(mutation);
    if (mutation.act % Mutation::kActCount == Mutation::kSetMeta) return set_meta(mutation);
    const TableInfo& table = trace::tables()[mutation.table % trace::kTableCount];
    const std::vector<const ColumnInfo*>& columns = columns_of(table);
    if (columns.empty()) return;
    const ColumnInfo& column = *columns[mutation.column % columns.size()];
    const int64_t rows = row_count(table.name);
    const std::string name = table.name, cell = column.name;
    if (rows == 0) {
      run("INSERT INTO " + name + "(id) VALUES(0)");
      return;
    }
    const int64_t row = mutation.row % rows;
    const int64_t other = static_cast<int64_t>(static_cast<uint64_t>(mutation.value) % rows);
    switch (mutation.act % Mutation::kActCount) {
      case Mutation::kSetCell:
        return set("UPDATE " + name + " SET " + cell + "=?1 WHERE id=" + std::to_string(row), table,
                   column, mutation);
      case Mutation::kSetColumn:
        return set(
            fmt::format("UPDATE {} SET {}=?1 WHERE id % {} = 0", name, cell, mutation.row % 7 + 1),
            table, column, mutation);
      case Mutation::kSwapCells:
        return run(
            fmt::format("UPDATE {0} SET {1} = (SELECT o.{1} FROM {0} o WHERE o.id = CASE "
                        "{0}.id WHEN {2} THEN {3} ELSE {2} END) WHERE id IN ({2}, {3})",
                        name, cell, row, other));
      case Mutation::kShift:
        if (column.type == ColumnType::kId) return;
        return run(fmt::format("UPDATE {0} SET {1} = {1} + {2} WHERE id >= {3}", name, cell,
                               integer(mutation), row));
      case Mutation::kCopyRow:
        for (const ColumnInfo* c : columns)
          run(
              fmt::format("UPDATE {0} SET {1} = (SELECT o.{1} FROM {0} o WHERE o.id = {2}) WHERE "
                          "id = {3}",
                          name, c->name, row, other));
        return;
      case Mutation::kForgetRow:
        for (const ColumnInfo* c : columns)
          run(fmt::format("UPDATE {} SET {} = NULL WHERE id = {}", name, c->name, row));
        return;
      case Mutation::kRepeatRow:
        return repeat(name, columns, row, rows, 1 + mutation.kind % kMostRepeats);
      case Mutation::kCutTable:
        return cut(name, row);
      case Mutation::kAllIntoOne:
        if (column.type != ColumnType::kId) return;
        return run(fmt::format("UPDATE {0} SET {1} = (SELECT o.{1} FROM {0} o WHERE o.id = {2})",
                               name, cell, row));
    }
  }

  // Those that the file has: older ones lack some.
  std::vector<const ColumnInfo*> stored_columns(const TableInfo& table) const {
    std::set<std::string, std::less<>> stored;
    Statement names(database_,
                    "SELECT name FROM pragma_table_info('" + std::string(table.name) + "')");
    while (names.step()) stored.emplace(names.text(0));
    std::vector<const ColumnInfo*> columns;
    for (const ColumnInfo& column : table.columns) {
      if (stored.contains(column.name)) columns.push_back(&column);
    }
    return columns;
  }
  const std::vector<const ColumnInfo*>& columns_of(const TableInfo& table) const {
    return columns_[static_cast<size_t>(&table - trace::tables().data())];
  }
  bool has(const TableInfo& table) const { return !columns_of(table).empty(); }
  int64_t row_count(const std::string& table) const {
    return database_.integer("SELECT coalesce(max(id), -1) + 1 FROM " + table);
  }
  void run(const std::string& sql) { database_.run(sql); }

  static int64_t integer(const Mutation& mutation) {
    switch (mutation.kind % 4) {
      case 0:
        return kEdges[static_cast<uint64_t>(mutation.value) % std::size(kEdges)];
      case 1:
        return mutation.value % 64;
      case 2:
        return mutation.value % 10'000'000'000;
      default:
        return mutation.value;
    }
  }

  void set(const std::string& sql, const TableInfo& table, const ColumnInfo& column,
           const Mutation& mutation) {
    Statement statement(database_, sql);
    if (column.type == ColumnType::kId) {
      const char* target = trace::referenced_table(table.name, column.name);
      const int64_t rows = target == nullptr ? 100 : row_count(target);
      if (rows == 0 || mutation.kind % 4 == 3) {
        statement.bind_null(1);
      } else {
        statement.bind(1, static_cast<int64_t>(static_cast<uint64_t>(mutation.value) %
                                               static_cast<uint64_t>(rows)));
      }
    } else if (mutation.kind % 16 == 13) {
      statement.bind_null(1);
    } else if (mutation.kind % 64 == 14) {
      statement.bind(1, std::string_view("soon"));
    } else {
      statement.bind(1, integer(mutation));
    }
    statement.run();
  }

  void repeat(const std::string& table, const std::vector<const ColumnInfo*>& columns, int64_t row,
              int64_t rows, uint32_t times) {
    std::string names;
    for (const ColumnInfo* column : columns) names += std::string(",") + column->name;
    for (uint32_t i = 0; i < times; ++i)
      run(fmt::format("INSERT INTO {0}(id{1}) SELECT {2}{1} FROM {0} WHERE id = {3}", table, names,
                      rows + i, row));
  }

  void cut(const std::string& table, int64_t rows) {
    for (const TableInfo& other : trace::tables()) {
      for (const ColumnInfo* column : columns_of(other)) {
        if (column->type != ColumnType::kId) continue;
        const char* target = trace::referenced_table(other.name, column->name);
        if (target != nullptr && table == target)
          run(fmt::format("UPDATE {0} SET {1} = NULL WHERE {1} >= {2}", other.name, column->name,
                          rows));
      }
    }
    run(fmt::format("DELETE FROM {} WHERE id >= {}", table, rows));
  }

  void set_text(const Mutation& mutation) {
    const int64_t rows = row_count("string");
    if (rows == 0) return;
    Statement statement(database_, "UPDATE string SET value=?2 WHERE id=?1");
    statement.bind(1, mutation.row % rows);
    statement.bind(
        2, std::string_view(texts()[static_cast<uint64_t>(mutation.value) % texts().size()]));
    statement.run();
  }

  void set_meta(const Mutation& mutation) {
    Statement statement(database_, "INSERT OR REPLACE INTO meta VALUES(?1, ?2)");
    statement.bind(1, std::string_view(kMetaKeys[mutation.row % std::size(kMetaKeys)]));
    if (mutation.table % 2 == 0) {
      statement.bind(2, integer(mutation));
    } else {
      statement.bind(
          2, std::string_view(texts()[static_cast<uint64_t>(mutation.value) % texts().size()]));
    }
    statement.run();
  }

  Database database_;
  std::vector<std::vector<const ColumnInfo*>> columns_;  // by table
};

Seed& seed(size_t index) {
  static std::vector<std::unique_ptr<Seed>> all(seed_traces().size());
  std::unique_ptr<Seed>& found = all[index % all.size()];
  // The reader uses no view of a file, but takes long to parse them, so few have them.
  if (!found)
    found = std::make_unique<Seed>(seed_traces()[index % all.size()], index % all.size() % 4 == 0);
  return *found;
}

}  // namespace

TraceInput::TraceInput(const uint8_t* data, size_t size)
    : mutations(std::min(size < sizeof head ? 0 : size / sizeof(Mutation) - 1, kMostMutations)) {
  std::memcpy(&head, data, std::min(size, sizeof head));
  if (!mutations.empty())
    std::memcpy(mutations.data(), data + sizeof head, mutations.size() * sizeof(Mutation));
}

size_t TraceInput::store(uint8_t* data, size_t max_size) const {
  const size_t count = std::min(mutations.size(), max_size / sizeof(Mutation) - 1);
  std::memcpy(data, &head, sizeof head);
  if (count > 0) std::memcpy(data + sizeof head, mutations.data(), count * sizeof(Mutation));
  return sizeof head + count * sizeof(Mutation);
}

void TraceInput::mutate(unsigned seed) {
  std::minstd_rand random(seed);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  const auto made = [&] {
    return Mutation{static_cast<uint8_t>(below(Mutation::kActCount)),
                    static_cast<uint8_t>(below(trace::kTableCount)),
                    static_cast<uint8_t>(below(trace::kMostColumns)),
                    static_cast<uint8_t>(below(256)),
                    below(2) == 0 ? below(8) : static_cast<uint32_t>(random()),
                    static_cast<int64_t>(uint64_t{random()} << 32 ^ random())};
  };
  if (below(4) == 0) head.seed = static_cast<uint8_t>(below(256));
  if (below(2) == 0) head.use = static_cast<uint8_t>(below(256));
  for (uint32_t changes = 1 + below(6); changes > 0; --changes) {
    const uint32_t at = mutations.empty() ? 0 : below(static_cast<uint32_t>(mutations.size()));
    const uint32_t choice = mutations.empty() ? 0 : below(8);
    if (choice < 3) {
      if (mutations.size() < kMostMutations) mutations.insert(mutations.begin() + at, made());
    } else if (choice == 3) {
      mutations.erase(mutations.begin() + at);
    } else if (choice == 4) {
      mutations[at].value = made().value;
    } else if (choice == 5) {
      mutations[at].column = made().column;
    } else if (choice == 6) {
      mutations[at].kind = made().kind;
    } else {
      mutations[at].row = made().row;
    }
  }
}

const std::vector<std::filesystem::path>& seed_traces() {
  static const std::vector<std::filesystem::path> kSeeds = [] {
    std::vector<std::filesystem::path> files;
    const auto add = [&](const std::filesystem::path& folder) {
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".sqlite") files.push_back(entry.path());
      }
    };
    add(STREAMSCOPE_TRACES);
    if (const char* more = std::getenv("STREAMSCOPE_FUZZ_SEEDS")) add(more);
    std::sort(files.begin(), files.end());
    return files;
  }();
  return kSeeds;
}

void write_mutated(const TraceInput& input, const std::filesystem::path& file) {
  seed(input.head.seed).write(input.mutations, file);
}

}  // namespace streamscope::test
