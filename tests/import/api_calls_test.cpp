// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "import/api_calls.h"

#include <gtest/gtest.h>

#include "ring/calls.h"

namespace streamscope::import {
namespace {

TEST(ApiCalls, MeanWhatTheyMeanInARecording) {
  for (ring::CallId id = 0; id < ring::call_count(); ++id) {
    const ring::CallInfo& call = ring::call_info(id);
    EXPECT_EQ(call_kind(call.name), call.kind) << call.name;
  }
}

TEST(ApiCalls, AreKnownByTheirNamesInHipAndOldReleases) {
  EXPECT_EQ(call_kind("hipStreamWaitEvent"), CallKind::kStreamWait);
  EXPECT_EQ(call_kind("hipLaunchKernel"), CallKind::kLaunch);
  EXPECT_EQ(call_kind("hipMemcpyWithStream"), CallKind::kMemcpy);
  EXPECT_EQ(call_kind("hipMemcpyAsync"), CallKind::kMemcpyAsync);
  EXPECT_EQ(call_kind("hipDeviceSynchronize"), CallKind::kDeviceSynchronize);
  EXPECT_EQ(call_kind("cudaThreadSynchronize"), CallKind::kDeviceSynchronize);
  EXPECT_EQ(call_kind("cudaStreamIsCapturing"), CallKind::kOther);
  EXPECT_EQ(call_kind(""), CallKind::kOther);
}

TEST(ApiCalls, LoseTheVersionSuffixesOfAnExport) {
  EXPECT_EQ(without_version("cudaStreamWaitEvent_v3020"), "cudaStreamWaitEvent");
  EXPECT_EQ(without_version("cudaEventRecord_ptsz_v7000"), "cudaEventRecord");
  EXPECT_EQ(without_version("cuStreamWaitEvent_ptsz"), "cuStreamWaitEvent");
  EXPECT_EQ(without_version("cuMemcpyDtoH_v2"), "cuMemcpyDtoH_v2");
  EXPECT_EQ(without_version("cuda_v1"), "cuda");
  EXPECT_EQ(without_version("_v1"), "_v1");
}

}  // namespace
}  // namespace streamscope::import
