// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "job/files/hang_note.h"
#include "job/files/packed_file.h"
#include "job/job_hang.h"
#include "trace/error.h"

using namespace streamscope;

// The input is what follows the header, so that the checksum does not keep it out.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  job::PackedKind kind{.magic = {}, .version = job::kHangNoteVersion, .what = "", .remedy = ""};
  const std::string any = job::pack(job::HangNote());
  std::copy_n(any.begin(), sizeof kind.magic, kind.magic);
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  try {
    const job::HangNote note = job::unpack_note(job::with_header(kind, message), "input");
    const std::string bytes = job::pack(note);
    if (bytes.size() > job::kMostNoteBytes) __builtin_trap();
    (void)job::unpack_note(bytes, "again");
    // Many ranks that nobody has heard of take long to list, and no input is needed for that.
    if (note.rank.identity.world_size < 1000)
      (void)job::explain(job::ranks_of({{note, {}}, {note, {}}}));
  } catch (const Error&) {  // damaged
  }
  return 0;
}
