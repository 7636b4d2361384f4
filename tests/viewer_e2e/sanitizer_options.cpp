// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Called by the address sanitizer before main(). GL's software drivers leak memory when they are
// unloaded, and leaks of an unloaded library cannot be suppressed by name: leaks are checked only
// by the tests that draw nothing.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();  // NOLINT
const char* __asan_default_options() { return "detect_leaks=0"; }                        // NOLINT
