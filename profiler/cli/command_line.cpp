// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <type_traits>

#include "report/formats/table.h"
#include "trace/error.h"

namespace streamscope::cli {
namespace {

constexpr size_t kOptionColumn = 34;  // where option descriptions begin
// A blank: without a text, CLI11 prints the type of the argument.
constexpr const char kNoText[] = " ";

OptionUsage usage_of(const CLI::Option& option, const std::vector<std::string>& choices) {
  OptionUsage result{
      .choices = choices, .help = option.get_description(), .positional = option.get_positional()};
  if (result.positional) {
    result.names.push_back(option.get_name(true));
    return result;
  }
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  if (option.get_expected_max() > 0) result.argument = option.get_option_text();
  return result;
}

}  // namespace

std::string alternatives(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " or ";
    text += words[i] + (i == 0 ? " (default)" : "");
  }
  return text;
}

std::string OptionUsage::summary() const {
  return help.substr(0, std::min(help.find(';'), help.find(". ")));
}

CommandLine::CommandLine(std::string_view command)
    : command_(command), app_(std::make_unique<CLI::App>("", "streamscope " + command_)) {
  app_->set_help_flag("-h,--help", "print this help");
  declared_.push_back({app_->get_help_ptr(), {}});
}

CommandLine::~CommandLine() = default;

void CommandLine::option(const std::string& names, Value into, const std::string& help,
                         const Rules& rules) {
  const auto added = [&](auto* value) {
    using Target = std::remove_pointer_t<decltype(value)>;
    if constexpr (std::is_same_v<Target, bool>) {
      return app_->add_flag(names, *value, help);
    } else {
      if constexpr (std::is_same_v<Target, std::string>) {
        if (rules.flag) return app_->add_flag(names, *value, help);
      }
      return app_->add_option(names, *value, help);
    }
  };
  CLI::Option& option = *std::visit(added, into);
  declared_.push_back({&option, rules.one_of});
  if (option.get_positional()) {
    option.option_text(kNoText);
  } else if (!rules.takes.empty()) {
    option.option_text(rules.takes);
  } else if (!rules.one_of.empty()) {
    option.option_text(fmt::format("{}", fmt::join(rules.one_of, "|")));
  }
  if (!rules.one_of.empty()) option.check(CLI::IsMember(rules.one_of));
  if (rules.positive) option.check(CLI::PositiveNumber);
  if (rules.not_negative) option.check(CLI::NonNegativeNumber);
  if (rules.within) option.check(CLI::Range(rules.within->first, rules.within->second));
  if (rules.problem) option.check(rules.problem);
  if (rules.separator != 0) option.delimiter(rules.separator);
  if (rules.one_at_a_time) option.allow_extra_args(false);
  if (rules.required) option.required();
  if (rules.hidden) option.group("");
}

void CommandLine::leave_rest() { app_->prefix_command(); }

ProgramArguments CommandLine::rest() const { return app_->remaining(); }

bool CommandLine::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 expects
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ParseError& error) {
    throw Error(command_, error.what(), "see streamscope " + command_ + " --help");
  }
  return false;
}

std::vector<OptionUsage> CommandLine::usage() const {
  std::vector<OptionUsage> result;
  for (const auto& each : declared_) {
    if (!each.option->get_group().empty()) result.push_back(usage_of(*each.option, each.choices));
  }
  return result;
}

std::string CommandLine::help(size_t columns) const {
  app_->get_formatter()->column_width(kOptionColumn);
  // CLI11 prints its own usage line first and does not wrap long lines.
  const std::string all = app_->help();
  const size_t positionals = all.find("\nPositionals:"), options = all.find("\nOptions:");
  std::istringstream lines(all.substr(std::min({positionals, options, all.size()})));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    bool first = true;
    const std::string head = line.substr(0, kOptionColumn);
    for (const std::string& part :
         report::wrapped(line.substr(head.size()), columns - kOptionColumn)) {
      text += (first ? head : std::string(kOptionColumn, ' ')) + part + "\n";
      first = false;
    }
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace streamscope::cli
