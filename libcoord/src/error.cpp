// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/error.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "codes.h"

namespace coord {

namespace {

struct KnownCode {
  int code;
  ErrorKind kind;
  const char* name;
};

constexpr KnownCode kKnownCodes[] = {
    {kCodeSuccess, ErrorKind::kOther, "CUDA_SUCCESS"},
    {kCodeInvalidValue, ErrorKind::kInvalidArgument, "CUDA_ERROR_INVALID_VALUE"},
    {kCodeOutOfMemory, ErrorKind::kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
    {kCodeNoDevice, ErrorKind::kNoDevice, "CUDA_ERROR_NO_DEVICE"},
    {kCodeInvalidDevice, ErrorKind::kNoDevice, "CUDA_ERROR_INVALID_DEVICE"},
    {kCodeInvalidHandle, ErrorKind::kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
    {kCodeIllegalState, ErrorKind::kCapture, "CUDA_ERROR_ILLEGAL_STATE"},
    {kCodeNotReady, ErrorKind::kOther, "CUDA_ERROR_NOT_READY"},
    {kCodeIllegalAddress, ErrorKind::kDeviceFailure, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {kCodeLaunchFailed, ErrorKind::kDeviceFailure, "CUDA_ERROR_LAUNCH_FAILED"},
    {kCodeNotPermitted, ErrorKind::kNotPermitted, "CUDA_ERROR_NOT_PERMITTED"},
    {kCodeNotSupported, ErrorKind::kNotSupported, "CUDA_ERROR_NOT_SUPPORTED"},
    {kCodeCaptureUnsupported, ErrorKind::kCapture, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {kCodeCaptureInvalidated, ErrorKind::kCapture, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {kCodeCaptureMerge, ErrorKind::kCapture, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
    {kCodeCaptureUnmatched, ErrorKind::kCapture, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    {kCodeCaptureUnjoined, ErrorKind::kCapture, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
    {kCodeCaptureIsolation, ErrorKind::kCapture, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    {kCodeCaptureImplicit, ErrorKind::kCapture, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    {kCodeCapturedEvent, ErrorKind::kCapture, "CUDA_ERROR_CAPTURED_EVENT"},
    {kCodeCaptureWrongThread, ErrorKind::kCapture, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
};

const KnownCode* find_code(int code) noexcept {
  const auto found = std::ranges::find(kKnownCodes, code, &KnownCode::code);
  return found != std::end(kKnownCodes) ? found : nullptr;
}

}  // namespace

const char* to_string(ErrorKind kind) noexcept {
  constexpr const char* kNames[] = {
      "InvalidArgument", "InvalidHandle", "NotPermitted", "NotSupported",  "NoDevice",
      "OutOfMemory",     "Capture",       "Deadlock",     "DeviceFailure", "Exhausted",
      "Cycle",           "Cancelled",     "TimedOut",     "Other"};
  return kNames[static_cast<std::size_t>(kind)];
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
  if (const KnownCode* known = find_code(code); known != nullptr) return known->kind;
  // 700 to 721: faults of running work, after which every call in the context returns an error.
  return code >= 700 && code <= 721 ? ErrorKind::kDeviceFailure : ErrorKind::kOther;
}

const char* name_of_code(int code) noexcept {
  const KnownCode* const known = find_code(code);
  return known != nullptr ? known->name : "CUDA_ERROR_UNKNOWN";
}

Error make_error(ErrorKind kind, int code, std::string call, const std::string& detail) {
  return Error(kind, code, name_of_code(code), std::move(call), detail);
}

Error make_error(int code, std::string call, const std::string& detail) {
  return make_error(kind_of_code(code), code, std::move(call), detail);
}

}  // namespace coord
