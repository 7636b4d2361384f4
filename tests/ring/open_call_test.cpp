// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "ring/calls.h"
#include "ring/ring.h"

namespace streamscope::ring {
namespace {

TEST(OpenCall, IsTheRecordThatTheCallWillHave) {
  OpenCall open{};
  EXPECT_FALSE(open.read());
  const CallId id = find_call("cudaEventRecord").value();
  open.prepare(id, kPerThread | kOwnNumber, 0x80000007, 0xa00a, 0xe00e, 3, 4, 5, 0x90000006);
  EXPECT_FALSE(open.read()) << "it has not begun";
  open.open(1000);
  const auto entered = open.read();
  ASSERT_TRUE(entered);
  EXPECT_FALSE(entered->leaving);
  for (const CallRecord& call : {entered->call, open.call()}) {
    EXPECT_EQ(call.kind, RecordKind::kCall);
    EXPECT_EQ(call.flags, kPerThread | kOwnNumber);
    EXPECT_EQ(call.call, id);
    EXPECT_EQ(call.call_number, 0x80000007u);
    EXPECT_EQ(call.begin, 1000u);
    EXPECT_EQ(call.end, 0u);
    EXPECT_EQ(call.stream, 0xa00au);
    EXPECT_EQ(call.object, 0xe00eu);
    EXPECT_EQ(call.value, 3u);
    EXPECT_EQ(call.context, 4u);
    EXPECT_EQ(call.result, 0);
    EXPECT_EQ(call.operation, 5u);
    EXPECT_EQ(call.stack, 0x90000006u);
  }
  open.set_object(0xe00f);
  open.set_context(kNone32);
  open.begin_leaving();
  const auto leaving = open.read();
  ASSERT_TRUE(leaving);
  EXPECT_TRUE(leaving->leaving);
  EXPECT_EQ(leaving->call.end, 0u);
  EXPECT_EQ(leaving->call.object, 0xe00fu);
  EXPECT_EQ(leaving->call.context, kNone32);
  EXPECT_EQ(leaving->call.result, 0);

  OpenCall copy{};
  copy.write(*leaving);
  ASSERT_TRUE(copy.read());
  EXPECT_TRUE(copy.read()->leaving);
  EXPECT_EQ(std::memcmp(&copy.read()->call, &leaving->call, sizeof(CallRecord)), 0);
  open.close();
  EXPECT_FALSE(open.read());
}

TEST(OpenCall, ThatIsOverwrittenIsNeverReadAsAMixture) {
  OpenCall open{};
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    for (uint64_t n = 1; !ends; ++n) {
      open.prepare(0, 0, static_cast<uint32_t>(n), n, n, n, static_cast<uint32_t>(n), 0, 0);
      open.open(n);
      open.begin_leaving();
      open.close();
    }
  });
  size_t seen = 0;
  while (seen < 20'000) {
    const auto view = open.read();
    if (!view) continue;
    ++seen;
    const uint64_t n = view->call.begin;
    EXPECT_EQ(view->call.stream, n);
    EXPECT_EQ(view->call.object, n);
    EXPECT_EQ(view->call.value, n);
    EXPECT_EQ(view->call.call_number, static_cast<uint32_t>(n));
    EXPECT_EQ(view->call.context, static_cast<uint32_t>(n));
  }
  ends = true;
  writer.join();
}

}  // namespace
}  // namespace streamscope::ring
