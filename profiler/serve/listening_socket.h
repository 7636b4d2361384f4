// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Sockets on which a server listens, and the other end of a Unix socket.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "trace/descriptor.h"

namespace streamscope::serve {

/// Listens, without blocking. Move-only; removes its file, if it has one, when destroyed.
class ListeningSocket {
 public:
  /// A file that only this user may use from the moment it exists. Replaces the file of a server
  /// that is gone. Throws Error if there is anything else at `path`.
  static ListeningSocket at_path(const std::filesystem::path& path);
  /// `address` is IPV4:PORT, [IPV6]:PORT or localhost:PORT; port 0 takes any. Throws Error for
  /// addresses of other devices than loopback unless `beyond_loopback`.
  static ListeningSocket at_address(std::string_view address, bool beyond_loopback);

  ListeningSocket(ListeningSocket&&) noexcept = default;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();

  int descriptor() const { return socket_.get(); }
  /// 0 for a file.
  uint16_t port() const { return port_; }

 private:
  ListeningSocket() = default;

  Descriptor socket_, folder_;
  std::string name_;  // in the folder
  ino_t inode_ = 0;
  uint16_t port_ = 0;
};

/// A connection to the server at `path`, which runs as this user or as root. Blocks for up to
/// `timeout`, as does each of its writes. Throws Error.
Descriptor connect_to(const std::filesystem::path& path, std::chrono::milliseconds timeout);

/// Whether this is the process's own user or root.
bool is_trusted(uid_t user);
/// The user at the other end of a Unix socket; nobody (-1) if unknown.
uid_t peer_of(int socket);

}  // namespace streamscope::serve
