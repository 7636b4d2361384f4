// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which memory an address refers to (memory_lives.h): host and device share one address space and
// addresses are reused, and neither may merge two buffers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_places.h"
#include "run_detector.h"

namespace streamscope::analysis {
namespace {

using test::kDtoD;
using test::kDtoH;
using test::kHtoD;
using test::TraceBuilder;
using testing::HasSubstr;

constexpr trace::Int kSize = 0x10000;
constexpr const char* kDetectors[] = {"stream-race", "host-race", "use-before-alloc",
                                      "use-after-free"};

// Sets what CUPTI reports about the last copy; kNoSmall: nothing, as in tier structure.
void set_kinds(TraceBuilder& builder, trace::Small source, trace::Small destination) {
  builder.columns().op.memory_kinds.back() = source << 4 | destination;
}
void set_no_kinds(TraceBuilder& builder) {
  builder.columns().op.memory_kinds.back() = trace::kNoSmall;
}
void rename_last_call(TraceBuilder& builder, const char* name) {
  builder.columns().api_call.name_id.back() = builder.intern(name);
}
TraceBuilder& malloc_as(TraceBuilder& builder, const char* name, trace::Int address) {
  builder.malloc(address, kSize);
  rename_last_call(builder, name);
  return builder;
}
TraceBuilder& free_as(TraceBuilder& builder, const char* name, trace::Int address) {
  builder.free(address);
  rename_last_call(builder, name);
  return builder;
}

void expect_silence(const TraceBuilder& builder) {
  for (const char* detector : kDetectors)
    EXPECT_TRUE(run(detector, builder).findings.empty()) << detector;
}
std::vector<Confidence> confidences(const char* detector, const TraceBuilder& builder) {
  std::vector<Confidence> result;
  for (const Finding& finding : run(detector, builder).findings)
    result.push_back(finding.confidence);
  return result;
}
const std::vector<Confidence> kOneCertain = {Confidence::kCertain},
                              kOnePossible = {Confidence::kPossible};

// HeCBench adjacent, cross and blas-fp8gemm: after cudaFree a malloc buffer gets the addresses of
// the device memory, and is copied from and to.
TEST(MemoryIdentity, AHostBufferAtTheAddressOfFreedDeviceMemoryIsOtherMemory) {
  for (const bool measured : {true, false}) {
    TraceBuilder builder;
    auto stream = builder.stream("default", trace::kLegacyStream);
    builder.malloc(kA, kSize);
    stream.memset(1, 2).writes(kA, kSize);
    builder.free(kA).malloc(kB, kSize);
    stream.memcpy(kHtoD, 3, 4).reads(kA, kSize).writes(kB, kSize);
    measured ? set_kinds(builder, kPageable, kDevice) : set_no_kinds(builder);
    stream.memcpy(kDtoH, 5, 6).reads(kB, kSize).writes(kA, kSize);
    measured ? set_kinds(builder, kDevice, kPageable) : set_no_kinds(builder);
    expect_silence(builder);
  }
}

TEST(MemoryIdentity, ADevicePointerThatWasFreedIsFoundWithCertainty) {
  for (const bool measured : {true, false}) {
    TraceBuilder builder;
    builder.malloc(kA, kSize).free(kA);
    builder.stream("s").memcpy(kDtoH, 3, 4).reads(kA, 64).writes(kB, 64);
    if (!measured) set_no_kinds(builder);  // the direction says which end is of the device
    EXPECT_EQ(confidences("use-after-free", builder), kOneCertain);
  }
}

TEST(MemoryIdentity, AnEndOfUnknownKindIsPossiblyOtherMemory) {
  TraceBuilder builder;
  builder.malloc(kA, kSize).free(kA);
  builder.stream("s").memcpy(kDtoD, 3, 4).reads(kA, 64).writes(kB, 64);
  set_no_kinds(builder);
  builder.columns().op.detail.back() = 0;  // cudaMemcpyDefault in tier structure
  const Verdict verdict = run("use-after-free", builder);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kPossible);
  EXPECT_THAT(verdict.findings[0].title, HasSubstr("may use memory after cudaFree"));
  EXPECT_THAT(verdict.findings[0].text, HasSubstr("may belong to other memory"));
}

TEST(MemoryIdentity, ACopyOfABatchIsOfUnknownKind) {
  TraceBuilder builder;
  builder.malloc(kA, kSize).free(kA);
  builder.stream("s").memcpy(kDtoH, 3, 4).reads(kA, 64).reads(kB, 64);
  EXPECT_EQ(confidences("use-after-free", builder), kOneCertain) << "slices of one box";
  rename_last_call(builder, "cudaMemcpyBatchAsync");
  EXPECT_EQ(confidences("use-after-free", builder), kOnePossible);
}

TEST(MemoryIdentity, PinnedMemoryAtTheAddressOfFreedDeviceMemoryRacesWithNothingOfIt) {
  TraceBuilder builder;
  builder.malloc(kA, kSize);
  builder.stream("a").memset(100, 200).writes(kA, kSize);
  builder.free(kA);
  malloc_as(builder, "cudaMallocHost", kA);
  builder.stream("b").memcpy(kHtoD, 150, 250).reads(kA, kSize).writes(kB, kSize);
  expect_silence(builder);
}

TEST(MemoryIdentity, HostMemoryOfUnseenOriginIsNeverDeviceMemoryThatLives) {
  TraceBuilder builder;
  builder.malloc(kA, kSize);  // ended by a call that is not recorded
  builder.stream("a").memset(100, 200).writes(kA, kSize);
  builder.columns().op.detail.back() = kDevice;
  builder.stream("b").memcpy(kDtoH, 150, 250).reads(kB, 64).writes(kA, 64);
  set_kinds(builder, kDevice, kPinned);
  builder.stream("c").memcpy(kDtoD, 150, 250).reads(kB, 64).writes(kB + 64, 64);
  EXPECT_TRUE(run("use-after-free", builder).findings.empty());
  TraceBuilder twice;
  twice.stream("a").memcpy(kDtoD, 100, 200).reads(kB, 64).writes(kA, 64);
  twice.stream("b").memcpy(kDtoH, 150, 250).reads(kB, 64).writes(kA, 64);
  expect_silence(twice);
}

TEST(MemoryIdentity, WhatWasFreedAndAllocatedAgainHasNoPast) {
  for (const char* free : {"cudaFree", "cudaFreeHost", "cudaHostUnregister"}) {
    TraceBuilder builder;
    const bool host = std::string_view(free) != "cudaFree";
    malloc_as(builder, host ? "cudaMallocHost" : "cudaMalloc", kA);
    const auto copy = [&](const char* name) {
      auto stream = builder.stream(name);
      host ? stream.memcpy(kDtoH, 100, 200) : stream.memcpy(kDtoD, 100, 200);
      stream.writes(kA, 64);
    };
    copy("a");
    free_as(builder, free, kA);
    malloc_as(builder, host ? "cudaHostRegister" : "cudaMalloc", kA);
    copy("b");
    expect_silence(builder);
    copy("c");
    EXPECT_EQ(confidences("stream-race", builder), kOneCertain) << free;
  }
}

TEST(MemoryIdentity, HostMemoryThatWasFreedHasNoPast) {
  for (const bool freed : {true, false}) {
    TraceBuilder builder;
    malloc_as(builder, "cudaMallocHost", kA);
    builder.stream("a").memcpy(kDtoH, 100, 200).writes(kA, 64);
    if (freed) free_as(builder, "cudaFreeHost", kA);
    builder.stream("b").memcpy(kDtoH, 150, 250).writes(kA, 64);
    EXPECT_EQ(run("stream-race", builder).findings.empty(), freed);
  }
}

TEST(MemoryIdentity, APageableBufferIsFilledWhenTheCallReturns) {
  for (const bool pageable : {true, false}) {
    TraceBuilder builder;
    for (const char* name : {"a", "b"}) {
      builder.stream(name).memcpy(kDtoH, 100, 200).reads(kB, 64).writes(kA, 64);
      set_kinds(builder, kDevice, pageable ? kPageable : kPinned);
    }
    builder.host_reads(kA, 64);
    EXPECT_EQ(run("stream-race", builder).findings.empty(), pageable);
    EXPECT_EQ(run("host-race", builder).findings.empty(), pageable);
  }
}

TEST(MemoryIdentity, ManagedMemoryIsOfHostAndDevice) {
  TraceBuilder builder;
  malloc_as(builder, "cudaMallocManaged", kA);
  builder.stream("a").memset(100, 200).writes(kA, 64);
  builder.stream("b").memcpy(kHtoD, 150, 250).reads(kA, 64).writes(kB, 64);
  set_kinds(builder, kManaged, kDevice);
  EXPECT_EQ(confidences("stream-race", builder), kOneCertain);
  // Once freed, its address may belong to any host buffer, unless CUPTI reports otherwise.
  TraceBuilder freed;
  malloc_as(freed, "cudaMallocManaged", kA).free(kA);
  freed.stream("s").memcpy(kHtoD, 3, 4).reads(kA, 64).writes(kB, 64);
  set_kinds(freed, kManaged, kDevice);
  EXPECT_EQ(confidences("use-after-free", freed), kOneCertain);
  set_kinds(freed, kPinned, kDevice);
  EXPECT_EQ(confidences("use-after-free", freed), kOnePossible);
}

TEST(MemoryIdentity, ProcessesHaveSeparateAddresses) {
  TraceBuilder builder;
  builder.stream("a").memset(100, 200).writes(kA, 64);
  builder.malloc(kA, kSize).free(kA);
  builder.process("other").stream("b").memcpy(kDtoD, 150, 250).reads(kA, 64).writes(kB, 64);
  expect_silence(builder);
}

// Virtual memory, other processes' memory and the like get addresses that cudaFree released.
TEST(MemoryIdentity, MappedMemoryIsNewMemory) {
  for (const char* name : {"cuMemMap", "cudaIpcOpenMemHandle"}) {
    TraceBuilder builder;
    builder.malloc(kA, kSize).malloc(kA + kSize, kSize).free(kA).free(kA + kSize);
    malloc_as(builder, name, kA + 0x100);
    auto& bytes = builder.columns().api_call.value.back();
    bytes = std::string_view(name) == "cuMemMap" ? 2 * kSize : trace::kNoInt;
    builder.stream("s").memcpy(kDtoD, 3, 4).reads(kA + 0x100, 64).writes(kA + kSize, 64);
    expect_silence(builder);
  }
  // Several pieces are unmapped at once.
  TraceBuilder unmapped;
  malloc_as(unmapped, "cuMemMap", kA);
  malloc_as(unmapped, "cuMemMap", kA + kSize);
  free_as(unmapped, "cuMemUnmap", kA);
  unmapped.columns().api_call.value.back() = 2 * kSize;
  unmapped.stream("s").memcpy(kDtoD, 3, 4).reads(kA + kSize, 64).writes(kB, 64);
  EXPECT_EQ(confidences("use-after-free", unmapped), kOneCertain);
}

TEST(MemoryIdentity, ADeviceResetEndsAllMemory) {
  TraceBuilder builder;
  builder.malloc(kA, kSize).free(kA).malloc(kB, kSize);
  builder.stream("a").memset(100, 200).writes(kB, 64);
  constexpr trace::Small kDeviceReset = 35;
  builder.at(300).free(0);
  builder.columns().api_call.kind.back() = kDeviceReset;
  builder.stream("b").memcpy(kDtoD, 400, 500).reads(kA, 64).writes(kB, 64);
  expect_silence(builder);
}

// cuda-samples graphMemoryNodes: the graph owns what a captured cudaMallocAsync allocates.
TEST(MemoryIdentity, MemoryOfAGraphIsInNoOrderOfStreams) {
  for (const bool captured : {true, false}) {
    TraceBuilder builder;
    constexpr trace::Small kCaptureBegin = 31, kCaptureEnd = 32;
    auto stream = builder.stream("captured");
    const auto mark = [&](trace::Small kind) {
      builder.free(0);
      auto& calls = builder.columns().api_call;
      calls.kind.back() = captured ? kind : 0;
      calls.stream_id.back() = stream.id();
    };
    mark(kCaptureBegin);
    stream.malloc_async(kA, kSize).free_async(kA);
    mark(kCaptureEnd);
    builder.stream("launched").memset(100, 200).writes(kA, 64);
    builder.columns().op.detail.back() = kDevice;
    EXPECT_EQ(run("use-before-alloc", builder).findings.empty(), true);
    EXPECT_EQ(run("use-after-free", builder).findings.empty(), captured);
  }
}

TEST(MemoryIdentity, AUseAfterFreeIsOnlyPossibleIfAllocationsMayBeUnseen) {
  const auto freed = [] {
    TraceBuilder builder;
    builder.malloc(kA, kSize).free(kA);
    builder.stream("s").at(100).memcpy(kDtoD, 300, 400).reads(kA, 64).writes(kB, 64);
    return builder;
  };
  EXPECT_EQ(confidences("use-after-free", freed()), kOneCertain);
  TraceBuilder nodes = freed();
  const trace::Id graph = nodes.add(trace::Graph{.process_id = 0, .native_id = 1});
  nodes.add(trace::GraphNode{.graph_id = graph, .native_id = 2, .kind = 10});
  EXPECT_EQ(confidences("use-after-free", nodes), kOnePossible);
  for (const auto& [from, until, expected] :
       {std::tuple(10, 50, kOnePossible), std::tuple(150, 200, kOneCertain)}) {
    TraceBuilder paused = freed();
    paused.add(trace::Loss{.process_id = 0,
                           .name_id = paused.intern("paused"),
                           .severity = 0,
                           .count = 1,
                           .start_ns = from,
                           .end_ns = until});
    EXPECT_EQ(confidences("use-after-free", paused), expected) << from;
  }
}

// cuda-samples convolutionFFT2D: cuFFT loads code whose variables get the addresses of memory that
// the program has freed, and copies into them.
TEST(MemoryIdentity, VariablesOfLoadedCodeMayHaveTheAddressesOfFreedMemory) {
  for (const bool loaded_between : {true, false}) {
    TraceBuilder builder;
    const auto load = [&] {
      builder.malloc(kB, kSize);
      rename_last_call(builder, "cuModuleLoadData");
      builder.columns().api_call.kind.back() = number_of(CallKind::kModuleLoad);
    };
    if (!loaded_between) load();
    builder.malloc(kA, kSize).free(kA);
    if (loaded_between) load();
    builder.stream("s").memcpy(kHtoD, 300, 400).reads(kB, 8).writes(kA, 8);
    EXPECT_EQ(confidences("use-after-free", builder), loaded_between ? kOnePossible : kOneCertain);
  }
}

// Code that was loaded earlier gets its variables when the program queries their addresses.
TEST(MemoryIdentity, AVariableWhoseAddressWasQueriedIsNewMemory) {
  TraceBuilder builder;
  builder.malloc(kA, kSize).free(kA).malloc(kA, 0);
  rename_last_call(builder, "cuModuleGetGlobal");
  builder.stream("s").memcpy(kHtoD, 300, 400).reads(kB, 8).writes(kA, 8);
  expect_silence(builder);
}

TEST(MemoryIdentity, APauseBetweenTwoUsesLeavesTheirOrderOpen) {
  TraceBuilder builder;
  builder.stream("a").memset(100, 200).writes(kA, 64);
  builder.stream("b").at(500).memset(600, 700).writes(kA, 64);
  EXPECT_EQ(confidences("stream-race", builder), kOneCertain);
  builder.add(trace::Loss{.process_id = 0,
                          .name_id = builder.intern("paused"),
                          .severity = 0,
                          .count = 1,
                          .start_ns = 300,
                          .end_ns = 400});
  EXPECT_EQ(confidences("stream-race", builder), kOnePossible);
}

}  // namespace
}  // namespace streamscope::analysis
