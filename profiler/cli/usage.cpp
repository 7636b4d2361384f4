// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "usage.h"

#include <algorithm>
#include <cctype>

namespace streamscope::cli {
namespace {

// "text|markdown|html" as words; empty if it is a placeholder such as FILE or FROM:TO.
std::vector<std::string> choices_of(const std::string& argument) {
  std::vector<std::string> words(1);
  for (const char c : argument) {
    if (c == '|') {
      words.emplace_back();
    } else if (std::islower(static_cast<unsigned char>(c)) != 0 || c == '-') {
      words.back() += c;
    } else {
      return {};
    }
  }
  return words.size() > 1 ? words : std::vector<std::string>();
}

OptionUsage usage_of(const CLI::Option& option) {
  OptionUsage result{.help = option.get_description(), .positional = option.get_positional()};
  if (result.positional) {
    result.names.push_back(option.get_name(true));
    return result;
  }
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  if (option.get_expected_max() > 0) {
    result.argument = option.get_option_text();
    result.choices = choices_of(result.argument);
  }
  return result;
}

}  // namespace

std::string OptionUsage::summary() const {
  return help.substr(0, std::min(help.find(';'), help.find(". ")));
}

std::vector<CommandUsage> usage() {
  std::vector<CommandUsage> result;
  for (const Command& command : commands()) {
    CLI::App app;
    app.set_help_flag("-h,--help", "print this help");
    ProgramArguments program;
    command.define(app, program);
    CommandUsage entry{.command = &command};
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group().empty()) continue;
      entry.options.push_back(usage_of(*option));
      if (entry.options.back().positional)
        entry.options.back().choices = choices_of(std::string(command.arguments));
    }
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace streamscope::cli
