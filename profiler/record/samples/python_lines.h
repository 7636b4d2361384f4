// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The source line of an instruction of a Python code object, from its line table.
//
// Formats: Objects/lnotab_notes.txt of CPython 3.8 and 3.10, Objects/locations.md of 3.11.
#pragma once

#include <cstdint>
#include <span>

namespace streamscope::record {

/// `minor`: of Python 3.x. `offset`: of the instruction, in bytes. 0 if the instruction has no line
/// or the table ends before it.
int python_line(int minor, std::span<const uint8_t> table, int first_line, int offset);

}  // namespace streamscope::record
