// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/labels.h"
#include "assertion.h"
#include "trace/error.h"
#include "vocabulary/read_number.h"

namespace streamscope::analysis {
namespace {

struct KindSyntax {
  std::string_view name;
  AssertionKind kind;
  size_t texts;  // in parentheses
  bool limited;
  std::string_view example;
};
constexpr KindSyntax kSyntax[] = {
    {"may_overlap", AssertionKind::kMayOverlap, 2, false, R"(may_overlap("copy*", "gemm*"))"},
    {"may_overlap_across", AssertionKind::kMayOverlapAcross, 2, false,
     R"(may_overlap_across("copy*", "gemm*"))"},
    {"ordered", AssertionKind::kOrdered, 2, false, R"(ordered("copy*", "gemm*"))"},
    {"no_sync_in", AssertionKind::kNoSyncIn, 1, false, R"(no_sync_in("nvtx:step"))"},
    {"launches_per_iteration", AssertionKind::kLaunches, 0, true, "launches_per_iteration <= 120"},
    {"syncs_per_iteration", AssertionKind::kSyncs, 0, true, "syncs_per_iteration <= 1"},
    {"allocations_per_iteration", AssertionKind::kAllocations, 0, true,
     "allocations_per_iteration == 0"},
    {"max_bound", AssertionKind::kMaxBound, 1, true, R"(max_bound("host") <= 20 %)"},
};
const KindSyntax& syntax_of(AssertionKind kind) { return kSyntax[static_cast<size_t>(kind)]; }

constexpr std::string_view kComparisons[] = {"<=", "<", "==", ">=", ">"};  // by Comparison

constexpr std::string_view kRangePrefix = "nvtx:";

std::string known_bounds() {
  std::string names;
  for (const Bound& bound : bounds())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", bound.name);
  return names;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& subject) : text_(text), subject_(subject) {}

  Assertion parse() {
    skip_spaces();
    const KindSyntax& syntax = take_name();
    Assertion result{.kind = syntax.kind};
    if (syntax.texts > 0) take_texts(syntax, result);
    if (syntax.limited) take_limit(syntax, result);
    skip_spaces();
    if (at_ < text_.size()) {
      fail(at_, fmt::format("unexpected '{}'", printable(text_.substr(at_))),
           fmt::format("write one assertion: {}", syntax.example));
    }
    return result;
  }

 private:
  [[noreturn]] void fail(size_t at, const std::string& cause, const std::string& remedy) const {
    throw Error(subject_, fmt::format("column {}: {}", at + 1, cause), remedy);
  }
  // What is there instead of what was expected, for messages.
  std::string found() const {
    return at_ < text_.size() ? fmt::format("'{}'", printable(text_.substr(at_, 1))) : "the end";
  }

  void skip_spaces() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  void expect(char wanted, const KindSyntax& syntax) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != wanted) {
      fail(at_, fmt::format("expected '{}' instead of {}", wanted, found()),
           fmt::format("write {}", syntax.example));
    }
    ++at_;
  }

  const KindSyntax& take_name() {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_";
    const size_t from = at_;
    at_ = std::min(text_.find_first_not_of(kLetters, at_), text_.size());
    const std::string_view name = text_.substr(from, at_ - from);
    const auto* found_syntax = std::ranges::find(kSyntax, name, &KindSyntax::name);
    if (found_syntax != std::end(kSyntax)) return *found_syntax;
    std::string known;
    for (const KindSyntax& syntax : kSyntax)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", syntax.name);
    fail(from,
         name.empty() ? fmt::format("expected an assertion instead of {}", found())
                      : fmt::format("there is no assertion '{}'", name),
         "use one of " + known);
  }

  void take_texts(const KindSyntax& syntax, Assertion& result) {
    expect('(', syntax);
    result.first = take_text(syntax);
    if (syntax.texts == 2) {
      expect(',', syntax);
      result.second = take_text(syntax);
    }
    expect(')', syntax);
  }

  // A text in single or double quotes, in which a backslash takes the next character as it is.
  std::string take_text(const KindSyntax& syntax) {
    skip_spaces();
    const size_t from = at_;
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '"' && quote != '\'') {
      fail(from, fmt::format("expected a text in quotes instead of {}", found()),
           fmt::format("write {}", syntax.example));
    }
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    if (at_ >= text_.size()) fail(from, "the text does not end", fmt::format("add a {}", quote));
    ++at_;
    check_text(syntax, value, from);
    return value;
  }

  void check_text(const KindSyntax& syntax, std::string_view value, size_t at) const {
    if (value.empty()) fail(at, "the text is empty", fmt::format("write {}", syntax.example));
    const auto names = [&](const Bound& bound) { return bound.name == value; };
    if (syntax.kind == AssertionKind::kMaxBound && std::ranges::none_of(bounds(), names)) {
      fail(at, fmt::format("there is no bound '{}'", printable(value)),
           "use one of " + known_bounds());
    }
    const bool is_place = value == "iteration" ||
                          (value.starts_with(kRangePrefix) && value.size() > kRangePrefix.size());
    if (syntax.kind == AssertionKind::kNoSyncIn && !is_place) {
      fail(at, fmt::format("'{}' is not a part of a program", printable(value)),
           R"(write "iteration" or "nvtx:NAME")");
    }
  }

  void take_limit(const KindSyntax& syntax, Assertion& result) {
    skip_spaces();
    const size_t from = at_;
    const std::string_view rest = text_.substr(at_);
    // Longer ones first: "<=" begins with "<".
    std::ptrdiff_t best = -1;
    for (std::ptrdiff_t i = 0; i < std::ssize(kComparisons); ++i) {
      if (rest.starts_with(kComparisons[i]) &&
          (best < 0 || kComparisons[i].size() > kComparisons[best].size()))
        best = i;
    }
    if (best < 0) {
      fail(from, fmt::format("expected a limit instead of {}", found()),
           fmt::format("write {}", syntax.example));
    }
    result.comparison = static_cast<Comparison>(best);
    const bool is_share = syntax.kind == AssertionKind::kMaxBound;
    if (is_share && best > static_cast<std::ptrdiff_t>(Comparison::kBelow))
      fail(from, fmt::format("max_bound cannot be {}", kComparisons[best]), "write <= or <");
    at_ += kComparisons[best].size();
    result.limit = take_number(syntax, is_share);
  }

  double take_number(const KindSyntax& syntax, bool is_share) {
    skip_spaces();
    const size_t from = at_;
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = read_number(text_.substr(at_), value);
    if (error != std::errc() || !std::isfinite(value) || value < 0) {
      fail(from, fmt::format("expected a number that is not negative instead of {}", found()),
           fmt::format("write {}", syntax.example));
    }
    at_ += static_cast<size_t>(end - begin);
    skip_spaces();
    const bool percent = at_ < text_.size() && text_[at_] == '%';
    if (percent != is_share) {
      fail(at_, is_share ? fmt::format("expected '%' instead of {}", found()) : "a count has no %",
           fmt::format("write {}", syntax.example));
    }
    at_ += percent;
    return value;
  }

  std::string_view text_;
  const std::string& subject_;
  size_t at_ = 0;
};

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string Assertion::text() const {
  const KindSyntax& syntax = syntax_of(kind);
  std::string result(syntax.name);
  if (syntax.texts > 0)
    result +=
        fmt::format("({}{})", in_quotes(first), syntax.texts == 2 ? ", " + in_quotes(second) : "");
  if (syntax.limited) {
    result += fmt::format(" {} {}{}", kComparisons[static_cast<size_t>(comparison)], limit,
                          kind == AssertionKind::kMaxBound ? " %" : "");
  }
  return result;
}

bool Assertion::allows(double value) const {
  switch (comparison) {
    case Comparison::kAtMost:
      return value <= limit;
    case Comparison::kBelow:
      return value < limit;
    case Comparison::kEqual:
      return value == limit;
    case Comparison::kAtLeast:
      return value >= limit;
    case Comparison::kAbove:
      return value > limit;
  }
  return false;
}

Assertion parse_assertion(std::string_view text, const std::string& subject) {
  return Parser(text, subject).parse();
}

std::span<const Bound> bounds() {
  static const std::vector<Bound> all = [] {
    using enum TimeShare;
    std::vector<Bound> result = {
        {"host", {kLaunching, kOutside, kSynchronizing, kMemory, kCodeLoading, kLock}},
        {"device", {kKernels, kCollectives, kCopies, kOtherWork, kLatency}},
    };
    for (size_t i = 0; i < kShareCount; ++i) {
      const auto share = static_cast<TimeShare>(i);
      result.push_back({names_of(share).id, {share}});
    }
    return result;
  }();
  return all;
}

bool matches(std::string_view pattern, std::string_view name) {
  // On a mismatch the last star takes one more character.
  size_t p = 0, n = 0, star = pattern.npos, taken = 0;
  const auto next = [&](size_t at) {
    do ++at;
    while (at < name.size() && (static_cast<unsigned char>(name[at]) & 0xC0) == 0x80);
    return at;
  };
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      n = next(n);
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace streamscope::analysis
