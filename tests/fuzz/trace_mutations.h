// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a fuzzer makes of a good trace: the schema stays valid and ids stay dense, so that the
// reader accepts the file, but cells contain values that no recording would store.
//
// An input is a head and a list of mutations, so that libFuzzer can add, drop and change them one
// by one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace streamscope::test {

struct TraceInput {
  struct Head {
    uint8_t seed;  // which trace
    uint8_t use;   // what is made of it
    uint8_t reserved[14];
  };
  struct Mutation {
    enum Act : uint8_t {
      kSetCell,     // a cell
      kSetColumn,   // a column of every (row % 7 + 1)th row
      kSwapCells,   // a column of two rows
      kShift,       // adds to a column of all rows
      kCopyRow,     // over another row
      kForgetRow,   // sets all of a row to NULL
      kRepeatRow,   // at the end, some times
      kCutTable,    // drops rows at the end, and what refers to them
      kSetText,     // of a string
      kSetMeta,     // of a key
      kAllIntoOne,  // lets a column of all rows refer to one row
      kActCount
    };
    uint8_t act, table, column;
    uint8_t kind;  // of value
    uint32_t row;
    int64_t value;
  };
  static_assert(sizeof(Head) == sizeof(Mutation));

  TraceInput(const uint8_t* data, size_t size);
  size_t store(uint8_t* data, size_t max_size) const;
  /// Adds, drops or changes a few mutations.
  void mutate(unsigned seed);

  Head head{};
  std::vector<Mutation> mutations;
};

/// The traces that inputs begin with: those of `traces/`, and of the folder that
/// STREAMSCOPE_FUZZ_SEEDS names.
const std::vector<std::filesystem::path>& seed_traces();

/// Writes the trace that an input describes. Of long tables it has only the first rows.
void write_mutated(const TraceInput& input, const std::filesystem::path& file);

}  // namespace streamscope::test
