// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Collectives in profiles of PyTorch, old and new.
#include <gmock/gmock.h>

#include "analysis/usage/collectives.h"
#include "import/imported.h"

namespace streamscope::test {
namespace {

using testing::ElementsAre;
using trace::Trace;

std::string event(const std::string& category, const std::string& name, int tid, int start,
                  int duration, const std::string& args) {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":10,"tid":)" +
         std::to_string(tid) + R"(,"ts":)" + std::to_string(start) + R"(,"dur":)" +
         std::to_string(duration) + R"(,"args":{)" + args + "}},\n";
}
std::string launch(int start, int correlation) {
  return event("cuda_runtime", "cudaLaunchKernel", 1, start, 2,
               R"("correlation":)" + std::to_string(correlation));
}
std::string collective_kernel(const std::string& name, int start, int correlation,
                              const std::string& more = "") {
  return event(
      "kernel", name, 7, start, 50,
      R"("device":0,"context":1,"stream":7,"correlation":)" + std::to_string(correlation) + more);
}
std::string profile_with(const std::string& events) {
  return R"({"traceEvents": [)" + events +
         R"({"ph":"M","name":"process_name","pid":10,"args":{}}]})";
}

std::vector<std::string> described(const Trace& trace) {
  std::vector<std::string> result;
  for (const analysis::Collective& one : analysis::collectives(trace)) {
    result.push_back(one.communicator + " " + std::to_string(one.communicator_size) + " " +
                     std::to_string(one.sequence) + " " +
                     std::string(name_of(kCollectiveKinds, one.kind)) + " " +
                     std::to_string(one.bytes) + " " + std::to_string(one.peer));
  }
  return result;
}

class KinetoCollectives : public ImportTest {
 protected:
  std::vector<std::string> of(const std::string& events) {
    return described(import(write(profile_with(events), "profile.json")));
  }
};

TEST_F(KinetoCollectives, AreDescribedByTheArgumentsOfTheirKernels) {
  const std::string arguments =
      R"(,"Collective name":"allreduce","In msg nelems":1000,"Out msg nelems":1000,"Group size":4,)"
      R"("dtype":"BFloat16","Process Group Name":"7","Process Group Description":"mesh_tp",)"
      R"("Process Group Ranks":"[0, 1, 2, 3]","Seq":41)";
  const std::string send =
      R"(,"Collective name":"send","In msg nelems":10,"Group size":2,"dtype":"Float",)"
      R"("Process Group Name":"9","Process Group Description":"undefined","Dst Rank":1)";
  EXPECT_THAT(of(launch(100, 1) + collective_kernel("ncclDevKernel_Generic", 200, 1, arguments) +
                 launch(110, 2) + collective_kernel("ncclDevKernel_SendRecv", 300, 2, send)),
              ElementsAre("mesh_tp 7 4 41 all-reduce 2000 -1", "9 2 0 send 40 1"));
}

TEST_F(KinetoCollectives, AreDescribedByTheAnnotationsAroundTheirLaunches) {
  const std::string events =
      event("user_annotation", "nccl:all_to_all", 1, 90, 30,
            R"("Input Dims":[[6, 4],[2]],"Input type":["float","long int"])") +
      launch(100, 1) + collective_kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", 200, 1);
  EXPECT_THAT(of(events), ElementsAre("default -1 0 all-to-all 112 -1"));
}

TEST_F(KinetoCollectives, PreferTheKernelToTheAnnotation) {
  const std::string events =
      event("user_annotation", "nccl:broadcast", 1, 90, 30,
            R"("Input Dims":[[8]],"Input type":["float"])") +
      launch(100, 1) +
      collective_kernel(
          "ncclKernel_Broadcast", 200, 1,
          R"(,"Collective name":"broadcast","In msg nelems":8,"dtype":"Float",)"
          R"("Group size":2,"Process Group Name":"0","Process Group Description":"default_pg")");
  EXPECT_THAT(of(events), ElementsAre("default_pg 0 2 0 broadcast 32 -1"));
}

TEST_F(KinetoCollectives, OfGlooHaveTheTimesOfTheirAnnotations) {
  const Trace trace =
      import(write(profile_with(event("user_annotation", "gloo:all_reduce", 1, 90, 30,
                                      R"("Input Dims":[[8]],"Input type":["double"])")),
                   "profile.json"));
  EXPECT_THAT(described(trace), ElementsAre("gloo -1 0 all-reduce 64 -1"));
  const auto found = analysis::collectives(trace);
  EXPECT_EQ(found[0].end_ns - found[0].start_ns, 30'000);
}

TEST_F(KinetoCollectives, WithImpossibleArgumentsAreKnownByTheRest) {
  const std::string arguments =
      R"(,"Collective name":"allreduce","In msg nelems":1152921504606846976,"Group size":-3,)"
      R"("dtype":"quint4x2","Process Group Name":"","Seq":99999999999)";
  EXPECT_THAT(
      of(launch(100, 1) + collective_kernel("ncclDevKernel_Generic", 200, 1, arguments) +
         collective_kernel("ncclKernel_AllGather", 300, 77, R"(,"Collective name":"send")") +
         event("user_annotation", "nccl:reduce", 1, 400, 30,
               R"("Input Dims":[[4611686018427387904,4]],"Input type":"float")") +
         launch(401, 3) + collective_kernel("ncclKernel_Reduce", 450, 3)),
      ElementsAre("default -1 0 all-reduce 0 -1", "default -1 1 all-gather 0 -1",
                  "default -1 2 reduce 0 -1"));
}

TEST_F(KinetoCollectives, AreNotFoundInOtherAnnotations) {
  EXPECT_THAT(of(event("user_annotation", "ProfilerStep#3", 1, 90, 30,
                       R"("Input Dims":[[8]],"Input type":["float"])") +
                 launch(100, 1) + collective_kernel("gemm", 200, 1)),
              testing::IsEmpty());
}

}  // namespace
}  // namespace streamscope::test
