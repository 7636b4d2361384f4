// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How fast the trace writer stores the mix of a launch / record / wait loop, against one prepared
// INSERT per row brought to the same finished state; and how many bytes a row takes.
#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/budget.h"
#include "trace/schema/schema.h"
#include "trace/write/writer.h"

namespace {

using namespace streamscope;
using namespace streamscope::trace;
using Clock = std::chrono::steady_clock;

constexpr Id kStepsPerFlush = 8192;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// One step of the loop: a launch, its kernel, a record and a wait, on four streams.
struct Step {
  ApiCall launch;
  Op kernel;
  EventRecord record;
  EventWait wait;
};

// Kernels of several streams end, and so are stored, out of the order in which they started.
Step make_step(Id i, bool ascending) {
  Ns at = 1'000'000'000 + Ns{i} * 6'000;
  Id stream = i % 4;
  Int correlation = Int{i} * 3;
  Ns kernel_at = at + 5'000 + (ascending ? 0 : Ns{stream} * 40'000);
  Step step;
  step.launch = {.thread_id = 0, .kind = 1, .name_id = 3, .stream_id = stream};
  step.launch.start_ns = at, step.launch.end_ns = at + 2'100;
  step.launch.result = 0, step.launch.call_number = step.launch.correlation_id = correlation + 1;
  step.kernel = {.kind = kKernel, .stream_id = stream, .name_id = 4};
  step.kernel.start_ns = kernel_at, step.kernel.end_ns = kernel_at + 3'400;
  step.kernel.call_number = step.kernel.correlation_id = correlation + 1,
  step.kernel.api_call_id = i;
  step.kernel.launch_shape_id = 0, step.kernel.channel = static_cast<Small>(8 + stream);
  step.record = {.thread_id = 0, .name_id = 5, .stream_id = stream, .event_id = i % 64};
  step.record.version = static_cast<Small>(i / 64 + 1), step.record.result = 0;
  step.record.start_ns = at + 2'200, step.record.end_ns = at + 3'100;
  step.record.call_number = step.record.correlation_id = correlation + 2;
  step.wait = {.thread_id = 0, .name_id = 6, .stream_id = (stream + 1) % 4, .event_id = i % 64};
  step.wait.binding = kBindingExact, step.wait.record_id = i, step.wait.result = 0;
  step.wait.start_ns = at + 3'200, step.wait.end_ns = at + 4'000;
  step.wait.call_number = step.wait.correlation_id = correlation + 3;
  return step;
}

double write_bulk(const std::filesystem::path& file, Id steps, bool ascending) {
  auto begin = Clock::now();
  Writer writer = Writer::create(file, {.overwrite = true});
  for (Id i = 0; i < steps; i++) {
    Step step = make_step(i, ascending);
    writer.append(step.launch);
    writer.append(step.kernel);
    writer.append(step.record);
    writer.append(step.wait);
    if ((i + 1) % kStepsPerFlush == 0) writer.flush();
  }
  writer.finish(true);
  return seconds_since(begin);
}

class Inserter {
 public:
  Inserter(sqlite3* database, const char* table, int columns) {
    std::string sql = std::string("INSERT INTO ") + table + " VALUES(?";
    for (int i = 0; i < columns; i++) sql += ",?";
    sqlite3_prepare_v2(database, (sql + ")").c_str(), -1, &statement_, nullptr);
  }
  ~Inserter() { sqlite3_finalize(statement_); }
  void begin(Id id) {
    next_ = 1;
    sqlite3_bind_int64(statement_, next_++, id);
  }
  void add(Id value) { value == kNoId ? null() : integer(value); }
  void add(Small value) { value == kNoSmall ? null() : integer(value); }
  void add(Int value) { value == kNoInt ? null() : integer(value); }
  void end() {
    sqlite3_step(statement_);
    sqlite3_reset(statement_);
  }

 private:
  void null() { sqlite3_bind_null(statement_, next_++); }
  void integer(int64_t value) { sqlite3_bind_int64(statement_, next_++, value); }
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
};

#define STREAMSCOPE_ADD(type, name) inserter.add(row.name);
#define STREAMSCOPE_INSERT(Row, COLUMNS)                   \
  void insert(Inserter& inserter, Id id, const Row& row) { \
    inserter.begin(id);                                    \
    COLUMNS(STREAMSCOPE_ADD)                               \
    inserter.end();                                        \
  }
STREAMSCOPE_INSERT(ApiCall, STREAMSCOPE_API_CALL_COLUMNS)
STREAMSCOPE_INSERT(Op, STREAMSCOPE_OP_COLUMNS)
STREAMSCOPE_INSERT(EventRecord, STREAMSCOPE_EVENT_RECORD_COLUMNS)
STREAMSCOPE_INSERT(EventWait, STREAMSCOPE_EVENT_WAIT_COLUMNS)
#define STREAMSCOPE_ONE(type, name) +1
constexpr int kApiCallColumns = 0 STREAMSCOPE_API_CALL_COLUMNS(STREAMSCOPE_ONE);
constexpr int kOpColumns = 0 STREAMSCOPE_OP_COLUMNS(STREAMSCOPE_ONE);
constexpr int kEventRecordColumns = 0 STREAMSCOPE_EVENT_RECORD_COLUMNS(STREAMSCOPE_ONE);
constexpr int kEventWaitColumns = 0 STREAMSCOPE_EVENT_WAIT_COLUMNS(STREAMSCOPE_ONE);

// Everything else is as in the writer: schema, WAL, transactions of the same size, index,
// checkpoint.
double write_prepared(const std::filesystem::path& file, Id steps, bool ascending) {
  std::filesystem::remove(file);
  auto begin = Clock::now();
  sqlite3* database = nullptr;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  sqlite3_open_v2(file.c_str(), &database, flags, nullptr);
  auto run = [&](const std::string& sql) {
    if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      std::fprintf(stderr, "trace_bench: %s\n", sqlite3_errmsg(database));
      std::exit(2);
    }
  };
  run("PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=8192;"
      "PRAGMA cache_size=-16384");
  run("BEGIN; " + std::string(schema_sql()) + std::string(nsys_views_sql()));
  {
    Inserter launches(database, "api_call", kApiCallColumns), kernels(database, "op", kOpColumns);
    Inserter records(database, "event_record", kEventRecordColumns);
    Inserter waits(database, "event_wait", kEventWaitColumns);
    for (Id i = 0; i < steps; i++) {
      Step step = make_step(i, ascending);
      insert(launches, i, step.launch);
      insert(kernels, i, step.kernel);
      insert(records, i, step.record);
      insert(waits, i, step.wait);
      if ((i + 1) % kStepsPerFlush == 0) run("COMMIT; BEGIN");
    }
    run("COMMIT");
  }
  if (!ascending) run("CREATE INDEX op_start ON op(start_ns)");
  run("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE");
  sqlite3_close(database);
  return seconds_since(begin);
}

}  // namespace

int main() {
  Id steps = static_cast<Id>(bench::scaled(500'000));
  double rows = 4.0 * steps;
  auto file =
      std::filesystem::temp_directory_path() /
      ("trace_bench." + std::to_string(Clock::now().time_since_epoch().count()) + ".sqlite");
  for (bool ascending : {true, false}) {
    std::vector<double> bulk, prepared;
    double bytes = 0;
    for (int round = 0; round < 3; round++) {  // alternated, as the speed of a machine drifts
      bulk.push_back(write_bulk(file, steps, ascending));
      bytes = static_cast<double>(std::filesystem::file_size(file)) / rows;
      prepared.push_back(write_prepared(file, steps, ascending));
    }
    std::filesystem::remove(file);
    double rate = rows / bench::median(bulk), rival = rows / bench::median(prepared);
    std::string suffix = ascending ? "" : "_indexed";
    bench::budget(("trace_writer_rows_per_s" + suffix).c_str(), rate, "rows/s", 1.5e6,
                  bench::Better::kMore);
    bench::rival("prepared_inserts", rival, "rows/s");
    bench::budget(("trace_writer_speedup" + suffix).c_str(), rate / rival, "x", 1.5,
                  bench::Better::kMore);
    bench::budget(("trace_bytes_per_row" + suffix).c_str(), bytes, "B", ascending ? 45 : 55,
                  bench::Better::kLess);
  }
}
