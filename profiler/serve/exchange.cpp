// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "exchange.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <variant>

#include "listening_socket.h"
#include "trace/error.h"

namespace streamscope::serve {
namespace {

// Calls `use` with the value of each header of this name.
template <typename Use>
void for_each_header(const evkeyvalq* headers, const char* name, const Use& use) {
  for (const evkeyval* entry = headers->tqh_first; entry != nullptr; entry = entry->next.tqe_next)
    if (::strcasecmp(entry->key, name) == 0) use(std::string_view(entry->value));
}

const char* method_name(evhttp_cmd_type type) {
  switch (type) {
    case EVHTTP_REQ_POST:
      return "POST";
    case EVHTTP_REQ_PUT:
      return "PUT";
    case EVHTTP_REQ_DELETE:
      return "DELETE";
    default:
      return "GET";
  }
}

// False if it is not well formed.
bool read_query(const char* text, std::map<std::string, std::string>& query) {
  evkeyvalq pairs{};
  if (text == nullptr || *text == '\0') return true;
  if (evhttp_parse_query_str(text, &pairs) != 0) return false;
  const std::unique_ptr<evkeyvalq, void (*)(evkeyvalq*)> cleared(&pairs, evhttp_clear_headers);
  for (const evkeyval* pair = pairs.tqh_first; pair != nullptr; pair = pair->next.tqe_next)
    query.insert_or_assign(pair->key, pair->value);
  return true;
}

// False if it is not well formed.
bool read_path(const char* text, std::string& path) {
  size_t size = 0;
  const std::unique_ptr<char, void (*)(void*)> decoded(evhttp_uridecode(text, 0, &size), std::free);
  if (!decoded) return false;
  path.assign(decoded.get(), size);
  return path.starts_with('/') && path.find('\0') == std::string::npos;
}

using Refusal = std::optional<Response>;

Refusal refuse_user(evhttp_request* request, Request& result) {
  bufferevent* connection =
      evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
  result.user = peer_of(bufferevent_getfd(connection));
  if (is_trusted(*result.user)) return std::nullopt;
  return text_response(403, "this server belongs to another user");
}

// Not even from one of another port of this machine.
bool is_from_own_page(const evkeyvalq* headers) {
  bool is_own = true;
  const char* host = evhttp_find_header(headers, "Host");
  for_each_header(headers, "Origin", [&](std::string_view origin) {
    is_own &= host != nullptr && origin == "http://" + std::string(host);
  });
  return is_own;
}

// Of a request that a page of another site may have sent from a browser on this machine.
Refusal refuse_foreign_names(evhttp_request* request, const Access& access) {
  const evkeyvalq* headers = evhttp_request_get_input_headers(request);
  bool named = false, foreign = false;
  for_each_header(headers, "Host", [&](std::string_view host) {
    named = true;
    foreign |= !names_this_server(host, access.beyond_loopback);
  });
  if (const char* host = evhttp_uri_get_host(evhttp_request_get_evhttp_uri(request)))
    foreign |= !names_this_server(host, access.beyond_loopback);
  if (!named || foreign)
    return text_response(403,
                         access.beyond_loopback
                             ? "the Host header names another machine; use an address in digits"
                             : "the Host header names another machine; use 127.0.0.1 or localhost");
  for_each_header(headers, "Origin", [&](std::string_view origin) {
    foreign |= !is_own_origin(origin, access.beyond_loopback);
  });
  if (access.token_in_path) foreign |= !is_from_own_page(headers);
  if (foreign) return text_response(403, "pages of other sites may not use this server");
  return std::nullopt;
}

// The token leaves the path.
Refusal refuse_without_token_in_path(const Access& access, Request& result) {
  const size_t end = result.path.find('/', 1);
  const std::string_view first =
      std::string_view(result.path).substr(1, end == std::string::npos ? end : end - 1);
  if (!same_secret(first, access.token) || end == std::string::npos)
    return text_response(401, "a token is required in the address");
  result.path.erase(0, end);
  return std::nullopt;
}

// The token leaves the query.
Refusal refuse_without_token(evhttp_request* request, const Access& access, Request& result) {
  const auto in_query = result.query.extract("token");
  if (access.token.empty()) return std::nullopt;
  bool known = !in_query.empty() && same_secret(in_query.mapped(), access.token);
  constexpr std::string_view kBearer = "Bearer ";
  for_each_header(
      evhttp_request_get_input_headers(request), "Authorization", [&](std::string_view value) {
        known |=
            value.starts_with(kBearer) && same_secret(value.substr(kBearer.size()), access.token);
      });
  if (known) return std::nullopt;
  return text_response(401,
                       "a token is required: send it as 'Authorization: Bearer TOKEN' or ?token=");
}

void read_headers(evhttp_request* request, std::map<std::string, std::string>& result) {
  const evkeyvalq* headers = evhttp_request_get_input_headers(request);
  for (const evkeyval* entry = headers->tqh_first; entry != nullptr; entry = entry->next.tqe_next) {
    std::string name = entry->key;
    std::ranges::transform(name, name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (name == "authorization") continue;
    std::string& value = result[name];
    if (!value.empty()) value += ", ";
    value += entry->value;
  }
  // Ranges are for GET only (RFC 9110, 14.2).
  if (evhttp_request_get_command(request) != EVHTTP_REQ_GET) result.erase("range");
}

void read_body(evhttp_request* request, std::string& body) {
  evbuffer* input = evhttp_request_get_input_buffer(request);
  body.resize(evbuffer_get_length(input));
  evbuffer_remove(input, body.data(), body.size());
}

Refusal read_request(evhttp_request* request, const Access* access, Request& result) {
  result.method = method_name(evhttp_request_get_command(request));
  if (access == nullptr) {
    if (Refusal refusal = refuse_user(request, result)) return refusal;
  } else if (Refusal refusal = refuse_foreign_names(request, *access)) {
    return refusal;
  }
  const evhttp_uri* uri = evhttp_request_get_evhttp_uri(request);
  const char* path = evhttp_uri_get_path(uri);
  if (!read_path(path != nullptr && *path != '\0' ? path : "/", result.path) ||
      !read_query(evhttp_uri_get_query(uri), result.query))
    return text_response(400, "the address of the request is not well formed");
  if (access != nullptr) {
    if (Refusal refusal = access->token_in_path ? refuse_without_token_in_path(*access, result)
                                                : refuse_without_token(request, *access, result))
      return refusal;
  }
  read_headers(request, result.headers);
  read_body(request, result.body);
  return std::nullopt;
}

}  // namespace

Response text_response(int status, std::string line) {
  line += '\n';
  return {.status = status, .type = "text/plain; charset=utf-8", .body = std::move(line)};
}

Response not_found() { return text_response(404, "not found"); }

Response respond_to(evhttp_request* request, const Access* access, const Handler& handler) {
  try {
    Request read;
    if (Refusal refusal = read_request(request, access, read))
      return access != nullptr && access->token_in_path ? not_found() : std::move(*refusal);
    return handler(read);
  } catch (const std::exception& error) {
    return text_response(500, explain(error));
  } catch (...) {
    return text_response(500, "internal error");
  }
}

void add_headers(evhttp_request* request, const Response& response) {
  evkeyvalq* headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Content-Type", response.type.c_str());
  evhttp_add_header(headers, "Cache-Control", "no-store");
  evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
  evhttp_add_header(headers, "Connection", "close");
  const uint64_t bytes = response.pieces ? response.pieces->bytes : response.body.size();
  evhttp_add_header(headers, "Content-Length", std::to_string(bytes).c_str());
  if (response.status == 401) evhttp_add_header(headers, "WWW-Authenticate", "Bearer");
  for (const auto& [name, value] : response.headers)
    evhttp_add_header(headers, name.c_str(), value.c_str());
}

bool has_pieces_to_send(evhttp_request* request, const Response& response) {
  return response.pieces && response.pieces->bytes > 0 &&
         evhttp_request_get_command(request) != EVHTTP_REQ_HEAD;
}

void send(evhttp_request* request, const Response& response) {
  add_headers(request, response);
  if (evhttp_request_get_command(request) != EVHTTP_REQ_HEAD)
    evbuffer_add(evhttp_request_get_output_buffer(request), response.body.data(),
                 response.body.size());
  evhttp_send_reply(request, response.status, nullptr, nullptr);
}

}  // namespace streamscope::serve
