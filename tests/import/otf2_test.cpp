// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "imported.h"
#include "support/sanitized.h"
#include "trace/error.h"

#if STREAMSCOPE_OTF2

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <random>

#include "support/otf2_archive.h"
#include "support/units.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using trace::Id;
using trace::Trace;

class Otf2Import : public ImportTest {
 protected:
  std::vector<Trace> import_all(const std::filesystem::path& file) {
    std::vector<Trace> traces;
    const auto out = folder_ / "part.sqlite";
    import::import_processes(import::importer_of(file), file, out,
                             [&](const RankClaim&) { traces.push_back(trace::read(out));
  });
  return traces;
} std::string refusal(const std::filesystem::path& file) {
  try {
    import_all(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
/// The name of the call that issued an op; "" if none is known.
static std::string issuer(const Trace& trace, Id op) {
  const Id call = trace.op.api_call_id[op];
  return call == trace::kNoId ? "" : std::string(trace.text(trace.api_call.name_id[call]));
}
};  // namespace

TEST_F(Otf2Import, ReadsThreadsStreamsWorkAndWhatCallsActOn) {
  Otf2Archive archive(folder_ / "a", {});
  const uint64_t thread = Otf2Archive::thread(0), stream = Otf2Archive::stream(0);
  const uint32_t step =
      archive.region("step(int)", OTF2_PARADIGM_USER, OTF2_REGION_ROLE_FUNCTION, "/src/md.cpp", 12);
  archive.enter(thread, 10, step);
  archive.call(thread, "cudaMemcpyAsync", 11, 13, {.stream = 0});
  archive.call(thread, "cudaLaunchKernel", 14, 16, {.stream = 0});
  archive.call(thread, "cudaEventRecord", 17, 18, {.stream = 0, .event = 0x7f00});
  archive.call(thread, "cudaEventSynchronize", 20, 100, {.event = 0x7f00});
  archive.call(thread, "cudaStreamSynchronize", 110, 120, {.stream = 0});
  archive.leave(thread, 130, step);
  archive.copy_to_device(stream, 20, 40, 4096);
  archive.kernel(stream, "axpy(float*)", 50, 90);
  const uint32_t idle =
      archive.region("COMPUTE IDLE", OTF2_PARADIGM_CUDA, OTF2_REGION_ROLE_ARTIFICIAL);
  archive.enter(stream, 90, idle);
  archive.leave(stream, 95, idle);
  const Trace trace = import(archive.close());

  EXPECT_EQ(trace.meta.at("imported_from"), "otf2");
  EXPECT_EQ(trace.meta.at("trace_start_realtime_ns"), "1700000000000000000");
  EXPECT_EQ(trace.process.rank[0], trace::kNoSmall);
  EXPECT_EQ(trace.text(trace.thread.name_id[0]), "Master thread");
  EXPECT_EQ(trace.text(trace.device.name_id[0]), "NVIDIA H100");
  EXPECT_EQ(trace.stream.native_id[0], 7);
  ASSERT_EQ(trace.op.size(), 2u);
  EXPECT_EQ(trace.op.kind[0], trace::kMemcpy);
  EXPECT_EQ(trace.op.detail[0], CopyKind::kHostToDevice);
  EXPECT_EQ(trace.op.bytes[0], 4096);
  EXPECT_EQ(trace.op.start_ns[0], 20 * kUs);
  EXPECT_EQ(trace.op.end_ns[0], 40 * kUs);
  EXPECT_EQ(issuer(trace, 0), "cudaMemcpyAsync");
  EXPECT_EQ(trace.text(trace.op.name_id[1]), "axpy(float*)");
  EXPECT_EQ(issuer(trace, 1), "cudaLaunchKernel");
  ASSERT_EQ(trace.event_record.size(), 1u);
  EXPECT_EQ(trace.event_record.stream_id[0], 0u);
  ASSERT_EQ(trace.host_sync.size(), 2u);
  EXPECT_EQ(trace.host_sync.binding[0], trace::kBindingExact);
  EXPECT_EQ(trace.host_sync.record_id[0], 0u);
  EXPECT_EQ(trace.host_sync.kind[1], trace::kStreamSynchronize);
  EXPECT_EQ(trace.host_sync.stream_id[1], 0u);
  ASSERT_EQ(trace.range.size(), 1u);
  EXPECT_EQ(trace.text(trace.range.name_id[0]), "step(int)");
  EXPECT_EQ(trace.text(trace.range.domain_id[0]), "user");
  EXPECT_EQ(trace.range.start_ns[0], 10 * kUs);
  const Id stack = trace.api_call.stack_id[trace.op.api_call_id[1]];
  ASSERT_NE(stack, trace::kNoId);
  EXPECT_EQ(trace.text(trace.stack_frame.symbol_id[0]), "step(int) /src/md.cpp:12");
  EXPECT_EQ(trace.loss.size(), 0u);
}

TEST_F(Otf2Import, FindsStreamsInTheGroupOfTheirProcess) {
  Otf2Archive archive(folder_ / "a", {.streams_in = OTF2_LOCATION_GROUP_TYPE_PROCESS});
  archive.call(Otf2Archive::thread(0), "cudaLaunchKernel", 1, 2);
  archive.kernel(Otf2Archive::stream(0), "k", 3, 4);
  const Trace trace = import(archive.close());
  ASSERT_EQ(trace.op.size(), 1u);
  EXPECT_EQ(issuer(trace, 0), "cudaLaunchKernel");
  EXPECT_EQ(trace.device.ordinal[0], 0);
}

TEST_F(Otf2Import, LinksWorkToCallsOnlyWhereOneOrderIsPossible) {
  const uint64_t thread = Otf2Archive::thread(0);
  const auto traced = [&](const char* name, Otf2Archive::References first,
                          Otf2Archive::References second) {
    Otf2Archive archive(folder_ / name, {.streams = 2});
    archive.call(thread, "cudaLaunchKernel", 1, 2, first);
    archive.call(thread, "cudaLaunchKernel", 3, 4, second);
    // The second one runs first.
    archive.kernel(Otf2Archive::stream(0, 0), "a", 20, 30, first.call_site);
    archive.kernel(Otf2Archive::stream(0, 1), "b", 5, 6, second.call_site);
    return import(archive.close());
  };
  const auto issued = [&](const Trace& trace, Id op) {
    const Id call = trace.op.api_call_id[op];
    return call == trace::kNoId ? trace::kUnknownNs : trace.api_call.start_ns[call];
  };
  for (const Trace& trace : {traced("streams", {.stream = 0}, {.stream = 1}),
                             traced("sites", {.call_site = 77}, {.call_site = 78})}) {
    EXPECT_EQ(issued(trace, 0), 3 * kUs);
    EXPECT_EQ(issued(trace, 1), 1 * kUs);
    EXPECT_EQ(lost(trace, "import-op-without-call"), 0);
  }
  const Trace unknown = traced("nothing", {}, {});
  EXPECT_EQ(issued(unknown, 0), trace::kUnknownNs);
  EXPECT_EQ(lost(unknown, "import-op-without-call"), 2);
}

TEST_F(Otf2Import, MakesATraceOfEachRankWithWhatMpiDoes) {
  Otf2Archive archive(folder_ / "a", {.ranks = 2});
  const uint32_t send = archive.region("MPI_Ssend", OTF2_PARADIGM_MPI),
                 receive = archive.region("MPI_Irecv", OTF2_PARADIGM_MPI),
                 wait = archive.region("MPI_Wait", OTF2_PARADIGM_MPI);
  for (int rank = 0; rank < 2; ++rank) {
    archive.collective(rank, "MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE, 10 + rank, 20, 64, 64);
    archive.collective(rank, "MPI_Bcast", OTF2_COLLECTIVE_OP_BCAST, 30, 40, rank == 0 ? 16 : 0, 8);
    archive.collective(rank, "MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER, 41, 42, 0, 0,
                       Otf2Archive::kReversed);
    archive.collective(rank, "MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER, 43, 44, 0, 0,
                       Otf2Archive::kSelf);
  }
  OTF2_EvtWriter* const sender = archive.events(0);
  archive.enter(0, 50, send);
  OTF2_EvtWriter_MpiSend(sender, nullptr, Otf2Archive::ticks(51), 0, Otf2Archive::kReversed, 1,
                         100);
  archive.leave(0, 60, send);
  OTF2_EvtWriter* const receiver = archive.events(1);
  archive.enter(1, 45, receive);
  OTF2_EvtWriter_MpiIrecvRequest(receiver, nullptr, Otf2Archive::ticks(46), 9);
  archive.leave(1, 47, receive);
  archive.enter(1, 55, wait);
  OTF2_EvtWriter_MpiIrecv(receiver, nullptr, Otf2Archive::ticks(61), 1, Otf2Archive::kReversed, 1,
                          100, 9);
  archive.leave(1, 62, wait);
  const auto file = archive.close();
  const std::vector<Trace> traces = import_all(file);
  ASSERT_THAT(traces, SizeIs(2));
  for (int rank = 0; rank < 2; ++rank) {
    const Trace& trace = traces[static_cast<size_t>(rank)];
    EXPECT_EQ(trace.process.rank[0], rank);
    EXPECT_EQ(trace.process.world_size[0], 2);
    EXPECT_EQ(trace.text(trace.process.rank_source_id[0]), "MPI");
    const auto& calls = trace.collective_call;
    std::vector<std::string> names, communicators;
    for (Id call = 0; call < calls.size(); ++call) {
      names.emplace_back(trace.text(calls.name_id[call]));
      communicators.emplace_back(trace.text(calls.communicator_id[call]));
      EXPECT_EQ(calls.rank_count[call], 2);
    }
    EXPECT_THAT(names, ElementsAre("MPI_Allreduce", "MPI_Bcast", "MPI_Barrier",
                                   rank == 0 ? "MPI_Send" : "MPI_Irecv"));
    EXPECT_THAT(communicators, ElementsAre("MPI_COMM_WORLD", "MPI_COMM_WORLD", "Comm 1", "Comm 1"));
    EXPECT_EQ(calls.start_ns[0], (10 + rank) * kUs);
    EXPECT_EQ(calls.end_ns[0], 20 * kUs);
    EXPECT_EQ(calls.bytes[0], 64);
    EXPECT_EQ(calls.bytes[1], 8);
    // As ranks of the communicator, which has the others first; the send lasts until its function
    // returns, the receive from the wait on.
    EXPECT_EQ(calls.rank[3], 1 - rank);
    EXPECT_EQ(calls.peer[3], rank);
    EXPECT_EQ(calls.bytes[3], 100);
    EXPECT_EQ(calls.start_ns[3], (rank == 0 ? 50 : 55) * kUs);
    EXPECT_EQ(calls.end_ns[3], (rank == 0 ? 60 : 61) * kUs);
    EXPECT_EQ(lost(trace, "record-invalid"), 0);
  }
  EXPECT_THAT([&] { import(file); }, testing::ThrowsMessage<Error>(testing::AllOf(
                                         HasSubstr("2 processes"), HasSubstr("--run"))));
}

TEST_F(Otf2Import, LetsAFunctionThatSendsAndReceivesWaitToReceive) {
  Otf2Archive archive(folder_ / "a", {.ranks = 2});
  const uint32_t both = archive.region("MPI_Sendrecv", OTF2_PARADIGM_MPI),
                 only = archive.region("MPI_Send", OTF2_PARADIGM_MPI);
  for (const uint32_t function : {both, only}) {
    const int64_t at = function == both ? 10 : 50;
    archive.enter(0, at, function);
    OTF2_EvtWriter_MpiSend(archive.events(0), nullptr, Otf2Archive::ticks(at), 1,
                           Otf2Archive::kWorld, 1, 8);
    if (function == both) {
      OTF2_EvtWriter_MpiRecv(archive.events(0), nullptr, Otf2Archive::ticks(at + 20), 1,
                             Otf2Archive::kWorld, 1, 8);
    }
    archive.leave(0, at + 20, function);
  }
  archive.call(1, "cudaDeviceSynchronize", 1, 2);
  const Trace trace = import_all(archive.close()).at(0);
  const auto& calls = trace.collective_call;
  ASSERT_EQ(calls.size(), 3u);
  std::vector<trace::Ns> lasting;
  for (Id call = 0; call < calls.size(); ++call)
    lasting.push_back((calls.end_ns[call] - calls.start_ns[call]) / kUs);
  EXPECT_THAT(lasting, ElementsAre(0, 20, 20));
  EXPECT_EQ(trace.text(calls.name_id[1]), "MPI_Recv");
}

TEST_F(Otf2Import, CountsInvalidEvents) {
  Otf2Archive archive(folder_ / "a", {});
  const uint32_t outer = archive.region("outer"), inner = archive.region("inner");
  archive.leave(0, 1, inner);
  archive.enter(0, 2, outer);
  archive.enter(0, 3, inner);
  archive.leave(0, 4, outer);
  archive.enter(0, 4, 999);  // of no definition
  archive.leave(0, 5, 999);
  archive.call(0, "cudaDeviceSynchronize", 5, 5);
  archive.enter(0, 5, outer);
  OTF2_EvtWriter_MpiIsendComplete(archive.events(0), nullptr, Otf2Archive::ticks(6), 3);
  archive.enter(Otf2Archive::stream(0), 5, archive.region("kernel", OTF2_PARADIGM_CUDA));
  const Trace trace = import(archive.close());
  EXPECT_EQ(lost(trace, "record-invalid"), 4);
  ASSERT_EQ(trace.range.size(), 4u);
  EXPECT_EQ(trace.range.end_ns[1], 4 * kUs);
  EXPECT_EQ(trace.text(trace.range.name_id[2]), "undefined region");
  EXPECT_EQ(trace.range.end_ns[3], trace::kUnknownNs);
}

class DamagedOtf2 : public Otf2Import {
 protected:
#ifdef __SANITIZE_ADDRESS__
  // The library does not free all memory of an archive that it refuses to open.
  __lsan::ScopedDisabler no_leaks_;
#endif
  std::filesystem::path archive(const char* name = "a") {
    Otf2Archive archive(folder_ / name, {.ranks = 2});
    const uint32_t step = archive.region("step");
    for (int rank = 0; rank < 2; ++rank) {
      archive.enter(Otf2Archive::thread(rank), 1, step);
      archive.call(Otf2Archive::thread(rank), "cudaLaunchKernel", 1, 2, {.stream = 0, .event = 5});
      archive.leave(Otf2Archive::thread(rank), 3, step);
      archive.collective(rank, "MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE, 3, 9, 8);
      archive.copy_to_device(Otf2Archive::stream(rank), 2, 4, 100);
      archive.kernel(Otf2Archive::stream(rank), "k", 5, 7);
    }
    return archive.close();
  }
  static std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {(std::istreambuf_iterator<char>(in)), {}};
  }
  static void replace(const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
};

TEST_F(DamagedOtf2, IsNamedByFileAndRemedy) {
  const auto file = archive();
  const std::string definitions = bytes_of(folder_ / "a/traces.def"),
                    events = bytes_of(folder_ / "a/traces/1.evt");
  EXPECT_EQ(refusal(file), "");
  std::filesystem::remove(folder_ / "a/traces/1.evt");
  EXPECT_THAT(refusal(file), HasSubstr("a/traces/1.evt: is missing; copy the whole archive"));
  replace(folder_ / "a/traces/1.evt", events.substr(0, events.size() - 5));
  EXPECT_THAT(refusal(file), HasSubstr("a/traces/1.evt: is damaged"));
  replace(folder_ / "a/traces/1.evt", "");
  EXPECT_THAT(refusal(file), HasSubstr("a/traces/1.evt: is damaged"));
  replace(folder_ / "a/traces/1.evt", events);
  replace(folder_ / "a/traces.def", definitions.substr(0, definitions.size() / 2));
  EXPECT_THAT(refusal(file), HasSubstr("a/traces.def: is damaged"));
  std::filesystem::remove(folder_ / "a/traces.def");
  EXPECT_THAT(refusal(file), HasSubstr("a/traces.def: is missing"));
  replace(folder_ / "a/traces.def", definitions);
  replace(file, bytes_of(file).substr(0, 20));
  EXPECT_THAT(refusal(file), HasSubstr("a/traces.otf2: is damaged"));
}

TEST_F(DamagedOtf2, IsImportedOrRefusedWhateverBytesChange) {
  constexpr int kTries = sample_of(150);
  const auto file = archive();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "a")) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::mt19937 random(7);
  const auto below = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  int refused = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const auto& damaged = files[below(files.size())];
    const std::string whole = bytes_of(damaged);
    std::string bytes = whole;
    for (size_t change = 0; change <= below(3); ++change)
      bytes[below(bytes.size())] = static_cast<char>(below(4) == 0 ? 0xff : below(256));
    if (below(8) == 0) bytes.resize(below(bytes.size()));
    replace(damaged, bytes);
    refused += !refusal(file).empty();  // what is no Error ends the test
    replace(damaged, whole);
  }
  EXPECT_GT(refused, kTries / 10);
  EXPECT_LT(refused, kTries);
  EXPECT_EQ(refusal(file), "");
}

}  // namespace streamscope::test
}  // namespace streamscope::test

#else

TEST(Otf2Import, NeedsTheLibrary) { GTEST_SKIP() << "built without libopen-trace-format2-dev"; }

#endif
