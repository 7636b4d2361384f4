// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Compares every panel with its approved picture in tests/golden/viewer. Compares blocks of pixels,
// so that another version of Mesa or FreeType passes and a moved, missing or overlapping element
// fails. `cmake --build build --target update-golden` approves what is drawn now; check the
// pictures before you commit them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "job/simulated_job.h"
#include "support/mistakes.h"
#include "viewer_e2e/picture_fixture.h"
#include "viewer_e2e/sample_traces.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace streamscope::viewer {
namespace {

constexpr int kBlock = 8;
// Mean difference of a block, of 255: different hinting of a letter causes up to 20, a word that
// moves by half its height 40 and more.
constexpr int kDifferent = 28;
constexpr double kMostDifferent = 0.004;  // share of the blocks

std::optional<Image> read_png(const std::filesystem::path& file) {
  Image image;
  int channels = 0;
  stbi_uc* pixels = stbi_load(file.c_str(), &image.width, &image.height, &channels, 3);
  if (pixels == nullptr) return std::nullopt;
  image.rgb.assign(pixels, pixels + static_cast<ptrdiff_t>(image.width) * image.height * 3);
  stbi_image_free(pixels);
  return image;
}

// Share of the blocks with a different mean color.
double difference(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height) return 1;
  size_t blocks = 0, different = 0;
  for (int top = 0; top + kBlock <= a.height; top += kBlock) {
    for (int left = 0; left + kBlock <= a.width; left += kBlock) {
      int sums[3] = {};
      for (int y = top; y < top + kBlock; ++y) {
        for (int i = left * 3; i < (left + kBlock) * 3; ++i) {
          const auto at =
              static_cast<size_t>(y) * static_cast<size_t>(a.width) * 3 + static_cast<size_t>(i);
          sums[i % 3] += a.rgb[at] - b.rgb[at];
        }
      }
      ++blocks;
      for (const int sum : sums) {
        if (std::abs(sum) <= kDifferent * kBlock * kBlock) continue;
        ++different;
        break;
      }
    }
  }
  return static_cast<double>(different) / static_cast<double>(blocks);
}

class GoldenPicture : public PictureFixture {
 protected:
  void SetUp() override {
    PictureFixture::SetUp();
    std::filesystem::create_directories(folder_);
  }

  void expect_as_approved(
      const std::string& name, const trace::Trace& trace, Arguments arguments,
      const std::function<void(Workspace&)>& change = [](Workspace&) {}) {
    arguments.screenshot = name;  // selects what a picture should show
    expect_as_approved(name, draw(std::make_shared<const TraceModel>(trace), arguments, change));
  }

  void expect_as_approved(const std::string& name, const Image& image) {
    const std::filesystem::path file = folder_ / (name + ".png");
    if (std::getenv("STREAMSCOPE_UPDATE_GOLDEN") != nullptr) return write_png(image, file);
    const std::optional<Image> approved = read_png(file);
    if (!approved) {
      ADD_FAILURE() << "no approved picture " << file << "; target update-golden makes it";
      return;
    }
    const double share = difference(*approved, image);
    if (share <= kMostDifferent) return;
    const auto drawn = std::filesystem::path(::testing::TempDir()) / (name + ".png");
    write_png(image, drawn);
    ADD_FAILURE() << share * 100 << " % of " << drawn << " differ from " << file
                  << "; target update-golden approves it";
  }

  static Arguments panel(std::string_view name) {
    Arguments arguments;
    arguments.width = 760;
    arguments.height = 460;
    arguments.panel = name;
    return arguments;
  }

  const std::filesystem::path folder_ = std::filesystem::path(STREAMSCOPE_GOLDEN_DIR) / "viewer";
};

TEST_F(GoldenPicture, OfEveryPanel) {
  const trace::Trace pipeline = test::pipeline_trace(6).trace();
  for (const std::string_view name : view_names()) {
    // One needs a file, another two traces, and the third a run of many ranks.
    if (name == "sql" || name == "compare" || name == "job") continue;
    const bool hangs = name == "deadlocks" || name == "findings";
    expect_as_approved(std::string(name), hangs ? test::deadlock_trace().trace() : pipeline,
                       panel(name), [&](Workspace& workspace) {
                         if (hangs || name == "diagnosis") return;
                         fit_work(*workspace.model(), workspace.state());
                         workspace.state().selection.item = {
                             ItemKind::kOp, workspace.model()->waits().longest(1).at(0).op};
                       });
  }
}

TEST_F(GoldenPicture, OfTwoTracesCompared) {
  const trace::Trace before = test::pipeline_trace(6).trace();
  trace::Trace after = test::pipeline_trace(7).trace();
  for (Id op = 0; op < after.op.size(); ++op) {
    if (after.op.kind[op] == trace::kKernel && after.op.end_ns[op] - after.op.start_ns[op] > 1000)
      after.op.start_ns[op] -= 40'000;
  }
  Arguments arguments = panel("compare");
  arguments.width = 1100;
  const auto compared = std::make_shared<const TraceModel>(std::move(after));
  expect_as_approved("compare", before, arguments,
                     [&](Workspace& workspace) { workspace.set_compared(compared); });
}

// A trace opens at its median iteration, above what bounds it.
TEST_F(GoldenPicture, OfATraceWithIterations) {
  const trace::Trace steps = test::host_bound_trace(20).trace();
  Arguments arguments;
  arguments.width = 1440;
  arguments.height = 860;
  expect_as_approved("opening", steps, arguments);
  arguments.theme = ThemeKind::kLight;
  expect_as_approved("opening-light", steps, arguments);
}

// Start-up, an outlier, and what follows the steady part.
TEST_F(GoldenPicture, OfIterationsOnTheTimeAxis) {
  const trace::Trace steps = test::host_bound_trace(20).trace();
  Arguments arguments = panel("timeline");
  arguments.width = 1100;
  arguments.range = {RangeEnd{true, 0}, RangeEnd{true, 100}};
  expect_as_approved("iterations", steps, arguments);
  arguments.theme = ThemeKind::kLight;
  expect_as_approved("iterations-light", steps, arguments);
  // A thousand of them, a pixel each.
  expect_as_approved("iterations-many", test::host_bound_trace(1'000).trace(), arguments);
}

// Whether the thread ran, and the functions that it was in, below its calls.
TEST_F(GoldenPicture, OfSamplesOfTheHost) {
  const trace::Trace sampled = test::sampled_trace(20).trace();
  Arguments arguments = panel("");
  arguments.width = 1100;
  arguments.height = 760;
  const auto select_forward = [](Workspace& workspace) {
    const TraceModel& model = *workspace.model();
    const TimeRange shown = workspace.state().nav.window.range();
    for (const Item item : model.lanes().items_with(model.items().names_with("forward"), 1000)) {
      if (model.items().time(item)->begin_ns < shown.begin_ns) continue;
      return select(workspace.state(), item);
    }
  };
  const auto prepare = [&](Workspace& workspace) {
    workspace.state().look.drawer = "";
    show_opening(*workspace.model(), workspace.state());
    select_forward(workspace);
  };
  expect_as_approved("samples", sampled, arguments, prepare);
  arguments.theme = ThemeKind::kLight;
  expect_as_approved("samples-light", sampled, arguments, prepare);
  arguments.width = 600;
  arguments.height = 400;
  expect_as_approved("samples-small", sampled, arguments, prepare);
}

TEST_F(GoldenPicture, OfTheDiagnosis) {
  Arguments arguments = panel("diagnosis");
  arguments.width = 1100;
  arguments.height = 360;
  arguments.theme = ThemeKind::kLight;
  expect_as_approved("diagnosis-wide", test::host_bound_trace(1'000).trace(), arguments);
  expect_as_approved("diagnosis-hang", test::deadlock_trace().trace(), arguments);
  test::TraceBuilder once;
  once.stream("copies").memcpy(test::kHtoD, 100, 200).record("unused");
  once.stream("math").wait("never").kernel("gemm", 210, 350);
  expect_as_approved("diagnosis-none", once.trace(), arguments);
}

TEST_F(GoldenPicture, OfAllPanelsInBothThemesAndAt200Percent) {
  const trace::Trace pipeline = test::pipeline_trace(6).trace();
  Arguments all = panel("");
  all.width = 1100;
  all.height = 640;
  expect_as_approved("all-dark", pipeline, all);
  all.theme = ThemeKind::kLight;
  expect_as_approved("all-light", pipeline, all);
  all.scale = 2;
  all.width *= 2;
  all.height *= 2;
  expect_as_approved("all-light-200", pipeline, all);
}

// As much as a window of 1200x800 holds at 200 %.
TEST_F(GoldenPicture, OfASmallWindow) {
  const trace::Trace pipeline = test::pipeline_trace(6).trace();
  for (const std::string_view name : {"", "statistics"}) {
    Arguments small = panel(name);
    small.width = 600;
    small.height = 400;
    expect_as_approved(name.empty() ? "all-small" : std::string(name) + "-small", pipeline, small);
  }
}

// Letters of 16.5 pixels, so that lines of text begin between two pixels.
TEST_F(GoldenPicture, OfANarrowWindow) {
  trace::Trace pipeline = test::pipeline_trace(6).trace();
  pipeline.file = "pipeline_of_six_steps.sqlite";
  Arguments narrow = panel("findings");
  narrow.scale = 1.18f;
  narrow.width = 470;
  narrow.height = 640;
  expect_as_approved("findings-narrow", pipeline, narrow);
}

TEST_F(GoldenPicture, OfTheRunWithAFindingFixed) {
  Arguments arguments = panel("");
  arguments.width = 1100;
  arguments.height = 800;
  arguments.finding = 0;
  arguments.what_if = true;
  arguments.range = {RangeEnd{true, 0}, RangeEnd{true, 100}};
  expect_as_approved("what-if", test::needless_sync_trace(6).trace(), arguments);
}

// The median iteration with each repair, above the recorded one.
TEST_F(GoldenPicture, OfTheIterationWithEachRepair) {
  const trace::Trace steps = test::host_bound_trace(20).trace();
  Arguments arguments;
  arguments.width = 1440;
  arguments.height = 860;
  arguments.what_if = true;
  expect_as_approved("repairs", steps, arguments);
  arguments.theme = ThemeKind::kLight;
  expect_as_approved("repairs-light", steps, arguments);
  arguments.width = 600;
  arguments.height = 400;
  expect_as_approved("repairs-small", steps, arguments);
}

TEST_F(GoldenPicture, OfTheHelp) {
  Arguments arguments;
  arguments.width = 1200;
  arguments.height = 760;
  expect_as_approved("help", test::pipeline_trace(2).trace(), arguments,
                     [](Workspace& workspace) { workspace.press("F1"); });
}

// The footer explains why X has no effect; the header shows that the recording is unfinished.
TEST_F(GoldenPicture, OfAnUnfinishedTrace) {
  test::TraceBuilder unfinished = test::pipeline_trace(2);
  unfinished.meta("complete", "0").meta("finished", "0");
  Arguments arguments = panel("");
  arguments.width = 1100;
  expect_as_approved("unfinished", unfinished.trace(), arguments,
                     [](Workspace& workspace) { workspace.press("X"); });
}

// One of 32 ranks on 4 hosts, four of which share a tensor each, loads its data slowly.
TEST_F(GoldenPicture, OfARunOfManyRanks) {
  job::StepReader reader;
  const job::SimulatedJob simulated = job::simulate({.ranks = 32,
                                                     .tensor = 4,
                                                     .iterations = 12,
                                                     .layers = 3,
                                                     .fault = job::Fault::kSlowLoader,
                                                     .seed = 11});
  for (const job::RankSummary& summary : simulated.summaries) reader.add(summary);
  const auto job =
      std::make_shared<const JobModel>(report::JobReport{job::analyze(reader.take()), {}}, "run");
  Arguments arguments = panel("");
  arguments.width = 1440;
  arguments.height = 860;
  arguments.screenshot = "job";
  const auto picture = [&](std::string_view only, ThemeKind theme) {
    arguments.panel = only;
    arguments.theme = theme;
    Offscreen surface(arguments.width, arguments.height);
    Workspace workspace(arguments);
    workspace.set_job(job);
    return settled(surface, workspace);
  };
  expect_as_approved("job-run", picture("", ThemeKind::kDark));
  expect_as_approved("job-run-light", picture("", ThemeKind::kLight));
  arguments.width = 1000;
  arguments.height = 360;
  expect_as_approved("job", picture("job", ThemeKind::kDark));
}

TEST_F(GoldenPicture, OfDenseLanes) {
  expect_as_approved("dense", test::dense_trace(200'000), panel("timeline"));
}

TEST_F(GoldenPicture, OfCounters) {
  Arguments arguments = panel("timeline");
  arguments.height = 640;
  arguments.range = {RangeEnd{true, 0}, RangeEnd{true, 100}};
  expect_as_approved("counters", test::pipeline_trace(6).trace(), arguments);
}

TEST(GoldenDifference, DetectsAMovedWordAndIgnoresOtherHinting) {
  Image a{160, 160, std::vector<uint8_t>(160 * 160 * 3, 40)};
  Image hinted = a, moved = a;
  for (size_t i = 0; i < 3000; ++i) hinted.rgb[i] = 55;
  for (size_t y = 40; y < 52; ++y) {
    for (size_t x = 0; x < 100 * 3; ++x) moved.rgb[y * 160 * 3 + x] = 200;
  }
  EXPECT_EQ(difference(a, hinted), 0);
  EXPECT_GT(difference(a, moved), kMostDifferent);
  EXPECT_EQ(difference(a, Image{1, 1, {0, 0, 0}}), 1);
}

}  // namespace
}  // namespace streamscope::viewer
