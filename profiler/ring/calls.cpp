// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <iterator>

namespace streamscope::ring {
namespace {

constexpr CallInfo kCalls[] = {
#define CALL_RUNTIME(name, version, kind, stream, object, value) {#name, CallKind::kind},
#define CALL_DRIVER(name, kind, stream, object, value) {#name, CallKind::kind},
#define CALL_SIM(name, kind) {#name, CallKind::kind},
#include "calls.def"
};
static_assert(std::size(kCalls) < 0xffff);

}  // namespace

const CallInfo& call_info(CallId id) { return kCalls[id]; }

CallId call_count() { return static_cast<CallId>(std::size(kCalls)); }

std::optional<CallId> find_call(std::string_view name) {
  for (CallId id = 0; id < call_count(); ++id) {
    if (kCalls[id].name == name) return id;
  }
  return std::nullopt;
}

bool changes_identity(CallKind kind) {
  switch (kind) {
    case CallKind::kEventCreate:
    case CallKind::kEventDestroy:
    case CallKind::kEventRecord:
    case CallKind::kContextRecord:
    case CallKind::kStreamCreate:
    case CallKind::kStreamDestroy:
    case CallKind::kDeviceReset:
      return true;
    default:
      return false;
  }
}

}  // namespace streamscope::ring
