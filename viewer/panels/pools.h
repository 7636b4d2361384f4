// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How full every pool was over the time that the timeline shows: in use, available, capacity,
// high-water mark, waits for an element, and what was never returned.
#pragma once

#include "window/view.h"

namespace streamscope::viewer {

class PoolsView : public View {
 public:
  std::string_view name() const override { return "pools"; }
  std::string_view title() const override { return "Pools"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;
};

}  // namespace streamscope::viewer
