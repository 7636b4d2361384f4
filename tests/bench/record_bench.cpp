// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// From full rings to the closed trace: how fast the writer is on the mix of the cost loop (launch,
// record, wait on four streams, and the kernels that the device reports), beside one prepared
// INSERT per row of the same rows to the same state; and how large a record is in the file. Then
// programs that do nothing but launch, recorded by callbacks and by wrappers, or copy on more than
// a thousand streams, each of which they make and destroy. Then a program that runs: threads that
// launch 100,000 times a second each while the writer keeps up, without a loss.
#include <sqlite3.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "bench/budget.h"
#include "record/drain/drain.h"
#include "ring/calls.h"
#include "ring/ring.h"
#include "trace/read/reader.h"
#include "trace/schema/schema.h"

namespace {

using namespace streamscope;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr ring::ClockKind kClock = ring::ClockKind::kMonotonic;
constexpr uint32_t kStreams = 4;
constexpr uint32_t kManyStreams = 1085;  // of HeCBench's streamCreateCopyDestroy
constexpr uint32_t kEvents = 64;
constexpr uint64_t kStepNs = 3'000;
constexpr trace::Id kRowsPerTransaction = 32'768;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "record_bench: %s\n", what.c_str());
  std::exit(2);
}

enum class Mix { kCostLoop, kLaunches, kWrappedLaunches, kStreams };

// The recorded program: one ring per calling thread and one for the device's reports.
class Program {
 public:
  Program(const fs::path& rings, uint32_t threads, Mix mix, uint64_t steps, uint64_t begin)
      : threads_(threads), begin_(begin) {
    for (uint32_t i = 0; i <= threads; ++i) {
      int error = 0;
      rings_.push_back(ring::Producer::create(rings.c_str(), i, 4 * steps, kClock, &error));
      if (!rings_.back().valid()) fail(std::strerror(error));
      ring::ThreadRecord thread{};
      thread.kind = ring::RecordKind::kThread;
      thread.tid = 100 + i;
      rings_.back().push(thread);
    }
    call_.kind = ring::RecordKind::kCall;
    call_.context = 1;
    call_.operation = ring::kNone32;
    send_name();
    for (uint32_t event = 0; event < kEvents * threads; ++event)
      call(0, "cudaEventCreate", 0, 0x1000 + event, 0);
    for (uint64_t step = 0; step < steps; ++step) {
      if (mix == Mix::kCostLoop) loop(step);
      if (mix == Mix::kLaunches) launch(step);
      if (mix == Mix::kWrappedLaunches) launch_wrapped(step);
      if (mix == Mix::kStreams) copy(step, steps);
    }
    ring::EndRecord end{};
    end.kind = ring::RecordKind::kEnd;
    end.begin = begin_ + time_;
    rings_[0].push(end);
  }

 private:
  void send_name() {
    ring::TextRecord text{};
    text.kind = ring::RecordKind::kText;
    const std::string_view name = "void spin(long, unsigned int*)";
    name.copy(text.bytes, sizeof text.bytes);
    text.chunk_bytes = static_cast<uint16_t>(name.size());
    text.total_bytes = text.chunk_bytes;
    text.hash = name_ = ring::hash_text(name);
    rings_.back().push(text);
  }
  uint32_t call(uint32_t thread, const char* name, uint64_t stream, uint64_t object, uint64_t ns) {
    if (name != last_name_) call_.call = ring::find_call(last_name_ = name).value();
    call_.call_number = ++correlation_;
    call_.begin = begin_ + time_;
    call_.end = begin_ + time_ + ns;
    call_.stream = stream;
    call_.object = object;
    rings_[thread].push(call_);
    return correlation_;
  }
  // Threads take turns; the calls of the next one begin before those of the last one end.
  void loop(uint64_t step) {
    const auto thread = static_cast<uint32_t>(step % threads_);
    const uint32_t number = static_cast<uint32_t>(step / threads_) % kStreams;
    const uint64_t stream = 0xa000 + 16 * number;
    const uint64_t event = 0x1000 + thread * kEvents + step / threads_ % kEvents;
    const uint32_t launch = call(thread, "cudaLaunchKernel", stream, 0, 1'900);
    time_ += 2'000;
    call(thread, "cudaEventRecord", stream, event, 450);
    time_ += 500;
    call(thread, "cudaStreamWaitEvent", 0xa000 + 16 * ((number + 1) % kStreams), event, 400);
    time_ += threads_ == 1 ? 500 : 300;
    report(ring::RecordKind::kKernel, launch, number, (step * 7919) % 2'000);
  }
  void launch(uint64_t step) {
    const auto thread = static_cast<uint32_t>(step % threads_);
    const uint32_t launch = call(thread, "cudaLaunchKernel", 0xa000, 0, 1'900);
    time_ += 2'000;
    report(ring::RecordKind::kKernel, launch, 0, 0);
  }
  // CUPTI's number of the call is another one, and reported first.
  void launch_wrapped(uint64_t step) {
    call_.flags = ring::kOwnNumber;
    const auto thread = static_cast<uint32_t>(step % threads_);
    call(thread, "cuLaunchKernel", 0xa000, 0, 1'900);
    ring::CorrelationRecord number{};
    number.kind = ring::RecordKind::kCorrelation;
    number.call = call_.call;
    number.tid = 100 + thread;
    number.correlation_id = correlation_ + 1'000'000;
    number.begin_ns = static_cast<int64_t>(call_.begin + 100);
    number.end_ns = static_cast<int64_t>(call_.end - 100);
    rings_.back().push(number);
    time_ += 2'000;
    report(ring::RecordKind::kKernel, number.correlation_id, 0, 0, ring::kOwnNumber);
  }
  void copy(uint64_t step, uint64_t steps) {
    const uint64_t number = step * kManyStreams / steps;
    const uint64_t stream = 0xa000 + 16 * number;
    if (step == 0 || number != (step - 1) * kManyStreams / steps) {
      if (step > 0) call(0, "cudaStreamDestroy", stream - 16, 0, 1'900);
      call(0, "cudaStreamCreate", stream, 0, 1'900);
    }
    const uint32_t copy = call(0, "cudaMemcpyAsync", stream, 1, 1'900);
    time_ += 2'000;
    report(ring::RecordKind::kMemcpy, copy, static_cast<uint32_t>(number), 0);
  }
  void report(ring::RecordKind kind, uint32_t correlation, uint32_t stream, uint64_t late_ns,
              uint8_t flags = 0) {
    ring::OpRecord op{};
    op.kind = kind;
    op.flags = flags;
    op.correlation_id = correlation;
    op.context = 1;
    op.stream = 13 + stream;
    op.begin_ns = static_cast<int64_t>(begin_ + time_ + 5'000 + late_ns);
    op.end_ns = op.begin_ns + 3'000;
    op.name = kind == ring::RecordKind::kKernel ? name_ : 0;
    op.shape = ring::kNone32;
    op.channel = static_cast<uint16_t>(8 + stream % 8);
    rings_.back().push(op);
  }

  uint32_t threads_;
  std::vector<ring::Producer> rings_;
  ring::CallRecord call_{};
  const char* last_name_ = nullptr;
  ring::TextHash name_ = 0;
  uint32_t correlation_ = 0;
  uint64_t begin_ = 0, time_ = 1'000'000;
};

struct Measured {
  double seconds;
  double records;
};

Measured write_trace(const fs::path& folder, const fs::path& file, uint32_t threads, Mix mix,
                     uint64_t steps) {
  const fs::path rings = folder / "rings";
  fs::create_directory(rings);
  record::Drain::Options options;
  options.clock = kClock;
  const uint64_t start =
      ring::read_clock(kClock) - (steps + 1000) * kStepNs;  // so that it ends about now
  options.trace_start_ns = static_cast<int64_t>(start);
  { Program program(rings, threads, mix, steps, start); }
  const auto begin = Clock::now();
  record::Drain drain(rings, trace::Writer::create(file), options, ring::read_anchor(kClock));
  drain.cycle();
  const bool complete = drain.finish();
  const double seconds = seconds_since(begin);
  if (!complete) fail("the trace is not complete");
  fs::remove_all(rings);
  return {seconds, static_cast<double>(drain.records())};
}

class Inserter {
 public:
  Inserter(sqlite3* database, const char* table, int columns) {
    std::string sql = std::string("INSERT INTO ") + table + " VALUES(?";
    for (int i = 0; i < columns; i++) sql += ",?";
    sqlite3_prepare_v2(database, (sql + ")").c_str(), -1, &statement_, nullptr);
  }
  ~Inserter() { sqlite3_finalize(statement_); }
  void begin(trace::Id id) {
    next_ = 1;
    sqlite3_bind_int64(statement_, next_++, id);
  }
  void add(trace::Id value) { value == trace::kNoId ? null() : integer(value); }
  void add(trace::Small value) { value == trace::kNoSmall ? null() : integer(value); }
  void add(trace::Int value) { value == trace::kNoInt ? null() : integer(value); }
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

#define STREAMSCOPE_ADD(type, name) inserter.add(columns.name[id]);
#define STREAMSCOPE_INSERT(Row, COLUMNS)                                              \
  void insert(Inserter& inserter, trace::Id id, const trace::Row##Columns& columns) { \
    inserter.begin(id);                                                               \
    COLUMNS(STREAMSCOPE_ADD)                                                          \
    inserter.end();                                                                   \
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

// The rows already exist, so the baseline only has to insert them. Everything else is as in the
// writer: schema, WAL, transactions, the same indexes, checkpoint.
double write_prepared(const fs::path& file, const trace::Trace& trace, const std::string& indexes) {
  fs::remove(file);
  const auto begin = Clock::now();
  sqlite3* database = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  sqlite3_open_v2(file.c_str(), &database, flags, nullptr);
  const auto run = [&](const std::string& sql) {
    if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      fail(sqlite3_errmsg(database));
  };
  run("PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=8192; PRAGMA "
      "cache_size=-16384");
  run("BEGIN; " + std::string(trace::schema_sql()) + std::string(trace::nsys_views_sql()));
  {
    Inserter calls(database, "api_call", kApiCallColumns), ops(database, "op", kOpColumns);
    Inserter records(database, "event_record", kEventRecordColumns),
        waits(database, "event_wait", kEventWaitColumns);
    const size_t rows =
        std::max({trace.api_call.size(), trace.op.size(), trace.event_record.size()});
    for (trace::Id id = 0; id < rows; ++id) {
      if (id < trace.api_call.size()) insert(calls, id, trace.api_call);
      if (id < trace.op.size()) insert(ops, id, trace.op);
      if (id < trace.event_record.size()) insert(records, id, trace.event_record);
      if (id < trace.event_wait.size()) insert(waits, id, trace.event_wait);
      if ((id + 1) % (kRowsPerTransaction / 4) == 0) run("COMMIT; BEGIN");
    }
    run("COMMIT");
  }
  run(indexes);
  run("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE");
  sqlite3_close(database);
  return seconds_since(begin);
}

// The indexes that the writer made.
std::string indexes_of(const fs::path& file) {
  sqlite3* database = nullptr;
  std::string sql;
  sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  sqlite3_exec(
      database, "SELECT sql FROM sqlite_schema WHERE type='index' AND sql IS NOT NULL",
      [](void* text, int, char** values, char**) {
        *static_cast<std::string*>(text) += std::string(values[0]) + ";";
        return 0;
      },
      &sql, nullptr);
  sqlite3_close(database);
  return sql;
}

void measure(const fs::path& folder, uint32_t threads) {
  const uint64_t steps = bench::scaled(500'000);
  const fs::path file = folder / "trace.sqlite", rival_file = folder / "rival.sqlite";
  std::vector<double> rates, rival_rates, ratios;
  double bytes = 0;
  for (int round = 0; round < 3; ++round) {  // alternated, as the speed of a machine drifts
    fs::remove(file);
    const Measured measured = write_trace(folder, file, threads, Mix::kCostLoop, steps);
    bytes = static_cast<double>(fs::file_size(file)) / measured.records;
    const trace::Trace trace = trace::read(file);
    if (trace.event_wait.size() != steps || trace.op.size() != steps) fail("rows are missing");
    const double rows = 4.0 * static_cast<double>(steps);
    const double rival = write_prepared(rival_file, trace, indexes_of(file));
    rates.push_back(measured.records / measured.seconds);
    rival_rates.push_back(rows / rival);
    ratios.push_back(rates.back() / rival_rates.back());
  }
  if (threads == 1) {
    bench::budget("writer_records_per_s", bench::median(rates), "records/s", 1.2e6,
                  bench::Better::kMore);
    bench::rival("prepared_inserts", bench::median(rival_rates), "rows/s");
    bench::budget("writer_vs_prepared", bench::median(ratios), "x", 1.5, bench::Better::kMore);
    bench::budget("trace_bytes_per_record", bytes, "B", 45, bench::Better::kLess);
  } else {  // rows of several threads do not ascend with time, so each table gets an index
    bench::budget("trace_bytes_per_record_indexed", bytes, "B", 55, bench::Better::kLess);
    bench::rival("writer_indexed", bench::median(rates), "records/s");
    bench::rival("prepared_inserts_indexed", bench::median(rival_rates), "rows/s");
  }
}

void measure_plain(const fs::path& folder, Mix mix, const char* name) {
  const uint64_t steps = bench::scaled(500'000);
  const fs::path file = folder / "trace.sqlite";
  std::vector<double> rates;
  for (int round = 0; round < 3; ++round) {
    fs::remove(file);
    const Measured measured = write_trace(folder, file, 1, mix, steps);
    rates.push_back(measured.records / measured.seconds);
  }
  bench::budget(name, bench::median(rates), "records/s", 1.2e6, bench::Better::kMore);
}

double processor_s(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

constexpr uint32_t kLoadThreads = 4;
constexpr double kCallsPerSecond = 1e5;  // of each thread

// One thread replaces all of the program and the device's reports, each with a ring as large as in
// a recording.
class Load {
 public:
  explicit Load(const fs::path& rings) {
    constexpr uint64_t kRingRecords = 1 << 17;
    for (uint32_t i = 0; i <= kLoadThreads; ++i) {
      int error = 0;
      const uint64_t capacity = i == kLoadThreads ? 4 * kRingRecords : kRingRecords;
      rings_.push_back(ring::Producer::create(rings.c_str(), i, capacity, kClock, &error));
      if (!rings_.back().valid()) fail(std::strerror(error));
      ring::ThreadRecord thread{};
      thread.kind = ring::RecordKind::kThread;
      thread.tid = 100 + i;
      rings_.back().push(thread);
    }
  }
  void run(double seconds) {
    const double began = processor_s(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t begin = ring::read_clock(kClock);
    const auto all = static_cast<uint64_t>(seconds * kCallsPerSecond);
    for (uint64_t made = 0; made < all;) {
      const double passed = static_cast<double>(ring::read_clock(kClock) - begin) * 1e-9;
      // Calls that were missed for lack of a CPU are not all made at once.
      const uint64_t due = std::min({all, static_cast<uint64_t>(passed * kCallsPerSecond),
                                     made + static_cast<uint64_t>(kCallsPerSecond / 500)});
      for (; made < due; ++made) {
        for (uint32_t thread = 0; thread < kLoadThreads; ++thread) launch(thread);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    ring::EndRecord end{};
    end.kind = ring::RecordKind::kEnd;
    end.begin = ring::read_clock(kClock);
    rings_[0].push(end);
    calls_per_s_ = static_cast<double>(all * kLoadThreads) /
                   (static_cast<double>(ring::read_clock(kClock) - begin) * 1e-9);
    processor_s_ = processor_s(CLOCK_THREAD_CPUTIME_ID) - began;
    done_.store(true, std::memory_order_release);
  }
  bool done() const { return done_.load(std::memory_order_acquire); }
  double calls_per_s() const { return calls_per_s_; }
  double processor_seconds() const { return processor_s_; }

 private:
  void launch(uint32_t thread) {
    static const ring::CallId kLaunch = ring::find_call("cudaLaunchKernel").value();
    ring::CallRecord call{};
    call.kind = ring::RecordKind::kCall;
    call.call = kLaunch;
    call.call_number = ++correlation_;
    call.context = 1;
    call.operation = ring::kNone32;
    call.stream = 0xa000 + 16 * thread;
    call.begin = call.end = ring::read_clock(kClock);
    rings_[thread].push(call);
    ring::OpRecord op{};
    op.kind = ring::RecordKind::kKernel;
    op.correlation_id = correlation_;
    op.context = 1;
    op.stream = 13 + thread;
    op.begin_ns = static_cast<int64_t>(call.end) + 5'000;
    op.end_ns = op.begin_ns + 3'000;
    op.shape = ring::kNone32;
    op.channel = 8;
    rings_.back().push(op);
  }

  std::vector<ring::Producer> rings_;
  uint32_t correlation_ = 0;
  double calls_per_s_ = 0, processor_s_ = 0;
  std::atomic<bool> done_ = false;
};

void measure_load(const fs::path& folder) {
  const fs::path rings = folder / "rings", file = folder / "trace.sqlite";
  fs::remove(file);
  fs::create_directory(rings);
  record::Drain::Options options;
  options.clock = kClock;
  options.trace_start_ns = static_cast<int64_t>(ring::read_clock(kClock));
  const double began = processor_s(CLOCK_PROCESS_CPUTIME_ID);
  record::Drain drain(rings, trace::Writer::create(file), options, ring::read_anchor(kClock));
  Load load(rings);
  std::thread program([&] { load.run(bench::smoke() ? 0.02 : 5); });
  while (!load.done()) {  // as a recorder does
    if (drain.cycle() <= 4096) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  program.join();
  if (!drain.finish()) fail("the trace is not complete");
  const double writer_s = processor_s(CLOCK_PROCESS_CPUTIME_ID) - began - load.processor_seconds();
  bench::budget("load_dropped", static_cast<double>(drain.dropped()), "records", 0,
                bench::Better::kLess);
  bench::rival("load_calls_per_s", load.calls_per_s(), "calls/s");
  // Each call is reported once; the rate at which one CPU stores both limits what can be sustained.
  bench::budget("load_records_per_processor_s", static_cast<double>(drain.records()) / writer_s,
                "records/s", 1e6, bench::Better::kMore);
  fs::remove_all(rings);
}

}  // namespace

int main() {
  std::string pattern = (fs::temp_directory_path() / "record_bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) fail("no temporary folder");
  measure(pattern, 1);
  measure(pattern, 2);
  measure_plain(pattern, Mix::kLaunches, "writer_launches_records_per_s");
  measure_plain(pattern, Mix::kWrappedLaunches, "writer_wrapped_launches_records_per_s");
  measure_plain(pattern, Mix::kStreams, "writer_streams_records_per_s");
  measure_load(pattern);
  fs::remove_all(pattern);
}
