// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "memory_tables.h"

#include <array>
#include <fstream>

#include "memory_tables_impl.h"

namespace streamscope::trace {
namespace {

constexpr int kTablesApplicationId = 0x53745462;

void bind(Statement& statement, int index, const MemoryTables::Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return statement.bind(index, *integer);
  if (const auto* text = std::get_if<std::string>(&value))
    return statement.bind(index, std::string_view(*text));
  if (const auto* real = std::get_if<double>(&value)) {
    sqlite3_bind_double(statement.get(), index, *real);
    return;
  }
  statement.bind_null(index);
}

}  // namespace

MemoryTables::MemoryTables(std::string_view schema) : impl_(std::make_unique<Impl>()) {
  impl_->database = std::make_unique<Database>(
      std::string(":memory:"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
      "tables in memory");
  impl_->database->run("PRAGMA application_id=" + std::to_string(kTablesApplicationId) + ";" +
                       std::string(schema));
}

MemoryTables::MemoryTables(MemoryTables&&) noexcept = default;
MemoryTables::~MemoryTables() = default;

void MemoryTables::append(std::string_view table, std::initializer_list<Value> values) {
  Statement& insert = impl_->inserts[std::string(table)];
  if (!insert) {
    std::string marks;
    for (size_t i = 0; i < values.size(); ++i) marks += i == 0 ? "?" : ", ?";
    const std::string sql = "INSERT INTO " + std::string(table) + " VALUES (" + marks + ")";
    insert = Statement(*impl_->database, sql, true);
  }
  int index = 0;
  for (const Value& value : values) bind(insert, ++index, value);
  insert.run();
}

std::string MemoryTables::bytes() const {
  sqlite3_int64 size = 0;
  unsigned char* const data = sqlite3_serialize(impl_->database->get(), "main", &size, 0);
  if (data == nullptr) impl_->database->fail(SQLITE_NOMEM);
  const std::unique_ptr<unsigned char, void (*)(void*)> owner(data, sqlite3_free);
  return {reinterpret_cast<const char*>(data), static_cast<size_t>(size)};
}

bool holds_memory_tables(const std::filesystem::path& file) {
  constexpr size_t kAt = 68;  // of the id, in a header of 100 bytes
  std::array<char, 100> head{};
  std::ifstream in(file, std::ios::binary);
  if (!in.read(head.data(), head.size())) return false;
  uint32_t id = 0;
  for (size_t i = 0; i < 4; ++i) id = id << 8 | static_cast<unsigned char>(head[kAt + i]);
  return std::string_view(head.data(), 15) == "SQLite format 3" && id == kTablesApplicationId;
}

}  // namespace streamscope::trace
