// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The observed program of the collector's tests: `collect_child SCENARIO [ARGUMENT...]`.
#include "child.h"

#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <span>

#include "collect/cupti/decode.h"

std::span<const child::Scenario> call_scenarios();
std::span<const child::Scenario> process_scenarios();
std::span<const child::Scenario> hang_scenarios();
std::span<const child::Scenario> job_scenarios();
std::span<const child::Scenario> crash_scenarios();
std::span<const child::Scenario> handle_scenarios();
std::span<const child::Scenario> stack_scenarios();

namespace child {

uint32_t launch(cudaStream_t stream, const char* name) {
  cudaLaunchKernel_v7000_params parameters{};
  parameters.stream = stream;
  return runtime(RUNTIME_ID(cudaLaunchKernel_v7000), parameters, {.symbol = name});
}

void run_kernel(cudaStream_t stream, const char* name) {
  streamscope::collect::KernelActivity kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = 1;
  kernel.end = 2;
  kernel.name = name;
  kernel.correlation_id = launch(stream, name);
  fake_activity(&kernel, sizeof kernel, false);
}

uint32_t record(cudaEvent_t event, cudaStream_t stream) {
  const cudaEventRecord_v3020_params parameters{event, stream};
  return runtime(RUNTIME_ID(cudaEventRecord_v3020), parameters);
}

uint32_t wait(cudaStream_t stream, cudaEvent_t event) {
  const cudaStreamWaitEvent_v3020_params parameters{stream, event, 0};
  return runtime(RUNTIME_ID(cudaStreamWaitEvent_v3020), parameters);
}

void create_event(cudaEvent_t event, unsigned flags) {
  cudaEvent_t made = nullptr;
  cudaEventCreateWithFlags_v3020_params parameters{&made, flags};
  runtime(RUNTIME_ID(cudaEventCreateWithFlags_v3020), parameters, {.inside = [&](const FakeCall&) {
            fake_set_dead(event, false);
            made = event;
          }});
}

void destroy_event(cudaEvent_t event, int32_t result) {
  const cudaEventDestroy_v3020_params parameters{event};
  runtime(RUNTIME_ID(cudaEventDestroy_v3020), parameters,
          {.result = result, .inside = [&](const FakeCall&) { fake_set_dead(event, true); }});
}

void create_stream(cudaStream_t stream, unsigned flags, int priority) {
  cudaStream_t made = nullptr;
  cudaStreamCreateWithPriority_v5050_params parameters{&made, flags, priority};
  runtime(RUNTIME_ID(cudaStreamCreateWithPriority_v5050), parameters,
          {.inside = [&](const FakeCall&) {
            fake_set_dead(stream, false);
            CUpti_ResourceData data{};
            data.context = context();
            data.resourceHandle.stream = stream;
            fake_resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, &data);
            made = stream;
          }});
}

void destroy_stream(cudaStream_t stream, int32_t result) {
  cudaStreamDestroy_v5050_params parameters{stream};
  runtime(RUNTIME_ID(cudaStreamDestroy_v5050), parameters,
          {.result = result, .inside = [&](const FakeCall&) {
             CUpti_ResourceData data{};
             data.context = context();
             data.resourceHandle.stream = stream;
             fake_resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, &data);
             fake_set_dead(stream, true);
           }});
}

void create_context() {
  CUpti_ResourceData data{};
  data.context = context();
  fake_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
}

void say(const char* line) {
  std::printf("%s\n", line);
  std::fflush(stdout);
}

void pause_ms(int ms) {
  timespec pause{ms / 1000, ms % 1000 * 1'000'000L};
  nanosleep(&pause, nullptr);
}

}  // namespace child

int main(int count, char** values) {
  if (count < 2) return 2;
  const child::Arguments arguments(values + 2, values + count);
  for (auto scenarios : {call_scenarios(), process_scenarios(), hang_scenarios(), job_scenarios(),
                         crash_scenarios(), handle_scenarios(), stack_scenarios()}) {
    for (const child::Scenario& scenario : scenarios) {
      if (std::strcmp(scenario.name, values[1]) == 0) return scenario.run(arguments);
    }
  }
  std::fprintf(stderr, "no scenario %s\n", values[1]);
  return 2;
}
