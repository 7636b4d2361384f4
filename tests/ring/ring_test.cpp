// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "ring/ring.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "ring/process.h"

namespace streamscope::ring {
namespace {

namespace fs = std::filesystem;

class Ring : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "streamscope-ring-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  Producer create(uint64_t capacity, uint32_t index = 0) {
    int error = -1;
    Producer producer = Producer::create(directory_.c_str(), index, capacity, best_clock(), &error);
    EXPECT_TRUE(producer.valid()) << std::strerror(error);
    EXPECT_EQ(error, 0);
    return producer;
  }
  fs::path file(uint32_t index = 0) const {
    return directory_ / (std::to_string(getpid()) + "-" + std::to_string(process_start(getpid())) +
                         "-" + std::to_string(index) + ".ring");
  }
  Consumer open(uint32_t index = 0) {
    std::string why;
    auto consumer = Consumer::open(file(index), &why);
    EXPECT_TRUE(consumer) << why;
    return std::move(*consumer);
  }
  std::string refusal(const fs::path& path) {
    std::string why;
    EXPECT_FALSE(Consumer::open(path, &why));
    return why;
  }

  fs::path directory_;
};

CallRecord call(uint32_t number) {
  CallRecord record{};
  record.kind = RecordKind::kCall;
  record.correlation_id = number;
  record.begin = number;
  record.end = ~uint64_t{number};
  return record;
}

CallRecord as_call(const Record& record) {
  CallRecord result;
  std::memcpy(&result, &record, sizeof result);
  return result;
}

LossRecord as_loss(const Record& record) {
  LossRecord result;
  std::memcpy(&result, &record, sizeof result);
  return result;
}

TEST_F(Ring, OverwritesItsOldestRecordsIfItShould) {
  int error = -1;
  Producer producer = Producer::create(directory_.c_str(), 0, 64, best_clock(), &error, true);
  ASSERT_TRUE(producer.valid());
  const Consumer consumer = open();
  uint64_t from = 0, seen = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    CallRecord call{};
    call.begin = i;
    ASSERT_TRUE(producer.push(call));
    if (i % 40 != 0) continue;
    for (const Record& record : consumer.copy(&from)) {
      EXPECT_EQ(reinterpret_cast<const CallRecord&>(record).begin, seen)
          << "none is missed so soon";
      ++seen;
    }
  }
  uint64_t all = 0;
  const auto newest = consumer.copy(&all);
  EXPECT_EQ(all, 1000u);
  ASSERT_GE(newest.size(), 56u);
  EXPECT_LE(newest.size(), 64u);
  for (size_t i = 0; i < newest.size(); ++i)
    EXPECT_EQ(reinterpret_cast<const CallRecord&>(newest[i]).begin, 1000 - newest.size() + i);
  EXPECT_EQ(producer.header().dropped.load(), 0u);
}

TEST_F(Ring, CarriesRecordsInOrderWithTheFactsOfItsProcess) {
  Producer producer = create(100);
  Consumer consumer = open();
  EXPECT_EQ(consumer.header().capacity, 128u);
  EXPECT_EQ(consumer.header().pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(consumer.header().process_start, process_start(getpid()));
  EXPECT_EQ(consumer.header().tid.load(), static_cast<uint32_t>(gettid()));
  EXPECT_NE(consumer.header().anchor.monotonic_ns, 0);
  EXPECT_EQ(consumer.pending().size(), 0u);
  for (uint32_t i = 0; i < 5; ++i) EXPECT_TRUE(producer.push(call(i)));
  auto pending = consumer.pending();
  ASSERT_EQ(pending.size(), 5u);
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(as_call(pending[i]).correlation_id, i);
  consumer.release(2);
  EXPECT_EQ(as_call(consumer.pending()[0]).correlation_id, 2u);
}

TEST_F(Ring, WrapsAroundWithoutLosingAnything) {
  Producer producer = create(16);
  Consumer consumer = open();
  uint32_t sent = 0, seen = 0;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 11; ++i) ASSERT_TRUE(producer.push(call(sent++)));
    auto pending = consumer.pending();
    ASSERT_EQ(pending.size(), 11u);
    for (size_t i = 0; i < pending.size(); ++i) {
      ASSERT_EQ(as_call(pending[i]).correlation_id, seen);
      ASSERT_EQ(as_call(pending[i]).end, ~uint64_t{seen});
      ++seen;
    }
    consumer.release(pending.size());
  }
}

TEST_F(Ring, CountsDropsAndSaysSoBeforeTheNextRecord) {
  Producer producer = create(16);
  Consumer consumer = open();
  for (uint32_t i = 0; i < 16; ++i) ASSERT_TRUE(producer.push(call(i)));
  const uint64_t before = read_clock(consumer.header().clock);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_FALSE(producer.push(call(100 + i)));
  EXPECT_EQ(consumer.header().dropped.load(), 3u);

  consumer.release(1);  // one place is not enough: the loss needs one too
  EXPECT_FALSE(producer.push(call(103)));
  consumer.release(3);
  EXPECT_TRUE(producer.push(call(104)));
  auto pending = consumer.pending();
  ASSERT_EQ(pending.size(), 14u);
  const LossRecord loss = as_loss(pending[12]);
  EXPECT_EQ(loss.kind, RecordKind::kDropped);
  EXPECT_EQ(loss.count, 4u);
  EXPECT_GE(loss.first, before);
  EXPECT_GE(loss.last, loss.first);
  EXPECT_EQ(as_call(pending[13]).correlation_id, 104u);
  EXPECT_TRUE(producer.push(call(105)));
  EXPECT_EQ(as_call(consumer.pending()[14]).correlation_id, 105u);
}

TEST_F(Ring, IsNeverMadeOverAnExistingFile) {
  create(16);
  int error = 0;
  EXPECT_FALSE(Producer::create(directory_.c_str(), 0, 16, ClockKind::kMonotonic, &error).valid());
  EXPECT_EQ(error, EEXIST);
  EXPECT_FALSE(
      Producer::create((directory_ / "absent").c_str(), 0, 16, ClockKind::kMonotonic, &error)
          .valid());
  EXPECT_EQ(error, ENOENT);
  const std::string endless(5000, 'x');
  EXPECT_FALSE(Producer::create(endless.c_str(), 0, 16, ClockKind::kMonotonic, &error).valid());
  EXPECT_EQ(error, ENAMETOOLONG);
}

TEST_F(Ring, IsClosedAndTakenByANewThread) {
  Producer producer = create(16);
  Consumer consumer = open();
  EXPECT_EQ(consumer.header().state.load(), RingState::kLive);
  producer.close();
  EXPECT_EQ(consumer.header().state.load(), RingState::kClosed);
  producer.reopen(77);
  EXPECT_EQ(consumer.header().state.load(), RingState::kLive);
  EXPECT_EQ(consumer.header().tid.load(), 77u);
}

TEST_F(Ring, RefusesFilesThatAreNoWholeRing) {
  const fs::path path = directory_ / "file.ring";
  EXPECT_NE(refusal(path), "");
  std::ofstream(path) << "short";
  EXPECT_EQ(refusal(path), "is shorter than a ring");
  std::ofstream(path) << std::string(100000, 'x');
  EXPECT_EQ(refusal(path), "is not a ring, or its making was not finished");
  fs::create_symlink(path, directory_ / "link.ring");
  EXPECT_NE(refusal(directory_ / "link.ring"), "");
  EXPECT_NE(refusal(directory_), "");

  create(64);
  auto damaged = [&](auto damage) {
    fs::copy_file(file(), path, fs::copy_options::overwrite_existing);
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    std::vector<char> bytes(sizeof(RingHeader));
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    RingHeader* header = reinterpret_cast<RingHeader*>(bytes.data());
    damage(*header);
    stream.seekp(0);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    stream.close();
    return refusal(path);
  };
  EXPECT_EQ(damaged([](RingHeader& header) { header.layout_version++; }),
            "is a ring of another version of StreamScope");
  EXPECT_EQ(damaged([](RingHeader& header) { header.capacity = 128; }),
            "is not as long as its header says");
  EXPECT_EQ(damaged([](RingHeader& header) { header.capacity = 0; }),
            "is not as long as its header says");
  EXPECT_EQ(damaged([](RingHeader& header) { header.capacity = uint64_t{1} << 60; }),
            "is not as long as its header says");
  EXPECT_EQ(damaged([](RingHeader& header) { header.clock = ClockKind{9}; }),
            "names a clock that does not exist");
  EXPECT_EQ(damaged([](RingHeader& header) { header.head = 65; }),
            "holds more records than fit into it");
  EXPECT_EQ(damaged([](RingHeader& header) { header.tail = 1; }),
            "holds more records than fit into it");
  fs::copy_file(file(), path, fs::copy_options::overwrite_existing);
  fs::resize_file(path, fs::file_size(path) - 64);
  EXPECT_EQ(refusal(path), "is not as long as its header says");
}

TEST_F(Ring, NeverReadsPastItsEndWhateverTheFileSays) {
  Producer producer = create(16);
  Consumer consumer = open();
  producer.header().head.store(uint64_t{1} << 40);
  EXPECT_EQ(consumer.pending().size(), 16u);
}

TEST_F(Ring, LosesNothingPublishedWhenItsProcessIsKilled) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    int error = 0;
    Producer producer = Producer::create(directory_.c_str(), 0, 1 << 16, best_clock(), &error);
    for (uint32_t i = 0;; ++i) {
      if (!producer.push(call(i))) _exit(1);
      if (i == 5000 && write(pipe_ends[1], "x", 1) != 1) _exit(2);
      if (i > 5000) usleep(1);
    }
  }
  char byte;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  close(pipe_ends[0]);
  close(pipe_ends[1]);

  const fs::path path = fs::directory_iterator(directory_)->path();
  std::string why;
  auto consumer = Consumer::open(path, &why);
  ASSERT_TRUE(consumer) << why;
  EXPECT_FALSE(process_alive(consumer->header().pid, consumer->header().process_start));
  auto pending = consumer->pending();
  ASSERT_GT(pending.size(), 5000u);
  for (size_t i = 0; i < pending.size(); ++i) ASSERT_EQ(as_call(pending[i]).correlation_id, i);
}

TEST_F(Ring, KeepsEveryRecordOrCountsItWhileTwoThreadsRace) {
  constexpr uint32_t kCount = 200'000;
  Producer producer = create(256);
  Consumer consumer = open();
  std::atomic<bool> done = false;
  uint64_t accepted = 0;
  std::thread thread([&] {
    for (uint32_t i = 0; i < kCount; ++i) accepted += producer.push(call(i));
    done.store(true, std::memory_order_release);
  });
  uint64_t seen = 0, lost = 0;
  uint32_t next = 0;
  for (bool last = false; !last;) {
    last = done.load(std::memory_order_acquire);
    auto pending = consumer.pending();
    for (size_t i = 0; i < pending.size(); ++i) {
      if (pending[i].head.kind == RecordKind::kDropped) {
        lost += as_loss(pending[i]).count;
        next += static_cast<uint32_t>(as_loss(pending[i]).count);
        continue;
      }
      const CallRecord record = as_call(pending[i]);
      ASSERT_EQ(record.correlation_id, next);
      ASSERT_EQ(record.end, ~uint64_t{next});
      ++next;
      ++seen;
    }
    consumer.release(pending.size());
    if (pending.size() == 0) std::this_thread::yield();
  }
  thread.join();
  EXPECT_EQ(seen, accepted);
  EXPECT_EQ(consumer.header().dropped.load(), kCount - accepted);
  EXPECT_LE(lost, kCount - accepted);  // drops after the last push stand in the header only
  EXPECT_EQ(next + (kCount - accepted - lost), kCount);
}

TEST(Clock, AnchorsTieTicksToNanoseconds) {
  for (ClockKind kind : {ClockKind::kMonotonic, best_clock()}) {
    const ClockAnchor first = read_anchor(kind);
    const uint64_t ticks = read_clock(kind);
    const ClockAnchor second = read_anchor(kind);
    EXPECT_LE(first.ticks, ticks);
    EXPECT_LE(ticks, second.ticks);
    EXPECT_LE(first.monotonic_ns, second.monotonic_ns);
    EXPECT_GT(first.realtime_ns, 1'600'000'000'000'000'000);
  }
}

TEST(Process, IsKnownByPidAndStartTime) {
  const uint64_t start = process_start(getpid());
  EXPECT_GT(start, 0u);
  EXPECT_TRUE(process_alive(getpid(), start));
  EXPECT_FALSE(process_alive(getpid(), start + 1));
  EXPECT_EQ(process_start(0x7fffffff), 0u);

  const pid_t child = fork();
  if (child == 0) _exit(0);
  const uint64_t child_start = process_start(child);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(process_alive(child, child_start)) << "a zombie runs no code";
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace streamscope::ring
