// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "fuzz/scratch_file.h"
#include "import/assembly.h"
#include "import/importer.h"
#include "trace/error.h"

using namespace streamscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Making a trace takes far longer than filling it, so one serves many inputs; nothing is stored.
  static std::unique_ptr<trace::Writer> writer;
  if (!writer || writer->buffered_bytes() > (4 << 20)) {
    writer = std::make_unique<trace::Writer>(
        trace::Writer::create(test::scratch("trace"), {.overwrite = true}));
  }
  const auto file = test::write_scratch(data, size);
  try {
    import::Assembly assembly(*writer);
    import::importer_of(file).read(file, assembly);
    assembly.finish();
  } catch (const Error&) {  // an unusable file
  }
  return 0;
}
