// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "listening_socket.h"
#include "trace/error.h"

namespace streamscope::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostBytes = size_t{256} << 20;  // of a response; more is a mistake

std::string request_text(std::string_view method, std::string_view target, std::string_view body) {
  std::string text;
  text.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: localhost\r\n");
  text.append("Connection: close\r\nContent-Type: application/json\r\nContent-Length: ");
  return text.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
}

// A server that refuses a request may stop reading it; its response tells why.
void send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    text.remove_prefix(static_cast<size_t>(sent));
  }
}

std::string receive_all(int socket, const std::filesystem::path& path, Clock::time_point deadline) {
  std::string text;
  char piece[16384];
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{.fd = socket, .events = POLLIN};
    const int polled = ::poll(&ready, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30)));
    if (polled < 0 && errno == EINTR) continue;
    if (polled <= 0) throw Error(path, "the server did not answer in time", "try again later");
    const ssize_t got = ::recv(socket, piece, sizeof(piece), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return text;
    text.append(piece, static_cast<size_t>(got));
    if (text.size() > kMostBytes)
      throw Error(path, "the response of the server is too large", "ask for less");
  }
}

std::string_view header_value(std::string_view head, std::string_view name) {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at)) {
    at += 2;
    const std::string_view line = head.substr(at, head.find("\r\n", at) - at);
    if (line.size() <= name.size() || line[name.size()] != ':' ||
        ::strncasecmp(line.data(), name.data(), name.size()) != 0)
      continue;
    const size_t first = line.find_first_not_of(" \t", name.size() + 1);
    return first == std::string_view::npos ? std::string_view() : line.substr(first);
  }
  return {};
}

template <typename Number>
std::optional<Number> parsed_number(std::string_view text) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Response> parse_response(std::string_view text) {
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos || !text.starts_with("HTTP/1.") || text.size() < 12)
    return std::nullopt;
  const std::string_view head = text.substr(0, end), body = text.substr(end + 4);
  const auto status = parsed_number<int>(head.substr(9, 3));
  const auto length = parsed_number<size_t>(header_value(head, "Content-Length"));
  if (!status || !length || *length != body.size()) return std::nullopt;
  return Response{.status = *status,
                  .type = std::string(header_value(head, "Content-Type")),
                  .body = std::string(body)};
}

}  // namespace

Response call(const std::filesystem::path& socket, std::string_view method, std::string_view target,
              std::string_view body, std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  const Descriptor connection = connect_to(socket, timeout);
  send_all(connection.get(), request_text(method, target, body));
  std::optional<Response> response =
      parse_response(receive_all(connection.get(), socket, deadline));
  if (!response)
    throw Error(socket, "the response of the server is cut off", "check that it still runs");
  return std::move(*response);
}

}  // namespace streamscope::serve
