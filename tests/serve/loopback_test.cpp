// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Servers on a loopback address, and clients that mean no good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <list>
#include <thread>

#include "raw_client.h"
#include "serve/server.h"
#include "support/deadline.h"
#include "trace/error.h"

namespace streamscope::serve {
namespace {

using namespace std::chrono_literals;
using test::RawClient;
using test::response_to;
using test::status_of;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

constexpr char kAnywhere[] = "127.0.0.1:0";
constexpr char kOrdinary[] = "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n";

Response say_which_path(const Request& request) { return {.body = "ok " + request.path}; }

std::string get(const std::string& target, const std::string& headers = "Host: localhost\r\n") {
  return "GET " + target + " HTTP/1.1\r\n" + headers + "\r\n";
}

std::string error_listening_on(std::string_view address, Access access = {}) {
  try {
    Server::on_loopback(address, say_which_path, std::move(access));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST(LoopbackServer, AnswersOnThePortThatItNames) {
  const Server server = Server::on_loopback(kAnywhere, say_which_path);
  ASSERT_NE(server.port(), 0);
  const std::string response = response_to(server.port(), kOrdinary);
  EXPECT_EQ(status_of(response), 200);
  EXPECT_THAT(response, HasSubstr("Content-Type: application/json"));
  EXPECT_THAT(response, HasSubstr("\r\n\r\nok /x"));
  EXPECT_EQ(status_of(response_to(server.port(), get("/x", "Host: 127.0.0.1:9100\r\n"))), 200);
  const std::string head =
      response_to(server.port(), "HEAD /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(status_of(head), 200);
  EXPECT_THAT(head, Not(HasSubstr("ok /x")));
}

TEST(LoopbackServer, RefusesAddressesThatOthersReach) {
  EXPECT_THAT(error_listening_on("0.0.0.0:0"), HasSubstr("is reachable from other machines"));
  EXPECT_THAT(error_listening_on("[::]:0"), HasSubstr("is reachable from other machines"));
  EXPECT_EQ(error_listening_on("0.0.0.0:0", {.beyond_loopback = true}), "no error");
  for (const char* wrong :
       {"", "9100", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:1x", "node7:9100",
        "[::1:9100", "127.0.0.1:-1", "127.1:9100"})
    EXPECT_THAT(error_listening_on(wrong), HasSubstr("is not an address and a port")) << wrong;
  const Server server = Server::on_loopback(kAnywhere, say_which_path);
  EXPECT_THAT(error_listening_on("127.0.0.1:" + std::to_string(server.port())),
              HasSubstr("choose another port"));
}

TEST(LoopbackServer, RefusesOtherNamesAndOtherSites) {
  const Server server = Server::on_loopback(kAnywhere, say_which_path);
  const auto status = [&](const std::string& headers) {
    return status_of(response_to(server.port(), get("/", headers)));
  };
  EXPECT_EQ(status("Host: evil.example\r\n"), 403);
  EXPECT_EQ(status(""), 403);
  EXPECT_EQ(status("Host: localhost\r\nHost: evil.example\r\n"), 403);
  EXPECT_EQ(status("Host: localhost\r\nOrigin: http://evil.example\r\n"), 403);
  EXPECT_EQ(status("Host: localhost\r\nOrigin: null\r\n"), 403);
  EXPECT_EQ(status("Host: localhost\r\nOrigin: http://localhost:1\r\n"), 200);
  EXPECT_EQ(status_of(response_to(server.port(), get("http://evil.example/"))), 403);
  EXPECT_EQ(status_of(response_to(server.port(), get("http://localhost/"))), 200);
}

TEST(LoopbackServer, RequiresTheToken) {
  std::map<std::string, std::string> query;
  const Server server = Server::on_loopback(kAnywhere,
                                            [&](const Request& request) {
                                              query = request.query;
                                              return Response{.body = "ok"};
                                            },
                                            {.token = "s3cret"});
  const auto response = [&](const std::string& target, const std::string& headers = "") {
    return response_to(server.port(), get(target, "Host: localhost\r\n" + headers));
  };
  EXPECT_EQ(status_of(response("/")), 401);
  EXPECT_THAT(response("/"), HasSubstr("WWW-Authenticate: Bearer"));
  EXPECT_EQ(status_of(response("/?token=wrong")), 401);
  EXPECT_EQ(status_of(response("/?token=")), 401);
  EXPECT_EQ(status_of(response("/", "Authorization: Bearer s3cre\r\n")), 401);
  EXPECT_EQ(status_of(response("/", "Authorization: s3cret\r\n")), 401);
  EXPECT_EQ(status_of(response("/", "Authorization: Bearer s3cret\r\n")), 200);
  EXPECT_EQ(status_of(response("/?token=s3cret&a=1")), 200);
  EXPECT_EQ(query, (std::map<std::string, std::string>{{"a", "1"}}));
}

TEST(LoopbackServer, RequiresTheTokenInThePathAndGivesNoHint) {
  std::string path;
  const Server server = Server::on_loopback(kAnywhere,
                                            [&](const Request& request) {
                                              path = request.path;
                                              return Response{.body = "ok"};
                                            },
                                            {.token = "s3cret", .token_in_path = true});
  const auto response = [&](const std::string& target,
                            const std::string& headers = "Host: localhost:9\r\n") {
    const std::string whole = response_to(server.port(), get(target, headers));
    const size_t date = whole.find("\r\nDate: ");  // a second may pass
    if (date == std::string::npos) return whole;
    return whole.substr(0, date) + whole.substr(whole.find("\r\n", date + 2));
  };
  EXPECT_EQ(status_of(response("/s3cret/")), 200);
  EXPECT_EQ(path, "/");
  EXPECT_EQ(status_of(response("/s3cret/a/b?c=1")), 200);
  EXPECT_EQ(path, "/a/b");
  path.clear();
  const std::string nothing = response("/");
  EXPECT_EQ(status_of(nothing), 404);
  EXPECT_THAT(nothing, HasSubstr("\r\n\r\nnot found\n"));
  EXPECT_THAT(nothing, Not(HasSubstr("WWW-Authenticate")));
  for (const char* target :
       {"/s3cret", "/s3cre/", "/s3cretx/", "/S3CRET/", "//s3cret/", "/x/../s3cret/", "/%00s3cret/",
        "/x/s3cret/", "/?token=s3cret", "/s3cret?a=/", "/%"})
    EXPECT_EQ(response(target), nothing) << target;
  for (const char* headers :
       {"Host: evil.example\r\n", "", "Host: localhost:9\r\nOrigin: http://evil.example\r\n",
        "Host: localhost:9\r\nOrigin: http://localhost:8\r\n",
        "Host: localhost:9\r\nOrigin: null\r\n", "Host: localhost:9\r\nHost: evil.example\r\n"})
    EXPECT_EQ(response("/s3cret/", headers), nothing) << headers;
  EXPECT_EQ(response("/", "Host: localhost:9\r\nAuthorization: Bearer s3cret\r\n"), nothing);
  EXPECT_EQ(path, "") << "the handler was asked";
  EXPECT_EQ(status_of(response("/s3cret/", "Host: localhost:9\r\nOrigin: http://localhost:9\r\n")),
            200);
}

TEST(LoopbackServer, TokensAreRandomDigits) {
  const std::string token = new_token();
  EXPECT_THAT(token, testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(token.size(), 32u);
  EXPECT_NE(token, new_token());
}

TEST(LoopbackServer, RefusesWhatIsTooLarge) {
  const Server server = Server::on_loopback(kAnywhere, say_which_path, {},
                                            {.header_bytes = 1000, .body_bytes = 1000});
  const auto post = [](size_t promised, size_t sent) {
    return "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(promised) +
           "\r\n\r\n" + std::string(sent, 'x');
  };
  const uint16_t port = server.port();
  EXPECT_EQ(status_of(response_to(port, post(1000, 1000))), 200);
  EXPECT_EQ(status_of(response_to(port, post(1001, 1001))), 413);
  EXPECT_EQ(status_of(response_to(
                port, get("/x", "Host: localhost\r\nA: " + std::string(2000, 'a') + "\r\n"))),
            400);
  EXPECT_EQ(status_of(response_to(port, get("/" + std::string(2000, 'a')))), 400);
  std::string many = "Host: localhost\r\n";
  for (int i = 0; i < 300; ++i) many += "A: b\r\n";
  EXPECT_EQ(status_of(response_to(port, get("/x", many))), 400);
  std::string chunked = "POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 20; ++i) chunked += "64\r\n" + std::string(100, 'x') + "\r\n";
  EXPECT_THAT(status_of(response_to(port, chunked + "0\r\n\r\n")), AnyOf(413, 400));
  EXPECT_EQ(status_of(response_to(port, kOrdinary)), 200);
}

TEST(LoopbackServer, SurvivesWhatIsNoRequest) {
  const Server server =
      Server::on_loopback(kAnywhere, say_which_path, {}, {.idle = 300ms, .request = 1000ms});
  const std::string hostile[] = {
      "",
      "\r\n\r\n",
      std::string(100, '\0'),
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET / HTTP/1.1\nHost\n\n",
      "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "NOTHING / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      get("/a%00b"),
      get("/?%"),
      get("/?a"),
      get("x"),
      get("//[::1"),
      get("http://"),
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
      "chunked\r\n\r\nffffffffffffffff\r\n",
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nshort",
      "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 200-nothing\r\nContent-Length: 1\r\n\r\nx",
  };
  for (const std::string& bytes : hostile) {
    RawClient client(server.port());
    client.send(bytes);
    client.end_sending();
    EXPECT_NE(status_of(client.receive()), 200) << bytes;
  }
  EXPECT_EQ(status_of(response_to(server.port(), get("/a%00b"))), 400);
  EXPECT_EQ(status_of(response_to(server.port(), "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n")),
            501);
  EXPECT_EQ(status_of(response_to(server.port(), kOrdinary)), 200);
}

TEST(LoopbackServer, ClosesConnectionsThatAreIdleOrTooSlow) {
  const Server server =
      Server::on_loopback(kAnywhere, say_which_path, {}, {.idle = 300ms, .request = 1200ms});
  const Clock::time_point begin = Clock::now();
  RawClient idle(server.port());
  idle.send("GET / HT");
  EXPECT_EQ(idle.receive(), "");
  EXPECT_GE(seconds_since(begin), 0.25);
  const Clock::time_point next = Clock::now();
  RawClient slow(server.port());
  slow.send("GET / HTTP/1.1\r\nHost: localhost\r\nSlow: ");
  bool open = true;  // a byte every 50 ms is never idle
  while (open && seconds_since(next) < 20) {
    std::this_thread::sleep_for(50ms);
    open = slow.send("x");
  }
  EXPECT_FALSE(open);
  EXPECT_GE(seconds_since(next), 1.1);
  EXPECT_EQ(status_of(response_to(server.port(), kOrdinary)), 200);
}

TEST(LoopbackServer, ClosesTheConnectionOfAClientThatReadsNothing) {
  std::atomic<int> asked = 0;
  const Server server =
      Server::on_loopback(kAnywhere,
                          [&](const Request&) {
                            ++asked;
                            return Response{.body = std::string(64 << 20, 'x')};
                          },
                          {}, {.idle = 300ms, .request = 600ms, .connections = 1});
  RawClient deaf(server.port());
  deaf.send(kOrdinary);
  RawClient next(server.port());
  next.send(kOrdinary);
  EXPECT_TRUE(next.has_received(10)) << "the only place stays taken";
  EXPECT_EQ(asked, 2);
}

TEST(LoopbackServer, AHandlerMayTakeLongerThanAllLimits) {
  const Server server = Server::on_loopback(kAnywhere,
                                            [](const Request&) {
                                              std::this_thread::sleep_for(2500ms);
                                              return Response{.body = std::string(4 << 20, 'x')};
                                            },
                                            {}, {.idle = 1s, .request = 2s});
  EXPECT_GT(response_to(server.port(), kOrdinary).size(), size_t{4} << 20);
}

TEST(LoopbackServer, MoreConnectionsThanAllowedWait) {
  const Server server =
      Server::on_loopback(kAnywhere, say_which_path, {}, {.idle = 20s, .connections = 2});
  std::list<RawClient> holding;
  for (int i = 0; i < 2; ++i) holding.emplace_back(server.port()).send("GET /");
  std::this_thread::sleep_for(100ms);
  RawClient third(server.port());
  third.send(kOrdinary);
  EXPECT_FALSE(third.has_received(0.3));
  holding.pop_front();
  EXPECT_TRUE(third.has_received(10));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(status_of(response_to(server.port(), kOrdinary)), 200);
}

TEST(LoopbackServer, EndsAtOnceWithConnectionsOpen) {
  const test::Deadline deadline("the end of a server");
  std::list<RawClient> open;
  const Clock::time_point begin = Clock::now();
  {
    const Server server = Server::on_loopback(kAnywhere, say_which_path);
    open.emplace_back(server.port());
    open.emplace_back(server.port()).send("GET / HTTP/1.1\r\n");
    open.emplace_back(server.port())
        .send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx");
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_LT(seconds_since(begin), 5);
  for (RawClient& client : open) EXPECT_EQ(client.receive(), "");
}

TEST(LoopbackServer, ClientsThatLeaveAreForgotten) {
  const Server server = Server::on_loopback(
      kAnywhere, [](const Request&) { return Response{.body = std::string(1 << 20, 'x')}; }, {},
      {.connections = 4});
  for (int i = 0; i < 200; ++i) {
    RawClient client(server.port());
    if (i % 2 == 0) client.send(kOrdinary);
  }
  EXPECT_EQ(status_of(response_to(server.port(), kOrdinary)), 200);
}

}  // namespace
}  // namespace streamscope::serve
