// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "serve/access.h"

#include <gtest/gtest.h>
#include <limits.h>
#include <unistd.h>

namespace streamscope::serve {
namespace {

TEST(Access, OnlyLoopbackNamesAreThisServer) {
  for (const char* own : {"localhost", "LocalHost:9100", "127.0.0.1", "127.0.0.1:1",
                          "127.0.0.1:", "[::1]", "[::1]:65535"})
    EXPECT_TRUE(names_this_server(own, false)) << own;
  for (const char* foreign :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:9100",
        "evil.example:127.0.0.1", "10.0.0.1:9100", "::1", "[::1", "[::1]evil", "localhost:9100/",
        "localhost:evil", "localhost:1000000", "127.0.0.1 evil", "localhost@evil.example", ":9100",
        "[]"})
    EXPECT_FALSE(names_this_server(foreign, false)) << foreign;
}

TEST(Access, BeyondLoopbackAddressesInDigitsAndTheMachineAreThisServer) {
  char machine[HOST_NAME_MAX + 1] = {};
  ASSERT_EQ(::gethostname(machine, sizeof(machine) - 1), 0);
  for (const std::string& own :
       {std::string("10.0.0.1:9100"), std::string("[fe80::1]:9100"), std::string(machine)})
    EXPECT_TRUE(names_this_server(own, true)) << own;
  for (const char* foreign : {"evil.example", "10.0.0.1.evil.example", "10.0.0", "[evil]"})
    EXPECT_FALSE(names_this_server(foreign, true)) << foreign;
}

TEST(Access, PagesOfOtherSitesAreForeign) {
  EXPECT_TRUE(is_own_origin("http://127.0.0.1:9100", false));
  for (const char* foreign :
       {"null", "", "http://evil.example", "https://127.0.0.1:9100", "file://"})
    EXPECT_FALSE(is_own_origin(foreign, false)) << foreign;
}

TEST(Access, OnlyTheWholeSecretIsTheSame) {
  EXPECT_TRUE(same_secret("secret", "secret"));
  for (const char* wrong : {"", "secre", "secrets", "secretsecret", "Secret", "secreT"})
    EXPECT_FALSE(same_secret(wrong, "secret")) << wrong;
  EXPECT_TRUE(same_secret("", ""));
  EXPECT_FALSE(same_secret("a", ""));
}

}  // namespace
}  // namespace streamscope::serve
