// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The backends of the conformance suite, one line each. None is exempt from any test.

#include "conformance/backends.h"

namespace conformance {

const std::vector<BackendUnderTest>& backends() {
  static const std::vector<BackendUnderTest> kBackends{
      {"sim", "sim"},
      {"cuda", "cuda:0"},
  };
  return kBackends;
}

}  // namespace conformance
