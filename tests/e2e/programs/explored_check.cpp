// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Compares what the detectors of memory find in a recording of `explored` with what exploration
// found: no race missed, no false one, each of the right kind.
//
//   explored_check TRACE LINES
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "analysis/detector.h"
#include "trace/read/reader.h"

namespace {

using namespace streamscope;

// The detector that corresponds to the result of exploration.
std::string kind_of(const std::string& text) {
  if (text.find("host thread") != text.npos) return "host-race";
  if (text.find("allocation") != text.npos || text.find("before its") != text.npos)
    return "use-before-alloc";
  if (text.find("release") != text.npos) return "use-after-free";
  return "stream-race";
}

constexpr const char* kDetectors[] = {"stream-race", "host-race", "use-before-alloc",
                                      "use-after-free"};  // by MemoryConflict::Kind

// Every program has its own device.
trace::Small context_of(const trace::Trace& trace, const analysis::MemoryConflict& conflict) {
  trace::Id stream = trace.api_call.stream_id[0];
  for (const trace::Id op : {conflict.first_op, conflict.second_op}) {
    if (op != trace::kNoId) stream = trace.op.stream_id[op];
  }
  if (conflict.memory_call != trace::kNoId) stream = trace.api_call.stream_id[conflict.memory_call];
  return trace.context.native_id[trace.stream.context_id[stream]];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const trace::Trace trace = trace::read(argv[1]);
  analysis::Analyses analyses(trace);
  const auto evidence = analysis::evidence_of(trace);
  std::map<trace::Small, std::set<std::string>> found;  // by context: detectors
  std::map<std::string, size_t> conflicts;
  for (const auto& conflict : analyses.memory_conflicts().found) {
    const char* detector = kDetectors[conflict.kind];
    ++conflicts[detector];
    if (!conflict.possible) found[context_of(trace, conflict)].insert(detector);
  }
  int failures = 0;
  for (const char* id : kDetectors) {
    const auto verdict = analysis::evaluate(*analysis::find_detector(id), analyses, evidence);
    if (verdict.findings.size() == conflicts[id]) continue;
    std::printf("%s has %zu findings of %zu conflicts\n", id, verdict.findings.size(),
                conflicts[id]);
    ++failures;
  }
  std::ifstream lines(argv[2]);
  std::string line;
  size_t programs = 0, races = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    unsigned seed = 0;
    trace::Small context = 0;
    std::string verdict;
    words >> seed >> context;
    std::getline(words >> std::ws, verdict);
    ++programs;
    races += verdict != "clean";
    const auto& mine = found[context];
    const bool same = verdict == "clean" ? mine.empty() : mine.count(kind_of(verdict)) > 0;
    if (same) continue;
    ++failures;
    std::printf("program %u: exploration: %s\n", seed, verdict.c_str());
    for (const std::string& id : mine) std::printf("  %s\n", id.c_str());
    if (mine.empty()) std::printf("  the detectors find nothing\n");
  }
  std::printf("%zu programs, %zu with races, %d differences\n", programs, races, failures);
  return failures == 0 && races > programs / 10 && races < programs * 9 / 10 ? 0 : 1;
}
