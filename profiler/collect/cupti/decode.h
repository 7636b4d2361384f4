// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI activity records -> ring records. Pure: needs neither CUDA nor its headers, so it is tested
// with bytes.
//
// CUPTI uses the newest layout that the loaded library knows, and layouts only grow at their ends.
// So the layouts below are our own, as of CUDA 13.0, and a field newer than 12.4 is read only if
// the loaded version has it.
#pragma once

#include <cstdint>
#include <string_view>

#include "ring/record.h"

namespace streamscope::collect {

/// What cuptiGetVersion() returns.
using CuptiVersion = uint32_t;
inline constexpr CuptiVersion kCupti12_4 = 22;
inline constexpr CuptiVersion kCupti12_8 = 26;
inline constexpr CuptiVersion kCupti13_0 = 130000;

/// Where decoded records go.
class DecodeSink {
 public:
  virtual ring::TextHash text(std::string_view text) = 0;
  virtual void op(const ring::OpRecord& record) = 0;
  virtual void shape(const ring::LaunchShapeRecord&
                         record) = 0;  // called for every kernel; the sink drops repeats
  virtual void witness(const ring::SyncWitnessRecord& record) = 0;
  virtual void overhead(const ring::OverheadRecord& record) = 0;
  /// A call of the driver, whose function is named by CUPTI's callback id.
  virtual void correlation(ring::CorrelationRecord record, uint32_t callback_id) = 0;
  virtual void unknown(uint32_t kind) = 0;

 protected:
  ~DecodeSink() = default;
};

/// Decodes one activity record. `record` must be as long as its kind is in `version`.
void decode(const void* record, CuptiVersion version, DecodeSink& sink);

/// Activity kinds by CUPTI's numbers.
enum ActivityKind : uint32_t {
  kActivityMemcpy = 1,
  kActivityMemset = 2,
  kActivityDriver = 4,
  kActivityConcurrentKernel = 10,
  kActivityOverhead = 17,
  kActivityMemcpy2 = 22,
  kActivityCudaEvent = 36,
  kActivitySynchronization = 38,
  kActivityGraphTrace = 51,
};

#pragma pack(push, 1)
// The layouts, up to the last field that is read. Names follow CUPTI.
struct KernelActivity {  // CUpti_ActivityKernel9 (208 bytes, 12.x), 10 (216 bytes, 13.0)
  uint32_t kind;
  uint8_t cache_config;
  uint8_t shared_memory_config;
  uint16_t registers_per_thread;
  uint32_t global_cache_requested;
  uint32_t global_cache_executed;
  uint64_t start;
  uint64_t end;
  uint64_t completed;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  int32_t grid[3];
  int32_t block[3];
  int32_t static_shared_bytes;
  int32_t dynamic_shared_bytes;
  uint32_t local_memory_per_thread;
  uint32_t local_memory_total;
  uint32_t correlation_id;
  int64_t grid_id;
  const char* name;
  uint64_t reserved;
  uint64_t queued;
  uint64_t submitted;
  uint8_t launch_type;
  uint8_t carveout_requested;
  uint8_t carveout;
  uint8_t padding;
  uint32_t shared_memory_executed;
  uint64_t graph_node;
  uint32_t shared_memory_limit;
  uint32_t graph;
  uint64_t access_policy_window;
  uint32_t channel;
  uint32_t channel_type;
};
struct MemcpyActivity {  // CUpti_ActivityMemcpy5, 6
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation_id;
  uint32_t runtime_correlation_id;
  uint32_t pad;
  uint64_t reserved;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t channel;
  uint32_t channel_type;
};
struct MemcpyPeerActivity {  // CUpti_ActivityMemcpyPtoP3 (channel is padding), 4
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t source_device;
  uint32_t source_context;
  uint32_t destination_device;
  uint32_t destination_context;
  uint32_t correlation_id;
  uint64_t reserved;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t channel;
};
struct MemsetActivity {  // CUpti_ActivityMemset3, 4
  uint32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation_id;
  uint16_t flags;
  uint16_t memory_kind;
  uint32_t pad;
  uint64_t reserved;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t channel;
};
struct CallActivity {  // CUpti_ActivityAPI
  uint32_t kind;
  uint32_t callback_id;
  uint64_t start;
  uint64_t end;
  uint32_t process;
  uint32_t thread;
  uint32_t correlation_id;
  uint32_t return_value;
};
struct SynchronizationActivity {  // CUpti_ActivitySynchronization (40 bytes), 2 (56 bytes,
                                  // since 12.8)
  uint32_t kind;
  uint32_t type;
  uint64_t start;
  uint64_t end;
  uint32_t correlation_id;
  uint32_t context;
  uint32_t stream;
  uint32_t event;
  uint64_t sync_id;       // since 12.8
  uint32_t return_value;  // since 12.8
  uint32_t pad;
};
struct CudaEventActivity {  // CUpti_ActivityCudaEvent (24 bytes), 2 (56 bytes, since 12.8)
  uint32_t kind;
  uint32_t correlation_id;
  uint32_t context;
  uint32_t stream;
  uint32_t event;
  uint32_t pad;
  uint32_t device;  // since 12.8, as all below
  uint32_t pad2;
  uint64_t reserved;
  uint64_t device_timestamp;
  uint64_t sync_id;
};
struct GraphTraceActivity {  // CUpti_ActivityGraphTrace, 2
  uint32_t kind;
  uint32_t correlation_id;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t graph;
  uint32_t context;
  uint32_t stream;
};
struct OverheadActivity {  // CUpti_ActivityOverhead, 2, 3
  uint32_t kind;
  uint32_t overhead_kind;
  uint32_t object_kind;  // 1 process, 2 thread
  uint32_t process;
  uint32_t thread;
  uint32_t object_pad;
  uint64_t start;
  uint64_t end;
};
#pragma pack(pop)

}  // namespace streamscope::collect
