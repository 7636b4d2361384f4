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
    {"import", "FILE… [OPTIONS]", "convert nsys and PyTorch profiles to traces", define_import},
    {"info", "TRACE [--json]", "show what a trace contains and what is missing", define_info},
    {"report", "TRACE [OPTIONS]", "explain a trace: who waited for whom, what overlapped",
     define_report},
    {"check", "TRACE [OPTIONS]", "run all detectors on a trace; fails on findings", define_check},
    {"gate", "[OPTIONS] -- PROGRAM [ARG…]",
     "run, record and check a program in a job of a build server", define_gate,
     Command::kRunsProgram},
    {"cost", "[OPTIONS] -- PROGRAM [ARG…]",
     "run a program in turns with and without recording, and say what recording costs", define_cost,
     Command::kRunsProgram},
    {"confirm", "TRACE [OPTIONS] -- PROGRAM [ARG…]",
     "run a program again to see whether a race changes what it reads", define_confirm,
     Command::kRunsProgram},
    {"hang", "(TRACE | --pid PID)", "explain why a program hangs or hung", define_hang},
    {"start", "--pid PID [--for SECONDS]", "start the recording of a process that runs",
     define_start},
    {"stop", "--pid PID", "stop it, and print the name of its trace", define_stop},
    {"status", "--pid PID [--json]", "show whether and into which trace a process is recorded",
     define_status},
    {"dump", "--pid PID", "dump a running flight recorder", define_dump},
    {"diff", "BASE NEW [OPTIONS]", "compare two traces by structure; fails on a regression",
     define_diff},
    {"export", "TRACE --to FORMAT [OPTIONS]", "convert a trace to the format of another tool",
     define_export},
    {"cut", "TRACE --range NAME -o FILE", "cut the part of a trace out that a range covers",
     define_cut},
    {"merge", "TRACE… -o FILE", "merge traces of ranks or runs onto one timeline", define_merge},
    {"metrics", "TRACE… [OPTIONS]", "metrics of recordings for Prometheus, as text or over HTTP",
     define_metrics},
    {"query", "TRACE SQL [--format F]", "query a trace with SQL", define_query},
    {"analyze", "TRACE", "recompute the derived tables of a trace", define_analyze},
    {"detectors", "[--json]", "list the problems that StreamScope detects", define_detectors},
    {"view", "TRACE [OPTIONS]", "open a trace, or a run of many ranks, in the viewer or a browser",
     define_view, Command::kPassesEverythingOn},
    {"doctor", "[--json]", "check whether this machine can record and view traces", define_doctor},
    {"completion", "bash|zsh|fish", "print a shell completion script", define_completion},
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
