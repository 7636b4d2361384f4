// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reader against damaged files: whatever the bytes, it reads or throws Error; it never crashes or
// hangs.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "support/sanitized.h"
#include "support/trace_builder.h"
#include "trace/error.h"
#include "trace/read/reader.h"
#include "trace_file.h"

namespace streamscope::trace {
namespace {

std::string bytes_of_good_trace() {
  test::TraceBuilder builder;
  for (Ns i = 0; i < 100; i++) {
    builder.stream("copies").memcpy(test::kHtoD, 1000 + i * 10, 1005 + i * 10).record("loaded");
    builder.stream("math").wait("loaded").kernel("gemm" + std::to_string(i), 1006 + i * 10,
                                                 1009 + i * 10);
  }
  TempTrace file;
  builder.write(file);
  std::ifstream stream(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Whether it can be read. Anything but Error fails the test, above all a crash.
bool readable(const std::string& bytes) {
  TempTrace file;
  file.write_text(bytes);
  try {
    Trace trace = read(file);
    Ns sum = 0;
    for (Id stream : trace.op.stream_id) {
      if (stream != kNoId) sum += trace.stream.native_id[stream];
    }
    for (Id name : trace.op.name_id) sum += static_cast<Ns>(trace.text(name).size());
    return sum != 42;
  } catch (const Error&) {
    return false;
  }
}

TEST(Damage, OfSingleBytesIsSurvived) {
  std::string good = bytes_of_good_trace();
  ASSERT_TRUE(readable(good));
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < test::sample_of(400); round++) {
    std::string bytes = good;
    // Half of the hits go to the header, the schema and the first pages of tables, where they do
    // the most damage.
    size_t range = round % 2 == 0 ? bytes.size() : 4096 * 4;
    for (unsigned hits = random() % 4 + 1; hits > 0; hits--)
      bytes[random() % range] = static_cast<char>(random());
    refused += readable(bytes) ? 0 : 1;
  }
  EXPECT_GT(refused, test::sample_of(400) / 10);
}

TEST(Damage, OfWholePagesIsSurvived) {
  std::string good = bytes_of_good_trace();
  std::mt19937 random(8);
  size_t pages = good.size() / 4096;
  for (int round = 0; round < test::sample_of(120); round++) {
    std::string bytes = good;
    size_t to = random() % pages, from = random() % pages;
    if (round % 3 == 0)
      bytes.replace(to * 4096, 4096, std::string(4096, static_cast<char>(random())));
    if (round % 3 == 1) bytes.replace(to * 4096, 4096, good, from * 4096, 4096);
    if (round % 3 == 2) bytes.resize(random() % bytes.size());
    readable(bytes);
  }
}

}  // namespace
}  // namespace streamscope::trace
