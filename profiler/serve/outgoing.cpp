// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "outgoing.h"

#include <event2/buffer.h>
#include <event2/http.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace streamscope::serve {
namespace {

// The slowest client takes one within the time for a request (server.h).
constexpr uint64_t kMostBytesOfAPiece = uint64_t{128} << 10;

}  // namespace

Outgoing::Outgoing(evhttp_request* request, Pieces pieces, std::function<void()> progressed)
    : request_(request),
      pieces_(std::move(pieces)),
      left_(pieces_.bytes),
      progressed_(std::move(progressed)) {}

// libevent frees the request with the connection, but not if the client left during the response.
Outgoing::~Outgoing() {
  if (request_ != nullptr && evhttp_request_get_connection(request_) == nullptr)
    evhttp_request_free(request_);
}

void Outgoing::begin(int status) {
  evhttp_send_reply_start(request_, status, nullptr);
  send_next();
}

// Both ends of a body end the connection, and with it this object.
void Outgoing::send_next() {
  if (left_ == 0) return evhttp_send_reply_end(std::exchange(request_, nullptr));
  std::string piece;
  const std::unique_ptr<evbuffer, void (*)(evbuffer*)> buffer(evbuffer_new(), evbuffer_free);
  try {
    piece = pieces_.next(std::min(left_, kMostBytesOfAPiece));
  } catch (...) {  // the headers are sent, so there is nothing to say
    piece.clear();
  }
  if (piece.empty() || piece.size() > left_ || buffer == nullptr ||
      evbuffer_add(buffer.get(), piece.data(), piece.size()) != 0)
    return evhttp_connection_free(evhttp_request_get_connection(request_));
  left_ -= piece.size();
  progressed_();
  evhttp_send_reply_chunk_with_cb(
      request_, buffer.get(),
      [](evhttp_connection*, void* self) { static_cast<Outgoing*>(self)->send_next(); }, this);
}

}  // namespace streamscope::serve
