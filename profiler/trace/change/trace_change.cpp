// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "trace_change.h"

#include "trace/sqlite/open.h"

namespace streamscope::trace {

TraceChange::TraceChange(const std::filesystem::path& file) : original_(open_trace(file)) {
  original_->run("BEGIN");
  original_->integer("SELECT count(*) FROM sqlite_schema");  // takes the lock
  replacement_ = std::make_unique<Replacement>(file);
}

std::string TraceChange::copy() const { return uri_of(replacement_->copy(), "nolock=1"); }

void TraceChange::commit() {
  const std::filesystem::path file = std::filesystem::canonical(original_->file());
  for (const char* suffix : {"-wal", "-journal"}) {
    // What another program has begun to write would be mistaken for a part of the new file.
    if (std::filesystem::exists(file.string() + suffix)) original_->fail(SQLITE_BUSY);
  }
  replacement_->commit();
}

}  // namespace streamscope::trace
