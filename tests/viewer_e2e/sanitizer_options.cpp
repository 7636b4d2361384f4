// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Asked by the address sanitizer before main(). GL's software drivers leave memory behind when they
// are unloaded, and of a library that is gone no leak can be told apart by name: leaks are left to
// the tests that draw nothing.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();  // NOLINT
const char* __asan_default_options() { return "detect_leaks=0"; }                        // NOLINT
