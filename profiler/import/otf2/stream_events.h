// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The events of a stream: regions are kernels, or copies where their role says so (rocprofv3);
// Score-P writes copies as one-sided communication between the stream and the host.
#pragma once

#include "callbacks.h"
#include "process.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::import::otf2 {

/// Thread-compatible.
class StreamEvents : public Receiver {
 public:
  StreamEvents(ProcessRows& process, Id stream) : process_(process), stream_(stream) {}

  /// Lets the reader call this; the caller owns what is returned.
  static OTF2_EvtReaderCallbacks* callbacks();
  void finish();

 private:
  struct Kernel {
    OTF2_RegionRef region;
    Ns start_ns;
    uint64_t call_site = kUnknownNumber;
  };
  struct Copy {
    OTF2_RmaWinRef window;
    uint64_t number;
    trace::Op op;
  };

  void enter(uint64_t ticks, OTF2_AttributeList*, OTF2_RegionRef region);
  void leave(uint64_t ticks, OTF2_AttributeList*, OTF2_RegionRef region);
  void parameter(uint64_t, OTF2_AttributeList*, OTF2_ParameterRef parameter, uint64_t value);
  void put(uint64_t ticks, OTF2_AttributeList*, OTF2_RmaWinRef window, uint32_t remote,
           uint64_t bytes, uint64_t number);
  void get(uint64_t ticks, OTF2_AttributeList*, OTF2_RmaWinRef window, uint32_t remote,
           uint64_t bytes, uint64_t number);
  void complete(uint64_t ticks, OTF2_AttributeList*, OTF2_RmaWinRef window, uint64_t number);
  void metric(uint64_t, OTF2_AttributeList*, OTF2_MetricRef, uint8_t, const OTF2_Type*,
              const OTF2_MetricValue*) {
    process_.count_ignored("values of metrics");
  }

  void begin_copy(uint64_t ticks, OTF2_RmaWinRef window, CopyKind kind, uint64_t bytes,
                  uint64_t number);
  void add(const Kernel& kernel, Ns end);

  ProcessRows& process_;
  const Id stream_;
  std::vector<Kernel> kernels_;  // that have not ended, the first one first
  std::vector<Copy> copies_;     // likewise
};

}  // namespace streamscope::import::otf2
