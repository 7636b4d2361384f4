// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that prints what NVTX answers: `collect_nvtx [PROGRAM]`, which it then becomes.
#include <cuda.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSync.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

void enter_extensions() {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr) return;
  void* library = dlopen(path, RTLD_LAZY);
  auto* extension =
      reinterpret_cast<int (*)(void*)>(dlsym(library, "InitializeInjectionNvtxExtension"));
  auto* old = reinterpret_cast<int (*)(NvtxGetExportTableFunc_t)>(
      dlsym(library, "InitializeInjectionNvtx"));
  int module = 7;
  std::printf("extension %d, version 2 %d\n", extension != nullptr ? extension(&module) : 0,
              old != nullptr ? old(nullptr) : 0);
}

}  // namespace

int main(int count, char** arguments) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  cuInit(0);
  std::printf("push %d\n", nvtxRangePushA("step"));
  nvtxMarkA("here");
  nvtxMarkW(L"only ours");
  std::printf("pop %d\n", nvtxRangePop());
  const nvtxRangeId_t id = nvtxRangeStartA("interval");
  std::printf("start %lx\n", id);
  nvtxRangeEnd(id);
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("my domain");
  const nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, "registered");
  std::printf("domain %p, string %p\n", static_cast<void*>(domain), static_cast<void*>(string));
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = string;
  std::printf("push %d\n", nvtxDomainRangePushEx(domain, &attributes));
  std::printf("pop %d\n", nvtxDomainRangePop(domain));
  nvtxNameCudaStreamA(reinterpret_cast<cudaStream_t>(uintptr_t{0xa00a}), "copies");
  std::printf("sync %p\n", static_cast<void*>(nvtxDomainSyncUserCreate(domain, nullptr)));
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = 1 << 1;  // its name
  schema.name = "mine";
  const uint64_t number = nvtxPayloadSchemaRegister(domain, &schema);
  const nvtxPayloadData_t payload{number, sizeof number, &number};
  std::printf("schema %lu, push %d\n", number, nvtxDomainRangePushEx(domain, &attributes));
  std::printf("pop %d\n", nvtxRangePopPayload(domain, &payload, 1));
  enter_extensions();
  if (count > 1) execv(arguments[1], arguments + 1);
  return 0;
}
