// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Files by descriptor, read and written as a whole.
#pragma once

#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

#include "ring/descriptor.h"
#include "trace/descriptor.h"
#include "trace/error.h"

namespace streamscope::record {

using ring::read_all;
using ring::write_all;

/// The error of a file that "cannot be `what`", for this errno.
inline Error file_error(const std::string& file, const std::string& what, int code) {
  return Error(file, "cannot be " + what + ": " + std::strerror(code), remedy_for(code), code);
}

}  // namespace streamscope::record
