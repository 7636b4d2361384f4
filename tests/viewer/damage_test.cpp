// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "render/damage.h"

#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <memory>

namespace {

using streamscope::viewer::Damage;

// Frames of two panels side by side, each a list with one rectangle.
class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    ImGui::CreateContext();
    for (auto& list : lists_) list = std::make_unique<ImDrawList>(ImGui::GetDrawListSharedData());
  }
  ~DamageTest() override {
    for (auto& list : lists_) list.reset();
    ImGui::DestroyContext();
  }
  // The left panel contains a rectangle of this height, likewise the right one; 0 for no such
  // panel.
  std::vector<ImVec4> next(float left, float right, uint64_t ground_content = 0) {
    ImDrawList* shown[2];
    ImDrawData frame;
    frame.DisplaySize = {200, 100};
    frame.FramebufferScale = {1, 1};
    for (int i = 0; i < 2; ++i) {
      const float height = i == 0 ? left : right, x = i == 0 ? 10 : 110;
      if (height == 0) continue;
      ImDrawList& list = *lists_[i];
      list._ResetForNewFrame();
      list.PushClipRect({i * 100.0f, 0}, {i * 100.0f + 100, 100});
      list.AddRectFilled({x, 20}, {x + 50, 20 + height}, IM_COL32_WHITE);
      shown[frame.CmdListsCount++] = &list;
    }
    frame.CmdLists = shown;
    return damage_.next(frame, {{ground_content, {{0, 70, 200, 100}}}});
  }
  static std::vector<float> flat(const std::vector<ImVec4>& parts) {
    std::vector<float> all;
    for (const ImVec4& part : parts) all.insert(all.end(), {part.x, part.y, part.z, part.w});
    return all;
  }

  std::unique_ptr<ImDrawList> lists_[2];
  Damage damage_;
};

TEST_F(DamageTest, IsAllOfTheFirstFrameAndNothingOfAnEqualOne) {
  EXPECT_EQ(flat(next(30, 30)), (std::vector<float>{0, 0, 200, 100}));
  EXPECT_TRUE(next(30, 30).empty());
  damage_.forget();
  EXPECT_EQ(flat(next(30, 30)), (std::vector<float>{0, 0, 200, 100}));
}

TEST_F(DamageTest, IsWhereAListWasAndIs) {
  next(30, 30);
  EXPECT_EQ(flat(next(40, 30)), (std::vector<float>{10, 20, 60, 60}));
  EXPECT_EQ(flat(next(10, 30)), (std::vector<float>{10, 20, 60, 60}));
  EXPECT_EQ(flat(next(10, 0)), (std::vector<float>{110, 20, 160, 50}));
}

TEST_F(DamageTest, KeepsDistantPlacesApart) {
  next(30, 30);
  EXPECT_EQ(flat(next(40, 50)), (std::vector<float>{10, 20, 60, 60, 110, 20, 160, 70}));
}

TEST_F(DamageTest, EndsAtTheClipping) {
  next(30, 30);
  EXPECT_EQ(flat(next(90, 30)), (std::vector<float>{10, 20, 60, 100}));
}

TEST_F(DamageTest, CoversChangesOfTheGround) {
  next(30, 30, 1);
  EXPECT_EQ(flat(next(30, 30, 2)), (std::vector<float>{0, 70, 200, 100}));
}

}  // namespace
