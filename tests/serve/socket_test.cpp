// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Servers on a Unix socket, and what asks them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

#include "serve/call.h"
#include "serve/server.h"
#include "support/scratch.h"
#include "trace/error.h"

namespace streamscope::serve {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr uid_t kNobody = 65534;

Response say_ok(const Request&) { return {.body = "ok"}; }

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

// A socket that is bound; the file stays when it is closed.
int bound(const std::filesystem::path& path) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(path);
  EXPECT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return socket;
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class SocketTest : public testing::Test {
 protected:
  Response ask(std::string_view target = "/") const { return call(path_, "GET", target, "", 20s); }

  test::Scratch scratch_;
  const std::filesystem::path path_ = scratch_.path() / "control";
};

TEST_F(SocketTest, HandlerGetsTheWholeRequest) {
  Request seen;
  const Server server = Server::on_socket(path_, [&](const Request& request) {
    seen = request;
    return Response{.status = 202, .type = "text/plain", .body = std::string("a\0b", 3)};
  });
  const std::string body = std::string("\0\r\n\r\n\xff", 6) + std::string(500'000, 'x');
  const Response response = call(path_, "POST", "/a%20b/c?x=1%262&y=&x=3", body, 20s);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/a b/c");
  EXPECT_THAT(seen.query, UnorderedElementsAre(Pair("x", "3"), Pair("y", "")));
  EXPECT_EQ(seen.body, body);
  EXPECT_EQ(seen.user, ::geteuid());
  EXPECT_EQ(response.status, 202);
  EXPECT_EQ(response.type, "text/plain");
  EXPECT_EQ(response.body, std::string("a\0b", 3));
}

TEST_F(SocketTest, FileIsPrivateAndGoneAtTheEnd) {
  const mode_t before = ::umask(0);
  {
    const Server server = Server::on_socket(path_, say_ok);
    struct stat facts {};
    ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
    EXPECT_TRUE(S_ISSOCK(facts.st_mode));
    EXPECT_EQ(facts.st_mode & 07777, 0600U);
    EXPECT_EQ(server.port(), 0);
  }
  ::umask(before);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SocketTest, ReplacesTheSocketOfAServerThatIsGone) {
  ::close(bound(path_));
  const Server server = Server::on_socket(path_, say_ok);
  EXPECT_EQ(ask().body, "ok");
}

TEST_F(SocketTest, LeavesWhatIsInUseOrNoSocket) {
  {
    const Server server = Server::on_socket(path_, say_ok);
    EXPECT_THAT(error_of([&] { Server::on_socket(path_, say_ok); }),
                HasSubstr("is in use by another server"));
    EXPECT_EQ(ask().body, "ok");
  }
  std::ofstream(path_) << "precious";
  EXPECT_THAT(error_of([&] { Server::on_socket(path_, say_ok); }),
              HasSubstr("is not a socket of this user"));
  EXPECT_EQ(std::filesystem::file_size(path_), 8U);
}

TEST_F(SocketTest, DoesNotRemoveTheSocketOfASuccessor) {
  {
    const Server first = Server::on_socket(path_, say_ok);
    std::filesystem::remove(path_);
    ::close(bound(path_));
  }
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(SocketTest, ManyServersThatStartAtOnceHaveOneWinner) {
  ::close(bound(path_));
  std::vector<std::unique_ptr<Server>> servers(8);
  std::vector<std::thread> threads;
  for (std::unique_ptr<Server>& server : servers)
    threads.emplace_back([&] {
      try {
        server = std::make_unique<Server>(Server::on_socket(path_, say_ok));
      } catch (const Error&) {
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::ranges::count_if(servers, [](const auto& server) { return server == nullptr; }),
            7);
  EXPECT_EQ(ask().body, "ok");
}

TEST_F(SocketTest, PathMayBeLongerThanAnAddress) {
  std::filesystem::path folder = scratch_.path();
  for (int i = 0; i < 10; ++i) folder /= std::string(50, 'f');
  std::filesystem::create_directories(folder);
  const Server server = Server::on_socket(folder / "control", say_ok);
  EXPECT_EQ(call(folder / "control", "GET", "/", "", 20s).body, "ok");
  EXPECT_THAT(error_of([&] { Server::on_socket(folder / std::string(120, 'n'), say_ok); }),
              HasSubstr("is no name for a socket; give a name of at most 80 characters"));
}

TEST_F(SocketTest, RefusesOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user for a moment";
  const Server server = Server::on_socket(path_, say_ok);
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(scratch_.path().c_str(), 0755), 0);
  const sockaddr_un address = address_of(path_);
  int answer[2];
  ASSERT_EQ(::pipe(answer), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr char kRequest[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char response[4096];
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::setuid(kNobody) != 0 ||
        ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::send(socket, kRequest, sizeof(kRequest) - 1, 0) < 0)
      ::_exit(1);
    const ssize_t got = ::recv(socket, response, sizeof(response), 0);
    ::_exit(got > 0 && ::write(answer[1], response, static_cast<size_t>(got)) == got ? 0 : 2);
  }
  ::close(answer[1]);
  char response[4096] = {};
  EXPECT_GT(::read(answer[0], response, sizeof(response) - 1), 0);
  ::close(answer[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(response, HasSubstr("HTTP/1.1 403 "));
  EXPECT_EQ(ask().body, "ok") << "of its own user";
}

TEST_F(SocketTest, CallRefusesTheServerOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user for a moment";
  ASSERT_EQ(::chmod(scratch_.path().c_str(), 0777), 0);
  const int socket = bound(path_);
  const pid_t child = ::fork();
  if (child == 0) {  // who listens is the peer
    if (::setuid(kNobody) != 0 || ::listen(socket, 4) != 0) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  ::close(socket);
  std::string error = "no server answers";
  for (int tries = 0; tries < 500 && error.find("no server answers") != std::string::npos;
       ++tries) {
    std::this_thread::sleep_for(10ms);
    error = error_of([&] { ask(); });
  }
  EXPECT_THAT(error, HasSubstr("the server there belongs to another user"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(SocketTest, CallExplainsWhyThereIsNoResponse) {
  EXPECT_THAT(error_of([&] { ask(); }), HasSubstr("no server answers there"));
  const int socket = bound(path_);
  EXPECT_THAT(error_of([&] { ask(); }), HasSubstr("no server answers there"));
  ASSERT_EQ(::listen(socket, 1), 0);
  EXPECT_THAT(error_of([&] { call(path_, "GET", "/", "", 50ms); }),
              HasSubstr("did not answer in time"));
  std::thread cuts_off([&] {
    for (int i = 0; i < 2; ++i) {  // the first is what timed out above
      const int connection = ::accept(socket, nullptr, nullptr);
      constexpr char kPart[] = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart";
      (void)!::send(connection, kPart, sizeof(kPart) - 1, MSG_NOSIGNAL);
      ::close(connection);
    }
  });
  EXPECT_THAT(error_of([&] { ask(); }), HasSubstr("the response of the server is cut off"));
  cuts_off.join();
  ::close(socket);
}

TEST_F(SocketTest, WhatAHandlerThrowsIsAResponse) {
  const Server server = Server::on_socket(path_, [](const Request& request) -> Response {
    if (request.path == "/error") throw Error("run", "is gone", "start it again");
    if (request.path == "/other") throw 1;
    return {.body = "ok"};
  });
  const Response response = ask("/error");
  EXPECT_EQ(response.status, 500);
  EXPECT_THAT(response.body, HasSubstr("run: is gone; start it again"));
  EXPECT_EQ(ask("/other").status, 500);
  EXPECT_EQ(ask("/").body, "ok");
}

TEST_F(SocketTest, ServesAThousandRequestsOneAtATime) {
  int at_once = 0, served = 0;  // without a lock: only the server's thread uses them
  bool overlapped = false;
  {
    const Server server = Server::on_socket(path_, [&](const Request& request) {
      overlapped |= ++at_once != 1;
      ++served;
      --at_once;
      return Response{.body = request.path};
    });
    std::vector<std::thread> clients;
    std::atomic<int> wrong = 0;
    for (int client = 0; client < 4; ++client)
      clients.emplace_back([&, client] {
        for (int i = 0; i < 250; ++i) {
          const std::string path = "/" + std::to_string(client * 250 + i);
          wrong += ask(path).body == path ? 0 : 1;
        }
      });
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_EQ(served, 1000);
  EXPECT_FALSE(overlapped);
}

}  // namespace
}  // namespace streamscope::serve
