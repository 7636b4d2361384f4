// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What Tab moves through in the focused panel: everything that can be pressed, edited or read
// there, in the order of drawing. Arrow keys within a table and pressing are ImGui's keyboard
// navigation; its Tab moves only between text fields.
#pragma once

#include <cstddef>
#include <optional>

namespace streamscope::viewer {

/// UI thread only. Stops added while no focused panel is drawn do not count.
class TabStops {
 public:
  /// Moves to the main stop of the panel that is drawn next, or to its first if it has no main
  /// stop.
  void enter() { asked_ = Ask::kMain; }
  /// Moves back to the last stop, unless a move is already pending.
  void resume();
  /// Moves by this many stops, wrapping around.
  void step(int by);

  /// Called when no panel has the focus.
  void leave() { *this = {}; }
  /// True while the focus is moving to a stop.
  bool is_moving() const { return asked_ != Ask::kNothing || next_ || is_arriving_; }

  /// Called before and after drawing the focused panel.
  void begin();
  void end();

  /// The last item is a stop.
  void add();
  /// The last item is a canvas and the main stop; `has_focus` returns whether it has keyboard
  /// focus.
  void add_canvas(bool& has_focus);
  /// True if the next stop is the target. The caller then focuses it and calls add_focused().
  bool is_next() const { return is_open_ && next_ == count_; }
  /// A stop made of more than one item: a table in which a row has the focus, or a text field.
  void add_focused(bool has_focus, bool is_main = false);

 private:
  enum class Ask { kNothing, kMain, kStep };
  Ask asked_ = Ask::kNothing;  // requested by keys since the last frame
  int by_ = 0;
  bool is_open_ = false;
  size_t count_ = 0;  // so far in this frame
  size_t current_ = 0;
  std::optional<size_t> main_;  // of this frame
  std::optional<size_t> next_;  // gets the focus when it is drawn
  bool is_arriving_ = false;    // it was drawn; ImGui moves the focus before it draws again
};

/// True if the last item has keyboard focus and the user navigates by keyboard.
bool has_key_focus();

}  // namespace streamscope::viewer
