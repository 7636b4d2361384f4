// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "command.h"

namespace streamscope::cli {
namespace {

constexpr Command kCommands[] = {
    {"record", "[OPTIONS] -- PROGRAM [ARG…]",
     "run a program and record its CUDA streams into a trace", define_record,
     Command::kRunsProgram},
    {"demo", "[NAME] [OPTIONS]", "record an example program and show its report", define_demo},
    {"import", "FILE… [OPTIONS]", "make traces from profiles of nsys and PyTorch", define_import},
    {"info", "TRACE [--json]", "what a trace holds and what it lacks", define_info},
    {"report", "TRACE [OPTIONS]", "explain a trace: who waited for whom, what overlapped",
     define_report},
    {"check", "TRACE [OPTIONS]", "judge a trace by all detectors; fails on findings", define_check},
    {"hang", "(TRACE | --pid PID)", "say why a program stands still, or stood still", define_hang},
    {"dump", "--pid PID", "have a flight recorder write what it holds", define_dump},
    {"diff", "BASE NEW [OPTIONS]", "compare two traces by structure; fails on a regression",
     define_diff},
    {"export", "TRACE --to FORMAT [OPTIONS]", "write a trace in the format of another tool",
     define_export},
    {"merge", "TRACE… -o FILE", "join traces of ranks or runs on one axis of time", define_merge},
    {"query", "TRACE SQL [--format F]", "read a trace with SQL", define_query},
    {"analyze", "TRACE", "compute a trace's derived tables anew", define_analyze},
    {"detectors", "[--json]", "list what StreamScope can find in a trace", define_detectors},
    {"view", "TRACE [OPTIONS]", "show a trace in the viewer", define_view,
     Command::kPassesEverythingOn},
    {"doctor", "[--json]", "check what recording and viewing need on this machine", define_doctor},
    {"completion", "bash|zsh|fish", "print a script that completes commands in a shell",
     define_completion},
    {"manual", "", "print the manual page: streamscope manual | man -l -", define_manual},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

std::vector<CommandUsage> usage() {
  std::vector<CommandUsage> result;
  for (const Command& command : kCommands) {
    CommandLine line(command.name);
    ProgramArguments program;
    command.define(line, program);
    result.push_back({&command, line.usage()});
  }
  return result;
}

}  // namespace streamscope::cli
