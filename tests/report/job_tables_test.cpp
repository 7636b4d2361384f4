// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The analysis of a job as tables.

#include "report/export/job_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job_with.h"
#include "trace/read/query.h"

namespace streamscope::report {
namespace {

int64_t number(const JobReport& report, std::string_view sql) {
  trace::Query query(job_tables(report), sql);
  EXPECT_TRUE(query.next()) << sql;
  const trace::Cell cell = query.cell(0);
  const auto* value = std::get_if<int64_t>(&cell);
  return value == nullptr ? -1 : *value;
}

TEST(JobTables, HaveWhatTheReportSays) {
  const JobReport slow = job_with(job::Fault::kSlowLoader);
  EXPECT_EQ(number(slow, "SELECT count(*) FROM rank"), 16);
  EXPECT_EQ(number(slow, "SELECT count(*) FROM job_iteration"), 16 * 12);
  EXPECT_EQ(number(slow, "SELECT cost_ns FROM delay WHERE place_in_list = 1"),
            std::llround(slow.job.delays[0].cost_ns));
  EXPECT_EQ(number(slow, "SELECT ranks = '5' AND place = 'loader.py:12' FROM delay"), 1);
  EXPECT_EQ(number(slow, "SELECT count(DISTINCT rank) FROM clock WHERE refused IS NULL"), 16);
}

TEST(JobTables, JoinCollectives) {
  const JobReport slow = job_with(job::Fault::kSlowLoader);
  EXPECT_EQ(number(slow, "SELECT count(*) FROM collective WHERE communicator = 'world'"), 12);
  EXPECT_EQ(number(slow, "SELECT min(ranks) FROM collective WHERE communicator = 'world'"), 16);
  EXPECT_EQ(number(slow,
                   "SELECT late_rank FROM collective GROUP BY late_rank ORDER BY sum(waits_ns) "
                   "DESC LIMIT 1"),
            5);
}

TEST(JobTables, OfAHealthyJobHaveNoDelays) {
  const JobReport healthy = job_with(job::Fault::kNone);
  EXPECT_EQ(number(healthy, "SELECT count(*) FROM delay"), 0);
  EXPECT_EQ(number(healthy, "SELECT count(*) FROM mismatch"), 0);
  EXPECT_GT(number(job_with(job::Fault::kMixedOrder), "SELECT count(*) FROM mismatch"), 0);
}

}  // namespace
}  // namespace streamscope::report
