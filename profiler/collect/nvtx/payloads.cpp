// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// NVTX's extension for payloads: ranges that begin or end with one. Who does not implement it never
// learns that such a range has ended.
#include <nvtx3/nvToolsExt.h>

#include <span>

#include "collect/nvtx/callback.h"
#include "collect/nvtx/ranges.h"

namespace streamscope::collect {
namespace {

// As nvtxDetail/nvtxExtTypes.h and nvToolsExtPayload.h have them, which older toolkits lack.
struct Segment {
  size_t id;
  size_t count;
  intptr_t* functions;
};
struct Module {
  uint16_t nvtx_version;
  uint16_t struct_size;
  uint16_t id;
  uint16_t version;
  size_t segment_count;
  Segment* segments;
};
constexpr uint16_t kPayloads = 2;  // Module::id
enum PayloadFunction : unsigned {
  kMarkPayload = 2,
  kRangePushPayload,
  kRangePopPayload,
  kRangeStartPayload,
  kRangeEndPayload,
};

using Payloads = const StructuredPayload*;

// Their texts, if any, are described by schemas, which we do not read.
Act act_in(const void* domain) {
  Act act;
  act.domain = domain;
  return act;
}

void NVTX_API mark_payload(nvtxDomainHandle_t domain, Payloads, size_t) { mark(act_in(domain)); }
int NVTX_API range_push_payload(nvtxDomainHandle_t domain, Payloads, size_t) {
  return range_push(act_in(domain));
}
int NVTX_API range_pop_payload(nvtxDomainHandle_t domain, Payloads payloads, size_t count) {
  if (payloads != nullptr && name_of_domain(domain) == "NCCL") {
    for (const StructuredPayload& payload : std::span(payloads, count)) {
      if (const auto communicator = nccl_communicator(payload)) joined(*communicator);
    }
  }
  return range_pop(domain);
}
nvtxRangeId_t range_start_payload(std::optional<nvtxRangeId_t> others, nvtxDomainHandle_t domain,
                                  Payloads, size_t) {
  return range_start(others, act_in(domain));
}
void NVTX_API range_end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t id, Payloads, size_t) {
  range_end(domain, id);
}

// After the other tool, whose functions become ours to call.
bool install_payloads(const Module& module) {
  if (module.struct_size < sizeof module || module.id != kPayloads || module.segment_count == 0 ||
      module.segments == nullptr)
    return false;
  const Segment& segment = module.segments[0];
  const Handler handlers[] = {
      handler<kExtensionForPayloads, kMarkPayload, mark_payload>(),
      handler<kExtensionForPayloads, kRangePushPayload, range_push_payload>(),
      handler<kExtensionForPayloads, kRangePopPayload, range_pop_payload>(),
      handler<kExtensionForPayloads, kRangeStartPayload, range_start_payload>(),
      handler<kExtensionForPayloads, kRangeEndPayload, range_end_payload>(),
  };
  for (const Handler& each : handlers) {
    if (each.id >= segment.count) continue;
    intptr_t& slot = segment.functions[each.id];
    const auto own = reinterpret_cast<intptr_t>(each.function);
    if (slot != own)
      other_functions[kExtensionForPayloads][each.id].store(
          reinterpret_cast<NvtxFunctionPointer>(slot), std::memory_order_release);
    slot = own;
  }
  return true;
}

}  // namespace
}  // namespace streamscope::collect

/// NVTX calls this once for each of its extensions in each part of the program that has its own
/// copy of NVTX, with a Module. Functions that nobody implements do nothing.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    void* module) {
  using namespace streamscope::collect;
  auto* other =
      reinterpret_cast<int (*)(void*)>(other_entry_point("InitializeInjectionNvtxExtension"));
  const int result = other != nullptr ? other(module) : 0;
  return install_payloads(*static_cast<const Module*>(module)) ? 1 : result;
}
