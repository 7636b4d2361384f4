// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "access.h"

#include <arpa/inet.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "trace/error.h"

namespace streamscope::serve {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool is_port(std::string_view text) {
  return text.size() <= 5 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Without the port; empty if it is no host. Brackets of an IPv6 address stay.
std::string_view without_port(std::string_view host) {
  const size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  if (end == std::string_view::npos) return host.starts_with('[') ? std::string_view() : host;
  const size_t length = host.starts_with('[') ? end + 1 : end;
  const std::string_view rest = host.substr(length);
  if (!rest.empty() && (rest[0] != ':' || !is_port(rest.substr(1)))) return {};
  return host.substr(0, length);
}

bool is_address(std::string_view name) {
  in6_addr ignored{};
  if (name.size() > 2 && name.front() == '[' && name.back() == ']')
    return ::inet_pton(AF_INET6, std::string(name.substr(1, name.size() - 2)).c_str(), &ignored) ==
           1;
  return ::inet_pton(AF_INET, std::string(name).c_str(), &ignored) == 1;
}

bool is_this_machine(std::string_view name) {
  char own[HOST_NAME_MAX + 1] = {};
  if (::gethostname(own, sizeof(own) - 1) != 0 || own[0] == '\0') return false;
  const std::string_view full = own;
  return same_name(name, full) || same_name(name, full.substr(0, full.find('.')));
}

}  // namespace

bool names_this_server(std::string_view host, bool beyond_loopback) {
  const std::string_view name = without_port(host);
  if (same_name(name, "localhost") || name == "127.0.0.1" || name == "[::1]") return true;
  return beyond_loopback && (is_address(name) || is_this_machine(name));
}

bool is_own_origin(std::string_view origin, bool beyond_loopback) {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) &&
         names_this_server(origin.substr(kScheme.size()), beyond_loopback);
}

std::string new_token() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw Error("token", "the system gives no random numbers", remedy_for(errno), errno);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

bool same_secret(std::string_view given, std::string_view secret) {
  unsigned char different = given.size() != secret.size() ? 1 : 0;
  for (size_t i = 0; i < given.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    different = static_cast<unsigned char>(different | (given[i] ^ expected));
  }
  return different == 0;
}

}  // namespace streamscope::serve
