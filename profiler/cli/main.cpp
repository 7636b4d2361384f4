// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// streamscope: finds the command, lets it parse its options and runs it. Every way to fail ends in
// one line on standard error and exit code 2.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <sstream>
#include <system_error>

#include "command.h"
#include "report/table.h"
#include "terminal.h"
#include "trace/error.h"

namespace streamscope::cli {
namespace {

constexpr size_t kOptionColumn = 34;  // where the descriptions of options begin
constexpr size_t kHelpColumns = 100;

std::string overview() {
  std::string text = "streamscope " STREAMSCOPE_VERSION
                     ": shows why CUDA programs that use streams wait\n\n"
                     "usage: streamscope COMMAND …\n\n";
  size_t widest = 0;
  for (const Command& command : commands()) widest = std::max(widest, command.name.size());
  for (const Command& command : commands()) {
    text += fmt::format("  {:<{}}  {}\n", command.name, widest, command.summary);
  }
  text +=
      "\nstreamscope COMMAND --help    all about one command\n"
      "streamscope --version\n\n"
      "Start with: streamscope record -o trace.sqlite -- ./your-program\n"
      "            streamscope report trace.sqlite\n";
  return text;
}

int fail(const std::string& what) {
  fmt::print(stderr, "streamscope: {}\n", one_line(what));
  return kUnusable;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::string command_help(const Command& command, const CLI::App& app) {
  std::string text = fmt::format("streamscope {}: {}\n\nusage: streamscope {} {}\n", command.name,
                                 command.summary, command.name, command.arguments);
  // CLI11 prints its own usage line first; the table's is better. It leaves long lines to the
  // terminal.
  const std::string all = app.help();
  const size_t positionals = all.find("\nPositionals:"), options = all.find("\nOptions:");
  std::istringstream lines(all.substr(std::min({positionals, options, all.size()})));
  for (std::string line; std::getline(lines, line);) {
    bool first = true;
    const std::string head = line.substr(0, kOptionColumn);
    for (const std::string& part :
         report::wrapped(line.substr(head.size()), kHelpColumns - kOptionColumn)) {
      text += (first ? head : std::string(kOptionColumn, ' ')) + part + "\n";
      first = false;
    }
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

int run_command(const Command& command, std::vector<std::string> arguments) {
  CLI::App app{std::string(command.summary), "streamscope " + std::string(command.name)};
  app.set_help_flag("-h,--help", "print this help");
  app.get_formatter()->column_width(kOptionColumn);
  ProgramArguments program;
  if (command.kind == Command::kPassesEverythingOn) {
    program = std::move(arguments);
    arguments.clear();
  }
  if (command.kind == Command::kRunsProgram) {
    // What follows `--` belongs to the program, whatever it looks like.
    const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
    if (dashes != arguments.end()) {
      program.assign(dashes + 1, arguments.end());
      arguments.erase(dashes, arguments.end());
    } else {
      app.prefix_command();
    }
  }
  const std::function<int()> run = command.define(app, program);
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants it
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", command_help(command, app));
    return kDone;
  } catch (const CLI::ParseError& error) {
    return fail(
        fmt::format("{}: {}; see streamscope {} --help", command.name, error.what(), command.name));
  }
  if (command.kind == Command::kRunsProgram && program.empty()) program = app.remaining();
  return run();
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      (arguments[0] == "help" && arguments.size() == 1)) {
    fmt::print("{}", overview());
    return kDone;
  }
  if (arguments[0] == "--version" || arguments[0] == "-V" || arguments[0] == "version") {
    fmt::print("streamscope {}\n", STREAMSCOPE_VERSION);
    return kDone;
  }
  if (arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.resize(1);
    arguments.push_back("--help");
  }
  const Command* command = find_command(arguments[0]);
  if (!command)
    return fail(fmt::format("there is no command '{}'; streamscope help lists them", arguments[0]));
  arguments.erase(arguments.begin());
  return run_command(*command, std::move(arguments));
}

}  // namespace
}  // namespace streamscope::cli

int main(int argc, char** argv) {
  using namespace streamscope;
  int code = cli::kUnusable;
  try {
    code = cli::run({argv + std::min(1, argc), argv + argc});
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
      return cli::fail("standard output: cannot be written; is the disk full?");
    }
  } catch (const Error& error) {
    return cli::fail(error.what());
  } catch (const std::system_error& error) {
    // As fmt reports it; other outputs are written where their names are known.
    return cli::fail(std::string("standard output: ") + error.what() + "; is the disk full?");
  } catch (const std::bad_alloc&) {
    return cli::fail("out of memory; record or read a shorter part");
  } catch (const std::exception& error) {
    return cli::fail(std::string("internal error: ") + error.what());
  }
  return code;
}
