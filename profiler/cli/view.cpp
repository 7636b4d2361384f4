// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "command.h"
#include "job/run_summaries.h"
#include "trace/error.h"
#include "trace/read/query.h"
#include "traces.h"
#include "view_server.h"

namespace streamscope::cli {

namespace {

constexpr char kServe[] = "--serve";

struct ServeOptions {
  std::string port;  // "true": any
  std::vector<std::filesystem::path> traces;
};

void declare_serve(CommandLine& line, ServeOptions& options) {
  line.option(kServe, &options.port,
              "serve the viewer and traces to a browser instead, on 127.0.0.1 and a PORT that may "
              "follow (default: any that is free), at an address with a secret; ends with the "
              "terminal",
              {.flag = true});
}

bool is_serve(const std::string& word) {
  return word == kServe || word.starts_with(std::string(kServe) + "=");
}

uint16_t port_of(const std::string& text) {
  if (text == "true") return 0;
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    throw Error(kServe, "'" + text + "' is not a port", "use a number from 0 to 65535");
  return port;
}

// A number behind --serve is its port.
ProgramArguments with_joined_port(const ProgramArguments& words) {
  ProgramArguments joined;
  for (const std::string& word : words) {
    const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == word.npos;
    if (is_number && !joined.empty() && joined.back() == kServe)
      joined.back() += "=" + word;
    else
      joined.push_back(word);
  }
  return joined;
}

int serve(const ProgramArguments& arguments) {
  CommandLine line("view");
  ServeOptions options;
  declare_serve(line, options);
  line.option("TRACE", &options.traces, "", {.required = true});
  line.parse(with_joined_port(arguments));
  serve_viewer(port_of(options.port), options.traces);
  return kDone;
}

// Its own options follow ours.
void print_help(const CommandLine& line) {
  fmt::print(
      "usage: streamscope view TRACE… [OPTIONS]\n"
      "       streamscope view --serve [PORT] TRACE…\n{}\n",
      line.help(kHelpColumns));
  std::fflush(stdout);
}

// Rejects an unreadable trace here, not in a window.
void check_traces(const ProgramArguments& arguments) {
  for (const std::string& argument : arguments) {  // traces come first
    if (argument.starts_with('-')) break;
    if (std::filesystem::is_directory(argument)) {
      for (const job::RankIdentity& rank :
           job::first_traces(job::read_run_folder(argument), argument))
        recover(std::filesystem::path(argument) / rank.trace);
      continue;
    }
    recover(argument);
    trace::Query(argument, "SELECT 1");
  }
}

int run_viewer(ProgramArguments& arguments, bool only_help) {
  const std::filesystem::path viewer = program_folder() / "streamscope-viewer";
  std::error_code error;
  if (!std::filesystem::exists(viewer, error)) {
    if (only_help) return kDone;
    throw Error(viewer.string(), "the viewer was not built",
                "install Dear ImGui and GLFW, configure with STREAMSCOPE_VIEWER=ON and build");
  }
  std::vector<char*> words{const_cast<char*>(viewer.c_str())};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  execv(viewer.c_str(), words.data());
  throw Error(viewer.string(), std::strerror(errno), "check that it is executable", errno);
}

}  // namespace

std::function<int()> define_view(CommandLine& line, ProgramArguments& arguments) {
  // For help and completion; the viewer has its own options, and all are passed on.
  const auto options = std::make_shared<ServeOptions>();
  declare_serve(line, *options);
  return [options, &line, &arguments]() -> int {
    const auto is_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
    const bool only_help = std::ranges::any_of(arguments, is_help);
    if (only_help) {
      print_help(line);
      arguments = {"--help"};
    } else if (std::ranges::any_of(arguments, is_serve)) {
      return serve(arguments);
    }
    check_traces(arguments);
    return run_viewer(arguments, only_help);
  };
}

}  // namespace streamscope::cli
