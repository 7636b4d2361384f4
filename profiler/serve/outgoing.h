// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Sends a body in pieces, each when the client has taken the one before, so that one piece at most
// is in memory. Server thread only.
#pragma once

#include <functional>

#include "request.h"

struct evhttp_request;

namespace streamscope::serve {

/// Belongs to the connection and ends with it.
class Outgoing {
 public:
  /// `progressed` is called before each piece.
  Outgoing(evhttp_request* request, Pieces pieces, std::function<void()> progressed);
  ~Outgoing();
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  /// Sends status, the headers of the request and the body; the connection closes after them.
  void begin(int status);

 private:
  void send_next();

  evhttp_request* request_;  // null once it is libevent's to end
  Pieces pieces_;
  uint64_t left_;
  std::function<void()> progressed_;
};

}  // namespace streamscope::serve
