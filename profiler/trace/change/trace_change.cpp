// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "trace_change.h"

#include "trace/error.h"
#include "trace/sqlite/open.h"

namespace streamscope::trace {

TraceChange::TraceChange(const std::filesystem::path& file) : original_(open_trace(file)) {
  original_->run("BEGIN");
  original_->integer("SELECT count(*) FROM sqlite_schema");  // takes the lock
  replacement_ = std::make_unique<Replacement>(file);
}

std::string TraceChange::copy() const { return uri_of(replacement_->copy(), "nolock=1"); }

void TraceChange::commit() {
  for (const char* suffix : {"-wal", "-journal"}) {
    // What another program has begun to write would be mistaken for a part of the new file.
    const std::string beside = replacement_->target().string() + suffix;
    std::error_code error;
    if (std::filesystem::exists(beside, error)) original_->fail(SQLITE_BUSY);
    if (error) throw Error(beside, error.message(), remedy_for(error.value()), error.value());
  }
  replacement_->commit();
}

}  // namespace streamscope::trace
