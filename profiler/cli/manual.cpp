// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The manual page, in the language of man(7).

#include <fmt/format.h>

#include "command.h"
#include "report/formats/markup.h"

namespace streamscope::cli {
namespace {

// Escapes text for roff. A line never begins with a control character.
std::string roff(std::string_view text) {
  const std::string result = report::replaced(text, {{'\\', "\\e"}, {'-', "\\-"}});
  return (result.starts_with('.') || result.starts_with('\'') ? "\\&" : "") + result;
}

std::string option_entry(const OptionUsage& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "\\fB" : "\\fR, \\fB") + roff(name);
  std::string entry = ".TP\n" + names + "\\fR";
  if (!option.argument.empty()) entry += " \\fI" + roff(option.argument) + "\\fR";
  return entry + "\n" + roff(option.help) + "\n";
}

std::string manual() {
  std::string text =
      ".TH STREAMSCOPE 1 \"\" \"streamscope " STREAMSCOPE_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\nstreamscope \\- shows why CUDA streams wait\n"
      ".SH SYNOPSIS\n.B streamscope\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n"
      ".SH DESCRIPTION\n"
      "Records into a trace, one SQLite file, which CUDA stream waited for which work, and "
      "explains it.\n"
      "Start with \\fBstreamscope record \\-o trace.sqlite \\-\\- ./program\\fR, then\n"
      "\\fBstreamscope report trace.sqlite\\fR.\n"
      ".SH COMMANDS\n";
  for (const CommandUsage& entry : usage()) {
    text += fmt::format(".SS streamscope {} {}\n{}.\n", entry.command->name,
                        roff(entry.command->arguments), roff(entry.command->summary));
    for (const OptionUsage& option : entry.options) text += option_entry(option);
  }
  return text +
         ".SH EXIT STATUS\n"
         ".TP\n.B 0\ndone; nothing found\n"
         ".TP\n.B 1\nfindings, a regression, or something is missing\n"
         ".TP\n.B 2\nwrong usage or unusable input; one line on standard error explains it\n"
         ".TP\n.B 3\nnot evaluable: required evidence is missing\n"
         ".PP\n\\fBrecord\\fR returns the exit status of its program (128+n after a signal), or "
         "124 if it ended\nthe program because it hung.\n"
         ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colors on a terminal\n";
}

}  // namespace

std::function<int()> define_manual(CommandLine&, ProgramArguments&) {
  return []() -> int {
    fmt::print("{}", manual());
    return kDone;
  };
}

}  // namespace streamscope::cli
