// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// streamscope: finds the command, parses its options and runs it. Every failure prints one line on
// standard error and ends with exit code 2.

#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <string_view>
#include <system_error>

#include "command.h"
#include "surroundings.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/model.h"

namespace streamscope::cli {
namespace {

std::string overview() {
  std::string text = "streamscope " STREAMSCOPE_VERSION
                     ": shows why CUDA streams wait\n\n"
                     "usage: streamscope COMMAND …\n\n";
  size_t widest = 0;
  for (const Command& command : commands()) widest = std::max(widest, command.name.size());
  for (const Command& command : commands()) {
    text += fmt::format("  {:<{}}  {}\n", command.name, widest, command.summary);
  }
  text +=
      "\nstreamscope COMMAND --help    help for one command\n"
      "streamscope --version\n\n"
      "Start with: streamscope record -o trace.sqlite -- ./your-program\n"
      "            streamscope report trace.sqlite\n";
  return text;
}

int fail(const std::string& what) {
  message("{}", one_line(what));
  return kUnusable;
}

std::string command_help(const Command& command, const CommandLine& line) {
  return fmt::format("streamscope {}: {}\n\nusage: streamscope {} {}\n{}", command.name,
                     command.summary, command.name, command.arguments, line.help(kHelpColumns));
}

int run_command(const Command& command, std::vector<std::string> arguments) {
  CommandLine line(command.name);
  ProgramArguments program;
  if (command.kind == Command::kPassesEverythingOn) {
    program = std::move(arguments);
    arguments.clear();
  }
  if (command.kind == Command::kRunsProgram) {
    // Everything after `--` belongs to the program, whatever it looks like.
    const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
    if (dashes != arguments.end()) {
      program.assign(dashes + 1, arguments.end());
      arguments.erase(dashes, arguments.end());
    } else {
      line.leave_rest();
    }
  }
  const std::function<int()> run = command.define(line, program);
  if (line.parse(std::move(arguments))) {
    fmt::print("{}", command_help(command, line));
    return kDone;
  }
  if (command.kind == Command::kRunsProgram && program.empty()) program = line.rest();
  return run();
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      (arguments[0] == "help" && arguments.size() == 1)) {
    fmt::print("{}", overview());
    return kDone;
  }
  if (arguments[0] == "--version" || arguments[0] == "-V" || arguments[0] == "version") {
    fmt::print("streamscope {}\ntrace format {}\n", STREAMSCOPE_VERSION, trace::kFormatVersion);
    return kDone;
  }
  if (arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.resize(1);
    arguments.push_back("--help");
  }
  const auto command = std::ranges::find(commands(), arguments[0], &Command::name);
  if (command == commands().end())
    return fail(
        fmt::format("there is no command '{}'; streamscope help lists all commands", arguments[0]));
  arguments.erase(arguments.begin());
  return run_command(*command, std::move(arguments));
}

// There may be no memory left for formatting a message.
void say_out_of_memory() {
  constexpr std::string_view kLine = "streamscope: out of memory; record or read a shorter part\n";
  (void)!::write(STDERR_FILENO, kLine.data(), kLine.size());
}

std::terminate_handler usual_terminate = nullptr;

// Destructors of nlohmann's values allocate, and what they throw can be caught nowhere.
[[noreturn]] void terminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
    ::_exit(kUnusable);
  } catch (...) {
  }
  usual_terminate();
  std::abort();
}

int run_and_report(int argc, char** argv) {
  try {
    const int code = run({argv + std::min(1, argc), argv + argc});
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    return fail("standard output: cannot be written; is the disk full?");
  } catch (const std::system_error& error) {
    // From fmt; other outputs report their own errors, with the file name.
    return fail(std::string("standard output: ") + error.what() + "; is the disk full?");
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
    return kUnusable;
  } catch (const std::exception& error) {
    return fail(explain(error));
  }
}

}  // namespace
}  // namespace streamscope::cli

int main(int argc, char** argv) {
  using namespace streamscope;
  cli::hold_standard_files();
  cli::usual_terminate = std::set_terminate(cli::terminate);
  // libc loads its unwinder on first use and aborts if memory is short then.
  void* frame;
  ::backtrace(&frame, 1);
  int code = cli::kUnusable;
  const auto run = [&] { code = cli::run_and_report(argc, argv); };
  cli::call_with_stack(std::ref(run));
  return code;
}
