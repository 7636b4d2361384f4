// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "stream_events.h"

#include <algorithm>

namespace streamscope::import::otf2 {
namespace {

constexpr size_t kMostOpen = 1024;  // at a time, of one stream

// "MEMORY_COPY_HOST_TO_DEVICE" of rocprofv3.
CopyKind copy_kind(std::string_view name) {
  struct Row {
    std::string_view letters;
    CopyKind kind;
  };
  static constexpr Row kRows[] = {
      {"HOST_TO_DEVICE", CopyKind::kHostToDevice},
      {"DEVICE_TO_HOST", CopyKind::kDeviceToHost},
      {"DEVICE_TO_DEVICE", CopyKind::kDeviceToDevice},
      {"HOST_TO_HOST", CopyKind::kHostToHost},
  };
  const auto row = std::ranges::find_if(
      kRows, [&](const Row& each) { return name.find(each.letters) != name.npos; });
  return row == std::end(kRows) ? CopyKind::kUnknown : row->kind;
}

// Regions that are no work: idle time that Score-P computed, and allocations of memory.
bool is_work(OTF2_RegionRole role) {
  return role != OTF2_REGION_ROLE_ARTIFICIAL && role != OTF2_REGION_ROLE_ALLOCATE &&
         role != OTF2_REGION_ROLE_DEALLOCATE && role != OTF2_REGION_ROLE_REALLOCATE;
}

}  // namespace

OTF2_EvtReaderCallbacks* StreamEvents::callbacks() {
  using To = StreamEvents;
  OTF2_EvtReaderCallbacks* const to = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetEnterCallback(to, forward_event<&To::enter>);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(to, forward_event<&To::leave>);
  OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(to, forward_event<&To::parameter>);
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(to, forward_event<&To::put>);
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(to, forward_event<&To::get>);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(to, forward_event<&To::complete>);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(to, forward_event<&To::complete>);
  OTF2_EvtReaderCallbacks_SetMetricCallback(to, forward_event<&To::metric>);
  return to;
}

void StreamEvents::enter(uint64_t ticks, OTF2_AttributeList*, OTF2_RegionRef region) {
  const auto at = process_.time(ticks);
  if (!at) return;
  if (kernels_.size() == kMostOpen) return process_.count_invalid();
  kernels_.push_back({region, *at});
}

// Kernels of a queue may overlap, so that the first one ends first.
void StreamEvents::leave(uint64_t ticks, OTF2_AttributeList*, OTF2_RegionRef region) {
  const auto at = process_.time(ticks);
  if (!at) return;
  const auto kernel = std::ranges::find(kernels_, region, &Kernel::region);
  if (kernel == kernels_.end()) return process_.count_invalid();
  add(*kernel, *at);
  kernels_.erase(kernel);
}

void StreamEvents::add(const Kernel& kernel, Ns end) {
  const auto known = process_.definitions().regions.find(kernel.region);
  if (known == process_.definitions().regions.end() || end < kernel.start_ns)
    return process_.count_invalid();
  const Region& region = known->second;
  if (!is_work(region.role)) return;
  trace::Op op{
      .kind = trace::kKernel, .stream_id = stream_, .start_ns = kernel.start_ns, .end_ns = end};
  if (region.role == OTF2_REGION_ROLE_DATA_TRANSFER) {
    op.kind = trace::kMemcpy;
    op.detail = static_cast<Small>(copy_kind(region.name));
  } else {
    op.name_id = process_.assembly().intern(region.name);
  }
  process_.issuers().add(op, kernel.call_site);
}

void StreamEvents::parameter(uint64_t, OTF2_AttributeList*, OTF2_ParameterRef parameter,
                             uint64_t value) {
  if (parameter == process_.call_site_parameter() && !kernels_.empty())
    kernels_.back().call_site = value;
}

void StreamEvents::put(uint64_t ticks, OTF2_AttributeList*, OTF2_RmaWinRef window, uint32_t remote,
                       uint64_t bytes, uint64_t number) {
  begin_copy(
      ticks, window,
      process_.is_stream(window, remote) ? CopyKind::kDeviceToDevice : CopyKind::kDeviceToHost,
      bytes, number);
}

void StreamEvents::get(uint64_t ticks, OTF2_AttributeList*, OTF2_RmaWinRef window, uint32_t remote,
                       uint64_t bytes, uint64_t number) {
  begin_copy(
      ticks, window,
      process_.is_stream(window, remote) ? CopyKind::kDeviceToDevice : CopyKind::kHostToDevice,
      bytes, number);
}

void StreamEvents::begin_copy(uint64_t ticks, OTF2_RmaWinRef window, CopyKind kind, uint64_t bytes,
                              uint64_t number) {
  const auto at = process_.time(ticks);
  if (!at) return;
  if (copies_.size() == kMostOpen) return process_.count_invalid();
  constexpr uint64_t kMostBytes = uint64_t{1} << 60;
  copies_.push_back({window,
                     number,
                     {.kind = trace::kMemcpy,
                      .stream_id = stream_,
                      .start_ns = *at,
                      .detail = static_cast<Small>(kind),
                      .bytes = bytes < kMostBytes ? static_cast<Int>(bytes) : kNoInt}});
}

// Score-P gives all copies the same number: the first one ends first.
void StreamEvents::complete(uint64_t ticks, OTF2_AttributeList*, OTF2_RmaWinRef window,
                            uint64_t number) {
  const auto at = process_.time(ticks);
  if (!at) return;
  const auto copy = std::ranges::find_if(
      copies_, [&](const Copy& each) { return each.window == window && each.number == number; });
  if (copy == copies_.end() || *at < copy->op.start_ns) return process_.count_invalid();
  copy->op.end_ns = *at;
  process_.issuers().add(copy->op, kUnknownNumber);
  copies_.erase(copy);
}

void StreamEvents::finish() { process_.count_invalid(kernels_.size() + copies_.size()); }

}  // namespace streamscope::import::otf2
