// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "control_server.h"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "record/run/files.h"
#include "ring/control.h"
#include "serve/server.h"
#include "terminal.h"

namespace streamscope::cli {
namespace {

using record::OnDemandAnswer;
using record::OnDemandRequests;
using record::OnDemandStatus;

serve::Response json_response(int status, const nlohmann::json& body) {
  return {.status = status,
          .body = body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

serve::Response response_to(std::future<OnDemandAnswer> answer, bool recording) {
  const OnDemandAnswer done = answer.get();
  if (done.failure) return serve::text_response(409, done.failure->what());
  return json_response(200, {{"recording", recording}, {"trace", done.trace.string()}});
}

serve::Response describe(const OnDemandStatus& status) {
  nlohmann::json body = {
      {"recording", status.recording}, {"parts", status.parts}, {"processes", status.processes}};
  body["trace"] = status.trace.empty() ? nlohmann::json() : nlohmann::json(status.trace.string());
  if (status.recording) body["seconds"] = status.seconds;
  return json_response(200, body);
}

// Nothing if the request has no valid limit.
std::optional<std::optional<double>> seconds_of(const serve::Request& request) {
  const auto given = request.query.find("seconds");
  if (given == request.query.end()) return std::optional<double>();
  double seconds = 0;
  const char* end = given->second.data() + given->second.size();
  const auto parsed = std::from_chars(given->second.data(), end, seconds);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(seconds > 0) || seconds > 1e6)
    return std::nullopt;
  return seconds;
}

serve::Response answer(OnDemandRequests& requests, const serve::Request& request) {
  const bool starts = request.path == "/start" || request.path == "/start_profile";
  const bool stops = request.path == "/stop" || request.path == "/stop_profile";
  if (request.path == "/status") {
    if (request.method != "GET") return serve::text_response(405, "/status takes GET");
    return describe(requests.status());
  }
  if (!starts && !stops)
    return serve::text_response(404, "there are GET /status, POST /start and POST /stop");
  if (request.method != "POST") return serve::text_response(405, request.path + " takes POST");
  if (stops) return response_to(requests.stop(), false);
  const auto seconds = seconds_of(request);
  if (!seconds) return serve::text_response(400, "seconds is not a number of seconds above 0");
  return response_to(requests.start(*seconds), true);
}

std::string write_token(const std::filesystem::path& file) {
  const char* given = std::getenv("STREAMSCOPE_CONTROL_TOKEN");
  std::string token = given != nullptr && *given != '\0' ? given : serve::new_token();
  const Descriptor descriptor(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string line = token + "\n";
  if (!descriptor || !record::write_all(descriptor.get(), line.data(), line.size()))
    throw record::file_error(file, "created", errno);
  return token;
}

}  // namespace

std::shared_ptr<void> serve_control(const std::filesystem::path& rings,
                                    const std::shared_ptr<OnDemandRequests>& requests,
                                    std::optional<uint32_t> port) {
  const auto handler = [requests](const serve::Request& request) {
    return answer(*requests, request);
  };
  // A large part takes a while to be finished.
  serve::Limits limits;
  limits.request = std::chrono::minutes(10);
  auto servers = std::make_shared<std::vector<serve::Server>>();
  servers->push_back(serve::Server::on_socket(rings / ring::kControlSocket, handler, limits));
  if (port) {
    const std::filesystem::path file = rings / ring::kTokenFile;
    serve::Access access;
    access.token = write_token(file);
    servers->push_back(
        serve::Server::on_loopback(fmt::format("127.0.0.1:{}", *port), handler, access, limits));
    message("takes POST /start and /stop at http://127.0.0.1:{}; the token is in {}",
            servers->back().port(), file.string());
  }
  return servers;
}

}  // namespace streamscope::cli
