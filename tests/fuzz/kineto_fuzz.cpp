// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "fuzz/import_input.h"

using namespace streamscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  test::import_input("kineto", test::write_scratch(data, size));
  return 0;
}
