// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Scripts that complete commands, options and the words that options take.

#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "report/formats/markup.h"

namespace streamscope::cli {
namespace {

// The choices in one line.
std::string words(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, " "));
}

bool takes_program(const Command& command) { return command.kind == Command::kRunsProgram; }

std::string bash() {
  std::string commands, arguments, options;
  for (const CommandUsage& entry : usage()) {
    const std::string_view name = entry.command->name;
    commands += fmt::format("{}{}", commands.empty() ? "" : " ", name);
    std::vector<std::string> names;
    for (const OptionUsage& option : entry.options) {
      if (!option.positional) names.push_back(option.names.back());
      if (option.choices.empty()) continue;
      std::vector<std::string> patterns;
      for (std::string_view spelling : option.names) {
        if (option.positional) spelling = name;  // it follows the command
        patterns.push_back(fmt::format("\"{} {}\"", name, spelling));
      }
      arguments += fmt::format("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                               fmt::join(patterns, "|"), words(option.choices));
    }
    if (takes_program(*entry.command)) names.emplace_back("--");
    options += fmt::format("      {}) options=\"{}\" ;;\n", name, words(names));
  }
  return fmt::format(
      R"(# Completion of streamscope for bash. To use it: source <(streamscope completion bash)
_streamscope() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} options="" i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{} help" -- "$word"))
    return
  fi
  # After -- comes another program and its arguments.
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -- ]] || continue
    if ((i + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- "$word")); fi
    return
  done
  case "$command $before" in
{}    help\ *) COMPREPLY=($(compgen -W "{}" -- "$word")); return ;;
  esac
  if [[ $word == -* ]]; then
    case $command in
{}    esac
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  fi
}}
complete -o bashdefault -o default -F _streamscope streamscope
)",
      commands, arguments, commands, options);
}

// Escapes a description inside '...[...]' of _arguments.
std::string zsh_text(std::string_view text) {
  return report::replaced(
      text, {{'[', "\\["}, {']', "\\]"}, {':', "\\:"}, {'\\', "\\\\"}, {'\'', "'\\''"}});
}

std::string zsh() {
  std::string commands, cases;
  for (const CommandUsage& entry : usage()) {
    commands += fmt::format("    '{}:{}'\n", entry.command->name, zsh_text(entry.command->summary));
    std::string specs;
    std::string files = "*:file:_files";
    for (const OptionUsage& option : entry.options) {
      if (option.positional && !option.choices.empty())
        files = fmt::format(":{}:({})", option.names.back(), words(option.choices));
      if (option.positional) continue;
      const std::string help = zsh_text(option.summary());
      std::string argument;
      if (!option.choices.empty()) {
        argument = fmt::format(":{}:({})", zsh_text(option.names.back()), words(option.choices));
      } else if (!option.argument.empty()) {
        argument = fmt::format(":{}:_files", zsh_text(option.argument));
      }
      for (const std::string& spelling : option.names)
        specs += fmt::format(" \\\n        '{}[{}]{}'", spelling, help, argument);
    }
    if (takes_program(*entry.command)) files = "*::program:_normal";
    specs += fmt::format(" \\\n        '{}'", files);
    cases += fmt::format("    {})\n      _arguments -S{} ;;\n", entry.command->name, specs);
  }
  return fmt::format(
      R"(#compdef streamscope
# Completion of streamscope for zsh. To use it, write it to a file _streamscope in a folder of $fpath.
_streamscope() {{
  local -a commands
  commands=(
{}    'help:explain a command'
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
{}    help) _describe command commands ;;
  esac
}}
compdef _streamscope streamscope
)",
      commands, cases);
}

std::string fish_text(std::string_view text) {
  return report::replaced(text, {{'\'', "\\'"}, {'\\', "\\\\"}});
}

std::string fish() {
  std::string text =
      "# Completion of streamscope for fish. To use it: streamscope completion fish | source\n";
  for (const CommandUsage& entry : usage()) {
    const std::string_view name = entry.command->name;
    text += fmt::format("complete -c streamscope -n __fish_use_subcommand -f -a {} -d '{}'\n", name,
                        fish_text(entry.command->summary));
    for (const OptionUsage& option : entry.options) {
      if (option.positional && option.choices.empty()) continue;
      text += fmt::format("complete -c streamscope -n '__fish_seen_subcommand_from {}'", name);
      if (option.positional) {
        text += fmt::format(" -f -a '{}'\n", words(option.choices));
        continue;
      }
      for (const std::string& spelling : option.names) {
        text +=
            spelling.starts_with("--") ? " -l " + spelling.substr(2) : " -s " + spelling.substr(1);
      }
      if (!option.choices.empty()) {
        text += " -x -a '" + words(option.choices) + "'";
      } else if (!option.argument.empty()) {
        text += " -r";
      }
      text += fmt::format(" -d '{}'\n", fish_text(option.summary()));
    }
  }
  return text;
}

}  // namespace

std::function<int()> define_completion(CommandLine& line, ProgramArguments&) {
  struct Shell {
    const char* name;
    std::string (*script)();
  };
  static constexpr Shell kShells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  auto shell = std::make_shared<std::string>();
  line.option("SHELL", shell.get(),
              "bash, zsh or fish; the first lines of the script explain how to use it",
              {.one_of = names_of(kShells), .required = true});
  return [shell]() -> int {
    fmt::print("{}", named(kShells, *shell).script());
    return kDone;
  };
}

}  // namespace streamscope::cli
