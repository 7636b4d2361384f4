// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Allows libcoord to query the device during captures of other threads.
#pragma once

#include "coord/backend.h"
#include "coord/error.h"

namespace coord {

/// While another thread captures in CUDA's default mode, queries are forbidden to every thread that
/// has not set relaxed mode. This object sets it for its lifetime.
class AllowedDuringCapture {
 public:
  explicit AllowedDuringCapture(Backend& backend)
      : backend_(backend), before_(backend.exchange_capture_mode(CaptureMode::kRelaxed)) {}
  ~AllowedDuringCapture() {
    try {
      backend_.exchange_capture_mode(before_);
    } catch (const Error&) {
      // The device has failed; no capture is left.
    }
  }
  AllowedDuringCapture(const AllowedDuringCapture&) = delete;
  AllowedDuringCapture& operator=(const AllowedDuringCapture&) = delete;

 private:
  Backend& backend_;
  CaptureMode before_;
};

}  // namespace coord
