// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the memory detectors report on third-party programs, as our own traces that do the same:
// kernel parameters are never more than possible accesses, slices that bound each other are silent,
// and races through one pointer are found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "memory_places.h"
#include "run_detector.h"

namespace streamscope::analysis {
namespace {

using test::kDtoH;
using test::kHtoD;
using test::StreamBuilder;
using test::TraceBuilder;
using testing::HasSubstr;

constexpr trace::Int kMiB = 1 << 20;

TraceBuilder with_arguments() {
  TraceBuilder builder;
  builder.meta("kernel_arguments", "1").meta("tier", "times");
  return builder;
}

// All findings of the four; none may be certain.
std::vector<Finding> possible_findings(const TraceBuilder& builder) {
  std::vector<Finding> result;
  for (const char* detector : {"stream-race", "host-race", "use-before-alloc", "use-after-free"}) {
    for (const Finding& finding : run(detector, builder).findings) {
      EXPECT_EQ(finding.confidence, Confidence::kPossible) << detector << ": " << finding.title;
      result.push_back(finding);
    }
  }
  return result;
}

// HeCBench base64e: every stream copies and encodes its own slice, and every kernel gets the base
// pointers. Surplus threads read a few bytes of the next slice: parameters cannot show that.
TEST(MemoryOfPrograms, ABasePointerDoesNotShowWhichSliceIsRead) {
  for (const bool one_queue : {false, true}) {
    TraceBuilder builder = with_arguments();
    constexpr trace::Int kSlice = 8 * kMiB;
    builder.malloc(kA, 4 * kSlice).malloc(kB, 4 * kSlice);
    for (trace::Int i = 0; i < 4; ++i) {
      builder.stream(one_queue ? "queue" : "queue " + std::to_string(i))
          .memcpy(kHtoD, 100, 200)
          .writes(kA + i * kSlice, kSlice)
          .kernel("_Z10base64_encPKhPhcmj", 200, 300)
          .parameter(0, kA)
          .parameter(1, kB)
          .memcpy(kDtoH, 300, 400)
          .reads(kB + i * kSlice, kSlice);
    }
    EXPECT_EQ(possible_findings(builder).empty(), one_queue);
  }
}

// cuda-samples simpleHyperQ: 32 streams with a pair of kernels each, and a word for each kernel.
TEST(MemoryOfPrograms, SlotsOfOneArrayBoundEachOther) {
  for (const bool racy : {false, true}) {
    TraceBuilder builder = with_arguments();
    constexpr int kStreams = 32;
    constexpr trace::Int kWord = 8;
    builder.malloc(kA, 2 * kStreams * kWord);
    for (int i = 0; i < kStreams; ++i) {
      const trace::Int slot = racy ? kA : kA + 2 * i * kWord;
      builder.stream("stream " + std::to_string(i), trace::kBlockingStream)
          .kernel("_Z8kernel_APll", 100, 200)
          .parameter(0, slot)
          .kernel("_Z8kernel_BPll", 200, 300)
          .parameter(0, slot + kWord);
    }
    builder.stream("default", trace::kLegacyStream)
        .kernel("_Z3sumPli", 300, 400)
        .parameter(0, kA)
        .memcpy(kDtoH, 400, 500)
        .reads(kA, kWord);
    const std::vector<Finding> found = possible_findings(builder);
    // Not one for each pair of streams.
    EXPECT_EQ(found.size(), racy ? 2u : 0u);
    if (racy) {
      EXPECT_EQ(found[0].count, 31u);
    }
  }
}

// cuda-samples simpleStreams: slices of one array, and a factor that all kernels read through a
// pointer to non-const.
TEST(MemoryOfPrograms, SlicesBoundEachOtherAndASharedFactorIsOneLine) {
  for (const bool is_const : {false, true}) {
    TraceBuilder builder = with_arguments();
    constexpr trace::Int kSlice = 16 * kMiB;
    builder.malloc(kA, 4 * kSlice).malloc(kB, 4);
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (trace::Int i = 0; i < 4; ++i) {
        builder.stream("stream " + std::to_string(i), trace::kBlockingStream)
            .kernel(is_const ? "_Z10init_arrayPiPKii" : "_Z10init_arrayPiS_i", 100, 200)
            .parameter(0, kA + i * kSlice)
            .parameter(1, kB);
      }
      for (trace::Int i = 0; i < 4; ++i)
        builder.stream("stream " + std::to_string(i))
            .memcpy(kDtoH, 200, 300)
            .reads(kA + i * kSlice, kSlice);
    }
    const std::vector<Finding> found = possible_findings(builder);
    ASSERT_EQ(found.size(), is_const ? 0u : 1u);
    if (!is_const) {
      EXPECT_THAT(found[0].text, HasSubstr("4 B at 0x7f1000000000"));
    }
  }
}

TraceBuilder observed() {
  TraceBuilder builder;
  builder.meta("observed_accesses", "1").meta("tier", "structure");
  return builder;
}

std::vector<Finding> certain_races(const TraceBuilder& builder) {
  std::vector<Finding> result;
  for (Finding& finding : run("stream-race", builder).findings) {
    EXPECT_EQ(finding.confidence, Confidence::kCertain) << finding.title;
    result.push_back(std::move(finding));
  }
  return result;
}

// Two kernels get one struct with two buffers; each writes one of them.
TEST(MemoryThatWasSeen, ARaceIsCertainAndNeighborsAreNone) {
  for (const trace::Int distance : {0, 2, 4}) {  // of the second kernel's elements, in one word
    TraceBuilder builder = observed();
    builder.malloc(kA, 2048);
    builder.stream("one").kernel("first", 1, 2).touches(AccessKind::kWritten, kA, 2);
    builder.stream("two").kernel("second", 1, 2).touches(AccessKind::kRead, kA + distance, 2);
    const std::vector<Finding> found = certain_races(builder);
    ASSERT_EQ(found.size(), distance == 0 ? 1u : 0u);
    if (distance == 0) {
      EXPECT_THAT(found[0].text, HasSubstr("2 B at 0x7f0000000000"));
      EXPECT_THAT(found[0].text,
                  HasSubstr("part of 2 KiB that cudaMalloc allocated on thread main"));
    }
  }
}

TEST(MemoryThatWasSeen, AtomicOperationsRaceOnlyWithOtherAccesses) {
  for (const AccessKind other : {AccessKind::kRead, AccessKind::kWritten, AccessKind::kUpdated}) {
    for (const bool atomic_first : {false, true}) {
      TraceBuilder builder = observed();
      builder.malloc(kA, 2048);
      builder.stream("one")
          .kernel("first", 1, 2)
          .touches(atomic_first ? AccessKind::kUpdated : other, kA, 4);
      builder.stream("two")
          .kernel("second", 1, 2)
          .touches(atomic_first ? other : AccessKind::kUpdated, kA, 4);
      EXPECT_EQ(certain_races(builder).empty(), other == AccessKind::kUpdated);
    }
  }
}

// The read of the first stream is not forgotten when the same stream updates the word.
TEST(MemoryThatWasSeen, AnAtomicOperationDoesNotHideAReadBeforeIt) {
  TraceBuilder builder = observed();
  builder.malloc(kA, 2048);
  builder.stream("one").kernel("reader", 1, 2).touches(AccessKind::kRead, kA, 4);
  builder.stream("one").kernel("adder", 2, 3).touches(AccessKind::kUpdated, kA, 4);
  builder.stream("two").kernel("other", 1, 2).touches(AccessKind::kUpdated, kA, 4);
  const std::vector<Finding> found = certain_races(builder);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].title, HasSubstr("reader"));
}

TEST(MemoryThatWasSeen, ColumnsOfOneMatrixAreNoRace) {
  for (const trace::Int column : {0, 8}) {
    TraceBuilder builder = observed();
    builder.malloc(kA, 1 << 20);
    builder.stream("one").kernel("first", 1, 2).touches(AccessKind::kWritten, kA, 8, 100, 1024);
    builder.stream("two")
        .kernel("second", 1, 2)
        .touches(AccessKind::kWritten, kA + column, 8, 100, 1024);
    EXPECT_EQ(certain_races(builder).empty(), column != 0);
  }
}

TEST(MemoryThatWasSeen, IsNamedByItsTensor) {
  TraceBuilder builder = observed();
  builder.malloc(kA, 1 << 20).tensor(kA + 1024, 512).tensor(kA, 1024);
  builder.stream("one").kernel("first", 1, 2).touches(AccessKind::kWritten, kA + 1032, 8);
  builder.stream("two").kernel("second", 1, 2).touches(AccessKind::kRead, kA + 1032, 8);
  const std::vector<Finding> found = certain_races(builder);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].text, HasSubstr("Record an event on stream 7 one"));
  EXPECT_THAT(found[0].text,
              HasSubstr("The memory is a tensor of 512 B allocated on thread main."));
}

// The allocator gives the memory to another tensor while a side stream still reads it.
TEST(MemoryThatWasSeen, OfATensorThatWasFreedTooEarlyNeedsRecordStream) {
  TraceBuilder builder = observed();
  builder.malloc(kA, 1 << 20).tensor(kA, 1024);
  builder.stream("side").kernel("reader", 1, 2).touches(AccessKind::kRead, kA, 8);
  builder.tensor_freed(kA).tensor(kA, 512);
  builder.stream("main").kernel("writer", 1, 2).touches(AccessKind::kWritten, kA, 8);
  const std::vector<Finding> found = certain_races(builder);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].text, HasSubstr("while stream 7 side still used it: call record_stream()"));
  EXPECT_THAT(
      found[0].text,
      HasSubstr("was a tensor of 1 KiB allocated on thread main, and then a tensor of 512 B"));
}

// Which bytes of a tensor a kernel copies by its map is not known.
TEST(MemoryThatWasSeen, ATensorThatIsCopiedByAMapMayRace) {
  for (const trace::Int address : {kA + 1024, kA + 4096}) {
    TraceBuilder builder = observed();
    builder.malloc(kA, 8192);
    builder.stream("one")
        .kernel("gemm", 1, 2)
        .touches_more()
        .may_copy(AccessKind::kWritten, kA, 2048);
    builder.stream("two").kernel("reader", 1, 2).touches(AccessKind::kRead, address, 4);
    const Verdict verdict = run("stream-race", builder);
    ASSERT_EQ(verdict.findings.size(), address < kA + 2048 ? 1u : 0u);
    if (verdict.findings.empty()) continue;
    EXPECT_EQ(verdict.findings[0].confidence, Confidence::kPossible);
    EXPECT_THAT(verdict.findings[0].text, HasSubstr("(on thread main) may write 4 B"));
    EXPECT_THAT(verdict.findings[0].text, HasSubstr("through a tensor map (TMA)"));
  }
}

TEST(MemoryThatWasSeen, WhatIsNotKnownIsSaid) {
  for (const bool known : {false, true}) {
    TraceBuilder builder = observed();
    builder.malloc(kA, 2048);
    builder.stream("one").kernel("first", 1, 2).touches(AccessKind::kWritten, kA, 4);
    builder.stream("two").kernel("second", 1, 2);
    if (known) {
      builder.stream("two").touches_nothing();
    } else {
      builder.stream("two").touches_more();
    }
    const Verdict verdict = run("stream-race", builder);
    EXPECT_TRUE(verdict.findings.empty());
    EXPECT_EQ(verdict.outcome, known ? Outcome::kClean : Outcome::kNotAtThisTier);
    EXPECT_EQ(verdict.reason, known ? "" : "not all memory that 1 kernel touches is known");
  }
}

// CuSan 11_struct_of_buff and 13_struct_recursion: kernels get two buffers in one struct by value,
// so both pointers are words of parameter 0; which of them a kernel writes is not known.
TEST(MemoryOfPrograms, PointersInAStructRaceLikeAnyOther) {
  for (const bool ordered : {false, true}) {
    TraceBuilder builder = with_arguments();
    builder.malloc(kA, 2048).malloc(kB, 2048);
    const auto launch = [&](const char* stream, const char* kernel) {
      builder.stream(stream).kernel(kernel, 100, 200).parameter(0, kA).parameter(0, kB);
    };
    launch("stream1", "_Z7kernel113BufferStoragei");
    if (ordered) builder.synchronize_device(210, 220);
    launch("stream2", "_Z7kernel313BufferStoragei");
    launch("stream2", "_Z7kernel213BufferStoragei");
    if (ordered) builder.synchronize_device(230, 240);
    launch("stream1", "_Z7kernel313BufferStoragei");
    const std::vector<Finding> found = possible_findings(builder);
    EXPECT_EQ(found.empty(), ordered);
    bool named = false;
    for (const Finding& finding : found)
      named |= finding.title.starts_with("kernel2 on stream") &&
               finding.title.find("and kernel3 on stream") != std::string::npos;
    EXPECT_EQ(named, !ordered);
  }
}

// --- PyTorch: tensors are carved from segments of 2 MiB and more, at multiples of 512 bytes.

constexpr trace::Int kSegment = 20 * kMiB, kX = kA + 512 * 100, kY = kA + 8 * kMiB,
                     kTensor = 4 * kMiB;
constexpr char kElementwise[] =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";
constexpr char kGemm[] = "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_execute_kernel";

// `first` on the main stream, `second` on a side stream; ordered by a record and a wait, as
// wait_stream() does.
template <class First, class Second>
TraceBuilder on_two_streams(bool ordered, First first, Second second) {
  TraceBuilder builder = with_arguments();
  builder.malloc(kA, kSegment);
  auto main = builder.stream("main", trace::kLegacyStream);
  first(main);
  main.record("done");
  auto side = builder.stream("side");
  if (ordered) side.wait("done");
  second(side);
  return builder;
}

void elementwise(StreamBuilder& stream, trace::Int out, trace::Int in) {
  stream.kernel(kElementwise, 100, 200).parameter(2, out).parameter(2, in).parameter(2, in);
}
void gemm(StreamBuilder& stream, trace::Int a, trace::Int b, trace::Int c) {
  stream.kernel(kGemm, 100, 200).parameter(0, a).parameter(0, b).parameter(0, c);
}

template <class First, class Second>
void expect_race(First first, Second second) {
  EXPECT_EQ(possible_findings(on_two_streams(false, first, second)).size(), 1u);
  EXPECT_TRUE(possible_findings(on_two_streams(true, first, second)).empty());
}

TEST(MemoryOfPyTorch, ASideStreamThatReadsWithoutWaitStreamIsFound) {
  expect_race([](StreamBuilder& main) { elementwise(main, kX, kX); },
              [](StreamBuilder& side) { elementwise(side, kY, kX); });
}

TEST(MemoryOfPyTorch, ASideStreamThatWritesWithoutWaitStreamIsFound) {
  expect_race([](StreamBuilder& main) { elementwise(main, kY, kX); },
              [](StreamBuilder& side) { elementwise(side, kX, kX); });
}

TEST(MemoryOfPyTorch, ACopyIntoATensorThatIsStillReadIsFound) {
  expect_race([](StreamBuilder& main) { elementwise(main, kY, kX); },
              [](StreamBuilder& side) { side.memcpy(kHtoD, 100, 200).writes(kX, kTensor); });
  // Also into the middle of it: the kernel may read everything up to the next tensor.
  expect_race([](StreamBuilder& main) { elementwise(main, kY, kX); },
              [](StreamBuilder& side) { side.memcpy(kHtoD, 100, 200).writes(kX + kMiB, 512); });
}

TEST(MemoryOfPyTorch, TheOutputOfAGemmThatIsReadTooEarlyIsFound) {
  expect_race([](StreamBuilder& main) { gemm(main, kA, kA + 512, kX); },
              [](StreamBuilder& side) { elementwise(side, kY, kX); });
}

TEST(MemoryOfPyTorch, AViewIntoATensorIsTheTensor) {
  expect_race([](StreamBuilder& main) { elementwise(main, kX, kX); },
              [](StreamBuilder& side) { elementwise(side, kY, kX + 4); });
}

TEST(MemoryOfPyTorch, TwoHalvesOfATensorAreSilent) {
  const TraceBuilder halves = on_two_streams(
      false, [](StreamBuilder& main) { elementwise(main, kX, kX); },
      [](StreamBuilder& side) { elementwise(side, kX + kTensor / 2, kX + kTensor / 2); });
  EXPECT_TRUE(possible_findings(halves).empty());
  const TraceBuilder copied = on_two_streams(
      false,
      [](StreamBuilder& main) {
        elementwise(main, kX, kX);
        elementwise(main, kX + kTensor / 2, kX + kTensor / 2);
        main.record("both").memset(1, 2);
      },
      [](StreamBuilder& side) {
        side.wait("both").memcpy(kHtoD, 100, 200).writes(kX + kTensor / 2, kTensor / 2);
      });
  EXPECT_TRUE(possible_findings(copied).empty());
}

TEST(MemoryOfPyTorch, AKernelWithAPointerToFreedMemoryIsOnlyPossiblyWrong) {
  TraceBuilder builder = with_arguments();
  builder.malloc(kA, kSegment).free(kA);
  builder.stream("s").kernel("_Z3getPKf", 100, 200).parameter(0, kX);
  const std::vector<Finding> found = possible_findings(builder);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].title, HasSubstr("may use memory after cudaFree"));
  TraceBuilder reused = with_arguments();
  reused.malloc(kA, kSegment).free(kA).malloc(kA, kSegment);
  reused.stream("s").kernel("_Z3getPKf", 100, 200).parameter(0, kX);
  EXPECT_TRUE(possible_findings(reused).empty());
}

}  // namespace
}  // namespace streamscope::analysis
