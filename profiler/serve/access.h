// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Decides who may ask a server on a network address. It trusts no name: a page in a browser can
// have its own name resolve to this machine (DNS rebinding), and every user of the machine reaches
// its loopback addresses.
#pragma once

#include <string>
#include <string_view>

namespace streamscope::serve {

struct Access {
  /// Required from every client if not empty: `Authorization: Bearer TOKEN` or `?token=TOKEN`.
  std::string token;
  /// The token is the first part of the path instead, /TOKEN/REST, for addresses that a browser
  /// opens. Whatever is refused gets status 404 without a reason, also pages of other servers on
  /// this machine.
  bool token_in_path = false;
  /// Allows other addresses than those of the loopback device.
  bool beyond_loopback = false;
};

/// Whether `host` (a Host header, with or without a port) names this server: localhost, 127.0.0.1
/// or
/// [::1]; beyond loopback also any address in digits and the name of this machine.
bool names_this_server(std::string_view host, bool beyond_loopback);
/// The same for an Origin header, which browsers send with requests of pages: http://HOST.
bool is_own_origin(std::string_view origin, bool beyond_loopback);

/// 32 random digits. Throws Error.
std::string new_token();

/// Whether both are equal. How long it takes depends on their lengths only.
bool same_secret(std::string_view given, std::string_view secret);

}  // namespace streamscope::serve
