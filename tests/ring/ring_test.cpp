// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "ring/ring.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "ring/calls.h"
#include "ring/guard.h"
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
  record.call_number = number;
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

TEST_F(Ring, OverwritesItsOldestRecordsIfConfigured) {
  for (const uint64_t capacity : {uint64_t{64}, 8 * kFirstRecords}) {
    int error = -1;
    const auto index = static_cast<uint32_t>(capacity);
    Producer producer =
        Producer::create(directory_.c_str(), index, capacity, best_clock(), &error, true);
    ASSERT_TRUE(producer.valid());
    Consumer consumer = open(index);
    const uint64_t count = 20 * capacity;
    uint64_t from = 0, seen = 0;
    for (uint64_t i = 0; i < count; ++i) {
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
    EXPECT_EQ(all, count);
    ASSERT_GE(newest.size(), capacity / 8 * 7);
    EXPECT_LE(newest.size(), capacity);
    for (size_t i = 0; i < newest.size(); ++i)
      EXPECT_EQ(reinterpret_cast<const CallRecord&>(newest[i]).begin, count - newest.size() + i);
    EXPECT_EQ(producer.header().dropped.load(), 0u);
  }
}

// As if the producer had overwritten the whole ring between the two numbers that a copy reads.
TEST_F(Ring, CopiesNothingOfARingThatWasOverwrittenMeanwhile) {
  int error = -1;
  Producer producer = Producer::create(directory_.c_str(), 0, 64, best_clock(), &error, true);
  ASSERT_TRUE(producer.valid());
  Consumer consumer = open();
  for (uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(producer.push(call(i)));
  producer.header().tail = 11;
  uint64_t from = 0;
  EXPECT_EQ(consumer.copy(&from).size(), 0u);
  EXPECT_EQ(from, 10u);
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
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(as_call(pending[i]).call_number, i);
  consumer.release(2);
  EXPECT_EQ(as_call(consumer.pending()[0]).call_number, 2u);
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
      ASSERT_EQ(as_call(pending[i]).call_number, seen);
      ASSERT_EQ(as_call(pending[i]).end, ~uint64_t{seen});
      ++seen;
    }
    consumer.release(pending.size());
  }
}

TEST_F(Ring, BeginsSmallAndGrowsToItsCapacityWhenItIsUsed) {
  constexpr uint32_t kCapacity = 32 * kFirstRecords;
  Producer producer = create(kCapacity);
  Consumer consumer = open();
  EXPECT_LE(fs::file_size(file()), 64u << 10);
  for (uint32_t i = 0; i < kCapacity; ++i) {
    EXPECT_EQ(producer.room(), kCapacity - i);
    ASSERT_TRUE(producer.push(call(i)));
  }
  EXPECT_EQ(producer.room(), 0u);
  EXPECT_FALSE(producer.push(call(kCapacity)));
  Consumer late = open();
  for (Consumer* reader : {&consumer, &late}) {
    const auto pending = reader->pending();
    ASSERT_EQ(pending.size(), kCapacity);
    for (uint32_t i = 0; i < kCapacity; ++i) ASSERT_EQ(as_call(pending[i]).call_number, i);
  }
  EXPECT_EQ(fs::file_size(file()), kRingHeaderBytes + kCapacity * sizeof(Record));
}

TEST_F(Ring, StaysSmallWhileItIsEmptied) {
  Producer producer = create(32 * kFirstRecords);
  Consumer consumer = open();
  for (uint32_t i = 0; i < 10 * kFirstRecords; ++i) {
    ASSERT_TRUE(producer.push(call(i)));
    if (i % 64 == 63) consumer.release(64);
  }
  EXPECT_LE(fs::file_size(file()), 64u << 10);
}

TEST_F(Ring, LosesNothingBelowItsCapacityHoweverItIsReadWhileItGrows) {
  constexpr uint64_t kCapacity = 64 * kFirstRecords;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::minstd_rand0 random(seed);
    Producer producer = create(kCapacity, seed);
    Consumer consumer = open(seed);
    uint32_t pushed = 0, released = 0;
    for (int round = 0; round < 200; ++round) {
      const uint64_t more = std::min<uint64_t>(random() % 1000, kCapacity - (pushed - released));
      for (uint64_t i = 0; i < more; ++i) ASSERT_TRUE(producer.push(call(pushed++)));
      const auto pending = consumer.pending();
      ASSERT_EQ(pending.size(), pushed - released);
      for (size_t i = 0; i < pending.size(); i += 1 + random() % 50)
        ASSERT_EQ(as_call(pending[i]).call_number, released + i);
      const uint64_t read = random() % (pending.size() + 1);
      consumer.release(read);
      released += static_cast<uint32_t>(read);
    }
    EXPECT_EQ(producer.header().dropped.load(), 0u);
  }
}

TEST_F(Ring, KeepsItsSizeIfItMayNotGrowAndRaisesNoSignal) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int error = 0;
    Producer producer =
        Producer::create(directory_.c_str(), 0, 16 * kFirstRecords, best_clock(), &error);
    uint32_t taken = 0;
    while (taken < 16 * kFirstRecords && producer.push(call(taken))) ++taken;
    for (int i = 0; i < 9; ++i) producer.push(call(0));
    const bool full = producer.room() == 0 && taken == 2 * kFirstRecords;
    _exit(full && producer.header().growth_error == EFBIG ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::string why;
  auto consumer = Consumer::open(fs::directory_iterator(directory_)->path(), &why);
  ASSERT_TRUE(consumer) << why;
  EXPECT_EQ(consumer->header().growth_error.load(), EFBIG);
  EXPECT_EQ(consumer->header().dropped.load(), 10u);
  EXPECT_EQ(consumer->most_records(), 2 * kFirstRecords);
  EXPECT_TRUE(consumer->is_filling());
  EXPECT_EQ(consumer->pending().size(), 2 * kFirstRecords);
}

TEST_F(Ring, KeepsAFileSizeSignalThatWasPendingBefore) {
  const pid_t child = fork();
  if (child == 0) {
    sigset_t sizes;
    sigemptyset(&sizes);
    sigaddset(&sizes, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &sizes, nullptr);
    raise(SIGXFSZ);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int error = 0;
    Producer::create(directory_.c_str(), 0, 16, best_clock(), &error);
    sigset_t pending;
    sigpending(&pending);
    _exit(error == EFBIG && sigismember(&pending, SIGXFSZ) == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(fs::is_empty(directory_)) << "a ring that could not be made leaves nothing";
}

TEST_F(Ring, CountsDropsAndReportsThemBeforeTheNextRecord) {
  Producer producer = create(16);
  Consumer consumer = open();
  for (uint32_t i = 0; i < 16; ++i) ASSERT_TRUE(producer.push(call(i)));
  const uint64_t before = read_clock(consumer.header().clock);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_FALSE(producer.push(call(100 + i)));
  EXPECT_EQ(consumer.header().dropped.load(), 3u);

  consumer.release(1);  // one slot is not enough: the loss needs one too
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
  EXPECT_EQ(as_call(pending[13]).call_number, 104u);
  EXPECT_TRUE(producer.push(call(105)));
  EXPECT_EQ(as_call(consumer.pending()[14]).call_number, 105u);
}

TEST_F(Ring, IsNeverCreatedOverAnExistingFile) {
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

TEST_F(Ring, RefusesIncompleteFiles) {
  const fs::path path = directory_ / "file.ring";
  EXPECT_NE(refusal(path), "");
  std::ofstream(path) << "short";
  EXPECT_EQ(refusal(path), "is shorter than a ring");
  std::ofstream(path) << std::string(100000, 'x');
  EXPECT_EQ(refusal(path), "is not a ring, or its creation was not finished");
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
  EXPECT_EQ(damaged([](RingHeader& header) { header.capacity = header.first_size = 128; }),
            "is not as long as its header says");
  EXPECT_EQ(damaged([](RingHeader& header) {
              header.capacity = 128;
              header.growths = 1;
            }),
            "is not as long as its header says");
  for (const uint32_t growths : {1u, 40u, ~0u})
    EXPECT_EQ(damaged([=](RingHeader& header) { header.growths = growths; }),
              "is not as long as its header says");
  EXPECT_EQ(damaged([](RingHeader& header) { header.first_size = 0; }),
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

TEST_F(Ring, NeverReadsPastItsEndWhateverTheFileContains) {
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
  for (size_t i = 0; i < pending.size(); ++i) ASSERT_EQ(as_call(pending[i]).call_number, i);
}

TEST_F(Ring, KeepsEveryRecordWhileItGrowsAndTwoThreadsRace) {
  constexpr uint32_t kCount = 64 * kFirstRecords;
  Producer producer = create(kCount);
  Consumer consumer = open();
  std::thread thread([&] {
    for (uint32_t i = 0; i < kCount; ++i) EXPECT_TRUE(producer.push(call(i)));
  });
  uint32_t released = 0;
  while (released < kCount) {
    const auto pending = consumer.pending();
    for (size_t i = 0; i < pending.size(); ++i)
      ASSERT_EQ(as_call(pending[i]).call_number, released + i);
    const size_t most = (pending.size() + 1) / 2;
    consumer.release(most);
    released += static_cast<uint32_t>(most);
  }
  thread.join();
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
      ASSERT_EQ(record.call_number, next);
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
  EXPECT_LE(lost, kCount - accepted);  // drops after the last push are only in the header
  EXPECT_EQ(next + (kCount - accepted - lost), kCount);
}

TEST_F(Ring, IsAbandonedSafelyIfItsFileIsTruncated) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{kRingHeaderBytes}}) {
    SCOPED_TRACE(bytes);
    const auto index = static_cast<uint32_t>(bytes);
    const pid_t child = fork();  // its handler is not the test's
    if (child == 0) {
      rescue_on_bus_errors();
      Producer producer = create(16 * kFirstRecords, index);
      Consumer consumer = open(index);
      for (uint32_t i = 0; i < 100; ++i) producer.push(call(i));
      bool right = consumer.pending().size() == 100 && lost_mappings() == 0;
      fs::resize_file(file(index), bytes);
      for (uint32_t i = 0; i < 20 * kFirstRecords; ++i) producer.push(call(i));
      const auto pending = consumer.pending();
      for (size_t i = 0; i < pending.size(); ++i)
        right = right && pending[i].head.kind == RecordKind{};
      consumer.release(pending.size());
      right = right && consumer.pending().size() == 0 && consumer.unreadable() < 0;
      _exit(right && lost_mappings() > 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

CallRecord query(uint64_t object, uint64_t begin, uint64_t end) {
  CallRecord record{};
  record.kind = RecordKind::kCall;
  record.call = find_call("cudaEventQuery").value();
  record.call_number = static_cast<uint32_t>(begin);
  record.begin = begin;
  record.end = end;
  record.object = object;
  record.result = kNotReady;
  return record;
}

PollWord polls_of(const Record& record) { return {as_call(record).value}; }

TEST_F(Ring, CountsARepeatedPollInItsNewestRecord) {
  Producer producer = create(16);
  Consumer consumer = open();
  for (uint64_t i = 0; i < 1000; ++i)
    ASSERT_TRUE(producer.push_poll(query(1, 100 + 10 * i, 104 + 10 * i)));
  EXPECT_EQ(consumer.pending(false).size(), 0u) << "it still grows";
  EXPECT_EQ(consumer.growing_poll(), 100u);
  producer.push(call(7));
  ASSERT_EQ(consumer.pending(false).size(), 2u) << "it cannot grow any more";
  EXPECT_EQ(consumer.growing_poll(), 0u);
  const CallRecord poll = as_call(consumer.pending()[0]);
  EXPECT_EQ(PollWord{poll.value}.more(), 999u);
  EXPECT_EQ(poll.call_number, 100u) << "of the first";
  EXPECT_EQ(poll.begin, 100u);
  EXPECT_EQ(poll.end, 104u) << "of the first";
  EXPECT_EQ(last_end(poll), 104u + 9990);
  EXPECT_EQ(last_end(as_call(consumer.pending()[1])), ~uint64_t{7});
}

TEST_F(Ring, BeginsANewRecordForADifferentPoll) {
  Producer producer = create(16);
  Consumer consumer = open();
  producer.push_poll(query(1, 100, 104));
  producer.push_poll(query(2, 110, 114));  // another event
  producer.push(call(7));
  producer.push_poll(query(2, 120, 124));  // something came between
  EXPECT_EQ(consumer.pending().size(), 4u);
  producer.push_poll(query(2, 130, 134));  // the last one was taken
  producer.push_poll(query(2, 140, 144));
  const uint64_t late = 130 + PollWord::kMostTicks;
  producer.push_poll(query(2, late - 4, late));  // just fits
  producer.push_poll(query(2, late, late + 4));
  const auto pending = consumer.pending();
  ASSERT_EQ(pending.size(), 6u);
  EXPECT_EQ(polls_of(pending[3]).more(), 0u);
  EXPECT_EQ(last_end(as_call(pending[3])), 124u);
  EXPECT_EQ(polls_of(pending[4]).more(), 2u);
  EXPECT_EQ(last_end(as_call(pending[4])), late);
  EXPECT_EQ(polls_of(pending[5]).more(), 0u);
}

TEST_F(Ring, DropsAPollOnlyIfItIsFull) {
  Producer producer = create(16);
  Consumer consumer = open();
  for (uint32_t i = 0; i < 15; ++i) producer.push(call(i));
  for (uint64_t i = 0; i < 100; ++i) EXPECT_TRUE(producer.push_poll(query(1, 100 + i, 101 + i)));
  EXPECT_FALSE(producer.push(call(15)));
  EXPECT_FALSE(producer.push_poll(query(1, 300, 301))) << "a lost call came between";
  EXPECT_EQ(consumer.header().dropped.load(), 2u);
  EXPECT_EQ(polls_of(consumer.pending()[15]).more(), 99u);
}

TEST_F(Ring, CountsEveryPollWhileItsConsumerSealsThem) {
  constexpr uint64_t kCount = 300'000;
  Producer producer = create(1 << 16);
  Consumer consumer = open();
  std::atomic<bool> done = false;
  uint64_t accepted = 0;
  std::thread thread([&] {
    for (uint64_t i = 0; i < kCount; ++i)
      accepted += producer.push_poll(query(1, 10 * i, 10 * i + 4));
    done.store(true, std::memory_order_release);
  });
  uint64_t counted = 0, next = 0;
  for (bool last = false; !last;) {
    last = done.load(std::memory_order_acquire);
    const auto pending = consumer.pending();
    for (size_t i = 0; i < pending.size(); ++i) {
      const CallRecord poll = as_call(pending[i]);
      const uint64_t more = polls_of(pending[i]).more();
      ASSERT_EQ(poll.begin, next);
      ASSERT_EQ(last_end(poll), poll.begin + 10 * more + 4);
      counted += more + 1;
      next = 10 * counted;
    }
    consumer.release(pending.size());
    if (pending.size() == 0) std::this_thread::yield();
  }
  thread.join();
  EXPECT_EQ(accepted, kCount);
  EXPECT_EQ(counted, kCount);
}

void expect_calls(const Consumer::Pending& pending, uint32_t from, uint32_t to) {
  ASSERT_EQ(pending.size(), to - from);
  for (size_t i = 0; i < pending.size(); ++i) EXPECT_EQ(as_call(pending[i]).call_number, from + i);
}

TEST_F(Ring, CanMoveRecordsThatItsConsumerHasNotProcessed) {
  Producer producer = create(16);
  Consumer consumer = open();
  uint32_t pushed = 0;
  const auto push = [&](uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) ASSERT_TRUE(producer.push(call(pushed++)));
  };
  for (int round = 0; round < 100; ++round) {
    push(8);
    EXPECT_FALSE(consumer.is_filling());
    push(4);
    EXPECT_TRUE(consumer.is_filling());
    ASSERT_TRUE(consumer.relieve());
    EXPECT_FALSE(consumer.is_filling());
  }
  push(3);
  expect_calls(consumer.pending(), 0, 1203);
  consumer.release(700);
  expect_calls(consumer.pending(), 700, 1203);
  EXPECT_EQ(consumer.tail(), 700u);
  consumer.release(501);
  expect_calls(consumer.pending(), 1201, 1203);
  ASSERT_TRUE(consumer.relieve());
  push(16);
  expect_calls(consumer.pending(), 1201, 1219);
  consumer.release(18);
  EXPECT_EQ(consumer.pending().size(), 0u);
  EXPECT_EQ(consumer.header().dropped.load(), 0u);
}

TEST_F(Ring, KeepsWhatWasMovedForTheNextConsumer) {
  Producer producer = create(16);
  for (uint32_t i = 0; i < 16; ++i) producer.push(call(i));
  {
    Consumer first = open();
    first.release(2);
    ASSERT_TRUE(first.relieve());
    for (uint32_t i = 16; i < 32; ++i) ASSERT_TRUE(producer.push(call(i)));
    first.release(3);
  }
  expect_calls(open().pending(), 2, 32);  // the row of what was released last may not be stored
  // Killed after the records were moved and before the ring was updated.
  producer.header().tail.store(2);
  producer.header().head.store(16);
  expect_calls(open().pending(), 2, 16);
  // A backlog larger than its ring is not moved.
  producer.header().tail.store(30);
  producer.header().head.store(40);
  EXPECT_EQ(open().pending().size(), 10u);
  std::ofstream(file().string() + kBacklogEnding) << "no backlog";
  EXPECT_EQ(open().pending().size(), 10u);
}

TEST_F(Ring, MovesNoPollThatStillGrows) {
  Producer producer = create(16);
  Consumer consumer = open();
  producer.push(call(1));
  producer.push_poll(query(1, 100, 104));
  ASSERT_TRUE(consumer.relieve());
  producer.push_poll(query(1, 110, 114));
  const auto pending = consumer.pending();
  ASSERT_EQ(pending.size(), 2u);
  EXPECT_EQ(pending.moved.size(), 1u);
  EXPECT_EQ(polls_of(pending[1]).more(), 1u);
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

}  // namespace
}  // namespace streamscope::ring
