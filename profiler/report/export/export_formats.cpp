// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "export.h"
#include "job_tables.h"
#include "trace/error.h"

namespace streamscope::report {
namespace {

constexpr int32_t kWithoutNumber = 1'000'000'000;  // above the numbers of the system

constexpr ExportFormat kFormats[] = {
    {"chrome",
     "JSON in the format of the PyTorch profiler, for chrome://tracing, Perfetto and others",
     export_chrome},
    {"chakra",
     "execution trace for simulators of training: host, ops, collectives, what each needs",
     export_chakra, ExportFormat::kFileForEach},
    {"perfetto", "protobuf for ui.perfetto.dev, with what each op waited for", export_perfetto,
     ExportFormat::kOneFile},
    {"dot", "ops and their dependencies as a graph, for graphviz", export_dot},
    {"csv", "the rows of a view", export_csv},
    {"sqlite", "of a folder, the analysis of the job as tables", export_sqlite,
     ExportFormat::kNoRanks, export_job_tables},
};

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

bool is_wanted(const ExportOptions& options, trace::Ns start_ns, trace::Ns end_ns) {
  if (start_ns == trace::kUnknownNs || end_ns == trace::kUnknownNs) return false;
  return !options.range || (start_ns < options.range->second && end_ns >= options.range->first);
}

int32_t exported_pid(const trace::Trace& trace, trace::Id process) {
  if (process < trace.process.size() && trace.process.os_pid[process] != trace::kNoSmall)
    return trace.process.os_pid[process];
  return kWithoutNumber + static_cast<int32_t>(process == trace::kNoId ? 0 : process);
}

int32_t exported_tid(const trace::Trace& trace, trace::Id thread) {
  if (thread >= trace.thread.size()) return 0;
  const trace::Small tid = trace.thread.os_tid[thread];
  return tid == trace::kNoSmall ? kWithoutNumber + static_cast<int32_t>(thread) : tid;
}

void refuse_empty(const std::filesystem::path& origin, const ExportOptions& options) {
  throw Error(origin,
              options.range ? "contains nothing in that range" : "contains nothing to export",
              options.range ? "see streamscope info for its duration" : "record the program again");
}

}  // namespace streamscope::report
