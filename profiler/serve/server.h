// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A small HTTP server inside a command or a recorder: on a Unix socket of one user, or on a
// loopback address. A connection carries one request. Commands use it; what the requests mean is up
// to the handler.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "access.h"
#include "request.h"

namespace streamscope::serve {

/// What a client can take of the server at most.
struct Limits {
  size_t header_bytes = size_t{16} << 10;
  size_t body_bytes = size_t{1} << 20;
  std::chrono::milliseconds idle{10'000};  ///< without a byte sent or received
  /// To send a request; and to receive the response, or each piece of it.
  std::chrono::milliseconds request{30'000};
  size_t connections = 32;  ///< others wait until one of them closes
};

/// Serves from construction to destruction on a thread of its own, which takes no signals.
/// Move-only; thread-compatible. Destruction waits for the handler to return.
class Server {
 public:
  /// On the socket `path`, with mode 0600, which is removed at the end; requests of other users
  /// than this one and root get status 403. Replaces the socket of a server that is gone. Throws
  /// Error if anything else is at `path`.
  static Server on_socket(const std::filesystem::path& path, Handler handler,
                          const Limits& limits = {});
  /// On `address`: IPV4:PORT, [IPV6]:PORT or localhost:PORT, where port 0 takes any. Requests for
  /// another machine's name, and those of pages of other sites, get status 403, those without the
  /// token 401. Throws Error if the address is taken, or not one that `access` allows.
  static Server on_loopback(std::string_view address, Handler handler, Access access = {},
                            const Limits& limits = {});

  Server(Server&&) noexcept;
  Server& operator=(Server&&) = delete;
  ~Server();

  /// 0 on a Unix socket.
  uint16_t port() const;

 private:
  class Running;
  explicit Server(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

}  // namespace streamscope::serve
