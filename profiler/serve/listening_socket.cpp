// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "listening_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "trace/error.h"

namespace streamscope::serve {
namespace {

namespace fs = std::filesystem;

constexpr int kWaiting = 64;  // connections that are not accepted yet; the kernel delays others

[[noreturn]] void fail(const std::string& subject, const std::string& what, int error) {
  throw Error(subject, what + ": " + std::strerror(error), remedy_for(error), error);
}

Descriptor make_socket(int family, int flags, const std::string& subject) {
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (socket.get() < 0) fail(subject, "no socket can be created", errno);
  return socket;
}

Descriptor open_folder(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  Descriptor result(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (result.get() < 0) fail(folder, "cannot be opened", errno);
  return result;
}

// By way of the open folder, as addresses of sockets are shorter than paths may be.
sockaddr_un address_in(const Descriptor& folder, const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text =
      "/proc/self/fd/" + std::to_string(folder.get()) + "/" + path.filename().string();
  if (!path.has_filename() || text.size() >= sizeof(address.sun_path))
    throw Error(
        path, "is no name for a socket",
        "give a name of at most " + std::to_string(sizeof(address.sun_path) - 28) + " characters");
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

template <typename Address>
const sockaddr* generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Two servers that start at once must not remove each other's file. Another user who may read the
// folder can keep its lock, so this does not wait for long.
void lock_briefly(const Descriptor& folder) {
  for (int tries = 0; tries < 200 && ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

// Removes the file of a server that is gone.
void remove_stale(const Descriptor& folder, const fs::path& path, const sockaddr_un& address) {
  struct stat facts {};
  const std::string name = path.filename();
  if (::fstatat(folder.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISSOCK(facts.st_mode) || facts.st_uid != ::geteuid())
    throw Error(path, "is not a socket of this user", "remove it or choose another name");
  const Descriptor probe = make_socket(AF_UNIX, SOCK_NONBLOCK, path);
  if (::connect(probe.get(), generic(address), sizeof(address)) == 0 || errno == EAGAIN)
    throw Error(path, "is in use by another server", "end that server or choose another name");
  if (errno == ECONNREFUSED) ::unlinkat(folder.get(), name.c_str(), 0);
}

struct TcpAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  bool loopback = false;
};

std::optional<TcpAddress> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  uint16_t port = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size())
    return std::nullopt;

  std::string host(text.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";
  TcpAddress result;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    auto& address = reinterpret_cast<sockaddr_in6&>(result.storage);
    address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address.sin6_addr) != 1)
      return std::nullopt;
    result.size = sizeof(address);
    result.loopback = IN6_IS_ADDR_LOOPBACK(&address.sin6_addr);
  } else {
    auto& address = reinterpret_cast<sockaddr_in&>(result.storage);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return std::nullopt;
    result.size = sizeof(address);
    result.loopback = (ntohl(address.sin_addr.s_addr) >> 24) == 127;
  }
  return result;
}

uint16_t port_of(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size);
  return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(storage).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(storage).sin_port);
}

}  // namespace

ListeningSocket ListeningSocket::at_path(const fs::path& path) {
  ListeningSocket result;
  result.folder_ = open_folder(path);
  result.socket_ = make_socket(AF_UNIX, SOCK_NONBLOCK, path);
  const sockaddr_un address = address_in(result.folder_, path);
  const int socket = result.socket_.get();
  // On Linux a socket's file gets the mode that the socket has when it is bound.
  if (::fchmod(socket, S_IRUSR | S_IWUSR) != 0) fail(path, "its mode cannot be set", errno);

  lock_briefly(result.folder_);
  remove_stale(result.folder_, path, address);
  if (::bind(socket, generic(address), sizeof(address)) != 0)
    fail(path, "the socket cannot be created", errno);
  struct stat facts {};
  ::fstatat(result.folder_.get(), path.filename().c_str(), &facts, AT_SYMLINK_NOFOLLOW);
  result.inode_ = facts.st_ino;
  result.name_ = path.filename();
  if (::listen(socket, kWaiting) != 0) fail(path, "cannot listen", errno);
  ::flock(result.folder_.get(), LOCK_UN);
  return result;
}

ListeningSocket ListeningSocket::at_address(std::string_view address, bool beyond_loopback) {
  const std::string subject(address);
  const std::optional<TcpAddress> parsed = parse_address(address);
  if (!parsed)
    throw Error(subject, "is not an address and a port",
                "write, e.g., 127.0.0.1:9100 or [::1]:9100");
  if (!parsed->loopback && !beyond_loopback)
    throw Error(subject, "is reachable from other machines, which must be allowed explicitly",
                "listen on 127.0.0.1 or [::1]");
  ListeningSocket result;
  result.socket_ = make_socket(parsed->storage.ss_family, SOCK_NONBLOCK, subject);
  const int socket = result.socket_.get(), on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(socket, generic(parsed->storage), parsed->size) != 0 ||
      ::listen(socket, kWaiting) != 0) {
    const int error = errno;
    throw Error(subject, std::string("cannot listen: ") + std::strerror(error),
                error == EADDRINUSE ? "choose another port; port 0 takes any that is free"
                                    : "choose an address of this machine and a port from 1024",
                error);
  }
  result.port_ = port_of(socket);
  return result;
}

ListeningSocket::~ListeningSocket() {
  if (socket_.get() < 0 || name_.empty()) return;
  struct stat facts {};  // it may be another server's by now
  if (::fstatat(folder_.get(), name_.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
      facts.st_ino == inode_)
    ::unlinkat(folder_.get(), name_.c_str(), 0);
}

Descriptor connect_to(const fs::path& path, std::chrono::milliseconds timeout) {
  const Descriptor folder = open_folder(path);
  const sockaddr_un address = address_in(folder, path);
  Descriptor socket = make_socket(AF_UNIX, 0, path);
  const timeval limit{.tv_sec = timeout.count() / 1000,
                      .tv_usec = std::max<suseconds_t>(timeout.count() % 1000 * 1000, 1)};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (::connect(socket.get(), generic(address), sizeof(address)) != 0) {
    const int error = errno;
    if (error == ENOENT || error == ECONNREFUSED)
      throw Error(path, "no server answers there", "check the name and that it still runs", error);
    if (error == EAGAIN)
      throw Error(path, "the server there accepts no connection", "try again later", error);
    fail(path, "cannot connect", error);
  }
  if (!is_trusted(peer_of(socket.get())))
    throw Error(path, "the server there belongs to another user", "give a socket of your own");
  return socket;
}

bool is_trusted(uid_t user) { return user == 0 || user == ::geteuid(); }

uid_t peer_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return uid_t(-1);
  return peer.uid;
}

}  // namespace streamscope::serve
