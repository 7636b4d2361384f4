// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Converts timelines of pipeline-parallel training, published with ByteDance's analysis of
// stragglers (arXiv 2505.05713) as Chrome events, to summaries of ranks. Events name operations,
// not what they depend on; that follows from the schedule, as the paper describes it: compute runs
// in order on one stream; sends follow the compute of their micro batch and receives precede it;
// gradients are reduced after the last backward compute.
#pragma once

#include <filesystem>
#include <map>

#include "job/files/rank_summary.h"

namespace streamscope::job {

/// Each operation is a collective, those without partners of a communicator of one rank, so that
/// one may depend on two: `Segment::after` and the one before it on its stream. The name of a
/// communicator is the operation's name, '@' and what tells communicators of one kind apart.
struct PipelineTrace {
  int data = 0, stages = 0;
  std::map<int, std::vector<RankSummary>> steps;  ///< one job per training step, one iteration each

  int32_t rank_of(int data_rank, int stage) const { return data_rank * stages + stage; }
};

/// Reads timeline-*.json.gz.
PipelineTrace read_pipeline_trace(const std::filesystem::path& file);

/// The unpacked text of a file, packed or not.
std::string unpacked(const std::filesystem::path& file);

}  // namespace streamscope::job
