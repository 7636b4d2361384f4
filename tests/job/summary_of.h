// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The summary of a program made by hand.
#pragma once

#include <utility>

#include "analysis/analyses.h"
#include "chain.h"
#include "job/summarize.h"
#include "support/trace_builder.h"

namespace streamscope::job {

inline RankSummary summary_of(const test::TraceBuilder& builder, RankIdentity identity = {}) {
  const trace::Trace trace = builder.trace();
  analysis::Analyses analyses(trace);
  RankSummary summary = summarize(analyses, std::move(identity));
  expect_sums(summary, "summary");
  return summary;
}

}  // namespace streamscope::job
