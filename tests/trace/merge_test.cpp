// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/write/merge.h"

#include <gtest/gtest.h>

#include "support/trace_builder.h"
#include "trace/error.h"
#include "trace/loss.h"
#include "trace/read/reader.h"
#include "trace/write/writer.h"

namespace streamscope::trace {
namespace {

namespace fs = std::filesystem;

class Merge : public testing::Test {
 protected:
  Merge() {
    std::string name = (fs::path(testing::TempDir()) / "merge-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Merge() override { fs::remove_all(folder_); }

  // A rank that started at this time; its copy feeds its kernel.
  fs::path rank(const char* name, const char* start_ns) {
    test::TraceBuilder builder;
    builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
    builder.stream("math")
        .wait("loaded")
        .kernel(std::string("kernel of ") + name, 300, 400)
        .kernel("gemm(float*)", 410, 420);
    builder.range("step", 0, 500);
    builder.meta("trace_start_realtime_ns", start_ns);
    fs::path file = folder_ / name;
    builder.write(file);
    return file;
  }
  fs::path folder_;
};

TEST_F(Merge, PutsRanksOnOneTimelineAndKeepsTheirRowsTogether) {
  const fs::path files[] = {rank("a", "1700000000000001000"), rank("b", "1700000000000000000")};
  const fs::path out = folder_ / "out.sqlite";
  merge(files, out);
  const Trace trace = read(out);
  EXPECT_EQ(trace.meta.at("trace_start_realtime_ns"), "1700000000000000000");
  ASSERT_EQ(trace.op.size(), 6u);
  EXPECT_EQ(trace.op.start_ns[0], 1100);  // of a, which started later
  EXPECT_EQ(trace.op.start_ns[3], 100);
  ASSERT_EQ(trace.event_wait.size(), 2u);
  for (Id wait = 0; wait < 2; ++wait) {
    const Id record = trace.event_wait.record_id[wait];
    EXPECT_EQ(record, wait);
    EXPECT_EQ(trace.process_of_stream(trace.event_record.stream_id[record]), wait);
    EXPECT_EQ(trace.text(trace.stream.name_id[trace.event_wait.stream_id[wait]]), "math");
  }
  EXPECT_EQ(trace.text(trace.op.name_id[4]), "kernel of b");
  EXPECT_EQ(trace.process.size(), 2u);
  EXPECT_EQ(trace.kernel_name.size(), 3u) << "one row for each name, of however many ranks";
}

TEST_F(Merge, TakesTheClocksThatItIsGiven) {
  const fs::path files[] = {rank("a", "1700000000000001000"), rank("b", "1700000000000000000")};
  const fs::path out = folder_ / "out.sqlite";
  merge(files, out,
        {.clocks = {[](Ns ns) { return ns; }, [](Ns ns) { return 2 * ns + 50; }}, .started_ns = 7});
  const Trace trace = read(out);
  EXPECT_EQ(trace.meta.at("trace_start_realtime_ns"), "7");
  EXPECT_EQ(trace.op.start_ns[0], 100);
  EXPECT_EQ(trace.op.start_ns[3], 250);
  EXPECT_EQ(trace.op.end_ns[3], 450);
  EXPECT_TRUE(trace.loss.empty());
}

std::vector<std::string> losses_of(const Trace& trace) {
  std::vector<std::string> losses;
  for (Id row = 0; row < trace.loss.size(); ++row) {
    losses.push_back(std::string(trace.text(trace.loss.name_id[row])) + " " +
                     std::string(trace.text(trace.loss.detail_id[row])));
  }
  return losses;
}

TEST_F(Merge, NamesTracesThatWereNotRecordedAtTheSameTime) {
  const fs::path files[] = {rank("a", "1700000000000000000"), rank("b", "1700000000000000400"),
                            rank("c", "1783217600000000000")};
  merge(files, folder_ / "out.sqlite");
  EXPECT_EQ(losses_of(read(folder_ / "out.sqlite")),
            (std::vector<std::string>{"merge-no-overlap c after b"}));
}

TEST_F(Merge, OfAnUnfinishedTraceIsUnfinished) {
  Writer::create(folder_ / "c", {});  // as left by a recorder that is killed at once
  const fs::path both[] = {rank("a", "1700000000000000000"), folder_ / "c"};
  merge(both, folder_ / "out.sqlite");
  EXPECT_TRUE(is_unfinished(read(folder_ / "out.sqlite")));
  EXPECT_TRUE(is_unfinished(folder_ / "out.sqlite"));
  EXPECT_FALSE(is_unfinished(both[0]));
}

TEST_F(Merge, RefusesToWriteOverItsInputs) {
  const fs::path files[] = {rank("a", "1700000000000000000"), rank("b", "1700000000000000000")};
  EXPECT_THROW(merge(files, files[1], {.overwrite = true}), Error);
  EXPECT_EQ(read(files[1]).op.size(), 3u);
  EXPECT_THROW(merge(files, files[1]), Error);
}

TEST_F(Merge, LeavesNoFileIfATraceIsUnusable) {
  const fs::path files[] = {rank("a", "1700000000000000000"), folder_ / "missing"};
  EXPECT_THROW(merge(files, folder_ / "out.sqlite"), Error);
  EXPECT_FALSE(fs::exists(folder_ / "out.sqlite"));
}

}  // namespace
}  // namespace streamscope::trace
