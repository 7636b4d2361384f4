// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Dumps of PyTorch's flight recorder of a job of three ranks.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace streamscope::job {

using nlohmann::json;

// As PyTorch's pickler writes values: protocol 2, texts are remembered.
class Pickler {
 public:
  std::string dump(const json& value) {
    bytes_ = "\x80\x02";
    put(value);
    return bytes_ + ".";
  }

 private:
  template <class Number>
  void raw(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void put(const json& value) {
    if (value.is_null()) bytes_ += 'N';
    if (value.is_boolean()) bytes_ += value.get<bool>() ? '\x88' : '\x89';
    if (value.is_number_integer()) put_number(value.get<int64_t>());
    if (value.is_string()) put_text(value.get<std::string>());
    if (value.is_array()) {
      bytes_ += "](";
      for (const json& one : value) put(one);
      bytes_ += 'e';
    }
    if (value.is_object()) {
      bytes_ += "}(";
      for (const auto& [key, one] : value.items()) {
        put_text(key);
        put(one);
      }
      bytes_ += 'u';
    }
  }
  void put_number(int64_t number) {
    if (number >= 0 && number < 256) {
      bytes_ += 'K';
      raw(static_cast<uint8_t>(number));
    } else if (number >= 0 && number < 65536) {
      bytes_ += 'M';
      raw(static_cast<uint16_t>(number));
    } else {
      bytes_ += "\x8a\x08";
      raw(number);
    }
  }
  void put_text(const std::string& text) {
    if (const auto known = memo_.find(text); known != memo_.end()) {
      bytes_ += 'h';
      raw(known->second);
      return;
    }
    bytes_ += 'X';
    raw(static_cast<uint32_t>(text.size()));
    bytes_ += text + "q";
    const auto next = static_cast<uint8_t>(memo_.size());
    raw(next);
    memo_[text] = next;
  }

  std::string bytes_;
  std::map<std::string, uint8_t> memo_;
};

inline json entry(int number, const char* state, const char* call = "nccl:all_reduce") {
  return {
      {"process_group", {"0", "default_pg"}},
      {"collective_seq_id", number},
      {"p2p_seq_id", 0},
      {"profiling_name", call},
      {"input_sizes", {{1024, 2}, {16}}},
      {"input_dtypes", {"Float", "BFloat16"}},
      {"state", state},
      {"time_discovered_started_ns", std::string(state) == "scheduled" ? json(nullptr) : json(5)},
      {"is_p2p", false},
      {"frames",
       {{{"name", "all_reduce"}, {"filename", "/x/torch/distributed/d.py"}, {"line", 3}},
        {{"name", "step"}, {"filename", "/home/me/train.py"}, {"line", 88}}}}};
}

inline json dump_of(const std::vector<json>& entries) {
  return {{"version", "2.4"},
          {"pg_config", {{"0", {{"name", "0"}, {"desc", "default_pg"}, {"ranks", "[0, 1, 2]"}}}}},
          {"pg_status", {{"0", {{"last_enqueued_collective", 7}}}}},
          {"entries", entries}};
}

// Ranks 0 and 2 are in the all-reduce 7, which rank 1 has not called.
inline json waits() {
  return dump_of({entry(6, "completed"), entry(7, "started"), entry(8, "scheduled")});
}
inline json behind() { return dump_of({entry(5, "completed"), entry(6, "completed")}); }

}  // namespace streamscope::job
