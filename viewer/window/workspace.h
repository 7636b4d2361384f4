// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The whole picture: header, banner of losses, panels, legend, overlays. The window and the
// offscreen surface draw the same workspace; tests draw it too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "commands.h"
#include "document/document.h"
#include "render/theme.h"
#include "sessions.h"
#include "view.h"

namespace streamscope::viewer {

/// Height of the header, before scaling.
inline constexpr float kHeader = 44;

/// UI thread only. Needs a current ImGui context from its construction to its end.
class Workspace {
 public:
  /// What the arguments ask for is applied once a document is there.
  explicit Workspace(Arguments arguments);
  ~Workspace();

  ViewState& state() { return state_; }
  const Document* document() const { return document_.get(); }
  /// Shows a document, a message in its place, or how far loading is. The first throws Error if the
  /// arguments ask for what the document does not have; it is shown all the same.
  void set_document(std::shared_ptr<const Document> document);
  /// A second trace to hold the first against. A window that showed all shows all of both.
  /// Null: no longer.
  void set_compared(std::shared_ptr<const Document> document);
  /// What is being read, for as long as there is no document.
  void set_reading(std::filesystem::path trace) {
    reading_ = std::move(trace);
    error_.clear();
  }
  void set_error(std::string message) { error_ = std::move(message); }
  /// A line of text above the panels; Escape takes it away.
  void set_notice(std::string message) { notice_ = std::move(message); }
  void set_progress(double fraction) { progress_ = fraction; }
  /// Traces to offer while none is open.
  void set_recent(std::vector<Session> recent) { recent_ = std::move(recent); }
  /// Whether the trace is still being recorded.
  void set_live(bool is_live) { state_.is_live = is_live; }
  /// Where the user was when this trace was shown last; for a trace that is not here yet.
  void restore(const Session& session) { restored_ = session; }
  /// Where the user is now; of no trace, one without a file.
  Session session() const;

  /// Acts on a key press. False if it means nothing here.
  bool press(const Key& key);
  /// Acts on a typed character: text where text is asked for, else the key of that sign ("?", "+",
  /// ...).
  void type(unsigned int character);
  /// Builds fonts and style anew if theme or scale changed; true if it did, so that the renderer
  /// can follow.
  bool update_theme();
  /// Draws everything into the current ImGui frame.
  void draw(float width, float height);
  /// The state as one JSON object, for tests and scripts.
  std::string state_json() const;

 private:
  void draw_header(float width, float height);
  float draw_banner(float top, float width);
  void draw_footer(float top, float width, float height);
  void draw_panels(float top, float width, float height);
  void draw_view(std::string_view name, ImVec2 at, ImVec2 size);
  void draw_tabs(ImVec2 at, ImVec2 size);
  /// True while a text field of a panel takes the keys.
  bool is_typing() const;
  /// True if keys act on what is in a panel, not on the timeline.
  bool is_in_panel() const;
  /// What the commands act on: the document, or an empty one while there is none.
  const Document& subject() const;
  /// The panel with the focus has it also with ImGui.
  void apply_focus();
  void draw_message(float width, float height);
  void draw_help(float width, float height);
  void draw_palette(float width, float height);
  /// A line of the palette or of a search: what it says and does.
  struct PaletteRow {
    std::string left, right;
    const Command* command = nullptr;
    Item item;
    size_t bookmark = 0;
    std::filesystem::path file;
  };
  std::vector<PaletteRow> palette_rows() const;
  /// What an overlay asks for, and what else there is to know about it.
  struct PalettePrompt {
    std::string_view ask, hint;
  };
  PalettePrompt palette_prompt() const;
  void draw_palette_input(std::string_view ask);
  void draw_palette_rows(const std::vector<PaletteRow>& found, float height);
  void run_palette_row(size_t index);
  bool takes_text() const;
  bool asks_for_file() const;
  void text_changed();
  void apply_arguments();
  void take_news(std::shared_ptr<const Document> document);
  /// True if the timeline shows what it shows at first.
  bool is_fitted() const;

  Arguments arguments_;
  ViewState state_;
  Theme theme_;
  bool themed_ = false;
  std::vector<std::unique_ptr<View>> views_;
  std::shared_ptr<const Document> document_;
  std::filesystem::path reading_;
  std::string error_;
  std::string notice_;
  double progress_ = 0;
  Predictor predictor_;
  Comparer comparer_;
  std::vector<Session> recent_;
  std::optional<Session> restored_;
  std::string palette_text_;
  size_t palette_index_ = 0;
  float help_step_ = 0;           // to scroll the help by, of what is shown of it
  bool had_focus_ = false;        // a panel, in the last frame
  bool skips_character_ = false;  // the next one is of the key that asked for text
};

}  // namespace streamscope::viewer
