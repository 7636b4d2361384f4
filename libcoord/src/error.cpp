// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/error.h"

#include <utility>

#include "codes.h"

namespace coord {

const char* to_string(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return "InvalidArgument";
    case ErrorKind::kInvalidHandle:
      return "InvalidHandle";
    case ErrorKind::kNotPermitted:
      return "NotPermitted";
    case ErrorKind::kNotSupported:
      return "NotSupported";
    case ErrorKind::kNoDevice:
      return "NoDevice";
    case ErrorKind::kOutOfMemory:
      return "OutOfMemory";
    case ErrorKind::kCapture:
      return "Capture";
    case ErrorKind::kDeadlock:
      return "Deadlock";
    case ErrorKind::kDeviceFailure:
      return "DeviceFailure";
    case ErrorKind::kExhausted:
      return "Exhausted";
    case ErrorKind::kCycle:
      return "Cycle";
    case ErrorKind::kCancelled:
      return "Cancelled";
    case ErrorKind::kTimedOut:
      return "TimedOut";
    case ErrorKind::kOther:
      return "Other";
  }
  return "Other";
}

Error::Error(ErrorKind kind, int code, std::string code_name, std::string call,
             const std::string& detail)
    : std::runtime_error(call + ": " + detail + " (" + code_name + ", " + std::to_string(code) +
                         ")"),
      kind_(kind),
      code_(code),
      code_name_(std::move(code_name)),
      call_(std::move(call)) {}

Error::~Error() = default;

ErrorKind kind_of_code(int code) noexcept {
  switch (code) {
    case kCodeInvalidValue:
      return ErrorKind::kInvalidArgument;
    case kCodeOutOfMemory:
      return ErrorKind::kOutOfMemory;
    case kCodeNoDevice:
    case kCodeInvalidDevice:
      return ErrorKind::kNoDevice;
    case kCodeInvalidHandle:
      return ErrorKind::kInvalidHandle;
    case kCodeNotPermitted:
      return ErrorKind::kNotPermitted;
    case kCodeNotSupported:
      return ErrorKind::kNotSupported;
    default:
      break;
  }
  if (code == kCodeIllegalState ||
      (code >= kCodeCaptureUnsupported && code <= kCodeCaptureWrongThread))
    return ErrorKind::kCapture;
  // 700 to 721: faults of running work, after which every call in the context returns an error.
  return code >= 700 && code <= 721 ? ErrorKind::kDeviceFailure : ErrorKind::kOther;
}

const char* name_of_code(int code) noexcept {
  switch (code) {
    case kCodeSuccess:
      return "CUDA_SUCCESS";
    case kCodeInvalidValue:
      return "CUDA_ERROR_INVALID_VALUE";
    case kCodeOutOfMemory:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case kCodeNoDevice:
      return "CUDA_ERROR_NO_DEVICE";
    case kCodeInvalidDevice:
      return "CUDA_ERROR_INVALID_DEVICE";
    case kCodeInvalidHandle:
      return "CUDA_ERROR_INVALID_HANDLE";
    case kCodeIllegalState:
      return "CUDA_ERROR_ILLEGAL_STATE";
    case kCodeIllegalAddress:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case kCodeCaptureUnsupported:
      return "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
    case kCodeCaptureInvalidated:
      return "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
    case kCodeCaptureMerge:
      return "CUDA_ERROR_STREAM_CAPTURE_MERGE";
    case kCodeCaptureUnmatched:
      return "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED";
    case kCodeCaptureUnjoined:
      return "CUDA_ERROR_STREAM_CAPTURE_UNJOINED";
    case kCodeCaptureIsolation:
      return "CUDA_ERROR_STREAM_CAPTURE_ISOLATION";
    case kCodeCaptureImplicit:
      return "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT";
    case kCodeCapturedEvent:
      return "CUDA_ERROR_CAPTURED_EVENT";
    case kCodeCaptureWrongThread:
      return "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD";
    case kCodeNotReady:
      return "CUDA_ERROR_NOT_READY";
    case kCodeLaunchFailed:
      return "CUDA_ERROR_LAUNCH_FAILED";
    case kCodeNotPermitted:
      return "CUDA_ERROR_NOT_PERMITTED";
    case kCodeNotSupported:
      return "CUDA_ERROR_NOT_SUPPORTED";
    default:
      return "CUDA_ERROR_UNKNOWN";
  }
}

Error make_error(int code, std::string call, const std::string& detail) {
  return Error(kind_of_code(code), code, name_of_code(code), std::move(call), detail);
}

}  // namespace coord
