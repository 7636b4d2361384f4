// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Who takes part in the conformance suite: one line for each backend. None is excused from
// anything.

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
