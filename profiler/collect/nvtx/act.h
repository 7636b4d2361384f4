// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a call of NVTX says: its text, domain and payload, and the handles that programs keep.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "collect/nvtx/nccl_call.h"
#include "collect/nvtx/other_tool.h"
#include "collect/nvtx/wide_text.h"

namespace streamscope::collect {

/// Domains have no owner.
inline constexpr char kNoOwner = 0;

/// Keeps the text of a domain or of a registered string, whose `owner` is its domain: for the
/// handle that another tool made, or for one of ours, which is the result. Lives as long as the
/// process, as programs keep handles that they have destroyed.
void* keep_text(const void* owner, std::optional<void*> others, std::string_view text);

template <class Handle>
Handle new_handle(const void* owner, std::optional<Handle> others, std::string_view text) {
  return reinterpret_cast<Handle>(
      keep_text(owner, others ? std::optional<void*>(*others) : std::nullopt, text));
}

std::string_view text_of(const void* owner, const void* handle);
std::string_view name_of_domain(const void* domain);

/// At most as much of a text of the program as is kept.
std::string_view bounded(const char* text);

/// A range or mark.
struct Act {
  const void* domain = nullptr;
  std::string_view text;
  uint64_t payload = 0;  // of a collective: its communicator
  NcclCall nccl;
  uint32_t color = 0;
  uint16_t category = 0;
};

/// Calls `use` with the range or mark that `attributes` describe; the text lives only during the
/// call.
template <class Use>
auto with_act(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes, Use use) {
  Act act;
  act.domain = domain;
  if (attributes == nullptr || attributes->size < sizeof *attributes) return use(act);
  const StructuredPayload* data = nullptr;
  act.category = static_cast<uint16_t>(std::min<uint32_t>(attributes->category, 0xffff));
  if (attributes->colorType == NVTX_COLOR_ARGB) act.color = attributes->color;
  switch (attributes->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
    case NVTX_PAYLOAD_TYPE_FLOAT:
      act.payload = attributes->payload.uiValue;
      break;
    case NVTX_PAYLOAD_TYPE_INT32:
      act.payload = static_cast<uint64_t>(int64_t{attributes->payload.iValue});
      break;
    case NVTX_PAYLOAD_UNKNOWN:
      break;
    case kStructuredPayload:
      data = reinterpret_cast<const StructuredPayload*>(attributes->payload.ullValue);
      if (data != nullptr && data->bytes != nullptr && data->size >= sizeof act.payload)
        std::memcpy(&act.payload, data->bytes, sizeof act.payload);
      break;
    default:
      act.payload = attributes->payload.ullValue;
      break;
  }
  const auto use_text = [&](std::string_view text) {
    act.text = text;
    if (name_of_domain(domain) == "NCCL") {
      act.nccl = nccl_call(text, data != nullptr ? *data : StructuredPayload{});
      if (act.nccl.is_collective) act.payload = act.nccl.communicator;
    }
    return use(act);
  };
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return use_text(bounded(attributes->message.ascii));
    case NVTX_MESSAGE_TYPE_UNICODE:
      return use_text(Narrow(attributes->message.unicode).view());
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return use_text(text_of(domain, attributes->message.registered));
    default:
      return use(act);
  }
}

template <class Use>
auto with_text(const char* text, Use use) {
  Act act;
  act.text = bounded(text);
  return use(act);
}

template <class Use>
auto with_text(const wchar_t* text, Use use) {
  Narrow narrow(text);
  Act act;
  act.text = narrow.view();
  return use(act);
}

}  // namespace streamscope::collect
