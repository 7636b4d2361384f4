// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Who waited for whom when a trace ended with calls that never returned: the wait-for graph with
// its cycles, the same in words, and the stacks of the threads that hang.
#pragma once

#include "view.h"

namespace streamscope::viewer {

class DeadlocksView : public View {
 public:
  std::string_view name() const override { return "deadlocks"; }
  std::string_view title() const override { return "Deadlocks"; }
  void draw(const Document& document, ViewState& state, const Theme& theme) override;

 private:
  void lay_out(const WaitGraph& graph);
  void draw_graph(const Document& document, ViewState& state, const Theme& theme);
  void draw_words(const Document& document, ViewState& state, const Theme& theme);

  uint64_t prepared_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> places_;  // by node: column and row
  uint32_t columns_ = 0, rows_ = 0;
};

}  // namespace streamscope::viewer
