// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "trace/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ring/calls.h"
#include "support/trace_builder.h"
#include "trace/loss.h"
#include "trace/read/reader.h"
#include "trace/sqlite/sqlite.h"
#include "trace/write/writer.h"
#include "trace_file.h"

namespace streamscope::trace {
namespace {

using testing::ElementsAre;

constexpr Int kLeastInt = std::numeric_limits<Int>::min() + 1;  // the minimum is NULL
constexpr Int kMostInt = std::numeric_limits<Int>::max();

// The damage reported in a trace.
std::vector<std::string> damage_of(const Trace& trace) {
  std::vector<std::string> all;
  for (Id row = 0; row < trace.loss.size(); ++row) {
    if (trace.text(trace.loss.name_id[row]) == kDamagedValues)
      all.push_back(std::to_string(trace.loss.count[row]) + " of " +
                    std::string(trace.text(trace.loss.detail_id[row])));
  }
  return all;
}

void change(const std::filesystem::path& file, const std::string& sql) {
  Database(file, SQLITE_OPEN_READWRITE).run(sql);
}

// Two kernels in a stream; their memory is given by `access`.
test::TraceBuilder two_kernels() {
  test::TraceBuilder builder;
  builder.stream("math")
      .kernel("one", 100, 200)
      .writes(0x1000, 64)
      .kernel("two", 200, 300)
      .writes(0x1000, 64);
  return builder;
}

TEST(Checks, TimesBeyondTheBoundBecomeUnknownAndALoss) {
  TempTrace file;
  two_kernels().write(file);
  change(file, "UPDATE op SET start_ns = 9223372036854775807 WHERE id = 1");
  const Trace trace = read(file);
  EXPECT_EQ(trace.op.start_ns[0], 100);
  EXPECT_EQ(trace.op.start_ns[1], kUnknownNs);
  EXPECT_EQ(trace.op.end_ns[1], 300);
  EXPECT_THAT(damage_of(trace),
              ElementsAre("1 of table op: row 1, start_ns = 9223372036854775807"));
  EXPECT_EQ(loss_info(kDamagedValues).severity, Severity::kDataLoss);
  EXPECT_EQ(loss_info(kDamagedValues).touches, static_cast<unsigned>(kAllEvidence));
}

TEST(Checks, TimesAtTheBoundStay) {
  TempTrace file;
  two_kernels().write(file);
  change(file, "UPDATE op SET start_ns = " + std::to_string(-kMostNs) +
                   ", end_ns = " + std::to_string(kMostNs));
  const Trace trace = read(file);
  EXPECT_EQ(trace.op.start_ns[0], -kMostNs);
  EXPECT_EQ(trace.op.end_ns[0], kMostNs);
  EXPECT_THAT(damage_of(trace), ElementsAre());
}

TEST(Checks, AnEndBeforeTheStartMakesBothUnknown) {
  TempTrace file;
  two_kernels().write(file);
  change(file, "UPDATE op SET end_ns = 150 WHERE id = 1");
  const Trace trace = read(file);
  EXPECT_EQ(trace.op.start_ns[1], kUnknownNs);
  EXPECT_EQ(trace.op.end_ns[1], kUnknownNs);
  EXPECT_THAT(damage_of(trace), ElementsAre("1 of table op: row 1, end_ns = 150"));
}

TEST(Checks, MemoryBeyondTheLastAddressBecomesUnknown) {
  TempTrace file;
  two_kernels().write(file);
  change(file, "UPDATE access SET address = -1");
  const Trace trace = read(file);
  EXPECT_THAT(trace.access.address, testing::Each(kNoInt));
  EXPECT_THAT(trace.access.bytes, testing::Each(kNoInt));
  EXPECT_THAT(damage_of(trace), ElementsAre("2 of table access: row 0, address = -1, and others"));
}

TEST(Checks, MemoryUpToTheLastAddressStays) {
  EXPECT_TRUE(fits_into_memory(-65, 64));
  EXPECT_FALSE(fits_into_memory(-64, 64));  // its end is no address
  EXPECT_TRUE(fits_into_memory(-4096, 64, 1024, 3));
  EXPECT_FALSE(fits_into_memory(-4096, 64, 1024, 5));
  EXPECT_FALSE(fits_into_memory(0, 1, kMostBytes, kMostBytes));
  EXPECT_TRUE(fits_into_memory(-1, kNoInt));
  EXPECT_TRUE(fits_into_memory(kNoInt, 64));
}

TEST(Checks, ATextInsteadOfANumberIsALoss) {
  TempTrace file;
  two_kernels().write(file);
  change(file, "UPDATE op SET end_ns = 'soon' WHERE id = 0");
  const Trace trace = read(file);
  EXPECT_EQ(trace.op.end_ns[0], kUnknownNs);
  EXPECT_THAT(damage_of(trace), ElementsAre("1 of table op: row 0, end_ns = no integer"));
}

TEST(Checks, AStoredNullMarkerIsALoss) {
  TempTrace file;
  two_kernels().write(file);
  change(file, "UPDATE op SET kind = -2147483648, correlation_id = -9223372036854775808");
  const Trace trace = read(file);
  EXPECT_THAT(trace.op.kind, testing::Each(kNoSmall));
  EXPECT_THAT(damage_of(trace),
              ElementsAre("4 of table op: row 0, kind = -2147483648, and others"));
}

TEST(Checks, ADanglingHangRowIsALoss) {
  test::TraceBuilder builder = two_kernels();
  builder.add(Hang{.process_id = 0, .start_ns = 1});
  builder.add(HangNode{.hang_id = 0, .kind = kHangOp, .object_id = 1});
  builder.add(HangNode{.hang_id = 0, .kind = kHangOp, .object_id = 2});
  TempTrace file;
  builder.write(file);
  const Trace trace = read(file);
  EXPECT_THAT(trace.hang_node.object_id, ElementsAre(1u, kNoId));
  EXPECT_THAT(damage_of(trace), ElementsAre("1 of table hang_node: row 1, object_id = 2"));
}

// Every column of every table, so that a new one cannot be forgotten: a time is always bounded.
TEST(Checks, ReaderKeepsEveryColumnWithinItsBounds) {
  TempTrace file;
  Writer::create(file).finish(true);
  std::vector<std::string> expected;
  for (const TableInfo& table : tables()) {
    std::string names = "id", values = "0";
    int bounded = 0;
    for (const ColumnInfo& column : table.columns) {
      const Bounds bounds = bounds_of(table.name, column.name, column.type);
      if (column.type == ColumnType::kNs) {
        EXPECT_EQ(bounds.most, kMostNs) << table.name << "." << column.name;
      }
      if (bounds.allow_all()) continue;
      const std::string value = std::to_string(bounds.most + 1);
      names += std::string(", ") + column.name;
      values += ", " + value;
      ++bounded;
    }
    if (bounded == 0) continue;
    change(file,
           "INSERT INTO " + std::string(table.name) + "(" + names + ") VALUES(" + values + ")");
    expected.push_back(std::to_string(bounded) + " of table " + table.name);
  }
  std::vector<std::string> seen;
  for (const std::string& damage : damage_of(read(file)))
    seen.push_back(damage.substr(0, damage.find(':')));
  EXPECT_THAT(seen, testing::UnorderedElementsAreArray(expected));
}

TEST(Checks, WriterStoresImpossibleValuesAsUnknownAndCountsThem) {
  TempTrace file;
  {
    Writer writer = Writer::create(file);
    writer.append(Op{.kind = 77, .start_ns = kLeastInt, .end_ns = 5});
    writer.append(Op{.kind = kKernel, .start_ns = 7, .end_ns = 5});
    writer.append(Access{.source = 0, .writes = 1, .address = -1, .bytes = 2});
    writer.flush();
    writer.append(Op{.kind = kKernel, .start_ns = kMostInt, .end_ns = kMostInt});
    writer.finish(true);
  }
  const Trace trace = read(file);
  EXPECT_THAT(trace.op.start_ns, testing::Each(kUnknownNs));
  EXPECT_THAT(trace.op.kind, ElementsAre(kNoSmall, kKernel, kKernel));
  EXPECT_EQ(trace.meta.at("duration_ns"), "5");
  EXPECT_THAT(damage_of(trace), ElementsAre("5 of table op: row 0, kind = 77, and others",
                                            "1 of table access: row 0, address = -1"));
}

}  // namespace
}  // namespace streamscope::trace
