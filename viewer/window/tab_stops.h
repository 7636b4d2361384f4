// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What Tab walks along in the panel with the focus: everything that can be pressed, written into or
// read there, in the order of drawing. Arrow keys within a table and pressing are ImGui's keyboard
// navigation; its Tab goes from text field to text field only.
#pragma once

#include <cstddef>
#include <optional>

namespace streamscope::viewer {

/// UI thread only. Stops that are added while no panel with the focus is drawn do not count.
class TabStops {
 public:
  /// Goes to the main stop of the panel that is drawn next, or to its first if it names none.
  void enter() { asked_ = Ask::kMain; }
  /// Goes back to where it was, unless it goes elsewhere already.
  void resume();
  /// Goes on by so many stops, around.
  void step(int by);

  /// No panel has the focus.
  void leave() { *this = {}; }
  /// True while the focus is on its way to a stop.
  bool is_moving() const { return asked_ != Ask::kNothing || next_ || is_arriving_; }

  /// Around what draws the panel with the focus.
  void begin();
  void end();

  /// The item drawn last is a stop.
  void add();
  /// The item drawn last is a canvas and the main stop; says whether it has the focus of the
  /// keyboard.
  void add_canvas(bool& has_focus);
  /// True if the next stop is the one to go to. Who asks focuses it, and then calls add_focused().
  bool is_next() const { return is_open_ && next_ == count_; }
  /// A stop that is more than one item: a table, of which a row has the focus, or a text field.
  void add_focused(bool has_focus, bool is_main = false);

 private:
  enum class Ask { kNothing, kMain, kStep };
  Ask asked_ = Ask::kNothing;  // by the keys since the last frame
  int by_ = 0;
  bool is_open_ = false;
  size_t count_ = 0;  // so far in this frame
  size_t current_ = 0;
  std::optional<size_t> main_;  // of this frame
  std::optional<size_t> next_;  // takes the focus when it is drawn
  bool is_arriving_ = false;    // it was drawn, ImGui moves the focus before it draws again
};

/// True if the item drawn last has the focus of the keyboard, and the user drives with it.
bool has_key_focus();

}  // namespace streamscope::viewer
