// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/usage/collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

using test::TraceBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kKernel = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)";

TEST(CollectiveKind, IsReadFromTheNamesOfKernelsCallsAndAnnotations) {
  const auto name = [](std::string_view of) {
    return name_of(kCollectiveKinds, collective_kind(of));
  };
  EXPECT_EQ(name("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "all-reduce");
  EXPECT_EQ(name("ncclKernel_ReduceScatter_RING_LL_Sum_int8_t(ncclDevComm*)"), "reduce-scatter");
  EXPECT_EQ(name("nccl:_all_gather_base"), "all-gather");
  EXPECT_EQ(name("allreduce_coalesced"), "all-reduce");
  EXPECT_EQ(name("ncclAlltoAll"), "all-to-all");
  EXPECT_EQ(name("all_to_allv"), "all-to-all");
  EXPECT_EQ(name("ncclReduce"), "reduce");
  EXPECT_EQ(name("ncclSend"), "send");
  EXPECT_EQ(name("nccl:recv 0<-1"), "receive");
  EXPECT_EQ(name("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"), "collective");
  EXPECT_EQ(name("ncclGroupEnd"), "collective");
  EXPECT_EQ(name(kKernel), "collective");
  EXPECT_EQ(name(""), "collective");
}

// A program that calls NCCL: `calls` first, then one kernel, launched in the last of them or, in a
// group, after all of them.
class NcclProgram {
 public:
  TraceBuilder builder;

  trace::CollectiveCall call(std::string_view name, std::string_view communicator = "",
                             trace::Int bytes = trace::kNoInt,
                             trace::Small peer = trace::kNoSmall) {
    trace::CollectiveCall row{
        .thread_id = 0, .name_id = builder.intern(name), .bytes = bytes, .peer = peer};
    if (!communicator.empty()) row.communicator_id = builder.intern(communicator);
    return row;
  }
  void in(trace::CollectiveCall row, std::string_view stream = "comm",
          std::string_view kernel = kKernel) {
    const Ns begin = now_;
    launch(stream, kernel);
    add(row, begin, now_);
  }
  void group(std::vector<trace::CollectiveCall> rows, int kernels = 1) {
    for (const trace::CollectiveCall& row : rows) {
      add(row, now_, now_ + 5);
      now_ += 10;
    }
    for (int i = 0; i < kernels; ++i) launch("comm", kKernel);
  }
  void launch(std::string_view stream, std::string_view kernel) {
    builder.at(now_ + 2).stream(stream).kernel(kernel, now_ + 100, now_ + 150);
    now_ += 10;
  }
  /// A launch that is captured as a node: a call without an op.
  void capture(trace::CollectiveCall row, trace::Id graph, trace::Int number) {
    builder.add(trace::ApiCall{.thread_id = 0,
                               .kind = number_of(CallKind::kLaunch),
                               .name_id = builder.intern("cudaLaunchKernel"),
                               .start_ns = now_ + 2,
                               .end_ns = now_ + 3,
                               .call_number = number});
    add(row, now_, now_ + 5);
    builder.add(trace::GraphNode{.graph_id = graph,
                                 .native_id = number,
                                 .kind = 0,
                                 .name_id = builder.intern(kKernel),
                                 .call_number = number});
    now_ += 10;
  }
  trace::Id launch_graph(trace::Int number, trace::Int handle) {
    return builder.add(trace::ApiCall{.thread_id = 0,
                                      .kind = number_of(CallKind::kGraphLaunch),
                                      .name_id = builder.intern("cudaGraphLaunch"),
                                      .start_ns = now_,
                                      .end_ns = now_ + 5,
                                      .call_number = number,
                                      .object = handle});
  }
  trace::Id add(trace::CollectiveCall row, Ns start, Ns end) {
    row.start_ns = start;
    row.end_ns = end;
    return builder.add(row);
  }
  Ns& now() { return now_; }

  std::vector<Collective> found() const { return collectives(builder.trace()); }

 private:
  Ns now_ = 10;
};

std::vector<std::string> described(const std::vector<Collective>& all) {
  std::vector<std::string> result;
  for (const Collective& one : all) {
    result.push_back(one.communicator + " " + std::to_string(one.sequence) + " " +
                     std::string(name_of(kCollectiveKinds, one.kind)) + " " +
                     std::to_string(one.bytes));
  }
  return result;
}

TEST(Collectives, HaveWhatTheCallAroundTheirLaunchSays) {
  NcclProgram program;
  program.in(program.call("ncclAllReduce", "0x1f", 4096));
  program.in(program.call("ncclSend", "0x1f", 64, 3));
  const std::vector<Collective> found = program.found();
  EXPECT_THAT(described(found), ElementsAre("0x1f 0 all-reduce 4096", "0x1f 0 send 64"));
  EXPECT_EQ(found[0].issued_ns, 10);
  EXPECT_EQ(found[0].start_ns, 110);
  EXPECT_EQ(found[0].end_ns, 160);
  EXPECT_EQ(found[0].peer, -1);
  EXPECT_EQ(found[1].peer, 3);
}

TEST(Collectives, OfNoCallAreKnownByTheirKernel) {
  NcclProgram program;
  program.launch("comm", "ncclKernel_AllGather_RING_LL_Sum_int8_t");
  program.launch("main", "gemm");
  EXPECT_THAT(described(program.found()), ElementsAre("default 0 all-gather 0"));
}

TEST(Collectives, AreCountedPerCommunicatorOverAllStreams) {
  NcclProgram program;
  program.in(program.call("ncclAllReduce", "tp"), "a");
  program.in(program.call("ncclAllReduce", "dp"), "b");
  program.in(program.call("ncclAllGather", "tp"), "b");
  EXPECT_THAT(described(program.found()),
              ElementsAre("tp 0 all-reduce 0", "dp 0 all-reduce 0", "tp 1 all-gather 0"));
}

TEST(Collectives, AreCountedPerDeviceAsEachIsARank) {
  NcclProgram program;
  program.in(program.call("ncclAllReduce", "all"), "a");
  program.builder.device("second");
  program.in(program.call("ncclAllReduce", "all"), "b");
  EXPECT_THAT(described(program.found()), ElementsAre("all 0 all-reduce 0", "all 0 all-reduce 0"));
}

TEST(Collectives, OfAGroupAreOne) {
  NcclProgram program;
  program.group({program.call("ncclAllReduce", "tp", 8), program.call("ncclAllReduce", "tp", 16)});
  program.in(program.call("ncclAllReduce", "tp", 32));
  EXPECT_THAT(described(program.found()), ElementsAre("tp 0 all-reduce 24", "tp 1 all-reduce 32"));
}

TEST(Collectives, OfAGroupOfSendsAndReceivesStayApartAndAreCountedApart) {
  NcclProgram program;
  program.group({program.call("ncclSend", "pp", 8, 1), program.call("ncclRecv", "pp", 16, 3)});
  program.in(program.call("ncclAllReduce", "pp", 32));
  program.group({program.call("ncclSend", "pp", 8, 2)});
  const std::vector<Collective> found = program.found();
  EXPECT_THAT(described(found),
              ElementsAre("pp 0 send 8", "pp 1 receive 16", "pp 0 all-reduce 32", "pp 2 send 8"));
  EXPECT_EQ(found[0].peer, 1);
  EXPECT_EQ(found[1].peer, 3);
  EXPECT_EQ(found[0].op, found[1].op);
  EXPECT_EQ(found[0].end_ns, found[1].end_ns);
}

TEST(Collectives, OfAGroupAreOneForEachCommunicator) {
  NcclProgram program;
  program.group({program.call("ncclAllReduce", "tp", 8), program.call("ncclAllGather", "dp", 16),
                 program.call("ncclAllReduce", "tp", 8)},
                2);
  EXPECT_THAT(described(program.found()), ElementsAre("tp 0 all-reduce 16", "dp 0 all-gather 16"));
}

TEST(Collectives, ThatSendToAllAndReceiveFromAllAreAnAllToAll) {
  NcclProgram program;
  const auto exchange = [&](int ranks) {
    std::vector<trace::CollectiveCall> calls;
    for (trace::Small peer = 0; peer < 3; ++peer) {
      for (const char* name : {"ncclSend", "ncclRecv"}) {
        calls.push_back(program.call(name, "ep", 8, peer));
        calls.back().rank_count = ranks;
      }
    }
    program.group(calls);
  };
  exchange(3);
  exchange(8);  // with neighbors only
  const std::vector<Collective> found = program.found();
  ASSERT_THAT(found, SizeIs(7));
  EXPECT_EQ(found[0].kind, CollectiveKind::kAllToAll);
  EXPECT_EQ(found[0].bytes, 48);
  EXPECT_EQ(found[1].kind, CollectiveKind::kSend);
  EXPECT_EQ(found[6].kind, CollectiveKind::kReceive);
  EXPECT_EQ(found[6].sequence, 5u);
}

TEST(Collectives, TakeTheInnermostOfCallsAndTheKindOfTheOuter) {
  NcclProgram program;
  // The annotation of a profile around the call of the library.
  Ns begin = program.now();
  program.in(program.call("ncclAllReduce", "tp", 32));
  program.add(program.call("nccl:all_reduce"), begin - 1, program.now() + 1);
  program.now() += 10;
  begin = program.now();
  program.group({program.call("ncclSend", "tp", 8, 0), program.call("ncclRecv", "tp", 8, 0)});
  program.add(program.call("nccl:all_to_all"), begin - 1, program.now() + 1);
  EXPECT_THAT(described(program.found()), ElementsAre("tp 0 all-reduce 32", "tp 1 all-to-all 16"));
}

TEST(Collectives, OfOneCallAreOneWithSeveralKernels) {
  NcclProgram program;
  const Ns begin = program.now();
  program.launch("comm", kKernel);
  program.launch("comm", kKernel);
  program.add(program.call("ncclAllGather", "tp"), begin, program.now());
  const std::vector<Collective> found = program.found();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].start_ns, 110);
  EXPECT_EQ(found[0].end_ns, 170);
  EXPECT_NE(found[0].op, found[0].last_op);
}

TEST(Collectives, ThatLaunchNothingAreNoneUnlessTheyHaveNotReturned) {
  NcclProgram program;
  program.in(program.call("ncclAllReduce", "tp"));
  program.add(program.call("ncclAllReduce", "self"), program.now(), program.now() + 5);
  program.add(program.call("ncclAllReduce", "tp"), program.now() + 10, kUnknownNs);
  const std::vector<Collective> found = program.found();
  EXPECT_THAT(described(found), ElementsAre("tp 0 all-reduce 0", "tp 1 all-reduce 0"));
  EXPECT_EQ(found[1].op, kNoId);
  EXPECT_EQ(found[1].start_ns, kUnknownNs);
}

TEST(Collectives, OnTheHostHaveTheTimesOfTheirCalls) {
  NcclProgram program;
  program.add(program.call("gloo:all_reduce", "gloo"), 10, 90);
  program.add(program.call("gloo:all_reduce", "gloo"), 20, 80);  // at the same time
  const std::vector<Collective> found = program.found();
  EXPECT_THAT(described(found), ElementsAre("gloo 0 all-reduce 0", "gloo 1 all-reduce 0"));
  EXPECT_EQ(found[1].start_ns, 20);
  EXPECT_EQ(found[1].end_ns, 80);
  EXPECT_EQ(found[1].stream, kNoId);
}

TEST(Collectives, KeepGivenNumbersOnlyIfAllHaveThemInOrder) {
  const auto numbers = [](std::initializer_list<trace::Int> given) {
    NcclProgram program;
    for (const trace::Int number : given) {
      trace::CollectiveCall call = program.call("ncclAllReduce", "tp");
      call.sequence = number;
      program.in(call);
    }
    std::vector<uint32_t> result;
    for (const Collective& one : program.found()) result.push_back(one.sequence);
    return result;
  };
  EXPECT_THAT(numbers({7, 8, 12}), ElementsAre(7, 8, 12));
  EXPECT_THAT(numbers({7, 7, 8}), ElementsAre(0, 1, 2));
  EXPECT_THAT(numbers({7, trace::kNoInt, 9}), ElementsAre(0, 1, 2));
}

TEST(Collectives, ThatWereCapturedAreCountedForEachLaunchOfTheirGraph) {
  NcclProgram program;
  TraceBuilder& builder = program.builder;
  const trace::Id graph = builder.add(trace::Graph{.process_id = 0});
  trace::Int number = 100;
  for (int captured = 0; captured < 2; ++captured) {
    program.capture(program.call("ncclAllReduce", "tp", number), graph, number);
    ++number;
  }
  for (int launch = 0; launch < 2; ++launch) {
    const trace::Id call = program.launch_graph(number++, trace::kNoInt);
    // The nodes may start in any order.
    for (const trace::Int native : {101, 100}) {
      builder.stream("comm").kernel(kKernel, program.now() + 300 - native,
                                    program.now() + 350 - native);
      const trace::Id op = builder.stream("comm").last_op();
      builder.columns().op.api_call_id[op] = call;
      builder.columns().op.graph_node[op] = native;
    }
    program.now() += 400;
  }
  const std::vector<Collective> found = program.found();
  EXPECT_THAT(described(found), ElementsAre("tp 0 all-reduce 100", "tp 1 all-reduce 101",
                                            "tp 2 all-reduce 100", "tp 3 all-reduce 101"));
  EXPECT_EQ(found[0].issued_ns, found[1].issued_ns);
  EXPECT_LT(found[1].issued_ns, found[2].issued_ns);
}

// The communicator of most ranks stands for the launch; the numbers of the other one go on.
TEST(Collectives, OfALaunchThatIsOneOpAreOne) {
  NcclProgram program;
  TraceBuilder& builder = program.builder;
  const trace::Id graph = builder.add(
      trace::Graph{.process_id = 0, .executable = 1, .handle = 0x77, .created_ns = program.now()});
  trace::Int number = 100;
  for (const char* communicator : {"tp", "dp", "tp", "pp"}) {
    const bool sends = std::string_view(communicator) == "pp";
    trace::CollectiveCall call =
        program.call(sends ? "ncclSend" : "ncclAllReduce", communicator, 8);
    call.rank_count = sends ? 9 : *communicator == 't' ? 2 : 4;
    program.capture(call, graph, number);
    ++number;
  }
  builder.add(trace::GraphNode{
      .graph_id = graph, .native_id = number, .kind = 0, .name_id = builder.intern("gemm")});
  for (int launch = 0; launch < 2; ++launch) {
    const trace::Id call = program.launch_graph(number++, 0x77);
    builder.stream("comm").kernel("graph", program.now() + 10, program.now() + 90);
    const trace::Id op = builder.stream("comm").last_op();
    builder.columns().op.kind[op] = trace::kGraphLaunch;
    builder.columns().op.api_call_id[op] = call;
    program.now() += 100;
    program.in(program.call("ncclAllReduce", "tp", 1));
    program.in(program.call("ncclAllReduce", "dp", 1));
  }
  const std::vector<Collective> found = program.found();
  EXPECT_THAT(described(found),
              ElementsAre("dp 0 graph launch 8", "tp 2 all-reduce 1", "dp 1 all-reduce 1",
                          "dp 2 graph launch 8", "tp 5 all-reduce 1", "dp 3 all-reduce 1"));
  EXPECT_EQ(found[0].end_ns - found[0].start_ns, 80);
  EXPECT_EQ(found[0].communicator_size, 4);
  EXPECT_LT(found[0].issued_ns, found[0].start_ns);
}

TEST(Collectives, AreNoneInAProgramWithoutThem) {
  TraceBuilder builder;
  builder.stream("main").kernel("gemm", 10, 20);
  EXPECT_THAT(collectives(builder.trace()), IsEmpty());
}

}  // namespace
}  // namespace streamscope::analysis
