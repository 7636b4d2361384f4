// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Runs a small program under the collector, with the test as its writer, and reads what it left in
// the rings.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ring/calls.h"
#include "ring/control.h"
#include "ring/losses.h"
#include "ring/record.h"
#include "ring/ring.h"

namespace streamscope::collect {

/// A sanitizer's runtime must be the first library, so nothing can be preloaded in a sanitized
/// build; the scenarios then run in the program that is linked with the library.
#ifdef COLLECT_SANITIZED
inline constexpr bool kCanPreload = false;
inline constexpr char kChild[] = COLLECT_LINKED_CHILD;
#else
inline constexpr bool kCanPreload = true;
inline constexpr char kChild[] = COLLECT_CHILD;
#endif
#define NEEDS_PRELOADING() \
  if (!kCanPreload) GTEST_SKIP() << "nothing can be preloaded into a sanitized program"

/// One ring as the program left it.
struct ObservedRing {
  uint32_t index = 0;
  uint32_t pid = 0;
  ring::RingState state = ring::RingState::kLive;
  std::optional<ring::CallRecord> open_call;
  uint32_t ended = 0;  // operation whose submission ended last
  uint64_t ended_at = 0;
  uint64_t stacks = 0, stack_ticks = 0;
  uint64_t dropped = 0;
  std::vector<ring::Record> records;
};

/// A folder of rings with its control file, and processes that run in it.
class Observed {
 public:
  Observed();
  ~Observed();
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  /// The control file, to be set up before run().
  ring::Control& control() { return *control_; }
  const std::filesystem::path& folder() const { return folder_; }

  /// Sets a variable for the programs; an empty value removes it.
  void set(const std::string& name, const std::string& value) { variables_[name] = value; }

  /// Runs `program arguments...` to its end (20 s at most) and reads the rings. Returns the exit
  /// code, 128 + n on a signal n. Standard error goes to error_text(), standard output to
  /// output_text().
  int run(const std::vector<std::string>& command);
  /// The scenario `name` of the child program (child.cpp), with the library preloaded.
  int run_child(const std::string& name, const std::vector<std::string>& more = {});

  /// Starts without waiting; finish() waits and reads the rings.
  void start_child(const std::string& name, const std::vector<std::string>& more = {});
  int finish();
  int pid() const { return pid_; }
  /// Reads the rings now.
  void read_rings();
  /// Waits until the child prints this line.
  void wait_for_line(const std::string& line);

  const std::string& error_text() const { return error_text_; }
  const std::string& output_text() const { return output_text_; }

  const std::vector<ObservedRing>& rings() const { return rings_; }
  /// All records of one type, ring by ring in order.
  template <class T>
  std::vector<T> all(ring::RecordKind kind) const {
    std::vector<T> found;
    for (const ObservedRing& each : rings_) {
      for (const ring::Record& record : each.records) {
        if (record.head.kind == kind) found.push_back(reinterpret_cast<const T&>(record));
      }
    }
    return found;
  }
  std::vector<ring::CallRecord> calls() const {
    return all<ring::CallRecord>(ring::RecordKind::kCall);
  }
  /// Names of the calls, joined by spaces.
  std::string call_names() const;
  std::string text(ring::TextHash hash) const;
  /// Losses by name with their counts.
  std::map<std::string, uint64_t> losses() const;
  std::string loss_detail(ring::Loss loss) const;

 private:
  void start(const std::vector<std::string>& command);
  void drain_output(bool to_end);

  std::filesystem::path folder_;
  ring::Control* control_ = nullptr;
  std::map<std::string, std::string> variables_;
  int pid_ = 0;
  int output_file_ = -1, error_file_ = -1;
  std::string error_text_, output_text_;
  std::vector<ObservedRing> rings_;
  std::map<ring::TextHash, std::string> texts_;
};

/// Name of a call record.
inline std::string name_of(const ring::CallRecord& call) {
  return std::string(ring::call_info(call.call).name);
}

}  // namespace streamscope::collect
