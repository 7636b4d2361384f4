// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Every action of the viewer, defined once: its name, its keys and its effect. Key handling, the
// help overlay and the command palette use this table, so that all have the same actions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "view.h"

namespace streamscope::viewer {

/// A key press, by its name in the table: "F", "Ctrl+P", "Left", "F1", "?".
using Key = std::string;

struct Command {
  std::string_view group;
  std::string_view name;  ///< "Zoom to selection"
  std::string_view keys;  ///< alternatives separated by blanks
  void (*run)(const TraceModel& model, ViewState& state);
};

std::span<const Command> commands();

/// The command of a key; nullptr if it has none.
const Command* find_command(const Key& key);
/// Commands whose names contain all words of `text`, ignoring case; best match first. All commands
/// for "".
std::vector<const Command*> matching_commands(std::string_view text);

}  // namespace streamscope::viewer
