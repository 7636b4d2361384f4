// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "labels.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace streamscope::viewer {
namespace {

struct Unit {
  Ns ns;
  int digits;  // decimal digits of a nanosecond in this unit
  const char* name;
};
constexpr std::array<Unit, 4> kUnits = {
    {{1'000'000'000, 9, "s"}, {1'000'000, 6, "ms"}, {1'000, 3, "\u00b5s"}, {1, 0, "ns"}}};

const Unit& unit_for(uint64_t magnitude) {
  for (const Unit& unit : kUnits) {
    if (magnitude >= static_cast<uint64_t>(unit.ns)) return unit;
  }
  return kUnits.back();
}

uint64_t magnitude_of(Ns value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

std::string print(const char* format, double value, const char* unit) {
  std::array<char, 64> buffer;
  std::snprintf(buffer.data(), buffer.size(), format, value, unit);
  return buffer.data();
}

// Whole units with thousands separated, then `decimals` digits in groups of three.
std::string fixed(Ns value, const Unit& unit, int decimals, bool grouped) {
  const uint64_t magnitude = magnitude_of(value);
  std::string text = value < 0 ? "\u2212" : "";
  text += grouped ? format_count(static_cast<int64_t>(magnitude / static_cast<uint64_t>(unit.ns)))
                  : std::to_string(magnitude / static_cast<uint64_t>(unit.ns));
  if (decimals > 0) {
    std::string rest = std::to_string(magnitude % static_cast<uint64_t>(unit.ns));
    rest.insert(0, static_cast<size_t>(unit.digits) - rest.size(), '0');
    rest.resize(static_cast<size_t>(decimals));
    text += '.';
    for (size_t i = 0; i < rest.size(); ++i) {
      if (grouped && i > 0 && i % 3 == 0) text += ' ';
      text += rest[i];
    }
  }
  return text + " " + unit.name;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '~' || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string format_duration(Ns duration_ns) {
  const Unit& unit = unit_for(magnitude_of(duration_ns));
  if (unit.ns == 1) return std::to_string(duration_ns) + " ns";
  const double value = static_cast<double>(duration_ns) / static_cast<double>(unit.ns);
  const double size = std::fabs(value);
  return print(size < 10     ? "%.3f %s"
               : size < 100  ? "%.2f %s"
               : size < 1000 ? "%.1f %s"
                             : "%.0f %s",
               value, unit.name);
}

std::string format_exact(Ns duration_ns) {
  const Unit& unit = unit_for(magnitude_of(duration_ns));
  return fixed(duration_ns, unit, unit.digits, true);
}

std::string format_tick(Ns at, Ns step_ns, Ns largest_ns) {
  const Unit& unit = unit_for(magnitude_of(largest_ns));
  int decimals = 0;
  for (Ns grain = unit.ns; decimals < unit.digits && step_ns % grain != 0; grain /= 10) ++decimals;
  return fixed(at, unit, decimals, true);
}

std::string format_count(int64_t count) {
  const std::string digits = std::to_string(magnitude_of(count));
  std::string text = count < 0 ? "\u2212" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string format_count(size_t count, std::string_view one, std::string_view many) {
  std::string text = format_count(static_cast<int64_t>(count)) + " ";
  if (count == 1) return text + std::string(one);
  return text + (many.empty() ? std::string(one) + "s" : std::string(many));
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array<const char*, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::fabs(value) >= 1024 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == std::floor(value);
  return print(whole ? "%.0f %s" : value < 10 ? "%.2f %s" : "%.1f %s", value, kNames[unit]);
}

std::string format_percent(double share) {
  const double percent = share * 100;
  return print(percent > 0 && percent < 9.95 ? "%.1f %s" : "%.0f %s", percent, "%");
}

std::string demangle(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

std::string short_name(std::string_view name) {
  const std::string full = demangle(name);
  // Only C++ functions are taken apart; names that people chose (NVTX, libcoord, copies) stay as
  // they are.
  const size_t parenthesis = full.find('(');
  const bool has_parameters = parenthesis != std::string::npos && parenthesis > 0 &&
                              is_name_character(full[parenthesis - 1]);
  if (full.find("::") == std::string::npos && full.find('<') == std::string::npos &&
      !has_parameters)
    return full;
  // Walks over the text at nesting depth 0 and keeps the last identifier before the parameter list.
  std::string last, current;
  int depth = 0;
  for (size_t i = 0; i < full.size(); ++i) {
    const char c = full[i];
    const bool is_operator = depth == 0 && current == "operator";
    if (is_operator && c != ' ' && !is_name_character(c)) {
      // "operator<<", "operator()": the symbol belongs to the name.
      size_t end = i + 1;
      if (c == '(' || c == '[') {
        end = i + 2;
      } else {
        while (end < full.size() && (full[end] == c || full[end] == '=')) ++end;
      }
      last = current + full.substr(i, end - i);
      current.clear();
      i = end - 1;
      continue;
    }
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      if (depth == 0 && !current.empty()) {
        last = current;
        current.clear();
      }
      // A parameter list ends the name, unless it is part of a scope: "(anonymous namespace)::",
      // "f(int)::{lambda}".
      if (depth == 0 && c == '(') {
        int inner = 0;
        size_t close = i;
        for (; close < full.size(); ++close) {
          if (full[close] == '(') ++inner;
          if (full[close] == ')' && --inner == 0) break;
        }
        if (!std::string_view(full).substr(std::min(close + 1, full.size())).starts_with("::") &&
            !last.empty()) {
          return last;
        }
        i = close;
        continue;
      }
      ++depth;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (depth > 0) --depth;
    } else if (depth == 0) {
      if (is_name_character(c)) {
        current += c;
      } else {
        if (!current.empty()) last = current;
        current.clear();
      }
    }
  }
  if (!current.empty()) last = current;
  return last.empty() ? full : last;
}

bool contains_text(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return part.empty() || !std::ranges::search(text, part, same).empty();
}

std::string ellipsize(std::string_view text, size_t length) {
  if (text.size() <= length) return std::string(text);
  constexpr std::string_view kDots = "\u2026";
  if (length <= kDots.size()) return std::string(kDots);
  const auto is_inside = [&](size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  const size_t keep = length - kDots.size();
  size_t head = keep - keep / 3;
  size_t tail = text.size() - keep / 3;
  while (head > 0 && is_inside(head)) --head;
  while (is_inside(tail)) ++tail;
  return std::string(text.substr(0, head)) + std::string(kDots) + std::string(text.substr(tail));
}

}  // namespace streamscope::viewer
