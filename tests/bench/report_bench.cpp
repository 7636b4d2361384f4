// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a build waits for after its program ran: check and diff of traces of a million events, and
// the HTML page of one. Reading the files counts.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/compare/diff.h"
#include "bench/budget.h"
#include "report/check/check.h"
#include "report/formats/exporter.h"
#include "trace/read/reader.h"
#include "trace/write/writer.h"

namespace {

namespace fs = std::filesystem;
using namespace streamscope;
using bench::Better;

constexpr int kRuns = 3;

template <class Act>
double median_seconds(Act act) {
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    act();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return bench::median(times);
}

// Steps of a copy, a record, a wait and a kernel on two streams: six events a step.
void make_trace(const fs::path& file, size_t steps, trace::Ns kernel_ns) {
  trace::Writer writer = trace::Writer::create(file);
  const auto name = [&](const char* text) { return writer.intern(text); };
  writer.append(trace::Process{.os_pid = 1, .name_id = name("bench"), .clock = 0, .complete = 1});
  writer.append(trace::Thread{.process_id = 0, .os_tid = 1});
  writer.append(trace::Device{.ordinal = 0, .name_id = name("device"), .simulated = 0});
  writer.append(trace::Context{.process_id = 0, .device_id = 0, .native_id = 1});
  for (trace::Small stream = 0; stream < 2; ++stream) {
    writer.append(trace::Stream{.context_id = 0,
                                .native_id = 7 + stream,
                                .kind = trace::kNonBlockingStream,
                                .name_id = name(stream == 0 ? "copies" : "math")});
  }
  writer.append(trace::Event{.process_id = 0, .context_id = 0, .generation = 0});
  trace::Int correlation = 0;
  for (size_t i = 0; i < steps; ++i) {
    const auto at = static_cast<trace::Ns>(i) * 20'000;
    const auto step = static_cast<trace::Small>(i);
    writer.append(trace::ApiCall{.thread_id = 0,
                                 .kind = 3,
                                 .name_id = name("cudaMemcpyAsync"),
                                 .stream_id = 0,
                                 .start_ns = at,
                                 .end_ns = at + 1'000,
                                 .result = 0,
                                 .call_number = ++correlation,
                                 .correlation_id = correlation});
    writer.append(trace::Op{.kind = trace::kMemcpy,
                            .stream_id = 0,
                            .start_ns = at + 2'000,
                            .end_ns = at + 9'000,
                            .call_number = correlation,
                            .correlation_id = correlation,
                            .api_call_id = static_cast<trace::Id>(2 * i),
                            .detail = 1});
    writer.append(trace::EventRecord{.thread_id = 0,
                                     .name_id = name("cudaEventRecord"),
                                     .stream_id = 0,
                                     .event_id = 0,
                                     .version = step + 1,
                                     .start_ns = at + 1'100,
                                     .end_ns = at + 1'500,
                                     .result = 0,
                                     .call_number = ++correlation,
                                     .correlation_id = correlation});
    writer.append(trace::EventWait{.thread_id = 0,
                                   .name_id = name("cudaStreamWaitEvent"),
                                   .stream_id = 1,
                                   .event_id = 0,
                                   .binding = trace::kBindingExact,
                                   .record_id = static_cast<trace::Id>(i),
                                   .start_ns = at + 1'600,
                                   .end_ns = at + 2'000,
                                   .result = 0,
                                   .call_number = ++correlation,
                                   .correlation_id = correlation});
    writer.append(trace::ApiCall{.thread_id = 0,
                                 .kind = 1,
                                 .name_id = name("cudaLaunchKernel"),
                                 .stream_id = 1,
                                 .start_ns = at + 2'100,
                                 .end_ns = at + 4'000,
                                 .result = 0,
                                 .call_number = ++correlation,
                                 .correlation_id = correlation});
    writer.append(trace::Op{.kind = trace::kKernel,
                            .stream_id = 1,
                            .name_id = name("gemm"),
                            .start_ns = at + 9'500,
                            .end_ns = at + 9'500 + kernel_ns,
                            .call_number = correlation,
                            .correlation_id = correlation,
                            .api_call_id = static_cast<trace::Id>(2 * i + 1)});
    if (writer.buffered_bytes() > (32 << 20)) writer.flush();
  }
  writer.set_meta("tier", "times");
  writer.finish(true);
}

}  // namespace

int main() {
  std::string name = (fs::temp_directory_path() / "report-bench-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  const fs::path base = folder / "base.sqlite", now = folder / "new.sqlite";
  const size_t steps = bench::scaled(1'000'000) / 6 + 1;
  make_trace(base, steps, 9'000);
  make_trace(now, steps, 9'300);

  const double gate = median_seconds([&] {
    const trace::Trace before_trace = trace::read(base), after_trace = trace::read(now);
    if (report::check(after_trace, {}).verdicts.empty()) std::abort();
    analysis::Analyses before(before_trace), after(after_trace);
    if (analysis::diff(before, after).work.empty()) std::abort();
  });
  bench::budget("check_diff_1m_s", gate, "s", 3, Better::kLess);

  size_t bytes = 0;
  const double page = median_seconds([&] {
    const trace::Trace trace = trace::read(base);
    bytes = report::write_html(trace, report::summarize(trace), {}).size();
  });
  bench::budget("html_1m_s", page, "s", 5, Better::kLess);
  bench::budget("html_1m_mb", static_cast<double>(bytes) / 1e6, "MB", 10, Better::kLess);
  fs::remove_all(folder);
}
