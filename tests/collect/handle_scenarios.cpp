// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that destroy their handles where the collector might query them: in the very call at
// whose exit it would, in another thread, in a call that fails. The fakes abort the program if the
// collector does.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <thread>

#include "child.h"

namespace child {
namespace {

const auto kStreamA = handle<cudaStream_t>(0xa00a), kStreamB = handle<cudaStream_t>(0xb00b),
           kStreamC = handle<cudaStream_t>(0xc00c);
const auto kEvent = handle<cudaEvent_t>(0xe00e);

void start() {
  cuInit(0);
  create_context();
}

void begin_capture(cudaStream_t stream, int32_t result = 0) {
  const cudaStreamBeginCapture_v10000_params begin{stream, cudaStreamCaptureModeGlobal};
  runtime(RUNTIME_ID(cudaStreamBeginCapture_v10000), begin, {.result = result});
}

void end_capture(cudaStream_t stream, int32_t result = 0) {
  cudaGraph_t graph = nullptr;
  const cudaStreamEndCapture_v10000_params end{stream, &graph};
  runtime(RUNTIME_ID(cudaStreamEndCapture_v10000), end, {.result = result});
}

void in_another_thread(void (*act)()) { std::thread(act).join(); }

// Captures. Every call is marked as captured or not; the test knows the expected marks.

int plain_capture(const Arguments&) {
  start();
  record(kEvent, kStreamA);
  begin_capture(kStreamA, 401);  // refused
  launch(kStreamA);
  begin_capture(kStreamA);
  record(kEvent, kStreamA);
  launch(kStreamB);
  wait(kStreamB, kEvent);  // joins
  launch(kStreamB);
  const cudaEventRecordWithFlags_v11010_params node{handle<cudaEvent_t>(0xe11e), kStreamA,
                                                    cudaEventRecordExternal};
  runtime(RUNTIME_ID(cudaEventRecordWithFlags_v11010), node);
  wait(kStreamC, handle<cudaEvent_t>(0xe11e));  // of a record that becomes a node of the graph
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  const cudaThreadExchangeStreamCaptureMode_v10010_params exchange{&mode};
  runtime(RUNTIME_ID(cudaThreadExchangeStreamCaptureMode_v10010), exchange);
  in_another_thread([] { launch(kStreamB); });
  end_capture(kStreamB, 903);  // did not begin there
  launch(kStreamA);
  end_capture(kStreamA);
  launch(kStreamB);
  return 0;
}

// As cuda-samples graphMemoryNodes does: streams are destroyed during a capture.
int streams_end_in_capture(const Arguments&) {
  start();
  for (auto stream : {kStreamA, kStreamB, kStreamC}) create_stream(stream);
  begin_capture(kStreamA);
  destroy_stream(kStreamC);  // unrelated to it
  record(kEvent, kStreamA);
  wait(kStreamB, kEvent);
  destroy_stream(kStreamB);  // is in it
  create_stream(kStreamB);   // the handle is reused
  launch(kStreamB);
  in_another_thread([] { destroy_stream(kStreamB); });
  launch(kStreamA);
  create_stream(kStreamC);
  destroy_stream(kStreamC, 700);  // fails, and is gone
  create_stream(kStreamB);
  wait(kStreamB, kEvent);
  destroy_stream(kStreamA);  // where it began
  launch(kStreamB);
  create_stream(kStreamA);
  launch(kStreamA);
  begin_capture(kStreamA);
  launch(kStreamA);
  end_capture(kStreamA, 904);  // fails, and ends the capture
  launch(kStreamA);
  begin_capture(kStreamA);
  const char none = 0;
  runtime(RUNTIME_ID(cudaDeviceReset_v3020), none, {.inside = [](const FakeCall&) {
            for (const void* each : {(void*)kStreamA, (void*)context()}) fake_set_dead(each, true);
          }});
  fake_set_dead(context(), false);
  launch(kStreamA);
  return 0;
}

// Two threads capture their own default streams.
int own_streams_captured(const Arguments&) {
  start();
  const auto own = handle<cudaStream_t>(2);
  begin_capture(own);
  launch(own);
  in_another_thread([] { launch(handle<cudaStream_t>(2)); });
  cudaLaunchKernel_v7000_params null_stream{};
  runtime(RUNTIME_ID(cudaLaunchKernel_ptsz_v7000), null_stream);
  runtime(RUNTIME_ID(cudaLaunchKernel_v7000), null_stream);  // the legacy stream
  end_capture(own);
  launch(own);
  return 0;
}

// A thread's own default stream becomes known at its first use.

void end_context() {
  const cuCtxDestroy_v2_params parameters{context()};
  driver(DRIVER_ID(cuCtxDestroy_v2), parameters,
         {.inside = [](const FakeCall&) { fake_set_dead(context(), true); }, .context = nullptr});
}

int own_stream_of_dead_context(const Arguments&) {
  start();
  const cudaEventRecord_v3020_params parameters{kEvent, nullptr};
  const CUpti_CallbackId id = RUNTIME_ID(cudaEventRecord_ptsz_v7000);
  // In another thread, just before the call returns.
  runtime(id, parameters, {.inside = [](const FakeCall&) { in_another_thread(end_context); }});
  // Before, so that the call fails.
  runtime(id, parameters, {.result = 709});
  // In the call itself.
  const char none = 0;
  runtime(RUNTIME_ID(cudaDeviceReset_v3020), none);
  // And alive: now it may be queried.
  fake_set_dead(context(), false);
  runtime(id, parameters);
  return 0;
}

// Recording begins when handles already exist: `late-handles LIBRARY`.
int late_handles(const Arguments& arguments) {
  cuInit(0);
  if (dlopen(arguments[0].c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) return 1;
  const auto used = [](cudaStream_t stream, const Call& options) {
    cudaLaunchKernel_v7000_params parameters{};
    parameters.stream = stream;
    runtime(RUNTIME_ID(cudaLaunchKernel_v7000), parameters, options);
  };
  destroy_stream(kStreamA);       // in the call itself
  destroy_stream(kStreamB, 700);  // the same, and it fails
  used(kStreamC,
       {.inside = [](const FakeCall&) { in_another_thread([] { destroy_stream(kStreamC); }); }});
  const auto dead = handle<cudaStream_t>(0xd00d);
  fake_set_dead(dead, true);
  used(dead, {.result = 400});
  used(handle<cudaStream_t>(0xf00f), {});
  return 0;
}

// The driver's calls for the parameters of a kernel, with --with args.
int functions_end(const Arguments&) {
  start();
  uint64_t value = 0x7f0000001000;
  void* values[] = {&value, &value, &value, &value};
  cuLaunchKernel_params parameters{};
  const auto launch_function = [&](uintptr_t function, const Call& options) {
    parameters.f = handle<CUfunction>(function);
    parameters.kernelParams = values;
    driver(DRIVER_ID(cuLaunchKernel), parameters, options);
  };
  const auto unload = [] {
    const cuModuleUnload_params module{handle<CUmodule>(0x3003)};
    driver(DRIVER_ID(cuModuleUnload), module, {.inside = [](const FakeCall&) {
             CUpti_ResourceData data{};
             fake_resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &data);
             for (uintptr_t each : {0xf00, 0xf10, 0xf20}) fake_set_dead((void*)each, true);
           }});
  };
  launch_function(0xf00, {.result = 0});
  // In another thread, just before the launch returns.
  launch_function(0xf10, {.inside = [&](const FakeCall&) { std::thread(unload).join(); }});
  launch_function(0xf20, {.result = 400});  // a launch of a destroyed function, which fails
  fake_set_dead((void*)0xf00, false);
  launch_function(0xf00, {.result = 0});
  return 0;
}

// Sources of graphs may be destroyed, also when the graphs end.
int graphs_end(const Arguments&) {
  start();
  for (CUpti_CallbackId id : {CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
                              CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING}) {
    if (fake_callback_enabled(CUPTI_CB_DOMAIN_RESOURCE, id)) return 1;
  }
  CUpti_GraphData data{};
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &data;
  data.graph = handle<CUgraph>(5);
  data.originalGraph = handle<CUgraph>(4);  // has a meaning only for a clone
  data.originalNode = handle<CUgraphNode>(41);
  fake_set_dead(data.originalGraph, true);
  fake_set_dead(data.originalNode, true);
  fake_resource(CUPTI_CBID_RESOURCE_GRAPH_CREATED, &resource);
  data.node = handle<CUgraphNode>(51);
  fake_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, &resource);
  fake_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &resource);
  fake_set_dead(data.node, true);
  fake_resource(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, &resource);
  fake_set_dead(data.graph, true);
  return 0;
}

// Queries of the writer: `asked FOLDER`. The test sends them and creates the files `1`, `2` and so
// on; the program reports when it has finished a step.
struct Steps {
  std::string folder;
  int step = 0;
  void next() {
    say(("step " + std::to_string(step)).c_str());
    const std::string file = folder + "/" + std::to_string(++step);
    while (access(file.c_str(), F_OK) != 0) pause_ms(1);
  }
};

int asked(const Arguments& arguments) {
  Steps steps{arguments[0]};
  start();
  create_stream(kStreamA);
  create_event(kEvent);
  record(kEvent, kStreamA);
  launch(kStreamA);
  steps.next();  // alive
  destroy_event(kEvent);
  destroy_stream(kStreamA, 700);  // fails, and is gone
  steps.next();
  create_stream(kStreamA);
  create_event(kEvent);
  record(kEvent, kStreamA);
  launch(kStreamA);
  steps.next();  // the handles are valid, but may be other objects than the writer assumes
  in_another_thread([] { destroy_stream(kStreamA); });
  steps.next();
  create_stream(kStreamA);
  launch(kStreamA);
  begin_capture(kStreamB);
  steps.next();  // a query would break the capture
  end_capture(kStreamB);
  end_context();
  steps.next();
  return fake_relaxed_threads() == 0;
}

// A stream is destroyed while it is queried: `asked-meanwhile FOLDER`.
int asked_meanwhile(const Arguments& arguments) {
  Steps steps{arguments[0]};
  start();
  create_stream(kStreamA);
  launch(kStreamA);
  fake_block_queries(true);
  steps.next();
  while (fake_queries_under_way() == 0) pause_ms(1);
  std::thread unblocking([] {
    pause_ms(100);
    fake_block_queries(false);
  });
  destroy_stream(kStreamA);  // waits for the answer
  unblocking.join();
  while (fake_queries_under_way() != 0) pause_ms(1);
  create_stream(kStreamA);
  launch(kStreamA);
  fake_block_queries(true);
  steps.next();
  while (fake_queries_under_way() == 0) pause_ms(1);
  // Without an answer the program continues after a while, and does not wait again.
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    create_stream(kStreamB);
    destroy_stream(kStreamB);
  }
  if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(5)) return 1;
  fake_block_queries(false);
  while (fake_queries_under_way() != 0) pause_ms(1);
  steps.next();  // and may be queried again
  return 0;
}

// A word disappears while the writer reads it, over and over: `word FOLDER`.
int word(const Arguments& arguments) {
  Steps steps{arguments[0]};
  start();
  // The middle of three pages: nothing larger than a page can take its place.
  const size_t bytes = 4096;
  void* const pages =
      mmap(nullptr, 3 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const page = static_cast<char*>(pages) + bytes;
  const auto come = [&](int protection) {
    return mmap(page, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                0) == page;
  };
  *static_cast<uint64_t*>(page) = 0x1122334455667788;
  std::printf("page %zu\n", reinterpret_cast<size_t>(page));
  steps.next();
  munmap(page, bytes);
  steps.next();
  const bool is_there = come(PROT_NONE);
  steps.next();
  if (is_there) munmap(page, bytes);
  std::atomic<bool> over{false};
  std::thread mapping([&] {
    while (!over) {
      if (come(PROT_READ)) munmap(page, bytes);
    }
  });
  steps.next();
  over = true;
  mapping.join();
  return 0;
}

constexpr Scenario kScenarios[] = {
    {"plain-capture", plain_capture},
    {"streams-end-in-capture", streams_end_in_capture},
    {"own-streams-captured", own_streams_captured},
    {"own-stream-of-dead-context", own_stream_of_dead_context},
    {"late-handles", late_handles},
    {"functions-end", functions_end},
    {"graphs-end", graphs_end},
    {"asked", asked},
    {"asked-meanwhile", asked_meanwhile},
    {"word", word},
};

}  // namespace
}  // namespace child

std::span<const child::Scenario> handle_scenarios() { return child::kScenarios; }
