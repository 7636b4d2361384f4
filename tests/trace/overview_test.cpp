// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/write/overview.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trace/error.h"
#include "trace/read/reader.h"
#include "trace/write/writer.h"
#include "trace_file.h"

namespace streamscope::trace {
namespace {

// A trace of one stream with an op for each cell of the finest of `levels` levels.
void write_trace(const TempTrace& file, Small levels) {
  Writer writer = Writer::create(file);
  const Id process = writer.append(Process{.os_pid = 7, .name_id = writer.intern("program")});
  const Id device = writer.append(Device{.ordinal = 0});
  const Id context = writer.append(Context{.process_id = process, .device_id = device});
  writer.append(Stream{.context_id = context, .name_id = writer.intern("copies")});
  for (Ns i = 0; i < 16; ++i)
    writer.append(Op{.stream_id = 0,
                     .name_id = writer.intern("kernel"),
                     .start_ns = 10 * i,
                     .end_ns = 10 * i + 5});
  for (Small level = 0; level < levels; ++level) {
    const Ns width = Ns{10} << (2 * level);
    for (Ns start = 0; start < 160; start += width)
      writer.append(Lod{.level = level,
                        .stream_id = 0,
                        .start_ns = start,
                        .end_ns = start + width - 5,
                        .busy_ns = width / 2,
                        .count = width / 10,
                        .longest_op_id = static_cast<Id>(start / 10)});
  }
  writer.set_meta("tier", "times");
  writer.set_meta("analysis_version", 1);
  writer.finish(true);
}

TEST(Overview, HasTheStreamsAndTheLevelsThatAreAskedFor) {
  const TempTrace file, out;
  write_trace(file, 3);
  EXPECT_EQ(write_overview(file, 1, out), 4u + 1u);
  const Trace trace = read(out);
  ASSERT_EQ(trace.lod.size(), 5u);
  for (Id cell = 0; cell < 5; ++cell) {
    EXPECT_EQ(trace.lod.level[cell], cell < 4 ? 1 : 2);
    EXPECT_EQ(trace.lod.start_ns[cell], cell < 4 ? cell * 40 : 0);
    EXPECT_EQ(trace.lod.longest_op_id[cell], kNoId) << "an op that is not in the copy";
  }
  ASSERT_EQ(trace.stream.size(), 1u);
  EXPECT_EQ(trace.text(trace.stream.name_id[0]), "copies");
  EXPECT_EQ(trace.process.os_pid[0], 7);
  EXPECT_EQ(trace.meta.at("tier"), "times");
  EXPECT_EQ(trace.meta.at("analysis_version"), "1");
  EXPECT_TRUE(trace.complete());
}

TEST(Overview, HasNothingThatOnlyOpsName) {
  const TempTrace file, out;
  write_trace(file, 1);
  EXPECT_EQ(write_overview(file, 0, out), 16u);
  const Trace trace = read(out);
  EXPECT_EQ(trace.op.size(), 0u);
  EXPECT_EQ(std::ranges::count(trace.strings, "kernel"), 0) << "texts of ops are as large as they";
}

TEST(Overview, IsNotWrittenWithoutCells) {
  const TempTrace file, out;
  write_trace(file, 2);
  EXPECT_EQ(write_overview(file, 2, out), 0u);
  EXPECT_FALSE(std::filesystem::exists(out.path()));
}

TEST(Overview, IsNotMadeOfWhatIsNoTrace) {
  const TempTrace file, out;
  file.write_text("no trace");
  EXPECT_THROW(write_overview(file, 0, out), Error);
}

}  // namespace
}  // namespace streamscope::trace
