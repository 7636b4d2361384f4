// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Jobs whose slowdown others have computed, from $STREAMSCOPE_RANKS/stragglers. Their model
// (arXiv 2505.05713) gives every operation of a kind the same duration, the mean of compute and the
// median of communication, and asks how much longer the job takes with those of one rank, stage or
// kind as they were. Where ours differs: a collective has one duration, that of its last rank,
// where theirs has one per rank, so a group that only part of its ranks belong to keeps it whole;
// and its end is the same on all ranks.
#include <gmock/gmock.h>
#include <simdjson.h>

#include <cstdlib>
#include <functional>

#include "job/pipeline_trace.h"
#include "job/replay.h"
#include "job/small_job.h"

namespace streamscope::job {
namespace {

/// One training step of the job.
struct StepJob {
  explicit StepJob(const std::vector<RankSummary>& summaries)
      : steps(SmallJob::steps_of(summaries)),
        matching(matching_of(steps)),
        peers(peers_of(steps)),
        waiting(waiting_of(steps, peers)),
        replay(steps, matching, peers),
        measured(replay.measured(waiting)) {}

  std::string kind_of(uint32_t group) const {
    const uint32_t communicator = steps.communicator[matching.of(group).front()];
    if (communicator == kNone) return "end";
    const std::string& name = steps.communicators[communicator].name;
    return name.substr(0, name.find('@'));
  }

  Steps steps;
  Matching matching;
  Peers peers;
  Waiting waiting;
  Replay replay;
  Scenario measured;
};

class WhatIfJob {
 public:
  explicit WhatIfJob(const PipelineTrace& trace) : trace_(trace) {
    for (const auto& [step, summaries] : trace.steps) {
      jobs_.push_back(std::make_unique<StepJob>(summaries));
    }
    std::map<std::string, std::vector<Ns>> durations;
    for (const auto& job : jobs_) {
      for (uint32_t group = 0; group < job->matching.group_count(); ++group) {
        durations[job->kind_of(group)].push_back(job->measured.own_ns[group]);
      }
    }
    for (auto& [kind, all] : durations) ideal_[kind] = ideal_of(kind, all);
  }

  using Keep = std::function<bool(const StepJob&, uint32_t group)>;

  /// Mean over the steps if the groups that `keep` chooses take what they took and the others the
  /// same everywhere; launches take no time.
  double step_ns(const Keep& keep) const {
    double sum = 0;
    for (const auto& job : jobs_) {
      Scenario scenario = job->measured;
      std::ranges::fill(scenario.work_ns, 0);
      for (uint32_t group = 0; group < job->matching.group_count(); ++group) {
        if (!keep(*job, group)) scenario.own_ns[group] = ideal_.at(job->kind_of(group));
      }
      sum += job->replay.iteration_ns(scenario, job->replay.ends(scenario));
    }
    return sum / static_cast<double>(jobs_.size());
  }
  double measured_step_ns() const {
    double sum = 0;
    for (const auto& job : jobs_) {
      sum += job->replay.iteration_ns(job->measured, job->replay.ends(job->measured));
    }
    return sum / static_cast<double>(jobs_.size());
  }
  bool matches() const {
    return std::ranges::all_of(jobs_, [](const auto& job) {
      return job->matching.mismatches.empty() && job->replay.circular_count() == 0;
    });
  }

  Keep rank_where(const std::function<bool(int data_rank, int stage)>& chosen) const {
    return [this, chosen](const StepJob& job, uint32_t group) {
      return std::ranges::any_of(job.matching.of(group), [&](uint32_t step) {
        const int rank = job.steps.rank_number(step);
        return chosen(rank / trace_.stages, rank % trace_.stages);
      });
    };
  }

 private:
  static Ns ideal_of(const std::string& kind, std::vector<Ns>& all) {
    const bool computes = kind.ends_with("-compute") || kind == "gc" || kind == "optimizer";
    if (computes) {
      double sum = 0;
      for (Ns duration : all) sum += static_cast<double>(duration);
      return static_cast<Ns>(sum / static_cast<double>(all.size()));
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle);
    return *middle;
  }

  const PipelineTrace& trace_;
  std::vector<std::unique_ptr<StepJob>> jobs_;
  std::map<std::string, Ns> ideal_;  // by kind
};

class Stragglers : public testing::TestWithParam<const char*> {
 protected:
  using Figures = std::map<std::string, double>;

  /// Within 3 points, and in the same order where theirs differ by more than ours may be off.
  static void expect_alike(const Figures& ours, const Figures& theirs) {
    ASSERT_EQ(ours.size(), theirs.size());
    for (const auto& [name, value] : theirs) {
      EXPECT_NEAR(ours.at(name), value, 0.03) << name;
      for (const auto& [other, other_value] : theirs) {
        constexpr double kEqual = 0.001;
        if (value > other_value + kEqual) {
          EXPECT_GT(ours.at(name), ours.at(other)) << name << " before " << other;
        }
      }
    }
  }
};

TEST_P(Stragglers, SlowDownTheJobAsItsAuthorsFound) {
  const char* folder = std::getenv("STREAMSCOPE_RANKS");
  if (folder == nullptr) GTEST_SKIP() << "STREAMSCOPE_RANKS names no folder of runs";
  const std::filesystem::path data = std::filesystem::path(folder) / "stragglers";
  const std::string name = GetParam();
  simdjson::dom::parser parser;
  const simdjson::dom::element published =
      parser.load((data / ("result-" + name + ".json")).string());
  const auto theirs = [&](const char* key) {
    Figures figures;
    for (const auto [field, value] : published[key].get_object()) {
      figures[std::string(field)] = double(value);
    }
    return figures;
  };

  const PipelineTrace trace = read_pipeline_trace(data / ("timeline-" + name + ".json.gz"));
  const WhatIfJob job(trace);
  EXPECT_TRUE(job.matches());
  const double ideal = job.step_ns([](const StepJob&, uint32_t) { return false; });
  const double blocked = job.step_ns([](const StepJob&, uint32_t) { return true; });
  const double slowdown = published["blocking_slowdown"];
  EXPECT_NEAR(blocked / ideal, slowdown, 0.02 * slowdown);
  const double launch_slowdown = published["launch_slowdown"];
  EXPECT_NEAR(job.measured_step_ns() / blocked, launch_slowdown, 0.02 * launch_slowdown);

  Figures by_data, by_stage, by_kind;
  for (int i = 0; i < trace.data; ++i) {
    by_data[std::to_string(i)] =
        job.step_ns(job.rank_where([i](int data_rank, int) { return data_rank == i; })) / ideal;
  }
  for (int i = 0; i < trace.stages; ++i) {
    by_stage[std::to_string(i)] =
        job.step_ns(job.rank_where([i](int, int stage) { return stage == i; })) / ideal;
  }
  const Figures kinds = theirs("blocking_decompose_by_optype");
  for (const auto& [kind, value] : kinds) {
    by_kind[kind] = job.step_ns([kind = kind](const StepJob& step, uint32_t group) {
      return step.kind_of(group) == kind;
    }) / ideal;
  }
  std::printf("%s: slowdown %.4f, theirs %.4f; launch %.4f, theirs %.4f\n", name.c_str(),
              blocked / ideal, slowdown, job.measured_step_ns() / blocked, launch_slowdown);
  const auto compare = [&](const Figures& ours, const char* key) {
    const Figures figures = theirs(key);
    for (const auto& [group, value] : ours) {
      std::printf("  %-28s %.4f, theirs %.4f\n", group.c_str(), value, figures.at(group));
    }
    expect_alike(ours, figures);
  };
  compare(by_data, "blocking_decompose_by_dp_rank");
  compare(by_stage, "blocking_decompose_by_stage");
  compare(by_kind, "blocking_decompose_by_optype");
}

INSTANTIATE_TEST_SUITE_P(Jobs, Stragglers, testing::Values("ST", "AR"),
                         [](const auto& job) { return job.param; });

}  // namespace
}  // namespace streamscope::job
