// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that race on a few events, as a driver would let them: each call takes effect at one
// instant between its entry and its exit, and notes what it did.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "fake_program.h"
#include "trace/read/reader.h"

namespace streamscope::test {

class RacingThreads {
 public:
  explicit RacingThreads(const std::filesystem::path& rings, ring::ClockKind clock,
                         uint64_t capacity = 1 << 16) {
    for (uint32_t i = 0; i < kThreads; ++i) {
      actors_[i].thread = std::make_unique<FakeThread>(rings, i, capacity, clock);
      actors_[i].thread->thread(100 + i);
    }
    for (uint32_t event = 0; event < kEvents; ++event)
      first().call("cudaEventCreate", 0, 0xe0 + event);
  }
  ~RacingThreads() { join(); }

  FakeThread& operator[](size_t i) { return *actors_[i].thread; }
  FakeThread& first() { return *actors_[0].thread; }
  static constexpr size_t size() { return kThreads; }

  /// Each thread makes so many calls, or fewer if stop() is called.
  void start(int calls) {
    for (uint32_t i = 0; i < kThreads; ++i)
      threads_.emplace_back([this, calls, i] { race(i, calls); });
  }
  void stop() { stopped_ = true; }
  void join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  // After join().

  size_t records() const {
    size_t count = 0;
    for (const Actor& actor : actors_) {
      for (const Note& note : actor.notes) count += note.is_record;
    }
    return count;
  }
  /// Waits and queries.
  size_t looks() const {
    size_t count = 0;
    for (const Actor& actor : actors_) count += actor.notes.size();
    return count - records();
  }
  /// No binding of a call that has ended is wrong.
  void expect_agreement(const trace::Trace& trace) const {
    std::map<uint32_t, uint32_t> truth;
    for (const Actor& actor : actors_) {
      for (const Note& note : actor.notes) truth[note.call_number] = note.newest;
    }
    const auto made_by = [&](trace::Id record) {
      return static_cast<uint32_t>(trace.event_record.call_number[record]);
    };
    std::set<uint32_t> known{0};
    for (trace::Id record = 0; record < trace.event_record.size(); ++record)
      known.insert(made_by(record));
    std::map<trace::Id, std::set<uint32_t>> candidates;
    for (size_t i = 0; i < trace.event_wait_candidate.size(); ++i)
      candidates[trace.event_wait_candidate.event_wait_id[i]].insert(
          made_by(trace.event_wait_candidate.event_record_id[i]));
    for (trace::Id wait = 0; wait < trace.event_wait.size(); ++wait) {
      if (trace.event_wait.end_ns[wait] == trace::kUnknownNs) continue;
      const uint32_t found = truth.at(static_cast<uint32_t>(trace.event_wait.call_number[wait]));
      switch (trace.event_wait.binding[wait]) {
        case trace::kBindingExact:
          ASSERT_EQ(made_by(trace.event_wait.record_id[wait]), found);
          break;
        case trace::kNeverRecorded:
          ASSERT_EQ(found, 0u);
          break;
        case trace::kAmbiguous:
          ASSERT_TRUE(found == 0 || !known.contains(found) || candidates[wait].contains(found));
          break;
        default:
          ASSERT_EQ(trace.event_wait.binding[wait], trace::kUnknownHistory);
      }
    }
    for (trace::Id sync = 0; sync < trace.host_sync.size(); ++sync) {
      if (trace.host_sync.binding[sync] != trace::kBindingExact ||
          trace.host_sync.end_ns[sync] == trace::kUnknownNs)
        continue;
      ASSERT_EQ(made_by(trace.host_sync.record_id[sync]),
                truth.at(static_cast<uint32_t>(trace.host_sync.call_number[sync])));
    }
  }

 private:
  static constexpr uint32_t kThreads = 4, kEvents = 3;
  struct Note {
    uint32_t call_number;
    bool is_record;
    uint32_t newest;  // number of the record that was made, or found newest; 0: none
  };
  struct Actor {
    std::unique_ptr<FakeThread> thread;
    std::vector<Note> notes;
  };

  void race(uint32_t i, int calls) {
    FakeThread& me = *actors_[i].thread;
    std::minstd_rand random(i + 1);
    for (int n = 0; n < calls && !stopped_; ++n) {
      const uint32_t id = 1000 + static_cast<uint32_t>(n) * kThreads + i;
      const uint32_t event = random() % kEvents;
      const bool is_record = random() % 3 == 0;
      const auto kind = is_record ? kRecord : random() % 4 == 0 ? kQuery : kWait;
      uint32_t found = 0;
      me.perform(kind, 0xaa + i, 0xe0 + event, id, [&] {
        // Both operations are locked, like the driver's lock: nothing moves past them.
        if (is_record) {
          newest_[event].exchange(id);
          found = id;
        } else {
          found = newest_[event].fetch_add(0);
        }
        for (uint32_t pause = random() % 64; pause > 0; --pause)
          std::atomic_signal_fence(std::memory_order_seq_cst);
      });
      actors_[i].notes.push_back({id, is_record, found});
      if (random() % 16 == 0) std::this_thread::yield();
    }
  }

  std::array<Actor, kThreads> actors_;
  std::array<std::atomic<uint32_t>, kEvents> newest_{};
  std::atomic<bool> stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace streamscope::test
