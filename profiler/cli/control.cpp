// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// start, stop and status: the recording of a process that runs.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "command.h"
#include "record/run/remote.h"
#include "serve/call.h"
#include "terminal.h"
#include "trace/error.h"

namespace streamscope::cli {
namespace {

using namespace std::chrono_literals;

void define_process(CommandLine& line, int* pid) {
  line.option("--pid", pid, "a process that was started with streamscope record --start-later",
              {.takes = "PID", .required = true, .positive = true});
}

nlohmann::json ask(const record::Recorder& recorder, std::string_view method,
                   std::string_view target) {
  const serve::Response response =
      serve::call(recorder.rings() / ring::kControlSocket, method, target, "", 10min);
  if (response.status != 200) {
    std::string text = response.body;
    while (text.ends_with('\n')) text.pop_back();
    const size_t colon = text.find(": ");
    if (colon == text.npos) throw Error("the recorder", text);
    throw Error(text.substr(0, colon), text.substr(colon + 2));
  }
  return nlohmann::json::parse(response.body);
}

nlohmann::json ask(int pid, std::string_view method, std::string_view target) {
  const auto recorder = record::Recorder::of(pid);
  recorder.expect_on_demand();
  return ask(recorder, method, target);
}

// Until the recording ends by itself; the recorder is asked, as it may be stopped earlier.
void wait_until_off(int pid, uint64_t part) {
  for (;;) {
    const nlohmann::json status = ask(pid, "GET", "/status");
    if (!status.at("recording").get<bool>() || status.at("parts").get<uint64_t>() != part) return;
    std::this_thread::sleep_for(50ms);
  }
}

std::string describe(const record::Recorder& recorder, int pid) {
  if (!recorder.is_on_demand())
    return fmt::format("process {}: recording into {}, from its start to its end\n", pid,
                       recorder.trace_file().string());
  const nlohmann::json status = ask(recorder, "GET", "/status");
  const std::string last = status.at("trace").is_null() ? "" : status.at("trace");
  if (status.at("recording").get<bool>())
    return fmt::format("process {}: recording into {} for {:.1f} s\n", pid, last,
                       status.at("seconds").get<double>());
  if (last.empty()) return fmt::format("process {}: off; nothing was recorded yet\n", pid);
  return fmt::format("process {}: off; recorded {} times, the last into {}\n", pid,
                     status.at("parts").get<uint64_t>(), last);
}

}  // namespace

std::function<int()> define_start(CommandLine& line, ProgramArguments&) {
  struct Options {
    int pid = 0;
    std::optional<double> seconds;
  };
  auto options = std::make_shared<Options>();
  define_process(line, &options->pid);
  line.option("--for", &options->seconds, "record this long, and wait for the trace",
              {.takes = "SECONDS", .positive = true});
  return [options]() -> int {
    const std::string target =
        options->seconds ? fmt::format("/start?seconds={}", *options->seconds) : "/start";
    const nlohmann::json begun = ask(options->pid, "POST", target);
    const std::string trace = begun.at("trace");
    if (options->seconds) {
      const uint64_t part = ask(options->pid, "GET", "/status").at("parts");
      wait_until_off(options->pid, part);
    }
    fmt::print("{}\n", trace);
    return kDone;
  };
}

std::function<int()> define_stop(CommandLine& line, ProgramArguments&) {
  auto pid = std::make_shared<int>(0);
  define_process(line, pid.get());
  return [pid]() -> int {
    fmt::print("{}\n", ask(*pid, "POST", "/stop").at("trace").get<std::string>());
    return kDone;
  };
}

std::function<int()> define_status(CommandLine& line, ProgramArguments&) {
  struct Options {
    int pid = 0;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  line.option("--pid", &options->pid, "a process that is being recorded",
              {.takes = "PID", .required = true, .positive = true});
  line.option("--json", &options->json, "as JSON, for a recording that is started and stopped");
  return [options]() -> int {
    const auto recorder = record::Recorder::of(options->pid);
    if (options->json) {
      recorder.expect_on_demand();
      fmt::print("{}\n", ask(recorder, "GET", "/status").dump(2));
    } else {
      fmt::print("{}", describe(recorder, options->pid));
    }
    return kDone;
  };
}

}  // namespace streamscope::cli
