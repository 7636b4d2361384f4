// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Imports a file for the fuzzers of the formats.
#pragma once

#include <memory>
#include <string_view>

#include "import/assembly.h"
#include "import/importer.h"
#include "scratch_file.h"
#include "sqlite_heap.h"
#include "trace/error.h"

namespace streamscope::test {

inline void import_input(std::string_view format, const std::filesystem::path& file) {
  // Making a trace takes far longer than filling it, so one serves many inputs; nothing is stored.
  static std::unique_ptr<trace::Writer> writer;
  if (!writer || writer->buffered_bytes() > (4 << 20)) {
    writer = std::make_unique<trace::Writer>(
        trace::Writer::create(scratch("trace"), {.overwrite = true}));
  }
  try {
    import::Assembly assembly(*writer);
    import::find_importer(format)->read(file, assembly);
    assembly.finish();
  } catch (const Error&) {  // an unusable file
  }
}

}  // namespace streamscope::test
