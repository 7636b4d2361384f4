// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A request over HTTP and the response to it, as handlers and callers see them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace streamscope::serve {

struct Request {
  std::string
      method;  ///< "GET" (also of HEAD, to which the body is not sent), "POST", "PUT" or "DELETE"
  /// Decoded, without the query and without a token; begins with "/"; has no NUL.
  std::string path;
  std::map<std::string, std::string> query;  ///< decoded; never has the token
  /// By name in lower case; several of one name are joined by ", ". Never has a token.
  std::map<std::string, std::string> headers;
  std::string body;
  std::optional<uid_t> user;  ///< who sent it; known on a Unix socket only
};

/// A body that is made while the client takes it, so that it needs little memory.
struct Pieces {
  uint64_t bytes = 0;  ///< of all of them
  /// Gives the next piece, of 1 to `most` bytes, on the server's thread. If it gives none, or
  /// throws, the connection closes, and the client sees that the body is cut off.
  std::function<std::string(size_t most)> next;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  /// Besides those that every response has: its type and length, no-store and nosniff.
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<Pieces> pieces;  ///< instead of `body`
};

/// Called on the server's thread, one request at a time. What it throws becomes a response with
/// status 500.
using Handler = std::function<Response(const Request&)>;

/// A message for a person, such as a refusal: one line of text.
Response text_response(int status, std::string line);
/// Status 404 without a reason: the same to whoever may not know what there is.
Response not_found();

}  // namespace streamscope::serve
