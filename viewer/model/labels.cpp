// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "labels.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "analysis/units.h"

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

// Between groups of digits and before a unit, where a line must not break.
constexpr std::string_view kNoBreak = "\u00a0";

// As in reports, but never broken before the unit.
std::string unbroken(std::string text) {
  for (size_t blank = text.find(' '); blank != text.npos; blank = text.find(' ', blank))
    text.replace(blank, 1, kNoBreak);
  return text;
}

// Whole units with thousands separated, then `decimals` digits in groups of three.
std::string fixed(Ns value, const Unit& unit, int decimals) {
  const uint64_t magnitude = magnitude_of(value);
  std::string text(value < 0 ? "-" : "");
  text += analysis::format_count(magnitude / static_cast<uint64_t>(unit.ns));
  if (decimals > 0) {
    std::string rest = std::to_string(magnitude % static_cast<uint64_t>(unit.ns));
    rest.insert(0, static_cast<size_t>(unit.digits) - rest.size(), '0');
    rest.resize(static_cast<size_t>(decimals));
    text += '.';
    for (size_t i = 0; i < rest.size(); ++i) {
      if (i > 0 && i % 3 == 0) text += kNoBreak;
      text += rest[i];
    }
  }
  return text + std::string(kNoBreak) + unit.name;
}

}  // namespace

std::string format_duration(Ns duration_ns) {
  return unbroken(analysis::format_duration(duration_ns));
}

std::string format_duration_change(Ns change_ns) {
  return unbroken(analysis::format_duration_change(change_ns));
}

std::string format_exact(Ns duration_ns) {
  const Unit& unit = unit_for(magnitude_of(duration_ns));
  return fixed(duration_ns, unit, unit.digits);
}

std::string format_tick(Ns at, Ns step_ns, Ns largest_ns) {
  const Unit& unit = unit_for(magnitude_of(largest_ns));
  int decimals = 0;
  for (Ns grain = unit.ns; decimals < unit.digits && step_ns % grain != 0; grain /= 10) ++decimals;
  return fixed(at, unit, decimals);
}

std::string format_count(int64_t count) {
  return (count < 0 ? "-" : "") + analysis::format_count(magnitude_of(count));
}

std::string format_count(size_t count, std::string_view one, std::string_view many) {
  std::string text = format_count(static_cast<int64_t>(count)) + " ";
  if (count == 1) return text + std::string(one);
  return text + (many.empty() ? std::string(one) + "s" : std::string(many));
}

std::string format_bytes(int64_t bytes) { return unbroken(analysis::format_bytes(bytes)); }

std::string format_percent(double share) { return unbroken(analysis::format_percent(share)); }

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

std::string break_lines(std::string_view text, float room,
                        const std::function<float(std::string_view)>& width) {
  std::string lines(text);
  const std::string_view all = lines;  // same length as the text: blanks become line breaks
  for (size_t line = 0, blank = all.npos, at = 0; at <= all.size(); ++at) {
    const bool ends = at == all.size() || all[at] == '\n';
    if (!ends && all[at] != ' ') continue;
    if (blank != all.npos && width(all.substr(line, at - line)) > room) {
      lines[blank] = '\n';
      line = blank + 1;
    }
    blank = ends ? all.npos : at;
    if (ends) line = at + 1;
  }
  return lines;
}

std::string with_units_kept(std::string_view text) {
  constexpr std::array<std::string_view, 9> kAll = {"ns", "\u00b5s", "ms",  "s",  "%",
                                                    "B",  "KiB",     "MiB", "GiB"};
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto is_letter = [&](size_t at) {
      return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    const bool kept =
        i > 0 && text[i] == ' ' && std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0 &&
        std::ranges::any_of(kAll, [&](std::string_view unit) {
          return text.substr(i + 1).starts_with(unit) && !is_letter(i + 1 + unit.size());
        });
    if (kept) {
      result += kNoBreak;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace streamscope::viewer
