// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The samples of the CPU in an export of Nsight Systems, and its call chains.
//
// nsys samples threads only while they run. Where its records of context switches show that a
// thread waited, samples are taken from them at the same rate, so that samples stand for time as
// those of a recording do. Without such records its samples would make every thread look busy, so
// they are left out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nsys_objects.h"

namespace streamscope::import {

/// Thread-compatible.
class NsysSamples {
 public:
  /// `string_id` interns a text of `strings` by its number.
  NsysSamples(trace::ForeignTables& tables, Assembly& assembly, NsysObjects& objects,
              const std::unordered_map<Int, std::string>& strings, std::function<Id(Int)> string_id)
      : tables_(tables),
        assembly_(assembly),
        objects_(objects),
        strings_(strings),
        string_id_(std::move(string_id)) {}

  /// Stacks by the number of the chain, of a table of call chains.
  using Chains = std::unordered_map<Int, Id>;
  Chains chains(std::string_view table);

  /// Reads the samples of the threads that are known, which are those that made calls.
  void read();

 private:
  struct Moment {
    Id thread = kNoId;
    Ns at_ns = 0;
    Int chain = kNoInt;     // of a sample
    bool runs = false;      // of a context switch: the thread gets a processor
    bool is_ready = false;  // or loses it although it could go on

    std::pair<Id, Ns> key() const { return {thread, at_ns}; }
  };
  struct SystemCall {  // a function of the system's libraries
    Id thread;
    Ns start_ns, end_ns;
    Small number;
    Int chain;

    std::pair<Id, Ns> key() const { return {thread, start_ns}; }
  };

  std::optional<Moment> moment_of(const trace::ForeignRow& row);
  bool add_waits(Ns period_ns);
  std::vector<SystemCall> read_system_calls();
  static const SystemCall* call_at(const std::vector<SystemCall>& calls, Id thread, Ns at);

  trace::ForeignTables& tables_;
  Assembly& assembly_;
  NsysObjects& objects_;
  const std::unordered_map<Int, std::string>& strings_;
  std::function<Id(Int)> string_id_;
};

}  // namespace streamscope::import
