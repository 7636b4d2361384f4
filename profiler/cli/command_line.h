// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The command line of a command: declares its options and arguments, parses them, and lists them
// for help, completion and manual. Only command_line.cpp knows the parser library.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace streamscope::cli {

/// For commands that run a program: the words after `--`, or from the first word that is not an
/// option.
using ProgramArguments = std::vector<std::string>;

/// The names of the entries of a list, such as formats.
template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& entry : list) names.emplace_back(entry.name);
  return names;
}
/// For help, with the default first: "text (default), markdown or json".
std::string alternatives(const std::vector<std::string>& words);

/// A declared option as help shows it.
struct OptionUsage {
  std::vector<std::string> names;    ///< with dashes, long ones last; a positional has one
  std::string argument;              ///< "" for a flag
  std::vector<std::string> choices;  ///< the allowed values; empty if any
  std::string help;
  bool positional = false;

  /// The part of the help that fits a menu.
  std::string summary() const;
};

/// Restricts an option that was just declared.
class Option {
 public:
  Option(CLI::Option& option, std::vector<std::string>& choices)
      : option_(&option), choices_(&choices) {}

  /// The name of the value in help: FILE, SECONDS.
  Option& takes(const std::string& name);
  /// Allows only these values; without takes(), help shows the value as a|b|c.
  Option& one_of(const std::vector<std::string>& words);
  Option& required();
  Option& positive();
  Option& not_negative();
  Option& within(int least, int most);
  /// `problem` returns the error in a value, "" if there is none.
  Option& checked(const std::function<std::string(const std::string&)>& problem);
  /// Several values in one word.
  Option& separated_by(char delimiter);
  /// One value per occurrence, so that an argument may follow.
  Option& one_at_a_time();
  /// Not in help: only for other parts of the project.
  Option& hidden();

 private:
  CLI::Option* option_;
  std::vector<std::string>* choices_;
};

class CommandLine {
 public:
  explicit CommandLine(std::string_view command);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Option flag(const std::string& names, bool& into, const std::string& help = "");
  /// An option if `names` begin with a dash, else a positional argument. `into` keeps its value if
  /// the line has none. T: numbers, texts, paths, optionals of numbers, vectors of texts.
  template <class T>
  Option option(const std::string& names, T& into, const std::string& help = "");

  /// Stops parsing at the first word that is not an option; rest() returns it and what follows.
  void leave_rest();
  ProgramArguments rest() const;

  /// Stores the values of the options. Returns true if help was requested; throws Error.
  bool parse(std::vector<std::string> arguments);

  /// All but hidden ones, in the order of their declaration.
  std::vector<OptionUsage> usage() const;
  /// Arguments and options with their help, `columns` wide.
  std::string help(size_t columns) const;

 private:
  struct Declared {
    CLI::Option* option;
    std::vector<std::string> choices;
  };
  Option declare(CLI::Option& option);

  std::string command_;
  std::unique_ptr<CLI::App> app_;
  std::vector<std::unique_ptr<Declared>> declared_;
};

}  // namespace streamscope::cli
