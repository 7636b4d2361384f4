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
