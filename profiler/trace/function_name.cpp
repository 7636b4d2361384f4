// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "function_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace streamscope::trace {
namespace {

constexpr std::string_view kOpening = "<([{", kClosing = ">)]}";
constexpr std::string_view kOperators = "<>()[]=+-*/%&|^!~,";

bool is_one_of(std::string_view characters, char c) {
  return characters.find(c) != std::string_view::npos;
}

// Position after the bracket that closes the one at `begin`; the end of the text if none does.
size_t after_brackets(std::string_view text, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    const bool is_arrow = text[i] == '>' && text[i - 1] == '-';
    if (is_one_of(kOpening, text[i])) ++depth;
    if (is_one_of(kClosing, text[i]) && !is_arrow && --depth == 0) return i + 1;
  }
  return text.size();
}

// True if `rest` may follow the parameters of a function. After those of a scope,
// "f(int)::{lambda}", the name continues.
bool ends_signature(std::string_view rest) {
  return rest.empty() || rest.starts_with(" const") || rest.starts_with(" [");
}

}  // namespace

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : std::string(name);
}

ShortName short_name(std::string_view raw) {
  const std::string name = demangled(raw);
  const std::string_view text = name;
  ShortName word;  // the one being read, outside all brackets
  bool has_spaces = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (word.text == "operator" && is_one_of(kOperators, c)) {
      // The symbol belongs to the name; a space separates it from template arguments.
      const size_t end = std::min(text.find_first_of("( ", i + 1), text.size());
      word.text += text.substr(i, end - i);
      i = end + text.substr(end).starts_with(" <");
    } else if (text.substr(i).starts_with("::")) {
      word = {};
      i += 2;
    } else if (c == ' ') {
      word = {};
      has_spaces = true;
      ++i;
    } else if (is_one_of(kOpening, c)) {
      const size_t end = after_brackets(text, i);
      if (c == '(' && !word.text.empty() && ends_signature(text.substr(end))) return word;
      word.has_template_arguments |= c == '<';
      i = end;
    } else {
      word.text += c;
      ++i;
    }
  }
  // Kernels return nothing, so what follows "void " is a name, even without parameters.
  const bool is_function = !has_spaces || text.starts_with("void ");
  return is_function && !word.text.empty() ? word : ShortName{name};
}

}  // namespace streamscope::trace
