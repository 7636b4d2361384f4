// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A kernel in its own file, so that its code is loaded only at its first launch; and the main
// program.
#include <cstring>
#include <string>

#include "hang.h"

namespace hang {
namespace {

__global__ void not_loaded(volatile uint32_t* flag) { flag[0] = 1; }

void lazy_loading() {
  const cudaStream_t stream = make_stream(), other = make_stream();
  volatile uint32_t* flags = make_flags();
  launch_spin(stream, flags);
  not_loaded<<<1, 1, 0, other>>>(flags);
  CHECK(cudaGetLastError());
  wait_for_stream(stream);
}

constexpr Program kLatePrograms[] = {
    {"lazy-loading", "implicit-sync", "CUDA_MODULE_LOADING=EAGER", lazy_loading},
};

}  // namespace

std::span<const Program> late_programs() { return kLatePrograms; }

}  // namespace hang

//   hang NAME | hang --list
int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  for (const auto programs :
       {hang::memory_programs(), hang::host_programs(), hang::device_programs(),
        hang::late_programs(), hang::slow_programs()}) {
    for (const hang::Program& program : programs) {
      if (wanted == "--list")
        std::printf("{\"program\":\"%s\",\"verdict\":\"%s\",\"culprit\":\"%s\"}\n", program.name,
                    program.verdict, program.culprit);
      if (wanted != program.name) continue;
      int count = 0;
      if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return 77;
      // Loading a module waits for all work of the device. Only lazy-loading is about that, with a
      // kernel of this file; the others load theirs before anything hangs.
      const cudaStream_t first = hang::make_stream();
      hang::launch_delay(first, 1e-6);
      CHECK(cudaStreamSynchronize(first));
      program.run();
      return 0;
    }
  }
  if (wanted == "--list") return 0;
  std::fprintf(stderr, "usage: hang NAME | hang --list\n");
  return 2;
}
