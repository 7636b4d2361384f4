// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sample_traces.h"

#include <algorithm>
#include <limits>

#include "support/mistakes.h"
#include "vocabulary/system_call.h"

namespace streamscope::test {
namespace {

using namespace trace;

constexpr Ns kUs = 1000;

Trace crowded_trace(int streams) {
  TraceBuilder builder;
  for (int i = 0; i < streams; ++i) {
    const std::string number = std::to_string(i);
    StreamBuilder stream = builder.stream("worker " + number);
    if (i > 0) stream.wait("event " + std::to_string(i - 1));
    stream.kernel("stage", i * 10, i * 10 + 15).record("event " + number);
  }
  return builder.trace();
}

Trace long_names_trace() {
  TraceBuilder builder;
  const std::string name = "void " + std::string(3990, 'n') + "<float>(int)";
  builder.range(name, 0, 500);
  builder.stream(name).kernel(name, 100, 300).record(name);
  builder.stream("other \xE2\x98\x83 \xff\xfe")
      .wait(name)
      .kernel("\xE6\x97\xA5\xE6\x9C\xAC", 310, 400);
  return builder.trace();
}

Trace extreme_times_trace() {
  TraceBuilder builder;
  builder.stream("first").kernel("at the beginning of time", 0, 1);
  builder.stream("last").kernel("at the end of time", 2, 3);
  OpColumns& op = builder.columns().op;
  op.start_ns[0] = std::numeric_limits<Ns>::min() + 1;
  op.end_ns[0] = std::numeric_limits<Ns>::min() + 1000;
  op.start_ns[1] = std::numeric_limits<Ns>::max() - 1000;
  op.end_ns[1] = std::numeric_limits<Ns>::max();
  return builder.trace();
}

Trace without_times(Trace trace) {
  std::fill(trace.op.start_ns.begin(), trace.op.start_ns.end(), kUnknownNs);
  std::fill(trace.op.end_ns.begin(), trace.op.end_ns.end(), kUnknownNs);
  return trace;
}

}  // namespace

TraceBuilder pipeline_trace(int steps) {
  TraceBuilder builder;
  builder.columns().device.name_id[0] = builder.intern("NVIDIA H200");
  StreamBuilder copies = builder.stream("copies"), math = builder.stream("math"),
                results = builder.stream("results");
  builder.columns().stream.priority[copies.id()] = -5;
  const Id pool = builder.add(Pool{.process_id = 0,
                                   .kind = kEventPool,
                                   .name_id = builder.intern("events of the pipeline"),
                                   .capacity = 8});
  Ns copied = 40 * kUs, computed = 0, fetched = 0;
  for (int i = 0; i < steps; ++i) {
    const Ns host = i * 300 * kUs + 5 * kUs;
    const std::string step = std::to_string(i);
    builder.thread("loader").at(host);
    builder.range("load batch " + step, host, host + 150 * kUs);
    const Ns start = std::max(copied, host + 8 * kUs);
    copied = start + 210 * kUs;
    copies.memcpy(kHtoD, start, copied, 16 << 20).record("loaded " + step);
    builder.thread("main").at(host + 20 * kUs);
    builder.range("step " + step, host + 10 * kUs, host + 280 * kUs);
    builder.range("forward", host + 12 * kUs, host + 120 * kUs);
    math.wait("loaded " + step);
    Ns at = std::max(computed, copied + 2 * kUs);
    math.kernel("void at::native::(anonymous namespace)::gemm_kernel<float, 128>(float*, int)", at,
                at + 120 * kUs);
    at += 122 * kUs;
    for (int k = 0; k < 20; ++k) math.kernel("relu", at + k * kUs, at + k * kUs + 800);
    computed = at + 22 * kUs;
    math.record("done " + step);
    builder.at(host + 100 * kUs);
    results.wait("done " + step);
    const Ns back = std::max(fetched, computed + 2 * kUs);
    fetched = back + 60 * kUs;
    results.memcpy(kDtoH, back, fetched, 4 << 20);
    const Id load = builder.operation("load batch " + step, copies);
    OperationColumns& operation = builder.columns().operation;
    operation.registered_ns[load] = operation.begun_ns[load] = host;
    operation.submitted_ns[load] = host + 8 * kUs;
    operation.completed_ns[load] = copied;
    builder.add(PoolSample{
        .pool_id = pool, .start_ns = host, .available = 2, .in_use = std::min(2 * i + 2, 6)});
    if (i % 3 == 2) builder.synchronize_device(host + 150 * kUs, host + 260 * kUs);
  }
  return builder;
}

TraceBuilder sampled_trace(int steady) {
  TraceBuilder builder = host_bound_trace(steady);
  const std::string main = "/src/train.py:70 <module>", step = "/src/train.py:41 step";
  const auto add = [&](Ns at, int part) {
    if (part < 3) {
      builder.sample(at, {"/src/data.py:12 decode", "/src/data.py:30 next_batch", step, main},
                     part == 1 ? SystemCall::read : kNoSmall);
    } else if (part < 9) {
      builder.sample(at, {"/src/model.py:88 attention", "/src/model.py:51 forward", step, main});
    } else if (part < 14) {
      builder.sample(at, {"/src/model.py:60 loss", step, main});
    } else {
      builder.sample(at, {"/src/train.py:49 wait_for_loss", step, main}, SystemCall::futex);
    }
  };
  const RangeColumns ranges = builder.columns().range;
  for (Id range = 0; range < ranges.size(); ++range) {
    const Ns start = ranges.start_ns[range], lasts = ranges.end_ns[range] - start;
    const Ns period = 50 * kUs;
    // Not sampled at first: the program had made no call.
    for (Ns at = range == 0 ? 1'000 * kUs : period / 2; at < lasts; at += period)
      add(start + at, static_cast<int>(at * 20 / lasts));
  }
  return builder;
}

Trace dense_trace(size_t ops) {
  TraceBuilder builder;
  builder.stream("dense").kernel("tick", 0, 80);
  Trace trace = builder.trace();
  // All rows are copies of the first except for their times.
  const auto repeat = [&](auto& column) { column.resize(ops, column[0]); };
#define STREAMSCOPE_REPEAT(type, name) repeat(trace.op.name);
  STREAMSCOPE_OP_COLUMNS(STREAMSCOPE_REPEAT)
#undef STREAMSCOPE_REPEAT
  trace.op.row_count = ops;
  for (size_t i = 0; i < ops; ++i) {
    trace.op.start_ns[i] = static_cast<Ns>(i) * 100;
    trace.op.end_ns[i] = trace.op.start_ns[i] + (i % 1000 == 0 ? 100 : 80);
  }
  return trace;
}

Trace dense_samples_trace(size_t samples) {
  constexpr size_t kStacks = 7;
  TraceBuilder builder;
  builder.range("run", 0, static_cast<Ns>(samples) * 100);
  std::vector<std::string> stack = {"/src/train.py:9 <module>"};
  for (size_t i = 0; i < kStacks; ++i) {
    stack.insert(stack.begin(),
                 "/src/train.py:1" + std::to_string(i) + " layer" + std::to_string(i));
    builder.sample(0, stack);
  }
  Trace trace = builder.trace();
  HostSampleColumns& rows = trace.host_sample;
  const auto repeat = [&](auto& column) { column.resize(samples, column[0]); };
#define STREAMSCOPE_REPEAT(type, name) repeat(rows.name);
  STREAMSCOPE_HOST_SAMPLE_COLUMNS(STREAMSCOPE_REPEAT)
#undef STREAMSCOPE_REPEAT
  rows.row_count = samples;
  for (size_t i = 0; i < samples; ++i) {
    rows.at_ns[i] = static_cast<Ns>(i) * 100;
    rows.stack_id[i] = static_cast<Id>(i * i % kStacks);
    rows.runs[i] = i % 3 != 0;
  }
  return trace;
}

std::vector<NamedTrace> sample_traces() {
  std::vector<NamedTrace> traces;
  traces.push_back({"pipeline", pipeline_trace(6).trace()});
  traces.push_back({"empty", Trace{}});
  TraceBuilder one;
  one.stream("only").kernel("one", 5, 6);
  traces.push_back({"one op", one.trace()});
  traces.push_back({"crowded", crowded_trace(5000)});
  traces.push_back({"dense", dense_trace(1'000'000)});
  traces.push_back({"long names", long_names_trace()});
  traces.push_back({"extreme times", extreme_times_trace()});
  traces.push_back({"without device times", without_times(pipeline_trace(3).trace())});
  traces.push_back({"sampled", sampled_trace(20).trace()});
  TraceBuilder lossy = pipeline_trace(2);
  lossy.loss("ring-full", 1204).meta("complete", "0");
  traces.push_back({"lossy", lossy.trace()});
  return traces;
}

}  // namespace streamscope::test
