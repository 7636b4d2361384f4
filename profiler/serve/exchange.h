// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One exchange on a server: from libevent's request to the response, or to the refusal. Server
// thread only.
#pragma once

#include "access.h"
#include "request.h"

struct evhttp_request;

namespace streamscope::serve {

/// Checks who sends the request, reads it and calls the handler. `access` is nullptr on a Unix
/// socket, where the user at the other end decides. Never throws, except for lack of memory.
Response respond_to(evhttp_request* request, const Access* access, const Handler& handler);

/// Whether the body is to be sent by an Outgoing (outgoing.h).
bool has_pieces_to_send(evhttp_request* request, const Response& response);

/// Adds the headers of the response.
void add_headers(evhttp_request* request, const Response& response);

/// Sends the response without its pieces; the connection closes after it.
void send(evhttp_request* request, const Response& response);

}  // namespace streamscope::serve
