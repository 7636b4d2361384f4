// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "kineto_events.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>

#include "trace/error.h"

namespace streamscope::import {
namespace {

namespace json = simdjson::ondemand;
using trace::Int;
using trace::kNoInt;
using trace::Ns;

constexpr std::string_view kCloseObject = "]}", kCloseArray = "]";

std::string_view trimmed(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    token = token.substr(1, token.size() - 2);
  return token;
}

// Digits are kept exactly: converted to double, times since 1970 lose some tens of ns.
Int scaled(std::string_view token, int decimals) {
  const std::string_view text = trimmed(token);
  const bool negative = text.starts_with('-');
  constexpr Int kLargest = Int{1} << 62;
  Int value = 0;
  int missing = decimals;
  bool digits = false, point = false;
  for (size_t i = negative ? 1 : 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      digits = true;
      if (point && missing-- <= 0) continue;  // less than a unit
      if (value > kLargest / 10) return kNoInt;
      value = value * 10 + (c - '0');
    } else if (c == '.' && !point) {
      point = true;
    } else {
      // 1.5e3 and the like, which no profiler writes for long times.
      double number = 0;
      const auto end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data(), end, number);
      number *= std::pow(10, decimals);
      if (error != std::errc() || stop != end ||
          !(std::abs(number) < static_cast<double>(kLargest)))
        return kNoInt;
      return std::llround(number);
    }
  }
  if (!digits) return kNoInt;
  for (; missing > 0; --missing) {
    if (value > kLargest / 10) return kNoInt;
    value *= 10;
  }
  return negative ? -value : value;
}

Int integer(json::value value) {
  json::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return kNoInt;
  if (type != json::json_type::number && type != json::json_type::string) return kNoInt;
  return scaled(value.raw_json_token(), 0);
}

std::string_view text_of(json::value value) {
  std::string_view text;
  return value.get_string().get(text) == simdjson::SUCCESS ? text : std::string_view();
}

JsonId id_of(json::value value) {
  JsonId id;
  json::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return id;
  if (type == json::json_type::string) {
    id.text = text_of(value);
    id.number = scaled(id.text, 0);
  } else if (type == json::json_type::number) {
    id.number = scaled(value.raw_json_token(), 0);
  }
  return id;
}

void read_triple(json::value value, Int (&triple)[3]) {
  json::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return;
  size_t i = 0;
  for (auto element : list) {
    json::value number;
    if (element.get(number) != simdjson::SUCCESS) return;
    if (i < 3) triple[i++] = integer(number);
  }
}

// The number of elements of each of the shapes [[2, 3], [4]].
std::vector<Int> read_shapes(json::value value) {
  constexpr Int kMost = Int{1} << 60;
  std::vector<Int> result;
  json::array shapes;
  if (value.get_array().get(shapes) != simdjson::SUCCESS) return result;
  for (auto element : shapes) {
    json::array shape;
    if (element.get_array().get(shape) != simdjson::SUCCESS) return result;
    Int count = 1;
    for (auto length : shape) {
      json::value number;
      if (length.get(number) != simdjson::SUCCESS) return result;
      const Int each = integer(number);
      count = each < 0 || (each > 0 && count > kMost / each) ? 0 : count * each;
    }
    result.push_back(count);
  }
  return result;
}
std::vector<std::string_view> read_texts(json::value value) {
  std::vector<std::string_view> result;
  json::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return result;
  for (auto element : list) {
    json::value text;
    if (element.get(text) != simdjson::SUCCESS) return result;
    result.push_back(text_of(text));
  }
  return result;
}

void read_argument(std::string_view key, json::value value, JsonEvent& event) {
  struct Row {
    std::string_view key;
    Int JsonEvent::*member;
  };
  static constexpr Row kRows[] = {
      {"correlation", &JsonEvent::correlation},
      {"device", &JsonEvent::device},
      {"context", &JsonEvent::context},
      {"stream", &JsonEvent::stream},
      {"bytes", &JsonEvent::bytes},
      {"registers per thread", &JsonEvent::registers},
      {"shared memory", &JsonEvent::shared_bytes},
      {"graph node id", &JsonEvent::graph_node},
      {"channel", &JsonEvent::channel},
      {"event_id", &JsonEvent::event},
      {"wait_on_cuda_event_id", &JsonEvent::waited_event},
      {"wait_on_cuda_event_record_corr_id", &JsonEvent::record_correlation},
      {"wait_on_stream", &JsonEvent::record_stream},
      {"stream_kind", &JsonEvent::stream_kind},
      {"In msg nelems", &JsonEvent::in_elements},
      {"Group size", &JsonEvent::group_size},
      {"Seq", &JsonEvent::sequence},
      {"Src Rank", &JsonEvent::source_rank},
      {"Dst Rank", &JsonEvent::target_rank},
  };
  struct TextRow {
    std::string_view key;
    std::string_view JsonEvent::*member;
  };
  static constexpr TextRow kTexts[] = {
      {"name", &JsonEvent::arg_name},
      {"stream_name", &JsonEvent::stream_name},
      {"Call stack", &JsonEvent::call_stack},
      {"Collective name", &JsonEvent::collective},
      {"Process Group Name", &JsonEvent::group_name},
      {"Process Group Description", &JsonEvent::group_description},
      {"dtype", &JsonEvent::element_type},
  };
  for (const Row& row : kRows) {
    if (row.key == key) {
      event.*row.member = integer(value);
      return;
    }
  }
  for (const TextRow& row : kTexts) {
    if (row.key == key) {
      event.*row.member = text_of(value);
      return;
    }
  }
  if (key == "grid") return read_triple(value, event.grid);
  if (key == "block") return read_triple(value, event.block);
  if (key == "Input Dims" && describes_collective(event.name))
    event.input_elements = read_shapes(value);
  if (key == "Input type" && describes_collective(event.name))
    event.input_types = read_texts(value);
}

// Categories whose args are not used here; they make up most of the text of a profile.
bool skips_arguments(std::string_view category, std::string_view name) {
  if (describes_collective(name)) return false;
  return category == "cpu_op" || category == "python_function" || category == "user_annotation" ||
         category == "cpu_instant_event" || category == "ac2g" || category == "fwdbwd";
}

// Calls take(key, value) for every member. False if the text is truncated or take() returns false.
template <typename Take>
bool each_member(json::object& object, Take take) {
  for (auto field : object) {
    std::string_view key;
    json::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS ||
        field.value().get(value) != simdjson::SUCCESS || !take(key, value)) {
      return false;
    }
  }
  return true;
}

// False if the element is not an event.
bool read_event(json::object object, JsonEvent& event) {
  return each_member(object, [&](std::string_view key, json::value& value) {
    if (key == "ph") {
      const std::string_view phase = text_of(value);
      event.phase = phase.empty() ? '\0' : phase.front();
    } else if (key == "cat") {
      event.category = text_of(value);
    } else if (key == "name") {
      event.name = text_of(value);
    } else if (key == "pid") {
      event.pid = id_of(value);
    } else if (key == "tid") {
      event.tid = id_of(value);
    } else if (key == "ts") {
      event.start_ns = scaled(value.raw_json_token(), 3);
    } else if (key == "dur") {
      event.duration_ns = scaled(value.raw_json_token(), 3);
    } else if (key == "args" && !skips_arguments(event.category, event.name)) {
      json::object arguments;
      if (value.get_object().get(arguments) != simdjson::SUCCESS) return true;
      return each_member(arguments, [&](std::string_view name, json::value& content) {
        read_argument(name, content, event);
        return true;
      });
    }
    return true;
  });
}

void read_devices(json::value value, JsonFacts& facts) {
  json::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return;
  for (auto element : list) {
    json::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) return;
    JsonDevice device;
    const bool whole = each_member(object, [&](std::string_view key, json::value& member) {
      if (key == "id") device.id = integer(member);
      if (key == "name") device.name = text_of(member);
      if (key == "totalGlobalMem") device.memory_bytes = integer(member);
      if (key == "numSms") device.sm_count = integer(member);
      if (key == "computeMajor") device.major = integer(member);
      if (key == "computeMinor") device.minor = integer(member);
      return true;
    });
    if (!whole) return;
    facts.devices.push_back(std::move(device));
  }
}

void read_rank(json::value value, JsonFacts& facts) {
  json::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return;
  each_member(object, [&](std::string_view key, json::value& member) {
    if (key == "rank") facts.rank = integer(member);
    if (key == "world_size") facts.world_size = integer(member);
    return true;
  });
}

class Reader {
 public:
  Reader(JsonFacts& facts, const std::function<void(const JsonEvent&)>& on_event)
      : facts_(facts), on_event_(on_event) {}

  // Fails before the first event only if there are none.
  simdjson::error_code run(const char* text, size_t size, size_t room) {
    json::document document;
    if (const auto error = parser_.iterate(text, size, room).get(document)) return error;
    json::json_type type;
    if (const auto error = document.type().get(type)) return error;
    if (type == json::json_type::array) {
      json::array list;
      if (const auto error = document.get_array().get(list)) return error;
      return events(list);
    }
    json::object root;
    if (const auto error = document.get_object().get(root)) return error;
    for (auto field : root) {
      std::string_view key;
      json::value value;
      if (const auto error = field.unescaped_key().get(key)) return stop(error);
      if (const auto error = field.value().get(value)) return stop(error);
      if (key == "traceEvents") {
        json::array list;
        if (const auto error = value.get_array().get(list)) return stop(error);
        seen_ = true;
        if (const auto error = events(list)) return error;
        if (facts_.truncated) return simdjson::SUCCESS;
      } else if (key == "baseTimeNanoseconds") {
        facts_.base_ns = integer(value);
      } else if (key == "deviceProperties" || key == "computeProperties") {
        read_devices(value, facts_);
      } else if (key == "distributedInfo") {
        read_rank(value, facts_);
      }
    }
    return seen_ ? simdjson::SUCCESS : simdjson::NO_SUCH_FIELD;
  }

 private:
  simdjson::error_code stop(simdjson::error_code error) {
    if (!seen_) return error;
    facts_.truncated = true;
    return simdjson::SUCCESS;
  }
  simdjson::error_code events(json::array list) {
    seen_ = true;
    for (auto element : list) {
      json::value value;
      json::object object;
      json::json_type type;
      if (element.get(value) != simdjson::SUCCESS || value.type().get(type) != simdjson::SUCCESS)
        return stop(simdjson::TAPE_ERROR);
      if (type != json::json_type::object) {
        ++facts_.bad_count;
        continue;
      }
      JsonEvent event;
      if (value.get_object().get(object) != simdjson::SUCCESS || !read_event(object, event))
        return stop(simdjson::TAPE_ERROR);
      ++facts_.event_count;
      on_event_(event);
    }
    return simdjson::SUCCESS;
  }

  JsonFacts& facts_;
  const std::function<void(const JsonEvent&)>& on_event_;
  json::parser parser_{simdjson::SIMDJSON_MAXSIZE_BYTES};
  bool seen_ = false;
};

// simdjson chooses one of its implementations at the first use, and ends the program if memory is
// low then; so it chooses at the start.
[[maybe_unused]] const std::string kImplementation = simdjson::get_active_implementation()->name();

// A truncated profile: ends after the last object that was closed.
void close(Text& text) {
  const std::string_view view = text.view();
  const size_t first = view.find_first_not_of(" \t\r\n");
  const bool is_array = first != view.npos && view[first] == '[';
  // rfind() of none is -1.
  text.replace_tail(view.rfind('}') + 1, is_array ? kCloseArray : kCloseObject);
}

}  // namespace

// simdjson uses 32-bit sizes.
size_t most_json_bytes() { return (size_t{1} << 32) - (size_t{1} << 20); }
size_t json_padding() { return simdjson::SIMDJSON_PADDING + kCloseObject.size(); }

JsonFacts read_events(const std::filesystem::path& file, Text& text,
                      const std::function<void(const JsonEvent&)>& on_event) {
  JsonFacts facts;
  const auto room = [&] { return text.size() + simdjson::SIMDJSON_PADDING; };
  auto error = Reader(facts, on_event).run(text.data(), text.size(), room());
  if (error && facts.event_count == 0 && error != simdjson::NO_SUCH_FIELD) {
    close(text);
    error = Reader(facts, on_event).run(text.data(), text.size(), room());
    if (!error) facts.truncated = true;
  }
  if (error == simdjson::NO_SUCH_FIELD)
    throw Error(file, "is JSON but not a profile: it has no traceEvents", "check the name");
  if (error) {
    throw Error(file, std::string("is not valid JSON: ") + simdjson::error_message(error),
                "check the file");
  }
  return facts;
}

}  // namespace streamscope::import
