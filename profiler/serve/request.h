// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A request over HTTP and the response to it, as handlers and callers see them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace streamscope::serve {

struct Request {
  std::string
      method;  ///< "GET" (also of HEAD, to which the body is not sent), "POST", "PUT" or "DELETE"
  std::string path;  ///< decoded, without the query; begins with "/"; has no NUL
  std::map<std::string, std::string> query;  ///< decoded; never has the token
  std::string body;
  std::optional<uid_t> user;  ///< who sent it; known on a Unix socket only
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

/// Called on the server's thread, one request at a time. What it throws becomes a response with
/// status 500.
using Handler = std::function<Response(const Request&)>;

/// A message for a person, such as a refusal: one line of text.
Response text_response(int status, std::string line);

}  // namespace streamscope::serve
