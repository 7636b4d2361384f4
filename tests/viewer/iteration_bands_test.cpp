// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline/iteration_bands.h"

#include <gmock/gmock.h>

namespace streamscope::viewer {
namespace {

using report::IterationPart;
using testing::ElementsAre;

// One after the other, `durations` long, of which [steady_from, steady_to) are steady.
Diagnosis iterations_of(const std::vector<Ns>& durations, size_t steady_from, size_t steady_to) {
  Diagnosis diagnosis;
  analysis::Iterations& iterations = diagnosis.iterations;
  iterations.source = analysis::IterationSource::kRange;
  Ns at = 0;
  for (const Ns duration : durations) {
    iterations.all.push_back({.start_ns = at, .end_ns = at + duration, .issued_ns = at});
    at += duration;
  }
  iterations.steady_from = steady_from;
  iterations.steady_to = steady_to;
  analysis::measure_steady(iterations);
  for (size_t i = steady_from; i < steady_to; ++i) {
    if (report::part_of(iterations, i) == IterationPart::kOutlier)
      diagnosis.outliers.push_back(static_cast<uint32_t>(i));
  }
  return diagnosis;
}

TimeWindow window(Ns begin, double ns_per_px, double width_px) {
  return {.begin_ns = begin, .ns_per_px = ns_per_px, .width_px = width_px};
}

TEST(IterationBands, AreTheIterationsInTheWindow) {
  const Diagnosis diagnosis = iterations_of({500, 100, 100, 200, 100, 50}, 1, 5);
  const std::vector<IterationBand> bands = iteration_bands(diagnosis, window(550, 1, 400), 4);
  ASSERT_EQ(bands.size(), 4u);
  const IterationPart parts[] = {IterationPart::kSteady, IterationPart::kSteady,
                                 IterationPart::kOutlier, IterationPart::kSteady};
  for (size_t i = 0; i < bands.size(); ++i) {
    EXPECT_EQ(bands[i].first, i + 1);
    EXPECT_FALSE(bands[i].is_run());
    EXPECT_EQ(bands[i].part, parts[i]) << i;
    EXPECT_EQ(bands[i].is_odd(), i % 2 == 0);
  }
  EXPECT_EQ(bands[1].x0, 50);
  EXPECT_EQ(bands[1].x1, 150);
  EXPECT_EQ(bands[2].x1, 350);
  const std::vector<IterationBand> all = iteration_bands(diagnosis, window(-100, 2, 800), 4);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all.front().part, IterationPart::kStartUp);
  EXPECT_EQ(all.back().part, IterationPart::kAfter);
  EXPECT_TRUE(iteration_bands(diagnosis, window(2'000, 1, 100), 4).empty());
  EXPECT_TRUE(iteration_bands(Diagnosis{}, window(0, 1, 100), 4).empty());
}

TEST(IterationBands, MergeWhatIsTooNarrowButNoOutlierAndNoOtherPart) {
  std::vector<Ns> durations(1'000, 100);
  durations[500] = 1'000;
  const Diagnosis diagnosis = iterations_of(durations, 10, 990);
  const std::vector<IterationBand> bands = iteration_bands(diagnosis, window(0, 100, 1'020), 4);
  size_t next = 0;
  for (const IterationBand& band : bands) {
    EXPECT_EQ(band.first, next);
    next = band.last + 1;
    for (const size_t border : {size_t{10}, size_t{990}, size_t{500}})
      EXPECT_FALSE(band.first < border && band.last >= border) << border;
  }
  EXPECT_EQ(next, 1'000u);
  EXPECT_EQ(std::ranges::count(bands, IterationPart::kOutlier, &IterationBand::part), 1);
  EXPECT_NEAR(static_cast<double>(bands.size()), 250, 10);
}

// Every tenth is an outlier, many of them in each pixel.
TEST(IterationBands, CostPixelsAndNotIterations) {
  std::vector<Ns> durations(1'000'000, 100);
  for (size_t i = 0; i < durations.size(); i += 10) durations[i] = 400;
  const Diagnosis diagnosis = iterations_of(durations, 0, durations.size());
  const Ns all = diagnosis.iterations.all.back().end_ns;
  for (const double part : {1.0, 0.1, 0.001}) {
    const TimeWindow shown = window(0, part * static_cast<double>(all) / 1'000, 1'000);
    const std::vector<IterationBand> bands = iteration_bands(diagnosis, shown, 4);
    EXPECT_LE(bands.size(), 2 * 1'000u / 4 + 2) << part;
    EXPECT_LE(numbered_iterations(diagnosis, shown, 50).size(), 1'000u / 50) << part;
  }
}

TEST(IterationNumbers, AreRoundAndFarEnoughApart) {
  const Diagnosis diagnosis = iterations_of(std::vector<Ns>(100, 100), 0, 100);
  // 20 px each.
  EXPECT_THAT(numbered_iterations(diagnosis, window(0, 5, 400), 60),
              ElementsAre(4, 9, 14, 19));  // numbers 5, 10, 15, 20
  EXPECT_THAT(numbered_iterations(diagnosis, window(1'000, 1, 250), 60), ElementsAre(10, 11, 12));
  EXPECT_TRUE(numbered_iterations(diagnosis, window(20'000, 1, 250), 60).empty());
}

}  // namespace
}  // namespace streamscope::viewer
