// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Imports a file made in the test and reads the resulting trace.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "import/importer.h"
#include "trace/read/reader.h"

namespace streamscope::test {

class ImportTest : public testing::Test {
 protected:
  ImportTest() {
    std::string name = (std::filesystem::path(testing::TempDir()) / "import-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ImportTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(std::string_view text, const char* name = "input") {
    const auto file = folder_ / name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  /// A SQLite file made by these statements.
  std::filesystem::path database(const std::string& sql, const char* name = "input.sqlite") {
    const auto file = folder_ / name;
    sqlite3* connection = nullptr;
    EXPECT_EQ(sqlite3_open(file.c_str(), &connection), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(
        sqlite3_exec(connection, ("BEGIN;" + sql + ";COMMIT").c_str(), nullptr, nullptr, &message),
        SQLITE_OK)
        << message;
    sqlite3_free(message);
    sqlite3_close(connection);
    return file;
  }
  trace::Trace import(const std::filesystem::path& file) {
    const auto out = folder_ / "trace.sqlite";
    import::import_file(import::importer_of(file), file, out, true);
    return trace::read(out);
  }
  /// Sum of the counts of a kind of loss.
  static trace::Int lost(const trace::Trace& trace, std::string_view kind) {
    trace::Int sum = 0;
    for (trace::Id loss = 0; loss < trace.loss.size(); ++loss) {
      if (trace.text(trace.loss.name_id[loss]) == kind) sum += trace.loss.count[loss];
    }
    return sum;
  }

  std::filesystem::path folder_;
};

}  // namespace streamscope::test
