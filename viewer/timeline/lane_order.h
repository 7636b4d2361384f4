// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which lanes the timeline shows and in which order: pinned ones first, then the rest in the user's
// order, without those that a filter hides. Independent of ImGui.
#pragma once

#include <string>
#include <vector>

#include "model/lanes.h"

namespace streamscope::viewer {

/// UI thread only.
class LaneOrder {
 public:
  /// Forgets everything; for a new model.
  void reset() { *this = {}; }

  bool is_pinned(size_t lane) const { return lane < pinned_.size() && pinned_[lane]; }
  /// Pinned lanes stay on top while the others scroll. Groups of lanes cannot be pinned.
  void toggle_pinned(const LaneSet& lanes, size_t lane);
  /// Moves a lane, with its descendants, to the place of another of the same group; does nothing if
  /// they are in different groups.
  void move(const LaneSet& lanes, size_t lane, size_t to);
  /// Shows only lanes whose name contains this text, ignoring case, and the groups they are in.
  void set_filter(std::string text) { filter_ = std::move(text); }
  const std::string& filter() const { return filter_; }

  /// Lanes to show, top to bottom; `collapsed` hides the content of a lane. The first
  /// `pinned_count` are pinned.
  struct Shown {
    std::vector<size_t> lanes;
    size_t pinned_count = 0;
  };
  Shown shown(const LaneSet& lanes, const std::vector<bool>& collapsed) const;

 private:
  std::vector<bool> pinned_;   // by lane; empty: none
  std::vector<size_t> order_;  // of all lanes; empty: that of the model
  std::string filter_;
};

}  // namespace streamscope::viewer
