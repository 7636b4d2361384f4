// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sample_facts.h"

#include <algorithm>

#include "labels.h"

namespace streamscope::viewer {
namespace {

constexpr size_t kMostLines = 4;

// "train.py:41, 43 and 2 more lines"
std::string line_text(const std::vector<std::string>& lines) {
  std::string text, file;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    const size_t colon = lines[i].rfind(':') + 1;
    const bool same = i > 0 && lines[i].substr(0, colon) == file;
    if (i > 0) text += ", ";
    text += same ? lines[i].substr(colon) : lines[i];
    file = lines[i].substr(0, colon);
  }
  if (lines.size() > kMostLines)
    text += " and " + format_count(lines.size() - kMostLines, "more line");
  return text;
}

std::string state_text(const std::vector<std::pair<std::string, size_t>>& states) {
  if (states.size() == 1) return states.front().first;
  std::string text;
  for (const auto& [state, count] : states) {
    if (!text.empty()) text += ", ";
    text += state + " in " + format_count(static_cast<int64_t>(count));
  }
  return text;
}

double share_of(Ns part, Ns whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<Ns>(whole, 1));
}

}  // namespace

std::vector<Fact> sample_facts(const TraceModel& model, Id run) {
  const HostFrames& frames = model.items().host_frames();
  const Diagnosis& diagnosis = model.diagnosis();
  std::vector<Fact> facts;
  if (const std::string lines = line_text(frames.lines(run)); !lines.empty())
    facts.push_back({"at", lines});
  facts.push_back({"samples", format_count(static_cast<int64_t>(frames.samples(run).size()))});
  if (frames.frame(run) == kNoId) return facts;
  facts.push_back({"the thread", state_text(frames.states(run))});
  const TimeRange time = frames.time(run);
  const Ns middle = add_ns(time.begin_ns, time.span_ns() / 2);
  if (const auto iteration = diagnosis.iteration_at(middle)) {
    const TimeRange whole = diagnosis.range(*iteration);
    const Ns from = std::max(time.begin_ns, whole.begin_ns),
             to = std::min(time.end_ns, whole.end_ns);
    if (from < to)
      facts.push_back({"share", format_percent(share_of(to - from, whole.duration_ns())) +
                                    " of iteration " +
                                    format_count(static_cast<int64_t>(*iteration + 1))});
  }
  if (const HostFrames::Share share = frames.share(run); share.samples > 0)
    facts.push_back(
        {diagnosis.has_iterations() ? "steady part" : "whole run",
         format_percent(static_cast<double>(share.samples) / static_cast<double>(share.of)) +
             " of the thread's samples"});
  return facts;
}

}  // namespace streamscope::viewer
