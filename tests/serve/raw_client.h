// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A client that sends any bytes over TCP, for tests of servers.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace streamscope::test {

class RawClient {
 public:
  explicit RawClient(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{.tv_sec = 10};
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      throw std::runtime_error("the server accepts no connection");
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// False if the server has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  void end_sending() { ::shutdown(socket_, SHUT_WR); }
  /// Until the server closes the connection, or for 10 s.
  std::string receive() {
    std::string text;
    char piece[4096];
    for (ssize_t got = 0; (got = ::recv(socket_, piece, sizeof(piece), 0)) > 0;)
      text.append(piece, static_cast<size_t>(got));
    return text;
  }
  /// Reads up to so many bytes and forgets them; how many came until the server closed the
  /// connection.
  uint64_t take(uint64_t most) {
    char piece[65536];
    uint64_t taken = 0;
    while (taken < most) {
      const size_t wanted = static_cast<size_t>(std::min<uint64_t>(sizeof(piece), most - taken));
      const ssize_t got = ::recv(socket_, piece, wanted, 0);
      if (got <= 0) break;
      taken += static_cast<uint64_t>(got);
    }
    return taken;
  }
  /// Whether something has arrived within `seconds`.
  bool has_received(double seconds) {
    const auto whole = static_cast<time_t>(seconds);
    const timeval limit{.tv_sec = whole,
                        .tv_usec = static_cast<suseconds_t>((seconds - double(whole)) * 1e6)};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_PEEK) >= 0;
  }

 private:
  int socket_;
};

/// The response to these bytes.
inline std::string response_to(uint16_t port, std::string_view bytes) {
  RawClient client(port);
  client.send(bytes);
  return client.receive();
}

/// 0 if it is no response.
inline int status_of(std::string_view response) {
  return response.starts_with("HTTP/1.1 ") && response.size() > 12
             ? std::stoi(std::string(response.substr(9, 3)))
             : 0;
}

}  // namespace streamscope::test
