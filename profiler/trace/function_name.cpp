// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "function_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
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

// ---- What a template computes ----

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "void at::(anonymous namespace)::ReduceOp<float, 4>" is "ReduceOp", followed by "<float, 4>"; a
// lambda has the name of what it stands in.
struct Head {
  std::string_view name, rest;
};
Head head_of(std::string_view type) {
  for (const std::string_view word : {"void ", "const ", "unsigned ", "signed "}) {
    if (type.starts_with(word)) type.remove_prefix(word.size());
  }
  std::string_view scope;
  size_t begin = 0, i = 0;
  while (i < type.size()) {
    if (type.substr(i).starts_with("::")) {
      if (i > begin) scope = type.substr(begin, i - begin);
      begin = i += 2;
    } else if (is_name(type[i])) {
      ++i;
    } else if (i == begin && is_one_of("(<", type[i])) {  // "(anonymous namespace)"
      i = begin = after_brackets(type, i);
      if (!type.substr(i).starts_with("::")) break;
    } else {
      break;
    }
  }
  const std::string_view last = type.substr(begin, i - begin);
  return {last.empty() ? scope : last, type.substr(i)};
}

// Values, data, and how a library divides its work.
bool says_little(std::string_view name) {
  static constexpr std::string_view kData[] = {
      "",       "bool",       "char",     "short", "int",       "long",   "float",
      "double", "half",       "true",     "false", "array",     "Array",  "Half",
      "tuple",  "BFloat16",   "complex",  "View",  "Shape",     "half_t", "bfloat16_t",
      "tf32_t", "tfloat32_t", "decltype", "Var",   "OpaqueType"};
  static constexpr std::string_view kDivision[] = {"olicy", "raits", "etadata", "TileState",
                                                   "counting_iterator"};
  static constexpr std::string_view kPrefixes[] = {"__", "cublas", "Float8", "integral_c"};
  return std::ranges::find(kData, name) != std::end(kData) || std::isdigit(name[0]) != 0 ||
         std::ranges::any_of(kDivision, [&](auto part) { return name.find(part) != name.npos; }) ||
         std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

// What only applies its own first such argument.
bool is_wrapper(std::string_view name) {
  static constexpr std::string_view kWrappers[] = {
      "gpu_kernel_impl", "gpu_kernel_impl_nocast", "UnaryFunctor",       "BinaryFunctor",
      "AUnaryFunctor",   "BUnaryFunctor",          "ReduceOp",           "func_wrapper_t",
      "ParallelFor",     "ParallelReduce",         "ParallelScan",       "ParallelForAgent",
      "for_each_f",      "unary_transform_f",      "binary_transform_f", "transform_iterator",
      "gpu_index_kernel"};
  return std::ranges::find(kWrappers, name) != std::end(kWrappers);
}

// `arguments`: "<float, (int)4>" and what follows.
std::string_view functor_of(std::string_view arguments) {
  if (!arguments.starts_with('<')) return {};
  size_t begin = 1;
  for (size_t i = 1; i < arguments.size();) {
    if (is_one_of(kOpening, arguments[i])) {
      i = after_brackets(arguments, i);
      continue;
    }
    const bool ends = arguments[i] == '>';
    if (!ends && arguments[i] != ',') {
      ++i;
      continue;
    }
    std::string_view argument = arguments.substr(begin, i - begin);
    argument.remove_prefix(std::min(argument.find_first_not_of(' '), argument.size()));
    const Head head = head_of(argument);
    if (!says_little(head.name)) {
      const std::string_view inner =
          is_wrapper(head.name) ? functor_of(head.rest) : std::string_view();
      return inner.empty() ? head.name : inner;
    }
    if (ends) return {};
    begin = ++i;
  }
  return {};
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
      if (c == '<') {
        word.has_template_arguments = true;
        word.functor = functor_of(text.substr(i, end - i));
      }
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
