// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The command line of a command: declares its options and arguments, parses them, and lists them
// for help, completion and manual. Only command_line.cpp knows the parser library.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace streamscope::cli {

/// How wide help is.
inline constexpr size_t kHelpColumns = 100;

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
/// The entry with this name, one of names_of().
template <class List>
const auto& named(const List& list, std::string_view name) {
  return *std::ranges::find_if(list, [&](const auto& entry) { return entry.name == name; });
}
/// For help, the names and summaries of the entries: "text: for the terminal; json: for programs".
template <class List>
std::string described(const List& list) {
  std::string text;
  for (const auto& entry : list)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", entry.name, entry.summary);
  return text;
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

/// What an option accepts, and how help shows it.
struct Rules {
  std::string takes = {};  ///< the name of the value in help: FILE, SECONDS
  /// The allowed values; without `takes`, help shows them as a|b|c.
  std::vector<std::string> one_of = {};
  bool flag = false;  ///< for texts: no value, or one behind `=`; alone it is "true"
  bool required = false;
  bool positive = false;
  bool not_negative = false;
  std::optional<std::pair<int, int>> within = {};
  /// Returns the error in a value, "" if there is none.
  std::function<std::string(const std::string&)> problem = {};
  char separator = 0;          ///< between several values in one word
  bool one_at_a_time = false;  ///< one value per occurrence, so that an argument may follow
  bool hidden = false;         ///< not in help: only for other parts of the project
};

/// Where an option stores its value, which it keeps if the line has none. A bool is a flag.
using Value = std::variant<bool*, std::string*, int*, int64_t*, double*, std::optional<double>*,
                           std::optional<uint32_t>*, std::vector<std::string>*,
                           std::vector<std::filesystem::path>*>;

class CommandLine {
 public:
  explicit CommandLine(std::string_view command);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// An option or a flag if `names` begin with a dash, else a positional argument.
  void option(const std::string& names, Value into, const std::string& help = "",
              const Rules& rules = {});

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
  std::string command_;
  std::unique_ptr<CLI::App> app_;
  std::vector<Declared> declared_;
};

}  // namespace streamscope::cli
