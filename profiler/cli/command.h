// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A command of `streamscope`. To add one: add a file with its define function and a row in
// commands.cpp. Help is generated from the table.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "command_line.h"

namespace streamscope::cli {

/// Exit codes of every command, part of the interface.
enum ExitCode : int {
  kDone = 0,
  kFound = 1,         ///< findings, a regression, something missing
  kUnusable = 2,      ///< wrong usage or unusable input
  kNotEvaluable = 3,  ///< required evidence is missing
};

/// Declares the options of a command. Returns the function that runs the command after parsing; it
/// returns the exit code and may throw Error.
using Define = std::function<int()>(CommandLine& line, ProgramArguments& program);

struct Command {
  std::string_view name;
  std::string_view arguments;  ///< as in the usage line
  std::string_view summary;
  Define* define;
  enum Kind { kPlain, kRunsProgram, kPassesEverythingOn } kind = kPlain;
};

/// In the order in which help lists them.
std::span<const Command> commands();

struct CommandUsage {
  const Command* command = nullptr;
  std::vector<OptionUsage> options;
};
/// All commands with their options. Completion scripts and the manual are generated from this.
std::vector<CommandUsage> usage();

Define define_record, define_demo, define_import, define_info, define_report, define_check,
    define_gate, define_cost, define_confirm, define_cut, define_dump, define_hang, define_start,
    define_stop, define_status, define_diff, define_export, define_merge, define_metrics,
    define_query, define_analyze, define_view, define_detectors, define_doctor, define_completion,
    define_manual;

}  // namespace streamscope::cli
