// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// CUDA's result codes, as far as libcoord itself produces or interprets them.
//
// The simulated device returns the same codes as the driver, so that programs and traces look the
// same.
#pragma once

#include <string>

#include "coord/error.h"

namespace coord {

enum Code : int {
  kCodeSuccess = 0,
  kCodeInvalidValue = 1,
  kCodeOutOfMemory = 2,
  kCodeNoDevice = 100,
  kCodeInvalidDevice = 101,
  kCodeInvalidHandle = 400,
  kCodeIllegalState = 401,
  kCodeNotReady = 600,
  kCodeIllegalAddress = 700,
  kCodeLaunchFailed = 719,
  kCodeNotPermitted = 800,
  kCodeNotSupported = 801,
  kCodeCaptureUnsupported = 900,
  kCodeCaptureInvalidated = 901,
  kCodeCaptureMerge = 902,
  kCodeCaptureUnmatched = 903,
  kCodeCaptureUnjoined = 904,
  kCodeCaptureIsolation = 905,
  kCodeCaptureImplicit = 906,
  kCodeCapturedEvent = 907,
  kCodeCaptureWrongThread = 908,
  kCodeUnknown = 999,
};

/// The error kind for a driver's code.
ErrorKind kind_of_code(int code) noexcept;

/// The driver's name of one of the codes above, or "CUDA_ERROR_UNKNOWN".
const char* name_of_code(int code) noexcept;

/// An Error of the kind that belongs to `code`.
Error make_error(int code, std::string call, const std::string& detail);
Error make_error(ErrorKind kind, int code, std::string call, const std::string& detail);

}  // namespace coord
