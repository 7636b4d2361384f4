// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a function throws, for tests of errors.
#pragma once

#include <coord/error.h>
#include <gtest/gtest.h>

#include <string>

/// The kind of the coord::Error that `function` throws, and its text; fails the test if none is.
template <typename Function>
coord::ErrorKind kind_thrown(Function function, std::string* text = nullptr) {
  try {
    function();
  } catch (const coord::Error& error) {
    if (text != nullptr) *text = error.what();
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return coord::ErrorKind::kOther;
}
