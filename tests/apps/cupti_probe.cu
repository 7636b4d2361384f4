// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a collector needs to know about CUPTI on this machine, as one JSON line: whether driver
// callbacks nested in a runtime call carry the runtime call's correlation id, and which driver call
// each runtime call makes.
#include "counted.h"
#include "cupti_client.h"

namespace {

__global__ void nothing() {}

struct Seen {
  const char* runtime = nullptr;  // runtime call that is open in this thread
  uint32_t runtime_correlation = 0;
  std::string rows;
};
Seen seen;  // one thread

void CUPTIAPI look(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  const auto* info = static_cast<const CUpti_CallbackData*>(data);
  const bool entering = info->callbackSite == CUPTI_API_ENTER;
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    seen.runtime = entering ? info->functionName : nullptr;
    seen.runtime_correlation = info->correlationId;
  } else if (entering) {
    char row[256];
    std::snprintf(
        row, sizeof row,
        "%s{\"runtime\": \"%s\", \"driver\": \"%s\", \"cbid\": %u, \"same_correlation\": %s}",
        seen.rows.empty() ? "" : ", ", seen.runtime ? seen.runtime : "", info->functionName, id,
        info->correlationId == seen.runtime_correlation ? "true" : "false");
    seen.rows += row;
  }
}

}  // namespace

int main() {
  counted::require_device();
  CUpti_SubscriberHandle subscriber = cupti_client::subscribe(look);
  cudaStream_t stream;
  cudaEvent_t event;
  CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  CALL(cudaEventCreateWithFlags, &event, cudaEventDisableTiming);
  counted::launch(nothing, 1, 1, stream);
  CALL(cudaStreamSynchronize, stream);

  cupti_client::enable(subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, cupti_client::kRuntimeCalls);
  cupti_client::enable(subscriber, CUPTI_CB_DOMAIN_DRIVER_API, cupti_client::kDriverCalls);
  counted::launch(nothing, 1, 1, stream);
  CALL(cudaEventRecord, event, stream);
  CALL(cudaEventRecordWithFlags, event, stream, cudaEventRecordDefault);
  CALL(cudaStreamWaitEvent, stream, event, 0);
  CALL(cudaStreamSynchronize, stream);
  counted::note("nested", "[" + seen.rows + "]");
  counted::report("cupti_probe");
}
