// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What remains in a folder when a writer is killed, at every point, and how a copy replaces a file.
#include "trace/change/replacement.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fstream>

#include "support/kill_points.h"
#include "trace/change/wal.h"
#include "trace/error.h"
#include "trace/read/reader.h"
#include "trace/write/writer.h"

namespace streamscope::trace {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ReplacementTest : public testing::Test {
 protected:
  ReplacementTest() {
    std::string name = fs::temp_directory_path() / "streamscope-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ReplacementTest() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static std::string read_text(const fs::path& file) {
    std::string text;
    std::getline(std::ifstream(file), text, '\0');
    return text;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  /// What a user has who copies only the trace to another place.
  Trace read_alone(const fs::path& file) const {
    const fs::path other = folder_ / "elsewhere";
    fs::create_directory(other);
    fs::copy_file(file, other / "t.sqlite", fs::copy_options::overwrite_existing);
    return trace::read(other / "t.sqlite");
  }
  /// What a user has who copies the folder to a read-only place.
  Trace read_with_log(const fs::path& file) const {
    const fs::path other = folder_ / "elsewhere";
    fs::create_directory(other);
    for (const char* suffix : {"", "-wal"}) {
      fs::remove(other / ("t.sqlite" + std::string(suffix)));
      if (fs::exists(file.string() + suffix))
        fs::copy_file(file.string() + suffix, other / ("t.sqlite" + std::string(suffix)));
    }
    return trace::read(other / "t.sqlite");
  }

  fs::path folder_;
};

TEST_F(ReplacementTest, ReplacesTheFileOnlyAtTheEnd) {
  const fs::path file = write("file", "as it was");
  chmod(file.c_str(), 0640);
  fs::create_symlink("file", folder_ / "link");
  {
    Replacement change(folder_ / "link");
    EXPECT_EQ(read_text(change.copy()), "as it was");
    std::ofstream(change.copy()) << "changed";
    EXPECT_EQ(read_text(file), "as it was");
    change.commit();
    EXPECT_EQ(read_text(file), "changed");
  }
  { Replacement given_up(file); }
  EXPECT_THAT(names(), ElementsAre("file", "link"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  struct stat facts {};
  stat(file.c_str(), &facts);
  EXPECT_EQ(facts.st_mode & 07777, 0640u);
}

TEST_F(ReplacementTest, RemovesAbandonedCopies) {
  const fs::path file = write("file", "text");
  const fs::path left = write(".file.streamscope-Ab12xY", "");
  const fs::path in_use = write(".other.streamscope-Ab12xY", "");
  for (const char* foreign :
       {".file.streamscope-", ".streamscope-notes", "file.streamscope-Ab12xY"})
    write(foreign, "");
  const int lock = open(in_use.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  { Replacement change(file); }
  close(lock);
  EXPECT_THAT(names(), ElementsAre(".file.streamscope-", ".other.streamscope-Ab12xY",
                                   ".streamscope-notes", "file", "file.streamscope-Ab12xY"));
  Replacement::remove_abandoned(folder_);
  EXPECT_FALSE(fs::exists(in_use));
}

TEST_F(ReplacementTest, ReportsWhatIsMissing) {
  try {
    Replacement change(folder_ / "none");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("none: cannot be opened: No such file"));
  }
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

// Enough rows that many pages are written, each by its own call.
constexpr Id kEdges = 55'000;
void add_edges(Writer& writer, Small kind) {
  for (Id i = 0; i < kEdges; ++i)
    writer.append(Edge{.kind = kind, .from_op_id = i % 2, .to_op_id = 1});
}

TEST_F(ReplacementTest, DerivedTablesAreWholeOrAbsentWhereverTheirWriterIsKilled) {
  const fs::path file = folder_ / "t.sqlite", before = folder_ / "before.sqlite";
  {
    Writer writer = Writer::create(before);
    writer.append(Op{.start_ns = 1});
    writer.append(Op{.start_ns = 2});
    add_edges(writer, kHostEdge);
    writer.finish(true);
  }
  const long stride = kill_points::stride(3);
  long kills = 0, replaced = 0;
  for (bool killed = true; killed; kills += killed) {
    fs::copy_file(before, file, fs::copy_options::overwrite_existing);
    const int status = kill_points::run(kills * stride + 1, [&] {
      Writer writer = Writer::open_derived(file);
      writer.clear<Edge>();
      add_edges(writer, kEventEdge);
      writer.finish(true);
    });
    killed = WIFSIGNALED(status);
    ASSERT_TRUE(killed || status == 0);
    // Only the trace is left: no journal or log belongs to it.
    EXPECT_FALSE(fs::exists(file.string() + "-journal") || fs::exists(file.string() + "-wal"));
    const Trace trace = read_alone(file);
    ASSERT_EQ(trace.op.size(), 2u) << "killed at " << kills * stride + 1;
    ASSERT_EQ(trace.edge.size(), kEdges) << "killed at " << kills * stride + 1;
    const Small kind = trace.edge.kind[0];
    ASSERT_TRUE(std::all_of(trace.edge.kind.begin(), trace.edge.kind.end(),
                            [&](Small other) { return other == kind; }))
        << "killed at " << kills * stride + 1;
    replaced += kind == kEventEdge;
  }
  RecordProperty("kills", static_cast<int>(kills));
  EXPECT_GE(kills, 200 / stride);
  EXPECT_GE(replaced,
            stride == 1 ? 2 : 1);  // after the new file has taken its place, and at the end
  fs::remove_all(folder_ / "elsewhere");
  EXPECT_THAT(names(), ElementsAre("before.sqlite", "t.sqlite"));
}

TEST_F(ReplacementTest, AWriterThatIsKilledAtTheEndLeavesAllThatItStored) {
  const fs::path file = folder_ / "t.sqlite";
  const long stride = kill_points::stride(10);
  long kills = 0, alone = 0;
  for (bool killed = true; killed; kills += killed) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(file.string() + suffix);
    int stored[2];
    ASSERT_EQ(pipe(stored), 0);
    const int status = kill_points::run(kills * stride + 1, [&] {
      Writer writer = Writer::create(file);
      for (Ns i = 0; i < 2; ++i) writer.append(Op{.start_ns = i});
      add_edges(writer, kHostEdge);
      writer.flush();
      if (::write(stored[1], "", 1) != 1) _exit(1);
      writer.finish(true);
    });
    killed = WIFSIGNALED(status);
    ASSERT_TRUE(killed || status == 0);
    close(stored[1]);
    char said = 0;
    const bool flushed = ::read(stored[0], &said, 1) == 1;
    close(stored[0]);
    if (!flushed) continue;
    const Trace trace = read_with_log(file);
    ASSERT_EQ(trace.edge.size(), kEdges) << "killed at " << kills * stride + 1;
    if (trace.meta.at("finished") != "1") continue;
    ASSERT_TRUE(fold_wal(file)) << "killed at " << kills * stride + 1;
    ASSERT_EQ(read_alone(file).edge.size(), kEdges) << "killed at " << kills * stride + 1;
    ++alone;
  }
  EXPECT_GE(kills, 200 / stride);
  EXPECT_GE(alone, 100 / stride);  // most of the end is copying the log
}

#endif

}  // namespace
}  // namespace streamscope::trace
