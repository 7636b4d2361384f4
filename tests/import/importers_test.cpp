// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "imported.h"
#include "trace/error.h"

namespace streamscope::test {
namespace {

using Importers = ImportTest;

TEST_F(Importers, ExactlyOneAcceptsEachSample) {
  const std::filesystem::path samples[] = {database("CREATE TABLE StringIds(id, value);", "a"),
                                           write("[]", "b"), write("\n {}", "c"),
                                           write("\x1f\x8b\x08", "d")};
  for (const auto& sample : samples) {
    std::ifstream in(sample, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    int wanted = 0;
    for (const import::Importer& importer : import::importers())
      wanted += importer.sniff(std::as_bytes(std::span(text)));
    EXPECT_EQ(wanted, 1) << sample;
  }
}

TEST_F(Importers, IdentifyAFileThatTheyCannotRead) {
  const auto cause = [&](const std::filesystem::path& file) {
    try {
      import::importer_of(file);
    } catch (const Error& error) {
      return error.cause();
    }
    return std::string();
  };
  EXPECT_NE(cause(write("version https://git-lfs.github.com/spec/v1")).find("Git LFS"),
            std::string::npos);
  EXPECT_NE(cause(write("xx", "a.nsys-rep")).find("nsys export"), std::string::npos);
  EXPECT_NE(cause(folder_ / "missing").find("does not exist"), std::string::npos);
  EXPECT_NE(cause(folder_).find("not a plain file"), std::string::npos);
}

TEST_F(Importers, FindARankInANameWhereAWordSaysSo) {
  EXPECT_EQ(import::rank_in_name("worker3_step_12.1694128201557.pt.trace.json"), 3);
  EXPECT_EQ(import::rank_in_name("run.rank-12.json.gz"), 12);
  EXPECT_EQ(import::rank_in_name("job_rank_0.sqlite"), 0);
  EXPECT_EQ(import::rank_in_name("worker1_rank2.json"), 2);
  for (const char* name : {"", "step_3.json", "rank.json", "rank_", "ranking3.json",
                           "coworker3.json", "rank99999999999.json"})
    EXPECT_EQ(import::rank_in_name(name), -1) << name;
}

TEST_F(Importers, TakeTheRankFromTheContentBeforeTheName) {
  constexpr const char* kEvent =
      R"("traceEvents": [{"ph": "X", "name": "step", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})";
  const trace::Trace named = import(write(std::string("{") + kEvent, "worker3_x.json"));
  ASSERT_EQ(named.process.size(), 1u);
  EXPECT_EQ(named.process.rank[0], 3);
  EXPECT_EQ(named.process.world_size[0], trace::kNoSmall);
  EXPECT_EQ(named.text(named.process.rank_source_id[0]), "file name");
  const trace::Trace both =
      import(write(std::string(R"({"distributedInfo": {"rank": 5, "world_size": 8}, )") + kEvent,
                   "worker3_x.json"));
  EXPECT_EQ(both.process.rank[0], 5);
  EXPECT_EQ(both.process.world_size[0], 8);
  EXPECT_EQ(both.text(both.process.rank_source_id[0]), "kineto");
  const trace::Trace none = import(write(std::string("{") + kEvent, "x.json"));
  EXPECT_EQ(none.process.rank[0], trace::kNoSmall);
}

TEST_F(Importers, ReplaceNeitherTheInputNorAnOlderTraceUnlessRequested) {
  const auto input = write("{\"traceEvents\": []}");
  const import::Importer& importer = import::importer_of(input);
  EXPECT_THROW(import::import_file(importer, input, input, true), Error);
  const auto out = folder_ / "trace.sqlite";
  import::import_file(importer, input, out, false);
  EXPECT_THROW(import::import_file(importer, input, out, false), Error);
  import::import_file(importer, input, out, true);
}

}  // namespace
}  // namespace streamscope::test
