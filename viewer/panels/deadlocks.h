// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Who waited for whom when a trace ended with calls that never returned: the wait-for graph with
// its cycles, the same as text, and the stacks of the hung threads.
#pragma once

#include "window/view.h"

namespace streamscope::viewer {

class DeadlocksView : public View {
 public:
  std::string_view name() const override { return "deadlocks"; }
  std::string_view title() const override { return "Deadlocks"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  void draw_graph(const TraceModel& model, ViewState& state, const Theme& theme);
  void draw_words(const TraceModel& model, ViewState& state, const Theme& theme);
};

}  // namespace streamscope::viewer
