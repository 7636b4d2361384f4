// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Scripted threads, the folder of their rings, and the drain that makes a trace of them.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fake_program.h"
#include "record/drain/drain.h"
#include "trace/read/reader.h"

namespace streamscope::record {

class DrainTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "streamscope-drain-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    rings_ = directory_ / "rings";
    file_ = directory_ / "trace.sqlite";
    std::filesystem::create_directory(rings_);
    test::FakeThread::correlation = 0;
    options_.trace_start_ns = static_cast<int64_t>(ring::read_clock(ring::ClockKind::kMonotonic));
  }
  void TearDown() override {
    drain_.reset();
    std::filesystem::remove_all(directory_);
  }

  test::FakeThread& thread(uint32_t index, uint64_t capacity = 1024) {
    if (threads_.size() <= index) threads_.resize(index + 1);
    threads_[index] = std::make_unique<test::FakeThread>(rings_, index, capacity);
    threads_[index]->thread(100 + index);
    return *threads_[index];
  }
  /// The first thread, of a program that has identified itself.
  test::FakeThread& program_thread(uint8_t flags = 0) {
    test::FakeThread& result = thread(0);
    result.flags = flags;
    result.process("/bin/app");
    return result;
  }
  Drain& drain() {
    if (!drain_)
      drain_.emplace(rings_, trace::Writer::create(file_), options_,
                     ring::read_anchor(ring::ClockKind::kMonotonic));
    return *drain_;
  }
  trace::Trace finish() {
    complete_ = drain().finish();
    drain_.reset();
    return trace::read(file_);
  }
  int64_t ns(uint64_t stamp) const { return static_cast<int64_t>(stamp) - options_.trace_start_ns; }
  /// A drain sees only calls that ended a little before it reads.
  void settle() { usleep(200); }

  std::map<std::string, int64_t> losses(const trace::Trace& trace) const {
    std::map<std::string, int64_t> result;
    for (size_t i = 0; i < trace.loss.size(); ++i)
      result[std::string(trace.text(trace.loss.name_id[i]))] += trace.loss.count[i];
    return result;
  }

  std::filesystem::path directory_, rings_, file_;
  Drain::Options options_;
  std::vector<std::unique_ptr<test::FakeThread>> threads_;
  std::optional<Drain> drain_;
  bool complete_ = false;
  uint32_t next_ring_ = 100;  // of threads that a test makes itself
};

}  // namespace streamscope::record
