// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Lets libcoord ask the device while others capture.
#pragma once

#include "coord/backend.h"
#include "coord/error.h"

namespace coord {

/// Queries are forbidden to every thread while any other one captures in CUDA's default mode,
/// unless the thread says that it knows what it does: this one does, while this lives.
class AllowedDuringCapture {
 public:
  explicit AllowedDuringCapture(Backend& backend)
      : backend_(backend), before_(backend.exchange_capture_mode(CaptureMode::kRelaxed)) {}
  ~AllowedDuringCapture() {
    try {
      backend_.exchange_capture_mode(before_);
    } catch (const Error&) {
      // The device has failed; there is no capture any more.
    }
  }
  AllowedDuringCapture(const AllowedDuringCapture&) = delete;
  AllowedDuringCapture& operator=(const AllowedDuringCapture&) = delete;

 private:
  Backend& backend_;
  CaptureMode before_;
};

}  // namespace coord
