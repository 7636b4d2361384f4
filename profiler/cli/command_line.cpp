// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <sstream>

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

std::string joined(const std::vector<std::string>& words, char between) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : std::string(1, between)) + word;
  return text;
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

Option& Option::takes(const std::string& name) {
  option_->option_text(name);
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  *choices_ = words;
  option_->check(CLI::IsMember(words));
  return option_->get_positional() ? *this : takes(joined(words, '|'));
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option& Option::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

Option& Option::within(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option& Option::checked(const std::function<std::string(const std::string&)>& problem) {
  option_->check(problem);
  return *this;
}

Option& Option::separated_by(char delimiter) {
  option_->delimiter(delimiter);
  return *this;
}

Option& Option::one_at_a_time() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::hidden() {
  option_->group("");
  return *this;
}

CommandLine::CommandLine(std::string_view command)
    : command_(command), app_(std::make_unique<CLI::App>("", "streamscope " + command_)) {
  app_->set_help_flag("-h,--help", "print this help");
  declare(*app_->get_help_ptr());
}

CommandLine::~CommandLine() = default;

Option CommandLine::declare(CLI::Option& option) {
  Declared& entry = *declared_.emplace_back(std::make_unique<Declared>());
  entry.option = &option;
  return {option, entry.choices};
}

Option CommandLine::flag(const std::string& names, bool& into, const std::string& help) {
  return declare(*app_->add_flag(names, into, help));
}

template <class T>
Option CommandLine::option(const std::string& names, T& into, const std::string& help) {
  CLI::Option& added = *app_->add_option(names, into, help);
  if (added.get_positional()) added.option_text(kNoText);
  return declare(added);
}

template Option CommandLine::option(const std::string&, std::string&, const std::string&);
template Option CommandLine::option(const std::string&, int&, const std::string&);
template Option CommandLine::option(const std::string&, int64_t&, const std::string&);
template Option CommandLine::option(const std::string&, double&, const std::string&);
template Option CommandLine::option(const std::string&, std::optional<double>&, const std::string&);
template Option CommandLine::option(const std::string&, std::optional<uint32_t>&,
                                    const std::string&);
template Option CommandLine::option(const std::string&, std::vector<std::string>&,
                                    const std::string&);
template Option CommandLine::option(const std::string&, std::vector<std::filesystem::path>&,
                                    const std::string&);

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
    if (!each->option->get_group().empty())
      result.push_back(usage_of(*each->option, each->choices));
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
