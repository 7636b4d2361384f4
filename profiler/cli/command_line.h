// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a command's line may hold: options and arguments are declared here, parsed once, and told
// to help, completion and manual. The only file that knows the library behind it is
// command_line.cpp.
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

/// What follows `--` on the command line, or the first word that is no option, for commands that
/// run a program.
using ProgramArguments = std::vector<std::string>;

/// What the entries of a list, such as formats, are called.
template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& entry : list) names.emplace_back(entry.name);
  return names;
}
/// For help, the default first: "text (default), markdown or json".
std::string alternatives(const std::vector<std::string>& words);

/// A declared option as help shows it.
struct OptionUsage {
  std::vector<std::string> names;  ///< with their dashes, the long ones last; a positional has one
  std::string argument;            ///< "" of a flag
  std::vector<std::string> choices;  ///< the words it takes; empty if it takes any
  std::string help;
  bool positional = false;

  /// The part of the help that fits a menu.
  std::string summary() const;
};

/// Narrows down an option that was just declared.
class Option {
 public:
  Option(CLI::Option& option, std::vector<std::string>& choices)
      : option_(&option), choices_(&choices) {}

  /// What help calls the value: FILE, SECONDS.
  Option& takes(const std::string& name);
  /// These words and no others; unless takes() says otherwise, help calls the value a|b|c.
  Option& one_of(const std::vector<std::string>& words);
  Option& required();
  Option& positive();
  Option& not_negative();
  Option& within(int least, int most);
  /// `problem` returns what is wrong with a value, "" if nothing is.
  Option& checked(const std::function<std::string(const std::string&)>& problem);
  /// Several values in one word.
  Option& separated_by(char delimiter);
  /// One value each time it stands on the line, so that an argument may follow.
  Option& one_at_a_time();
  /// Not in help: used by other parts of the project only.
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
  /// An option if `names` begin with a dash, else an argument by its place. `into` keeps its value
  /// where the line has none. Numbers, texts, paths, optionals of numbers, vectors of texts.
  template <class T>
  Option option(const std::string& names, T& into, const std::string& help = "");

  /// The first word that is no option ends the line; it and the rest are rest().
  void leave_rest();
  ProgramArguments rest() const;

  /// Fills in what was declared. Returns whether help was asked for instead; throws Error.
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
