// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "ring/calls.h"

#include <gtest/gtest.h>

namespace streamscope::ring {
namespace {

TEST(Calls, AreFoundByNameAndAgreeOnTheKindWhereAFunctionHasSeveralVersions) {
  for (CallId id = 0; id < call_count(); ++id) {
    const auto found = find_call(call_info(id).name);
    ASSERT_TRUE(found);
    EXPECT_EQ(call_info(*found).kind, call_info(id).kind) << call_info(id).name;
  }
  EXPECT_FALSE(find_call("cudaGetDevice"));
}

TEST(Calls, KnowWhichOnesChangeTheMeaningOfAHandle) {
  auto kind = [](std::string_view name) { return call_info(*find_call(name)).kind; };
  EXPECT_TRUE(changes_identity(kind("cudaEventRecordWithFlags")));
  EXPECT_TRUE(changes_identity(kind("cudaEventDestroy")));
  EXPECT_TRUE(changes_identity(kind("simStreamCreate")));
  EXPECT_FALSE(changes_identity(kind("cudaStreamWaitEvent")));
  EXPECT_FALSE(changes_identity(kind("cudaLaunchKernel")));
}

TEST(Calls, CoverEverySimulatedCall) {
  for (const char* name :
       {"simLaunchKernel",      "simMemcpyAsync",  "simMemsetAsync",       "simLaunchHostFunc",
        "simEventCreate",       "simEventDestroy", "simEventRecord",       "simEventQuery",
        "simEventSynchronize",  "simStreamCreate", "simStreamDestroy",     "simStreamWaitEvent",
        "simStreamSynchronize", "simStreamQuery",  "simDeviceSynchronize", "simStreamWaitValue",
        "simStreamWriteValue",  "simMallocAsync",  "simFreeAsync",         "simGraphLaunch"})
    EXPECT_TRUE(find_call(name)) << name;
}

}  // namespace
}  // namespace streamscope::ring
