// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Files as responses: ranges, conditions, clients that are slow or leave, files larger than memory.
#include "serve/file_response.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <list>
#include <thread>

#include "raw_client.h"
#include "serve/server.h"
#include "support/sanitized.h"
#include "trace/error.h"
#include "trace/scratch_folder.h"

namespace streamscope::serve {
namespace {

using namespace std::chrono_literals;
using test::RawClient;
using test::response_to;
using test::status_of;
namespace fs = std::filesystem;

constexpr Limits kImpatient{.idle = 300ms, .request = 600ms, .connections = 4};

// Sanitizers keep what is freed for a while.
constexpr uint64_t kFewBytes = uint64_t{test::kSanitized ? 512 : 32} << 20;

std::string body_of(const std::string& response) {
  const size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? "" : response.substr(end + 4);
}

std::string header_of(const std::string& response, const std::string& name) {
  const size_t at = response.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 4;
  return response.substr(begin, response.find("\r\n", begin) - begin);
}

size_t open_files() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

uint64_t resident_bytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

class FileResponse : public testing::Test {
 protected:
  FileResponse() {
    for (int i = 0; i < 1000; ++i) content_ += std::to_string(i) + ",";
    write(content_);
  }

  void write(std::string_view content) const { std::ofstream(file_, std::ios::binary) << content; }

  // Opens the file for each request.
  Server start(const Limits& limits = {}) const {
    return Server::on_loopback(
        "127.0.0.1:0",
        [path = file_](const Request& request) {
          return file_response(
              request, std::make_shared<Descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
              "application/octet-stream");
        },
        {}, limits);
  }
  static std::string request(const std::string& headers = "", const std::string& method = "GET") {
    return method + " /x HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
  }

  const ScratchFolder folder_{"file-response"};
  const fs::path file_ = folder_.path() / "file";
  std::string content_;
};

TEST_F(FileResponse, IsTheWholeFileWithItsLengthAndTag) {
  const Server server = start();
  const std::string response = response_to(server.port(), request());
  EXPECT_EQ(status_of(response), 200);
  EXPECT_EQ(body_of(response), content_);
  EXPECT_EQ(header_of(response, "Content-Length"), std::to_string(content_.size()));
  EXPECT_EQ(header_of(response, "Accept-Ranges"), "bytes");
  EXPECT_THAT(header_of(response, "ETag"), testing::MatchesRegex("\"[0-9a-f.-]+\""));
  const std::string head = response_to(server.port(), request("Range: bytes=0-1\r\n", "HEAD"));
  EXPECT_EQ(status_of(head), 200) << "ranges are for GET";
  EXPECT_EQ(body_of(head), "");
  EXPECT_EQ(header_of(head, "Content-Length"), std::to_string(content_.size()));
}

TEST_F(FileResponse, IsTheRangeThatIsWanted) {
  const Server server = start();
  const size_t size = content_.size();
  const struct {
    const char* range;
    size_t begin, end;
  } good[] = {
      {"0-0", 0, 1},
      {"5-9", 5, 10},
      {"100-", 100, size},
      {"-7", size - 7, size},
      {"-999999", 0, size},
      {"10-999999", 10, size},
      {"0-18446744073709551615", 0, size},
  };
  for (const auto& [range, begin, end] : good) {
    const std::string response =
        response_to(server.port(), request(std::string("Range: bytes=") + range + "\r\n"));
    EXPECT_EQ(status_of(response), 206) << range;
    EXPECT_EQ(body_of(response), content_.substr(begin, end - begin)) << range;
    EXPECT_EQ(header_of(response, "Content-Range"), "bytes " + std::to_string(begin) + "-" +
                                                        std::to_string(end - 1) + "/" +
                                                        std::to_string(size));
  }
  const std::string other = response_to(server.port(), request("Range: pages=1-2\r\n"));
  EXPECT_EQ(status_of(other), 200) << "an unknown unit is ignored";
}

TEST_F(FileResponse, RefusesRangesThatAreNotInTheFile) {
  const Server server = start();
  const std::string size = std::to_string(content_.size());
  for (const std::string& range :
       {size + "-", std::string("9-5"), std::string("-0"), std::string("-"), std::string(""),
        std::string("a-b"), std::string("1"), std::string("0-1,4-5"), std::string("0x1-2"),
        std::string("-1-2"), std::string("1--2"), std::string("99999999999999999999-")}) {
    const std::string response =
        response_to(server.port(), request("Range: bytes=" + range + "\r\n"));
    EXPECT_EQ(status_of(response), 416) << range;
    EXPECT_EQ(header_of(response, "Content-Range"), "bytes */" + size) << range;
  }
  const std::string two =
      response_to(server.port(), request("Range: bytes=0-1\r\nRange: bytes=2-3\r\n"));
  EXPECT_EQ(status_of(two), 416);
}

TEST_F(FileResponse, NeverMixesTwoStatesOfTheFile) {
  const Server server = start();
  const std::string tag = header_of(response_to(server.port(), request()), "ETag");
  const std::string same = "If-Match: " + tag + "\r\nIf-Range: " + tag + "\r\n";
  const std::string range = "Range: bytes=0-9\r\n";
  EXPECT_EQ(status_of(response_to(server.port(), request(range + same))), 206);
  EXPECT_EQ(status_of(response_to(server.port(), request("If-Match: *\r\n"))), 200);

  write("something else of another length");
  const std::string changed =
      response_to(server.port(), request(range + "If-Match: " + tag + "\r\n"));
  EXPECT_EQ(status_of(changed), 412);
  EXPECT_NE(header_of(changed, "ETag"), tag);
  const std::string whole =
      response_to(server.port(), request(range + "If-Range: " + tag + "\r\n"));
  EXPECT_EQ(status_of(whole), 200);
  EXPECT_EQ(body_of(whole), "something else of another length");
}

TEST_F(FileResponse, EndsWhenTheFileChangesMeanwhile) {
  constexpr size_t kSize = 64 << 20;
  fs::resize_file(file_, kSize);
  const Server server = start();
  RawClient client(server.port());
  client.send(request());
  ASSERT_TRUE(client.has_received(10));
  std::this_thread::sleep_for(100ms);  // what fits into the buffers of the connection is sent
  fs::resize_file(file_, kSize + 1);
  const std::string response = client.receive();
  EXPECT_EQ(header_of(response, "Content-Length"), std::to_string(kSize));
  EXPECT_LT(body_of(response).size(), kSize);
  EXPECT_EQ(status_of(response_to(server.port(), request("Range: bytes=0-3\r\n"))), 206);
}

TEST_F(FileResponse, OfAFileLargerThanMemoryNeedsLittleOfIt) {
  fs::resize_file(file_, uint64_t{1} << 40);
  const Server server = start();
  const uint64_t before = resident_bytes();
  std::list<RawClient> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back(server.port()).send(request());
  const uint64_t piece = uint64_t{test::sample_of(16)} << 20;  // none waits long for its turn
  for (RawClient& client : clients) EXPECT_EQ(client.take(piece), piece);
  EXPECT_LT(resident_bytes(), before + kFewBytes);
  const std::string last =
      response_to(server.port(), request("Range: bytes=1099511627770-1099511627775\r\n"));
  EXPECT_EQ(status_of(last), 206);
  EXPECT_EQ(body_of(last), std::string(6, '\0'));
}

TEST_F(FileResponse, ReachesAClientThatIsSlowButReads) {
  fs::resize_file(file_, 8 << 20);
  // There is nothing to send for a quarter of a second, until the system's buffer is partly empty.
  const Server server = start({.idle = 1s, .request = 1s, .connections = 4});
  RawClient client(server.port());
  client.send(request());
  uint64_t got = 0;
  for (uint64_t piece = 1; piece > 0;) {  // for longer than all limits
    std::this_thread::sleep_for(20ms);
    got += piece = client.take(uint64_t{64} << 10);
  }
  EXPECT_GE(got, uint64_t{8} << 20);
}

TEST_F(FileResponse, EndsForAClientThatDoesNotRead) {
  fs::resize_file(file_, 256 << 20);
  const Server server = start({.idle = 300ms, .request = 600ms, .connections = 1});
  RawClient deaf(server.port());
  deaf.send(request());
  RawClient next(server.port());
  next.send(request("Range: bytes=0-0\r\n"));
  EXPECT_TRUE(next.has_received(10)) << "the only place stays taken";
}

TEST_F(FileResponse, IgnoresWhatAClientSendsDuringIt) {
  fs::resize_file(file_, 256 << 20);
  const Server server = start(kImpatient);
  const uint64_t before = resident_bytes();
  RawClient client(server.port());
  client.send(request());
  const std::string flood(1 << 20, 'x');
  bool open = true;
  for (int i = 0; i < 64 && open; ++i) open = client.send(flood);
  EXPECT_LT(resident_bytes(), before + kFewBytes);
  EXPECT_EQ(status_of(response_to(server.port(), request("Range: bytes=0-0\r\n"))), 206);
}

TEST_F(FileResponse, LeavesNothingOfClientsThatLeave) {
  fs::resize_file(file_, 16 << 20);
  const Server server = start();
  EXPECT_EQ(status_of(response_to(server.port(), request("Range: bytes=0-0\r\n"))), 206);
  const size_t before = open_files();
  for (int i = 0; i < 100; ++i) {
    RawClient client(server.port());
    client.send(request());
    if (i % 3 == 0) client.take(300'000);
  }
  for (int i = 0; i < 100 && open_files() > before; ++i) std::this_thread::sleep_for(50ms);
  EXPECT_LE(open_files(), before);
}

TEST_F(FileResponse, OfAServerThatEndsIsCutOff) {
  fs::resize_file(file_, 256 << 20);
  std::list<RawClient> clients;
  {
    const Server server = start();
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back(server.port()).send(request());
      EXPECT_TRUE(clients.back().has_received(10));
    }
  }
  for (RawClient& client : clients)
    EXPECT_LT(client.take(uint64_t{300} << 20), uint64_t{256} << 20);
}

TEST(Pieces, ThatEndEarlyOrFailCutTheBodyOff) {
  const Server server = Server::on_loopback("127.0.0.1:0", [](const Request& request) {
    Pieces pieces{.bytes = 100};
    pieces.next = [path = request.path, n = 0](size_t most) mutable {
      if (n++ == 0) return std::string(10, 'x');
      if (path == "/throws") throw Error("file", "is gone", "");
      return path == "/too-many" ? std::string(most + 1, 'x') : std::string();
    };
    return Response{.type = "text/plain", .body = "", .headers = {{"A", "b"}}, .pieces = pieces};
  });
  for (const char* path : {"/ends", "/throws", "/too-many"}) {
    const std::string response = response_to(
        server.port(), std::string("GET ") + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(status_of(response), 200) << path;
    EXPECT_EQ(header_of(response, "A"), "b");
    EXPECT_EQ(header_of(response, "Content-Length"), "100");
    EXPECT_EQ(body_of(response), std::string(10, 'x')) << path;
  }
}

}  // namespace
}  // namespace streamscope::serve
