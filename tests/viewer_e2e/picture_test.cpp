// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Draws every view on every sample without a display and checks the pixels.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "panels/counter_columns.h"
#include "viewer_e2e/picture_fixture.h"
#include "viewer_e2e/sample_traces.h"

namespace streamscope::viewer {
namespace {

class Picture : public PictureFixture {
 protected:
  static std::shared_ptr<const TraceModel> pipeline() {
    return std::make_shared<const TraceModel>(test::pipeline_trace(6).trace());
  }

  static size_t count(const Image& image, ImU32 color) {
    size_t found = 0;
    for (size_t i = 0; i + 2 < image.rgb.size(); i += 3) {
      found += image.rgb[i] == (color >> IM_COL32_R_SHIFT & 255) &&
               image.rgb[i + 1] == (color >> IM_COL32_G_SHIFT & 255) &&
               image.rgb[i + 2] == (color >> IM_COL32_B_SHIFT & 255);
    }
    return found;
  }
  // Whether it has more than this many colors; stops as soon as that is known.
  static bool has_more_colors(const Image& image, size_t count) {
    std::set<uint32_t> seen;
    uint32_t last = ~uint32_t{0};
    for (const uint8_t *at = image.rgb.data(), *end = at + image.rgb.size(); at != end; at += 3) {
      const uint32_t color = uint32_t{at[0]} << 16 | uint32_t{at[1]} << 8 | at[2];
      if (color == last) continue;
      last = color;
      if (seen.insert(color).second && seen.size() > count) return true;
    }
    return false;
  }
  static void show_every_panel(int scale);
};

// Samples made here and the recordings of traces/.
std::vector<std::pair<std::string, std::shared_ptr<const TraceModel>>> all_models() {
  std::vector<std::pair<std::string, std::shared_ptr<const TraceModel>>> models;
  for (test::NamedTrace& sample : test::sample_traces())
    models.emplace_back(sample.name, std::make_shared<const TraceModel>(std::move(sample.trace)));
  for (const auto& entry : std::filesystem::directory_iterator(STREAMSCOPE_TRACES)) {
    if (entry.path().extension() == ".sqlite")
      models.emplace_back(entry.path().filename(),
                          std::make_shared<const TraceModel>(trace::read(entry.path())));
  }
  return models;
}

void Picture::show_every_panel(int scale) {
  const auto models = all_models();
  ASSERT_GT(models.size(), 15u);
  std::vector<std::string_view> panels = view_names();
  panels.push_back("");
  for (const std::string_view panel : panels) {
    Arguments arguments;
    arguments.width = 900 * scale;
    arguments.height = 500 * scale;
    arguments.scale = static_cast<float>(scale);
    arguments.panel = panel;
    arguments.theme = panel.empty() ? ThemeKind::kLight : ThemeKind::kDark;
    Offscreen surface(arguments.width, arguments.height);
    Workspace workspace(arguments);
    for (const auto& [name, model] : models) {
      workspace.set_model(model);
      workspace.set_compared(models.front().second);
      EXPECT_TRUE(has_more_colors(settled(surface, workspace), 20))
          << name << ", panel '" << panel << "', scale " << scale;
    }
  }
}

TEST_F(Picture, ShowsEveryPanelOnEverySampleAndRecording) { show_every_panel(1); }

TEST_F(Picture, ShowsEveryPanelAt200Percent) { show_every_panel(2); }

TEST_F(Picture, OpensEveryPanelBelowTheTimeline) {
  // Without findings, as opening their panel selects one.
  test::TraceBuilder builder = test::pipeline_trace(1);
  builder.columns().range = {};
  const auto model = std::make_shared<const TraceModel>(builder.trace());
  Offscreen surface(1200, 800);
  Workspace workspace{Arguments{}};
  workspace.set_model(model);
  const Image closed = settled(surface, workspace);
  for (const std::string_view panel : view_names()) {
    if (panel == "timeline" || panel == "inspector") continue;
    toggle_drawer(workspace.state(), panel);
    const Image open = settled(surface, workspace);
    size_t different = 0;
    for (size_t i = 0; i < open.rgb.size(); ++i) different += open.rgb[i] != closed.rgb[i];
    EXPECT_GT(different, open.rgb.size() / 100) << panel;
    toggle_drawer(workspace.state(), panel);
    EXPECT_TRUE(settled(surface, workspace).rgb == closed.rgb) << panel;
  }
}

TEST_F(Picture, SurvivesEveryCommandOnEverySample) {
  Offscreen surface(400, 300);
  for (test::NamedTrace& sample : test::sample_traces()) {
    const auto model = std::make_shared<const TraceModel>(std::move(sample.trace));
    Workspace workspace{Arguments{}};
    workspace.set_model(model);
    surface.render(workspace, 1);
    for (const Command& command : commands()) {
      command.action.on_trace(*model, workspace.state());
      workspace.state().look.scale = 1;  // fonts are rebuilt for every scale, which takes time
      surface.render(workspace, 1);
    }
  }
}

TEST_F(Picture, IsBitIdenticalEachTime) {
  const Image first = draw(pipeline()), second = draw(pipeline());
  EXPECT_EQ(first.rgb, second.rgb);
}

TEST_F(Picture, IsTheSameDrawnInPartsOrWhole) {
  const auto model = pipeline();
  Offscreen surface(1200, 800);
  Workspace workspace{Arguments{}};
  workspace.set_model(model);
  const auto frame = [&] { return settled(surface, workspace).rgb; };
  frame();
  size_t count = 0;
  for (const Command& command : commands()) {
    command.action.on_trace(*model, workspace.state());
    workspace.state().look.scale = 1;
    const auto in_parts = frame();
    if (count++ % 6 != 0) continue;
    // Another theme and back: all of the frame is redrawn.
    const ThemeKind theme = workspace.state().look.theme;
    workspace.state().look.theme = theme == ThemeKind::kDark ? ThemeKind::kLight : ThemeKind::kDark;
    frame();
    workspace.state().look.theme = theme;
    EXPECT_TRUE(in_parts == frame()) << command.name;
  }
}

TEST_F(Picture, FollowsAChangeOfThemeAndScale) {
  Arguments light;
  light.theme = ThemeKind::kLight;
  light.scale = 1.5f;
  light.height = 1200;  // enough for the diagnosis at both scales
  Arguments dark;
  dark.height = light.height;
  const Image changed = draw(pipeline(), dark, [](Workspace& workspace) {
    workspace.state().look.theme = ThemeKind::kLight;
    workspace.state().look.scale = 1.5f;
  });
  EXPECT_EQ(changed.rgb, draw(pipeline(), light).rgb);
}

TEST_F(Picture, ShowsEdgesOfTheSelectionOnly) {
  const auto model = pipeline();
  const uint32_t longest = model->waits().longest(1).at(0).edge;
  ASSERT_LT(longest, model->edges().size());
  const Id waiter = model->edges()[longest].to_op;
  for (const ThemeKind kind : {ThemeKind::kDark, ThemeKind::kLight}) {
    Arguments arguments;
    arguments.theme = kind;
    arguments.panel = "timeline";
    const ImU32 incoming = Theme(kind, 1).color(Color::kIncoming);
    const auto select = [&](Item item) {
      return draw(model, arguments, [&](Workspace& workspace) {
        workspace.state().selection.item = item;
        zoom_to_selection(*model, workspace.state());
      });
    };
    EXPECT_EQ(count(draw(model, arguments), incoming), 0u);
    EXPECT_GT(count(select({ItemKind::kOp, waiter}), incoming), 50u);
    const ImU32 outgoing = Theme(kind, 1).color(Color::kOutgoing);
    EXPECT_GT(count(select({ItemKind::kOp, model->edges()[longest].from_op}), outgoing), 50u);
  }
}

TEST_F(Picture, NamesTheRequestedRangeInTheHeader) {
  Arguments arguments;
  arguments.range = parse_text_range("25%:75%");
  const Image without = draw(pipeline(), arguments);
  arguments.screenshot = "p.png";
  arguments.select_nothing = true;
  const Image with = draw(pipeline(), arguments);
  const auto header = static_cast<ptrdiff_t>(kHeader) * without.width * 3;
  EXPECT_FALSE(std::equal(without.rgb.begin(), without.rgb.begin() + header, with.rgb.begin()));
  EXPECT_TRUE(
      std::equal(without.rgb.begin() + header, without.rgb.end(), with.rgb.begin() + header));
}

TEST_F(Picture, ScrollsTheHelpIfItDoesNotFit) {
  const ImU32 panel = Theme(ThemeKind::kDark, 1).color(Color::kPanel);
  for (const float scale : {1.0f, 2.0f}) {
    Arguments arguments;
    arguments.scale = scale;
    Offscreen surface(1200, 800);
    Workspace workspace(arguments);
    workspace.set_model(pipeline());
    surface.render(workspace, 1);
    workspace.state().overlay = Overlay::kHelp;
    const Image top = settled(surface, workspace);
    // The whole box is in the picture: everything around it is shaded.
    const auto edge = static_cast<size_t>(top.width) * 3 * 4;
    const Image first{
        top.width, 4, {top.rgb.begin(), top.rgb.begin() + static_cast<ptrdiff_t>(edge)}};
    const Image last{top.width, 4, {top.rgb.end() - static_cast<ptrdiff_t>(edge), top.rgb.end()}};
    EXPECT_EQ(count(first, panel) + count(last, panel), 0u) << scale;

    const auto pressed = [&](const char* key) {
      workspace.press(key);
      EXPECT_EQ(workspace.state().overlay, Overlay::kHelp) << key;
      return settled(surface, workspace).rgb;
    };
    const auto end = pressed("End");
    EXPECT_EQ(end != top.rgb, scale == 2) << scale;
    EXPECT_TRUE(pressed("PageDown") == end);
    EXPECT_TRUE(pressed("Home") == top.rgb);
    auto at = top.rgb;
    for (int pages = 0; at != end && pages < 20; ++pages) at = pressed("PageDown");
    EXPECT_TRUE(at == end) << scale;
  }
}

TEST_F(Picture, ShowsLossesOnTop) {
  test::TraceBuilder lossy = test::pipeline_trace(2);
  lossy.loss("ring-full", 1204);
  const ImU32 warning = Theme(ThemeKind::kDark, 1).color(Color::kWarning);
  EXPECT_GT(count(draw(std::make_shared<const TraceModel>(lossy.trace())), warning), 10'000u);
  const auto whole = std::make_shared<const TraceModel>(test::pipeline_trace(2).trace());
  EXPECT_EQ(count(draw(whole), warning), 0u);
}

TEST_F(Picture, GrowsWithTheScale) {
  const auto model = pipeline();
  const Image normal = draw(model);
  Arguments arguments;
  arguments.scale = 2.0f;
  const Image large = draw(model, arguments);
  const ImU32 panel = Theme(ThemeKind::kDark, 1).color(Color::kPanel);
  EXPECT_GT(count(large, panel), count(normal, panel));
}

// The most that a picture of the trace draws at any scale.
size_t most_drawn(trace::Trace trace) {
  const auto model = std::make_shared<const TraceModel>(std::move(trace));
  Offscreen surface(1920, 1080);
  Workspace workspace{Arguments{}};
  workspace.set_model(model);
  size_t most = 0;
  for (int step = 0; step < 9; ++step) {
    surface.render(workspace, 1);
    most = std::max(most, workspace.state().drawn.items);
    zoom(*model, workspace.state(), 400, 6);
  }
  return most;
}

TEST_F(Picture, CostsPixelsNotOperations) {
  const size_t few = most_drawn(test::dense_trace(10'000)),
               many = most_drawn(test::dense_trace(1'000'000));
  EXPECT_LE(many, 2u * 1920);
  EXPECT_LE(many, few * 6 / 5);
}

TEST_F(Picture, CostsPixelsNotSamples) {
  const size_t few = most_drawn(test::dense_samples_trace(10'000)),
               many = most_drawn(test::dense_samples_trace(1'000'000));
  EXPECT_LE(many, 8u * 2 * 1920) << "a row of states, 7 of functions";
  EXPECT_LE(many, few * 6 / 5);
}

// The maximum of each pixel is 1, but the filled part is a third, its mean over time.
// Not up to the top wherever anything runs.
TEST_F(Picture, FillsAThirdOfTheLaneOfADeviceThatIsIdleTwoThirds) {
  Arguments arguments;
  arguments.panel = "timeline";
  const Theme theme(arguments.theme, 1);
  const CounterLook look(theme, theme.color(Color::kCounter));
  const auto filled = [&](Ns busy_ns) {
    trace::Trace trace = test::dense_trace(200'000);
    for (size_t i = 0; i < trace.op.size(); ++i) {
      trace.op.start_ns[i] = static_cast<Ns>(i) * 300;
      trace.op.end_ns[i] = trace.op.start_ns[i] + busy_ns;
    }
    const Image image =
        draw(std::make_shared<const TraceModel>(std::move(trace)), arguments,
             [](Workspace& workspace) { workspace.state().look.critical_path = false; });
    EXPECT_EQ(count(image, look.inside) + count(image, look.outline), 0u);
    return static_cast<double>(count(image, look.body) + count(image, look.edge));
  };
  const double always = filled(300);
  EXPECT_GT(always, 20'000);
  EXPECT_NEAR(filled(100) / always, 1.0 / 3, 0.04);
}

TEST_F(Picture, ShadesARunOfShortWaitsByTheirShare) {
  // Kernels that wait for a copy a tenth of the time, about half a pixel each.
  test::TraceBuilder builder;
  test::StreamBuilder copies = builder.stream("copies"), math = builder.stream("math");
  for (int i = 0; i < 250; ++i) {
    const Ns at = i * 1'000'000;
    copies.at(at).memcpy(test::kHtoD, at + 1'000, at + 100'000).record("loaded");
    math.wait("loaded").kernel("k", at + 101'000, at + 110'000);
  }
  Arguments arguments;
  arguments.panel = "timeline";
  arguments.range = {RangeEnd{true, 0}, RangeEnd{true, 100}};
  const auto model = std::make_shared<const TraceModel>(builder.trace());
  const Image image = draw(model, arguments);
  const Theme theme(arguments.theme, 1);
  ASSERT_TRUE(model->lanes().has_waits());
  // The legend always has the color of waiting, with other strengths.
  EXPECT_EQ(count(image, theme.dim(theme.color(Color::kWaiting), 0.8f)), 0u)
      << "as dark as if it waited all the time";
}

TEST_F(Picture, ExplainsAtTheBottomWhyAKeyHasNoEffect) {
  test::TraceBuilder builder;
  builder.stream("a").kernel("k", 10, 20);
  const auto model = std::make_shared<const TraceModel>(builder.trace());
  ASSERT_TRUE(model->waits().longest(1).empty());
  Offscreen surface(1200, 800);
  Workspace workspace{Arguments{}};
  workspace.set_model(model);
  surface.render(workspace, 1);
  ASSERT_TRUE(workspace.press("F"));
  const Image before = surface.render(workspace);
  const ImU32 accent = Theme(ThemeKind::kDark, 1).color(Color::kAccent);
  const auto footer = [&](const Image& image) {
    const auto from = image.rgb.end() - ptrdiff_t{1200} * 3 * 30;
    return count(Image{1200, 30, {from, image.rgb.end()}}, accent);
  };
  for (const char* key : {"L", "X", "E", "F3", "Z", "G"}) {
    ASSERT_TRUE(workspace.press(key));
    EXPECT_NE(workspace.state().status, "") << key;
    EXPECT_GT(footer(surface.render(workspace)), 50u) << key;
    EXPECT_NE(workspace.state_json().find(workspace.state().status), std::string::npos) << key;
  }
  ASSERT_TRUE(workspace.press("F"));
  EXPECT_EQ(workspace.state().status, "") << "the next key clears it";
  EXPECT_TRUE(surface.render(workspace).rgb == before.rgb);
}

TEST_F(Picture, LabelsATraceThatWasNotFinished) {
  test::TraceBuilder builder = test::pipeline_trace(2);
  builder.meta("complete", "0").meta("finished", "0");
  const auto model = std::make_shared<const TraceModel>(builder.trace());
  const ImU32 warning = Theme(ThemeKind::kDark, 1).color(Color::kWarning);
  EXPECT_GT(count(draw(model), warning), 10'000u);
  const auto live = [](Workspace& workspace) { workspace.set_live(true); };
  EXPECT_EQ(count(draw(model, Arguments{}, live), warning), 0u);
}

TEST_F(Picture, IsWrittenAsPngWithItsSize) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "viewer_picture.png";
  write_png(draw(pipeline()), file);
  std::ifstream in(file, std::ios::binary);
  std::vector<unsigned char> head(24);
  in.read(reinterpret_cast<char*>(head.data()), 24);
  EXPECT_EQ(std::string(head.begin() + 1, head.begin() + 4), "PNG");
  EXPECT_EQ(head[18] * 256 + head[19], 1600);
  EXPECT_EQ(head[22] * 256 + head[23], 1000);
  std::filesystem::remove(file);
  EXPECT_THROW(write_png(draw(pipeline()), "/nowhere/at/all.png"), Error);
}

}  // namespace
}  // namespace streamscope::viewer
