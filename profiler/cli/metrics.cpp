// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "report/metrics/metrics.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>

#include "command.h"
#include "job/files/packed_file.h"
#include "metrics_source.h"
#include "serve/server.h"
#include "terminal.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

namespace fs = std::filesystem;

// Often enough for scrapes, which are made every 15 to 60 s.
constexpr double kIntervalS = 15;
// About 100 series each.
constexpr int kMostProcesses = 64;

struct MetricsArguments {
  std::vector<fs::path> named;
  std::string output, listen, token_file, iteration = "auto";
  double interval_s = kIntervalS;
  int most_processes = kMostProcesses;
  bool allow_remote = false, quiet = false;
};

void write_file(const fs::path& file, std::string_view text) {
  if (file.extension() != ".prom")
    throw Error(file, "does not end in .prom", "node_exporter reads no other files: name it so");
  job::replace_file(file, text);
}

std::string token_in(const fs::path& file) {
  if (file.empty()) return "";
  std::ifstream in(file);
  std::string token;
  if (!std::getline(in, token) || token.empty())
    throw Error(file, "has no token in its first line", "write one: openssl rand -hex 32 > FILE");
  return token;
}

// What the last analysis gave; scrapes read it from the server's thread.
class LatestPage {
 public:
  explicit LatestPage(std::string text) : text_(std::move(text)) {}

  void set(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }
  serve::Response respond(const serve::Request& request) {
    if (request.method != "GET") return serve::text_response(405, "only GET is answered");
    if (request.path != "/metrics") return serve::text_response(404, "the metrics are at /metrics");
    const std::lock_guard lock(mutex_);
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = text_};
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

// Until a signal ends the process.
[[noreturn]] void serve_metrics(MetricsSource& source, const MetricsArguments& options) {
  LatestPage page(report::to_prometheus({.version = STREAMSCOPE_VERSION}));
  const serve::Server server = serve::Server::on_loopback(
      options.listen, [&](const serve::Request& request) { return page.respond(request); },
      {.token = token_in(options.token_file), .beyond_loopback = options.allow_remote});
  const std::string host = options.listen.substr(0, options.listen.rfind(':'));
  fmt::print("http://{}:{}/metrics\n", host, server.port());
  std::fflush(stdout);
  std::string last_error;
  for (;;) {
    const auto next =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(options.interval_s);
    try {
      page.set(report::to_prometheus(source.collect()));
      last_error.clear();
    } catch (const std::exception& error) {  // such as a folder that is gone: it may come back
      if (const std::string text = explain(error); text != last_error)
        message("{}", last_error = text);
    }
    std::this_thread::sleep_until(next);
  }
}

}  // namespace

std::function<int()> define_metrics(CommandLine& line, ProgramArguments&) {
  auto options = std::make_shared<MetricsArguments>();
  line.option("TRACE", &options->named,
              "recorded traces, and folders of traces; they may still be recorded",
              {.required = true});
  line.option("-o,--output", &options->output,
              "write to a file in one step, for node_exporter's textfile collector",
              {.takes = "FILE.prom"});
  line.option("--listen", &options->listen,
              "serve GET /metrics on this address instead; port 0 takes any that is free",
              {.takes = "127.0.0.1:PORT"});
  line.option("--interval", &options->interval_s,
              "--listen: the time from one analysis to the next (default 15)",
              {.takes = "SECONDS", .positive = true});
  line.option("--allow-remote", &options->allow_remote,
              "--listen: also on addresses that other machines reach, such as 0.0.0.0");
  line.option("--token-file", &options->token_file,
              "--listen: answer only requests with the bearer token in this file",
              {.takes = "FILE"});
  line.option("--max-processes", &options->most_processes,
              "of how many processes to give metrics (default 64); others are counted",
              {.takes = "N", .positive = true});
  add_iteration_option(line, options->iteration);
  line.option("--quiet", &options->quiet, "no progress");
  return [options]() -> int {
    const bool serves = !options->listen.empty();
    if (serves && !options->output.empty())
      throw Error("--listen", "does not work with -o", "leave one of them out");
    if (!serves && (options->allow_remote || !options->token_file.empty()))
      throw Error(options->allow_remote ? "--allow-remote" : "--token-file",
                  "works only with --listen", "add --listen 127.0.0.1:PORT");
    MetricsSource source({.named = options->named,
                          .most_processes = static_cast<size_t>(options->most_processes),
                          .iteration = iteration_request(options->iteration),
                          .quiet = options->quiet || serves});
    if (serves) serve_metrics(source, *options);
    const report::Metrics metrics = source.collect();
    if (metrics.processes.empty() && metrics.unreadable > 0) return kUnusable;
    const std::string text = report::to_prometheus(metrics);
    if (options->output.empty())
      fmt::print("{}", text);
    else
      write_file(options->output, text);
    return metrics.unreadable > 0 ? kUnusable : kDone;
  };
}

}  // namespace streamscope::cli
