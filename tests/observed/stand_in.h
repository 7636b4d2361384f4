// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A GPU, its driver and the Compute Sanitizer in miniature, for the collector's observer: streams
// are threads, device memory is memory, and kernels are functions that touch it as patched ones do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collect/observed/sanitizer_library.h"
#include "ring/record.h"
#include "support/host_patches.h"
#include "support/thread_stream.h"

namespace streamscope::collect {

/// What a kernel does, with the place of its launch: null if it is not observed.
using Kernel = std::function<void(TouchLaunch*)>;

/// One context of a program, with a module whose kernels are those of a cubin. For one test.
class Program {
 public:
  explicit Program(const std::string& cubin);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Launches a kernel that has this name in the cubin, from the calling thread; several are those
  /// of one graph launch. Returns the number of the call.
  uint32_t launch(test::ThreadStream& stream, const char* name, const std::vector<Kernel>& kernels);
  uint32_t launch(test::ThreadStream& stream, const char* name, Kernel kernel) {
    return launch(stream, name, std::vector{std::move(kernel)});
  }
  /// Until then the host has only a page at once.
  static void have_host_memory();
  /// From now on the driver refuses the collector's kernels.
  static void refuse_kernels();
  CUcontext context() const { return reinterpret_cast<CUcontext>(context_); }

  /// What the collector has reported since the last time, of all threads.
  static std::vector<ring::AccessRecord> reported();
  static std::vector<std::string> losses();
  /// Modules that are patched now.
  static size_t patched();

 private:
  uintptr_t context_, module_;
};

}  // namespace streamscope::collect
