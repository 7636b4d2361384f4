// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Every action of the viewer, defined once: its name, its keys and its effect. Key handling, the
// help overlay and the command palette use this table, so that all have the same actions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "view.h"

namespace streamscope::viewer {

/// A key press, by its name in the table: "F", "Ctrl+P", "Left", "F1", "?".
using Key = std::string;

/// What a command does with a trace, and with a run of many ranks.
struct Action {
  using OnTrace = void(const TraceModel& model, ViewState& state);
  using OnJob = void(const JobModel& job, ViewState& state);
  OnTrace* on_trace;
  OnJob* on_job = nullptr;  ///< nullptr: only for traces

  constexpr Action(OnTrace* run, OnJob* run_on_job) : on_trace(run), on_job(run_on_job) {}
  /// From a function of a trace and the state, or of either model and the state.
  template <class Run>
  requires std::is_invocable_v<Run, const TraceModel&, ViewState&>
  constexpr Action(Run run) : on_trace(run) {
    if constexpr (std::is_invocable_v<Run, const JobModel&, ViewState&>) on_job = run;
  }
  /// From a function of the state alone, which works with either.
  template <class Run>
  requires std::is_invocable_v<Run, ViewState&>
  constexpr Action(Run)
      : on_trace([](const TraceModel&, ViewState& state) { Run{}(state); }),
        on_job([](const JobModel&, ViewState& state) { Run{}(state); }) {}
};

struct Command {
  std::string_view group;
  std::string_view name;  ///< "Zoom to selection"
  std::string_view keys;  ///< alternatives separated by blanks
  Action action;
};

std::span<const Command> commands();

/// The command of a key; nullptr if it has none.
const Command* find_command(const Key& key);
/// Commands whose names contain all words of `text`, ignoring case; best match first. All commands
/// for "".
std::vector<const Command*> matching_commands(std::string_view text);

}  // namespace streamscope::viewer
