// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Every way in which a program may end, at every stage of its work: `HOW WHEN` does it, `--list`
// prints all of them. Used by recorded programs; each defines how it ends in CUDA and what its
// stages are. Needs no CUDA, and C++17 only.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace endings {

inline constexpr int kAnError = 7;  // exit code of those that fail

using End = void (*)();
template <class Function>
struct Named {
  const char* name;
  Function function;
};
/// Works up to a stage, prints what is done by then, and ends in this way.
using Stage = Named<void (*)(End)>;

/// Stays until it and its recorder are killed.
inline void linger() {
  for (;;) pause();
}

/// The ends that involve CUDA; a program that has them supplies them.
struct CudaEnds {
  End sticky_error = nullptr;
  End device_reset = nullptr;
};

/// Runs what `arguments` select and returns the exit code, if it gets that far: 2 if they are
/// invalid.
template <std::size_t kCount>
int run(const std::vector<std::string>& arguments, const CudaEnds& cuda,
        const Stage (&stages)[kCount]) {
  const Named<End> ends[] = {
      {"return", [] { std::exit(0); }},    {"exit", [] { std::exit(kAnError); }},
      {"_exit", [] { _exit(kAnError); }},  {"abort", [] { std::abort(); }},
      {"kill", [] { raise(SIGKILL); }},    {"terminate", [] { raise(SIGTERM); }},
      {"fault", [] { raise(SIGSEGV); }},   {"sticky-error", cuda.sticky_error},
      {"device-reset", cuda.device_reset}, {"linger", linger},
  };
  const bool listing = arguments == std::vector<std::string>{"--list"};
  for (const auto& end : ends) {
    if (end.function == nullptr) continue;
    for (const Stage& stage : stages) {
      if (listing) std::printf("%s %s\n", end.name, stage.name);
      if (arguments == std::vector<std::string>{end.name, stage.name}) stage.function(end.function);
    }
  }
  return listing ? 0 : 2;
}

}  // namespace endings
