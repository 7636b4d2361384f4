// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/read/whole_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/trace_builder.h"
#include "trace/error.h"
#include "trace/read/reader.h"
#include "trace/scratch_folder.h"
#include "trace/write/writer.h"

namespace streamscope::trace {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string content(const WholeFile& file) {
  std::string result, piece(1000, '\0');  // in pieces that end nowhere in particular
  while (const size_t got = file.read(result.size(), piece.data(), piece.size()))
    result.append(piece, 0, got);
  return result;
}

class WholeFileOfATrace : public testing::Test {
 protected:
  WholeFileOfATrace() {
    fs::create_directory(folder_ / "tmp");
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
  }
  ~WholeFileOfATrace() override {
    if (before_.empty())
      ::unsetenv("TMPDIR");
    else
      ::setenv("TMPDIR", before_.c_str(), 1);
  }

  // Flushed, so that readers see it, and not finished.
  Writer begin_recording(int marks) const {
    Writer writer = Writer::create(file_);
    add_marks(writer, marks);
    return writer;
  }
  static void add_marks(Writer& writer, int marks) {
    for (int i = 0; i < marks; ++i) writer.append(Mark{.start_ns = i});
    writer.flush();
  }
  Trace read_copy(const WholeFile& whole) {
    std::ofstream(folder_ / "copy.sqlite", std::ios::binary) << content(whole);
    return read(folder_ / "copy.sqlite");
  }

  const ScratchFolder scratch_{"whole"};
  const fs::path folder_ = scratch_.path(), file_ = folder_ / "t.sqlite";
  std::string before_;
};

TEST_F(WholeFileOfATrace, IsTheFileItselfOnceItIsFinished) {
  test::TraceBuilder builder;
  builder.stream("a").kernel("gemm", 10, 20);
  builder.write(file_);
  const WholeFile whole = WholeFile::open(file_);
  EXPECT_FALSE(whole.is_copy());
  EXPECT_EQ(whole.bytes(), fs::file_size(file_));
  EXPECT_EQ(content(whole), content(file_));
  fs::remove(file_);
  EXPECT_EQ(content(whole).size(), whole.bytes()) << "stays readable";
}

TEST_F(WholeFileOfATrace, IsACopyOfOneStateWhileItIsRecorded) {
  Writer writer = begin_recording(1000);
  ASSERT_TRUE(has_log(file_));
  const WholeFile whole = WholeFile::open(file_);
  add_marks(writer, 500);
  EXPECT_TRUE(whole.is_copy());
  EXPECT_EQ(content(whole).size(), whole.bytes());
  EXPECT_EQ(content(whole)[18], 1) << "needs no log";
  const Trace copy = read_copy(whole);
  EXPECT_EQ(copy.mark.size(), 1000u);
  EXPECT_FALSE(copy.complete());
  EXPECT_TRUE(fs::is_empty(folder_ / "tmp")) << "left behind";
  EXPECT_EQ(read_copy(WholeFile::open(file_)).mark.size(), 1500u);
  writer.finish(true);
  EXPECT_FALSE(has_log(file_));
  EXPECT_FALSE(WholeFile::open(file_).is_copy());
}

TEST_F(WholeFileOfATrace, IsACopyIfTheRecordingEndedBadly) {
  begin_recording(10);
  const WholeFile whole = WholeFile::open(file_);
  EXPECT_TRUE(whole.is_copy());
  EXPECT_EQ(read_copy(whole).mark.size(), 10u);
}

TEST_F(WholeFileOfATrace, IsRefusedIfItIsNoneOrCannotBeCopied) {
  const auto error = [&] {
    try {
      WholeFile::open(file_);
    } catch (const Error& refused) {
      return std::string(refused.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error(), HasSubstr("does not exist"));
  std::ofstream(file_) << "no trace";
  EXPECT_THAT(error(), HasSubstr("is not a SQLite file"));
  fs::remove(file_);
  const Writer writer = begin_recording(10);
  ::setenv("TMPDIR", (folder_ / "nowhere").c_str(), 1);
  EXPECT_THAT(error(), HasSubstr("name a folder for temporary files in TMPDIR"));
}

}  // namespace
}  // namespace streamscope::trace
