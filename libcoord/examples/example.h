// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Shared code of the examples: arguments, printed numbers, and exit codes.
#pragma once

#include <coord/coord.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace example {

struct Arguments {
  std::string device = "auto";  // --device sim|cuda|auto
  int iterations = 16;          // --iterations N
  bool verify = false;          // --verify: check every number, not only that the program ends
  bool repaired = false;        // --repaired: the race example without its race
  int timeout_s = 5;            // --timeout S: deadlock on a GPU releases itself after this time
};

/// Exit codes, besides 0.
inline constexpr int kWrongResult = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kDeadlock = 3;
inline constexpr int kNoDevice = 77;  // no such device: test runners treat this as skipped

inline Arguments parse(int argc, char** argv) {
  Arguments arguments;
  const auto usage = [&](const std::string& why) {
    std::fprintf(stderr,
                 "%s: %s\nusage: %s [--device sim|cuda|auto] [--iterations N] [--verify] "
                 "[--repaired] [--timeout S]\n",
                 argv[0], why.c_str(), argv[0]);
    std::exit(kWrongUsage);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--verify" || name == "--repaired") {
      (name == "--verify" ? arguments.verify : arguments.repaired) = true;
      continue;
    }
    if (name != "--device" && name != "--iterations" && name != "--timeout")
      usage("unknown argument " + std::string(name));
    if (++i == argc) usage(std::string(name) + " needs a value");
    if (name == "--device") {
      arguments.device = argv[i];
      continue;
    }
    int& number = name == "--iterations" ? arguments.iterations : arguments.timeout_s;
    const char* end = argv[i] + std::strlen(argv[i]);
    if (const auto [stop, error] = std::from_chars(argv[i], end, number);
        error != std::errc() || stop != end || number < 1) {
      usage(std::string(name) + " needs a positive number, not " + argv[i]);
    }
  }
  return arguments;
}

/// What the program issued, to compare with its recording.
struct Counts {
  std::uint64_t launches = 0, copies = 0, memsets = 0, records = 0, waits = 0, syncs = 0,
                operations = 0;

  void add(const coord::CoordinatorMetrics& metrics) {
    records += metrics.records;
    waits += metrics.waits_placed;
    syncs += metrics.host_waits;
    operations += metrics.registered;
  }
  void print() const {
    std::printf(
        "{\"launches\":%llu,\"copies\":%llu,\"memsets\":%llu,\"records\":%llu,\"waits\":%llu,"
        "\"syncs\":%llu,"
        "\"operations\":%llu}\n",
        static_cast<unsigned long long>(launches), static_cast<unsigned long long>(copies),
        static_cast<unsigned long long>(memsets), static_cast<unsigned long long>(records),
        static_cast<unsigned long long>(waits), static_cast<unsigned long long>(syncs),
        static_cast<unsigned long long>(operations));
  }
  /// Prints them; returns the exit code.
  [[nodiscard]] int finish(bool right) const {
    print();
    return right ? 0 : kWrongResult;
  }
};

/// Runs `body(arguments)`, whose result is the exit code, and prints what it throws.
template <typename Body>
int run(int argc, char** argv, Body body) {
  const Arguments arguments = parse(argc, argv);
  try {
    return body(arguments);
  } catch (const coord::Error& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return error.kind() == coord::ErrorKind::kDeadlock   ? kDeadlock
           : error.kind() == coord::ErrorKind::kNoDevice ? kNoDevice
                                                         : kWrongUsage;
  }
}

}  // namespace example
