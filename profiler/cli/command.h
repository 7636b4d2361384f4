// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a command of `streamscope` is. To add one: a file with its define function, a row in
// commands.cpp; help is made from the table.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace streamscope::cli {

/// Exit codes of every command, part of the interface.
enum ExitCode : int {
  kDone = 0,
  kFound = 1,         ///< findings, a regression, something missing
  kUnusable = 2,      ///< wrong usage or unusable input
  kNotEvaluable = 3,  ///< promised evidence is missing
};

/// What follows `--` on the command line, or the first word that is no option, for commands that
/// run a program.
using ProgramArguments = std::vector<std::string>;

/// Declares the options of a command and returns what runs it once they are parsed; that returns
/// the exit code and may throw Error.
using Define = std::function<int()> (*)(CLI::App& app, ProgramArguments& program);

struct Command {
  std::string_view name;
  std::string_view arguments;  ///< as in the usage line
  std::string_view summary;
  Define define;
  enum Kind { kPlain, kRunsProgram, kPassesEverythingOn } kind = kPlain;
};

/// In the order in which help lists them.
std::span<const Command> commands();

std::function<int()> define_record(CLI::App& app, ProgramArguments& program);
std::function<int()> define_demo(CLI::App& app, ProgramArguments& program);
std::function<int()> define_import(CLI::App& app, ProgramArguments& program);
std::function<int()> define_info(CLI::App& app, ProgramArguments& program);
std::function<int()> define_report(CLI::App& app, ProgramArguments& program);
std::function<int()> define_check(CLI::App& app, ProgramArguments& program);
std::function<int()> define_dump(CLI::App& app, ProgramArguments& program);
std::function<int()> define_hang(CLI::App& app, ProgramArguments& program);
std::function<int()> define_diff(CLI::App& app, ProgramArguments& program);
std::function<int()> define_export(CLI::App& app, ProgramArguments& program);
std::function<int()> define_merge(CLI::App& app, ProgramArguments& program);
std::function<int()> define_query(CLI::App& app, ProgramArguments& program);
std::function<int()> define_analyze(CLI::App& app, ProgramArguments& program);
std::function<int()> define_view(CLI::App& app, ProgramArguments& program);
std::function<int()> define_detectors(CLI::App& app, ProgramArguments& program);
std::function<int()> define_doctor(CLI::App& app, ProgramArguments& program);
std::function<int()> define_completion(CLI::App& app, ProgramArguments& program);
std::function<int()> define_manual(CLI::App& app, ProgramArguments& program);

}  // namespace streamscope::cli
