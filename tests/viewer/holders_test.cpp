// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/holders.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "model/labels.h"
#include "support/trace_builder.h"
#include "trace/read/query.h"

namespace streamscope::viewer {
namespace {

using analysis::PoolUsage;
using testing::Eq;
using testing::HasSubstr;

std::string recording(const std::string& name) {
  return std::string(STREAMSCOPE_TRACES) + "/" + name + ".sqlite";
}

const PoolUsage& pool_of(const TraceModel& model, std::string_view name) {
  const auto& pools = model.insights().pools;
  const auto pool = std::ranges::find(pools, name, &PoolUsage::name);
  if (pool == pools.end()) throw std::runtime_error("no such pool");
  return *pool;
}

// Calls `each` with the rows of a query, all of whose cells are numbers.
template <class Each>
size_t for_rows(const std::string& file, const std::string& sql, Each each) {
  trace::Query query(file, sql);
  size_t rows = 0;
  for (; query.next(); ++rows) {
    std::vector<int64_t> cells;
    for (size_t i = 0; i < query.columns().size(); ++i)
      cells.push_back(std::get<int64_t>(query.cell(i)));
    each(cells);
  }
  return rows;
}

// libcoord counts what it lends itself: as many holders must be named.
TEST(Holders, OfACoordinatorsEventsMatchItsSamples) {
  size_t samples = 0;
  for (const char* name :
       {"example_stream_group", "example_stream_memory", "example_deadline_queue"}) {
    const TraceModel model(trace::read(recording(name)));
    const PoolUsage& pool = pool_of(model, "events");
    samples += for_rows(recording(name),
                        "SELECT start_ns, in_use FROM pool_sample JOIN pool ON pool.id = pool_id "
                        "WHERE pool.kind = 0",
                        [&](const std::vector<int64_t>& row) {
                          const Holders holders = holders_at(model, pool, row[0], 1000);
                          EXPECT_EQ(holders.count, static_cast<size_t>(row[1]))
                              << name << " " << row[0];
                          EXPECT_EQ(holders.oldest.size(), holders.count);
                        });
  }
  EXPECT_EQ(samples, 15u);
}

TEST(Holders, OfScratchMemoryIsTheOperationBeingSubmitted) {
  const std::string file = recording("example_stream_memory");
  const TraceModel model(trace::read(file));
  const PoolUsage& pool = pool_of(model, "scratch");
  const size_t samples = for_rows(
      file,
      "SELECT s.start_ns, o.id FROM pool_sample s JOIN pool p ON p.id = s.pool_id JOIN operation o "
      "ON o.begun_ns <= s.start_ns AND o.submitted_ns > s.start_ns WHERE p.kind = 2 AND s.in_use > "
      "0",
      [&](const std::vector<int64_t>& row) {
        const Holders holders = holders_at(model, pool, row[0], 4);
        ASSERT_EQ(holders.count, 1u);
        EXPECT_EQ(holders.oldest[0].name,
                  model.items().label({ItemKind::kOperation, static_cast<Id>(row[1])}));
        EXPECT_THAT(holders.oldest[0].details, HasSubstr("stream_memory.cpp"));
      });
  EXPECT_EQ(samples, 16u);
}

TEST(Holders, OfLeasedStreamsAreThoseWithUnfinishedWork) {
  const std::string file = recording("example_stream_pool");
  const TraceModel model(trace::read(file));
  const PoolUsage& pool = pool_of(model, "workers");
  const size_t samples = for_rows(
      file,
      "SELECT start_ns, (SELECT count(DISTINCT o.stream_id) FROM op o JOIN api_call c USING "
      "(call_number) WHERE c.start_ns <= s.start_ns AND o.end_ns > s.start_ns) FROM pool_sample "
      "s WHERE pool_id = 1",
      [&](const std::vector<int64_t>& row) {
        EXPECT_EQ(holders_at(model, pool, row[0], 9).count, static_cast<size_t>(row[1])) << row[0];
      });
  EXPECT_EQ(samples, 35u);
}

TEST(Holders, OfLiveEventsNameTheirRecorderAndCreator) {
  const std::string file = recording("pipeline");
  const TraceModel model(trace::read(file));
  const PoolUsage& pool = pool_of(model, "events alive");
  const size_t events = for_rows(
      file,
      "SELECT created_ns, (SELECT count(*) FROM event e WHERE e.created_ns <= o.created_ns AND "
      "e.destroyed_ns > o.created_ns) FROM event o",
      [&](const std::vector<int64_t>& row) {
        EXPECT_EQ(holders_at(model, pool, row[0], 3).count, static_cast<size_t>(row[1]));
      });
  EXPECT_EQ(events, 9u);
  // In the middle of the run all are recorded over and over; the newest record counts.
  Id record = kNoId;
  constexpr Ns kAt = 950'000'000;
  for_rows(file,
           "SELECT id FROM event_record WHERE event_id = 0 AND start_ns <= 950000000 ORDER BY "
           "start_ns DESC LIMIT 1",
           [&](const std::vector<int64_t>& row) { record = static_cast<Id>(row[0]); });
  ASSERT_NE(record, kNoId);
  EXPECT_EQ(model.pools().last_record(0, kAt), record);
  const Holders holders = holders_at(model, pool, kAt, 2);
  EXPECT_EQ(holders.count, 9u);
  ASSERT_EQ(holders.oldest.size(), 2u);
  EXPECT_EQ(holders.oldest[0].name, model.items().event_name(0));
  EXPECT_EQ(holders.oldest[0].since_ns, 902'965'421 - 1'756);  // return of its cudaEventCreate
  EXPECT_THAT(holders.oldest[0].details,
              HasSubstr("recorded on " +
                        model.items().stream_name(model.trace().event_record.stream_id[record])));
  EXPECT_THAT(holders.oldest[0].details, HasSubstr("EventCreate"));
}

TEST(Holders, OfMemoryAreItsBlocksWithStreamAndCall) {
  test::TraceBuilder builder;
  const auto copies = builder.stream("copies");
  const Id stack = builder.add(trace::Stack{.process_id = 0, .frame_count = 1});
  builder.add(trace::StackFrame{
      .stack_id = stack, .depth = 0, .kind = 2, .symbol_id = builder.intern("data.cpp:41 load")});
  const Id call = builder.add(trace::ApiCall{.thread_id = 0,
                                             .kind = 26,
                                             .name_id = builder.intern("cudaMallocAsync"),
                                             .start_ns = 5,
                                             .end_ns = 10,
                                             .stack_id = stack});
  const auto live = [&](Ns from, Ns to, trace::Int bytes) {
    builder.add(trace::Allocation{.process_id = 0,
                                  .kind = trace::kStreamOrderedAllocation,
                                  .bytes = bytes,
                                  .alloc_stream_id = copies.id(),
                                  .alloc_call_id = call,
                                  .allocated_ns = from,
                                  .freed_ns = to});
  };
  live(10, 30, 1024);
  live(20, 40, 2048);
  live(25, trace::kUnknownNs, 4096);
  const TraceModel model(builder.trace());
  const PoolUsage& pool = pool_of(model, "stream-ordered memory");
  const Holders holders = holders_at(model, pool, 25, 2);
  EXPECT_EQ(holders.count, 3u);
  ASSERT_EQ(holders.oldest.size(), 2u);
  EXPECT_EQ(holders.oldest[1].name, format_bytes(2048));
  EXPECT_EQ(holders.oldest[1].since_ns, 20);
  EXPECT_THAT(holders.oldest[1].details, Eq("on copies, data.cpp:41 load"));
  EXPECT_EQ(holders_at(model, pool, 35, 9).oldest[0].name, format_bytes(2048));
  const Holders leaked = endless_holders(model, pool, 9);
  ASSERT_EQ(leaked.count, 1u);
  EXPECT_EQ(leaked.oldest[0].name, format_bytes(4096));
}

}  // namespace
}  // namespace streamscope::viewer
