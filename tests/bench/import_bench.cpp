// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How fast other tools' files become traces, from file to finished file, on one thread. Next to it
// the same by CPU time, which other programs disturb less, and a loop that only parses the same
// JSON, or only fetches the same rows.

#include <simdjson.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/budget.h"
#include "import/importer.h"

namespace {

namespace fs = std::filesystem;
using streamscope::bench::Better;

constexpr int kRuns = 5;

struct Seconds {
  double wall, processor;
};

template <class Act>
Seconds median_seconds(Act act) {
  std::vector<double> wall, processor;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t used = std::clock();
    act();
    wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    processor.push_back(static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC);
  }
  return {streamscope::bench::median(wall), streamscope::bench::median(processor)};
}

// As Kineto writes a training step: operators with their shapes, a launch each, its arrow and
// kernel.
std::string profile(size_t steps) {
  std::string text =
      "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1700000000000000000,\n\"traceEvents\": [\n";
  for (size_t i = 0; i < steps; ++i) {
    const std::string n = std::to_string(i), ts = std::to_string(100000 + 12 * i);
    text +=
        R"({"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 25286, "tid": 25286, "ts": )" +
        ts + R"(.044,
 "dur": 11.822, "args": {"External id": )" +
        n + R"(, "Record function id": 0, "Concrete Inputs": ["", "", "-1", "False", "False"],
 "Input type": ["c10::BFloat16", "long int", "Scalar", "Scalar", "Scalar"], "Input Dims": [[151936, 1024], [16, 559], [], [], []], "Ev Idx": )" +
        n + "}},\n";
    text +=
        R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 25286, "tid": 25286, "ts": )" +
        ts + R"(.844,
 "dur": 4.102, "args": {"External id": )" +
        n + R"(, "cbid": 211, "correlation": )" + n + "}},\n";
    text += R"({"ph": "s", "id": )" + n + R"(, "pid": 25286, "tid": 25286, "ts": )" + ts +
            R"(.844, "cat": "ac2g", "name": "ac2g"},)"
            "\n";
    text +=
        R"({"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >", "pid": 0, "tid": 7, "ts": )" +
        std::to_string(100009 + 12 * i) + R"(.618,
 "dur": 10.368, "args": {"queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": )" +
        n +
        R"(, "registers per thread": 40, "shared memory": 0, "blocks per SM": 1.5, "warps per SM": 12.3, "grid": [128, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 19}},)"
        "\n";
    text += R"({"ph": "f", "id": )" + n + R"(, "pid": 0, "tid": 7, "ts": )" +
            std::to_string(100009 + 12 * i) +
            R"(.618, "cat": "ac2g", "name": "ac2g", "bp": "e"},)"
            "\n";
  }
  return text +
         "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 25286, \"tid\": 0, \"args\": "
         "{\"name\": \"python3\"}}]}";
}

// Rows of calls, kernels and ranges, a third each.
void make_export(const fs::path& file, size_t rows) {
  sqlite3* database = nullptr;
  sqlite3_open(file.c_str(), &database);
  const std::string n = std::to_string(rows / 3), pid = std::to_string(1LL << 48 | 7LL << 24);
  const std::string sql = R"(PRAGMA synchronous=OFF; BEGIN;
    CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'scale'), (3, 'step');
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, returnValue, callchainId);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, greenContextId, streamId, correlationId, globalPid,
      demangledName, shortName, mangledName, launchType, cacheConfig, registersPerThread, gridX, gridY, gridZ, blockX, blockY,
      blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, sharedMemoryExecuted,
      graphNodeId, sharedMemoryLimitConfig);
    CREATE TABLE NVTX_EVENTS(start, end, eventType, rangeId, category, color, text, globalTid, endGlobalTid, textId, domainId,
      uint64Value, int64Value);
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < )" +
                          n + R"( - 1)
      INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 10000000000 + 3000 * i, 10000001500 + 3000 * i, 0, )" +
                          pid + R"( + 1, i, 1, 0, NULL FROM n;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < )" +
                          n + R"( - 1)
      INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 10000002000 + 3000 * i, 10000004500 + 3000 * i, 0, 1, NULL, 7 + i % 4, i, )" +
                          pid + R"(, 2, 2, 2, 1, 0,
        40, 128, 1, 1, 256, 1, 1, 0, 1024, 0, 0, i, 1024, NULL, 0 FROM n;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < )" +
                          n + R"( - 1)
      INSERT INTO NVTX_EVENTS SELECT 10000000000 + 3000 * i, 10000002900 + 3000 * i, 59, NULL, NULL, NULL, NULL, )" +
                          pid + R"( + 1, NULL, 3, 0, NULL, NULL FROM n;
    COMMIT)";
  sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_close(database);
}

double bare_parse(const std::string& text) {
  const simdjson::padded_string padded(text);
  size_t bytes = 0;
  const Seconds seconds = median_seconds([&] {
    simdjson::ondemand::parser parser;
    auto document = parser.iterate(padded);
    for (auto event : document["traceEvents"].get_array()) {
      for (auto field : event.get_object()) bytes += field.unescaped_key().value().size();
    }
  });
  return bytes == 0 ? 0 : static_cast<double>(text.size()) / 1e6 / seconds.wall;
}

double bare_fetch(const fs::path& file, size_t rows) {
  const Seconds seconds = median_seconds([&] {
    sqlite3* database = nullptr;
    sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    int64_t sum = 0;
    for (const char* sql :
         {"SELECT start, end, globalTid, correlationId, nameId, returnValue FROM "
          "CUPTI_ACTIVITY_KIND_RUNTIME",
          "SELECT start, end, deviceId, contextId, streamId, correlationId, globalPid, "
          "demangledName, gridX, "
          "gridY, gridZ, blockX, blockY, blockZ FROM CUPTI_ACTIVITY_KIND_KERNEL",
          "SELECT start, end, textId, eventType, domainId, globalTid FROM NVTX_EVENTS"}) {
      sqlite3_stmt* statement = nullptr;
      sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
      const int columns = sqlite3_column_count(statement);
      while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int column = 0; column < columns; ++column)
          sum += sqlite3_column_int64(statement, column);
      }
      sqlite3_finalize(statement);
    }
    sqlite3_close(database);
    if (sum == 0) std::abort();
  });
  return static_cast<double>(rows) / seconds.wall;
}

}  // namespace

int main() {
  std::string name = (fs::temp_directory_path() / "import-bench-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  const fs::path trace = folder / "trace.sqlite";
  const auto import = [&](const fs::path& file) {
    streamscope::import::import_file(streamscope::import::importer_of(file), file, trace, true);
  };
  {
    const std::string text = profile(streamscope::bench::scaled(60'000));
    const fs::path file = folder / "profile.json";
    std::ofstream(file) << text;
    const Seconds seconds = median_seconds([&] { import(file); });
    const double megabytes = static_cast<double>(text.size()) / 1e6;
    streamscope::bench::budget("kineto_import_mb_per_s", megabytes / seconds.wall, "MB/s", 150,
                               Better::kMore);
    streamscope::bench::rival("by_processor_time", megabytes / seconds.processor, "MB/s");
    streamscope::bench::rival("bare_simdjson_loop", bare_parse(text), "MB/s");
  }
  const size_t rows = streamscope::bench::scaled(1'000'000) / 3 * 3;
  const fs::path file = folder / "export.sqlite";
  make_export(file, rows);
  const Seconds seconds = median_seconds([&] { import(file); });
  streamscope::bench::budget("nsys_import_rows_per_s", static_cast<double>(rows) / seconds.wall,
                             "rows/s", 1e6, Better::kMore);
  streamscope::bench::rival("by_processor_time", static_cast<double>(rows) / seconds.processor,
                            "rows/s");
  streamscope::bench::rival("bare_sqlite_fetch", bare_fetch(file, rows), "rows/s");
  fs::remove_all(folder);
}
