// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cost of the collector's callback, entry and exit together, over a handler that does nothing:
// the record mix of the cost loop (launch, record, wait), and a query that is repeated without
// success, through the stand-in libcupti.
#include <stdlib.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bench/budget.h"
#include "bench/collect_run.h"
#include "collect/child.h"
#include "ring/ring.h"

using namespace streamscope;
using namespace streamscope::bench;

namespace {

constexpr double kLimitNs = 60;
constexpr double kStackLimitNs = 5000;

void CUPTIAPI do_nothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  asm volatile("" ::"r"(data) : "memory");
}

struct Step {
  CUpti_CallbackId id, driver_id;  // the runtime's call and the driver's inside of it
  const void* parameters;
  const char* symbol;
};

// Calls `handler` as CUPTI would for `rounds` rounds of the steps. Nanoseconds per call.
double measure(CUpti_CallbackFunc handler, std::span<const Step> steps, size_t rounds,
               int32_t result = 0) {
  uint64_t shared = 0;
  CUpti_CallbackData data{};
  data.functionReturnValue = &result;
  data.context = child::context();
  data.contextUid = 1;
  data.correlationData = &shared;
  CUpti_CallbackData inner = data;
  static uint32_t correlation = 1;
  const double begin = thread_ns();
  for (size_t round = 0; round < rounds; ++round) {
    for (const Step& step : steps) {
      data.functionParams = step.parameters;
      data.symbolName = step.symbol;
      data.correlationId = correlation++;
      data.callbackSite = CUPTI_API_ENTER;
      handler(nullptr, CUPTI_CB_DOMAIN_RUNTIME_API, step.id, &data);
      uint64_t inner_shared = 0;
      inner.functionParams = step.parameters;
      inner.correlationId = data.correlationId;
      inner.correlationData = &inner_shared;
      inner.callbackSite = CUPTI_API_ENTER;
      handler(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, step.driver_id, &inner);
      inner.callbackSite = CUPTI_API_EXIT;
      handler(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, step.driver_id, &inner);
      data.callbackSite = CUPTI_API_EXIT;
      handler(nullptr, CUPTI_CB_DOMAIN_RUNTIME_API, step.id, &data);
    }
  }
  return (thread_ns() - begin) / static_cast<double>(steps.size() * rounds);
}

// Nanoseconds per reading of the recording's clock.
double measure_clock(size_t readings) {
  const ring::ClockKind kind = ring::best_clock();
  const double begin = thread_ns();
  for (size_t i = 0; i < readings; ++i) {
    uint64_t stamp = ring::read_clock(kind);
    asm volatile("" ::"r"(stamp));
  }
  return (thread_ns() - begin) / static_cast<double>(readings);
}

}  // namespace

int main() {
  const std::filesystem::path folder = make_run(Tier::kStructure);
  ::setenv(ring::kRingsVariable, folder.c_str(), 1);
  cuInit(0);
  CUpti_ResourceData context{};
  context.context = child::context();
  fake_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &context);
  CUpti_CallbackFunc handler = fake_callback();
  if (handler == nullptr) return 2;

  const auto stream = child::handle<cudaStream_t>(0xa00a);
  const auto event = child::handle<cudaEvent_t>(0xe00e);
  cudaLaunchKernel_v7000_params launch{};
  launch.stream = stream;
  const cudaEventRecord_v3020_params record{event, stream};
  const cudaStreamWaitEvent_v3020_params wait{stream, event, 0};
  const cudaEventSynchronize_v3020_params synchronize{event};
  const cudaEventQuery_v3020_params query{event};
  const Step mix[] = {
      {RUNTIME_ID(cudaLaunchKernel_v7000), DRIVER_ID(cuLaunchKernel), &launch, "_Z6kernelPfS_i"},
      {RUNTIME_ID(cudaEventRecord_v3020), DRIVER_ID(cuEventRecord), &record, nullptr},
      {RUNTIME_ID(cudaStreamWaitEvent_v3020), DRIVER_ID(cuStreamWaitEvent), &wait, nullptr}};
  const Step sync[] = {{RUNTIME_ID(cudaEventSynchronize_v3020), DRIVER_ID(cuEventSynchronize),
                        &synchronize, nullptr}};

  const Step poll[] = {
      {RUNTIME_ID(cudaEventQuery_v3020), DRIVER_ID(cuEventQuery), &query, nullptr}};

  const size_t rounds = bench::scaled(4000);  // a batch is about a millisecond
  for (size_t i = 0; i < bench::scaled(kRingRecords / (3 * rounds) + 1);
       ++i) {  // touches all of the ring
    measure(handler, mix, rounds);
    drain(folder);
  }
  std::vector<double> ours, empty, clock, with_stack, vain, recorded;
  for (size_t i = 0; i < bench::scaled(300); ++i) {  // alternated, as the speed of a machine drifts
    empty.push_back(measure(do_nothing, mix, rounds));
    ours.push_back(measure(handler, mix, rounds));
    drain(folder);
    with_stack.push_back(measure(handler, sync, rounds / 10 + 1));
    drain(folder);
    vain.push_back(measure(handler, poll, rounds, cudaErrorNotReady));
    recorded.push_back(measure(handler, poll, rounds));  // like unsuccessful ones
    drain(folder);
    clock.push_back(measure_clock(rounds));
  }
  bench::budget("callback_record_ns", bench::median(ours) - bench::median(empty), "ns", kLimitNs,
                bench::Better::kLess);
  bench::rival("empty_handler_ns", bench::median(empty), "ns");
  bench::rival("two_clock_readings_ns", 2 * bench::median(clock), "ns");
  bench::budget("vain_poll_ns", bench::median(vain) - bench::median(empty), "ns", kLimitNs,
                bench::Better::kLess);
  bench::rival("recorded_query_ns", bench::median(recorded) - bench::median(empty), "ns");
  // Of a shallow stack; each further frame adds to it.
  bench::budget("stack_ns", bench::median(with_stack) - bench::median(ours), "ns", kStackLimitNs,
                bench::Better::kLess);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}
