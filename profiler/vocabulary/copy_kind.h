// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Directions of copies, for recording, import, storage, analysis and display.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in op.detail of a copy: append only. Up to kPeer they are CUPTI's
/// (CUpti_ActivityMemcpyKind); then follow pages of managed memory that the driver moved, which
/// only imports have.
enum class CopyKind : uint8_t {
  kUnknown = 0,
  kHostToDevice,
  kDeviceToHost,
  kHostToArray,
  kArrayToHost,
  kArrayToArray,
  kArrayToDevice,
  kDeviceToArray,
  kDeviceToDevice,
  kHostToHost,
  kPeer,
  kPagesToDevice,
  kPagesToHost,
  kPagesBetweenDevices,
};

inline constexpr Term kCopyKinds[] = {
    {CopyKind::kUnknown, "unknown"},
    {CopyKind::kHostToDevice, "HtoD"},
    {CopyKind::kDeviceToHost, "DtoH"},
    {CopyKind::kHostToArray, "HtoA"},
    {CopyKind::kArrayToHost, "AtoH"},
    {CopyKind::kArrayToArray, "AtoA"},
    {CopyKind::kArrayToDevice, "AtoD"},
    {CopyKind::kDeviceToArray, "DtoA"},
    {CopyKind::kDeviceToDevice, "DtoD"},
    {CopyKind::kHostToHost, "HtoH"},
    {CopyKind::kPeer, "PtoP"},
    {CopyKind::kPagesToDevice, "pages HtoD", "managed memory that the driver moved; imports only"},
    {CopyKind::kPagesToHost, "pages DtoH"},
    {CopyKind::kPagesBetweenDevices, "pages DtoD"},
};
/// By a value of op.detail.
constexpr std::string_view copy_kind_name(int32_t stored) { return name_of(kCopyKinds, stored); }
inline constexpr CopyKind kFirstMigration = CopyKind::kPagesToDevice;

/// Compares with a value of op.detail.
constexpr bool operator==(int32_t stored, CopyKind kind) {
  return stored == static_cast<int32_t>(kind);
}
/// True for pages that the driver moved, which no call issued.
constexpr bool is_migration(int32_t stored) {
  return stored >= static_cast<int32_t>(kFirstMigration);
}

}  // namespace streamscope
