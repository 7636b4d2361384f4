// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The one exception type of libcoord.
//
// Every error (driver, simulator, misuse) is thrown as coord::Error. Expected outcomes (not ready,
// timed out) are return values instead. Destructors and callbacks never throw.
#pragma once

#include <stdexcept>
#include <string>

#include "coord/export.h"

namespace coord {

enum class ErrorKind {
  kInvalidArgument,  // a value that the call cannot accept
  kInvalidHandle,    // null, destroyed, or of another device
  kNotPermitted,     // not allowed here, such as a call from inside a host function
  kNotSupported,     // this backend or device cannot do it
  kNoDevice,         // no such device, no driver, or the backend was not built in
  kOutOfMemory,
  kCapture,        // not allowed while a stream is being captured, or the capture is invalid
  kDeadlock,       // simulated device: the wait can never end; what() says who waits for whom
  kDeviceFailure,  // work on the device failed; later calls on it fail as well
  kExhausted,      // a bounded pool has nothing left
  kCycle,          // a dependency would close a cycle; what() names its members
  kCancelled,      // cancelled, or something it depends on was
  kTimedOut,       // its time ran out
  kOther,          // see code()
};

/// Name of a kind as in the enumerator, without the "k". Thread-safe.
[[nodiscard]] COORD_EXPORT const char* to_string(ErrorKind kind) noexcept;

class COORD_EXPORT Error : public std::runtime_error {
 public:
  /// `code` is CUDA's number for the outcome (also on the simulated device), `code_name` its name,
  /// `call` the function that failed.
  Error(ErrorKind kind, int code, std::string code_name, std::string call,
        const std::string& detail);
  ~Error() override;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] const std::string& code_name() const noexcept { return code_name_; }
  [[nodiscard]] const std::string& call() const noexcept { return call_; }

 private:
  ErrorKind kind_;
  int code_;
  std::string code_name_;
  std::string call_;
};

}  // namespace coord
