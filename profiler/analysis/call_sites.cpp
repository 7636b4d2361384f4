// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "call_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "labels.h"
#include "vocabulary/system_header.h"

namespace streamscope::analysis {
namespace {

// The program's call of a function of CUDA's runtime, which is often a part of the program itself:
// the function, and what it calls. "cudaMalloc", "__cudaPushCallConfiguration",
// "libcudart_static_5382377d".
bool is_runtime(std::string_view symbol) {
  constexpr std::string_view kRuntime = "cuda";
  if (symbol.starts_with("libcudart_static_") || symbol.starts_with("__cuda")) return true;
  return symbol.starts_with(kRuntime) && symbol.size() > kRuntime.size() &&
         symbol[kRuntime.size()] >= 'A' && symbol[kRuntime.size()] <= 'Z';
}

// Of kernel<<<…>>>(…) nvcc makes a call of a function with the kernel's name, which calls this one.
bool is_launch_stub(std::string_view symbol) { return symbol.starts_with("__device_stub_"); }

// "load(int) /src/data.cpp:41" has a place, "load(int)" has none.
struct NativeSymbol {
  std::string_view function, place;
};
NativeSymbol split(std::string_view symbol) {
  const size_t space = symbol.rfind(' '), colon = symbol.rfind(':');
  const bool has_line = space != symbol.npos && colon != symbol.npos && colon > space &&
                        colon + 1 < symbol.size() &&
                        symbol.find_first_not_of("0123456789", colon + 1) == symbol.npos;
  if (!has_line) return {symbol, {}};
  return {symbol.substr(0, space), symbol.substr(space + 1)};
}

// Templates of the C++ library are compiled into the program.
bool is_of_library(std::string_view symbol) {
  return is_system_header(split(symbol).place) || symbol.starts_with("std::") ||
         symbol.starts_with("void std::") || symbol.starts_with("__gnu_cxx::");
}

// How suitable a frame is as the call site; among equals the innermost wins.
enum Rank { kNothing, kInterpreter, kFramework, kProgram, kBasicPackage, kPackage, kNamedPlace };

// If a Python program calls a library, the program's line is more useful than the library's, and
// that of a model's library more useful than PyTorch's. A file is named by its path, or (by
// PyTorch's profiler) by the part of it that is below a folder of packages or of the program.
Rank rank_of_python(std::string_view symbol) {
  if (symbol.empty()) return kNothing;
  if (symbol.starts_with("<frozen ") || symbol.starts_with("<string>") || is_generated_code(symbol))
    return kBasicPackage;
  const bool is_whole = symbol.starts_with('/');
  bool is_package = false;
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = symbol.rfind(folder);
    if (at == symbol.npos) continue;
    is_package = true;
    symbol.remove_prefix(at + folder.size());
    break;
  }
  if (!is_package && symbol.find("/lib/python3") != symbol.npos) return kBasicPackage;
  if (is_whole && !is_package) return kNamedPlace;
  const std::string_view first = symbol.substr(0, symbol.find_first_of("/.:"));
  const auto is_one_of = [&](const auto& names) {
    return std::ranges::find(names, first) != std::end(names);
  };
  constexpr std::string_view kBasic[] = {
      "torch",     "triton",      "numpy",      "abc",
      "asyncio",   "collections", "concurrent", "contextlib",
      "copy",      "dataclasses", "enum",       "functools",
      "importlib", "inspect",     "logging",    "multiprocessing",
      "queue",     "runpy",       "socket",     "subprocess",
      "threading", "typing",      "warnings",   "weakref"};
  constexpr std::string_view kPackages[] = {
      "accelerate", "diffusers",  "lightning",   "PIL",  "pandas",
      "scipy",      "torchaudio", "torchvision", "tqdm", "transformers"};
  if (is_one_of(kBasic)) return kBasicPackage;
  return is_package || is_one_of(kPackages) ? kPackage : kNamedPlace;
}

Rank rank_of(const Trace& trace, Id frame) {
  const auto& frames = trace.stack_frame;
  const std::string_view symbol = trace.text(frames.symbol_id[frame]),
                         path = trace.text(frames.module_id[frame]);
  if (frames.kind[frame] == trace::kPythonFrame) return rank_of_python(symbol);
  if (frames.kind[frame] == trace::kCallSiteFrame) return symbol.empty() ? kNothing : kNamedPlace;
  if (frames.kind[frame] == trace::kRangeFrame && path.empty()) return kProgram;  // an annotation
  const std::string_view module = path.substr(path.rfind('/') + 1);
  const auto is_one_of = [&](std::initializer_list<std::string_view> prefixes) {
    return std::ranges::any_of(prefixes, [&](auto prefix) { return module.starts_with(prefix); });
  };
  if (is_one_of({"libstreamscope", "libToolsInjection", "libcupti", "libcuda", "libnv", "libc.so",
                 "libc-", "libpthread", "libstdc++", "ld-linux", "ld-2"}) ||
      symbol == "_start" || is_runtime(symbol) || is_launch_stub(symbol)) {
    return kNothing;
  }
  if (is_one_of({"libpython", "python"})) return symbol.empty() ? kNothing : kInterpreter;
  if (is_one_of({"libcoord", "libtorch", "libc10"}) || symbol.starts_with("coord::"))
    return symbol.empty() ? kNothing : kFramework;
  if (is_of_library(symbol)) return kFramework;
  return kProgram;
}

// "load(int) /src/data.cpp:41" as "data.cpp:41 load"; without file and line "load".
std::string native_label(std::string_view symbol) {
  const auto [function, place] = split(symbol);
  if (place.empty()) return scoped_name(function);
  return printable(place.substr(place.rfind('/') + 1)) + " " + scoped_name(function);
}

// By stack: the name of the first kernel that a call with this stack launches; "" without one.
std::vector<std::string> launched_kernels(const Trace& trace) {
  std::vector<std::string> names(trace.stack.size());
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Id call = trace.op.api_call_id[op];
    if (trace.op.kind[op] != trace::kKernel || call >= trace.api_call.size()) continue;
    const Id stack = trace.api_call.stack_id[call];
    if (stack < names.size() && names[stack].empty())
      names[stack] = function_name(trace.text(trace.op.name_id[op]));
  }
  return names;
}

}  // namespace

Language language_of(const trace::Trace& trace) {
  Language language = Language::kUnknown;
  for (const trace::Small kind : trace.stack_frame.kind) {
    if (kind == trace::kPythonFrame || kind == trace::kRangeFrame) return Language::kPython;
    language = Language::kCompiled;
  }
  return language;
}

bool is_generated_code(std::string_view symbol) {
  return symbol.find("/torchinductor_") != symbol.npos || symbol.starts_with("<eval_with_key>");
}

bool is_in_path(std::string_view symbol, std::string_view path) {
  const size_t at = symbol.find(path);
  return at == 0 || (at != symbol.npos && symbol[at - 1] == '/');
}

std::string frame_label(const Trace& trace, Id frame) {
  const auto& frames = trace.stack_frame;
  const std::string_view symbol = trace.text(frames.symbol_id[frame]);
  if (frames.kind[frame] == trace::kNativeFrame && !symbol.empty()) return native_label(symbol);
  if (frames.kind[frame] == trace::kPythonFrame)
    return printable(symbol.substr(symbol.rfind('/') + 1));  // without the folder
  if (!symbol.empty()) return printable(symbol);
  const std::string_view path = trace.text(frames.module_id[frame]);
  const Id stack = frames.stack_id[frame];
  const Id process = stack < trace.stack.size() ? trace.stack.process_id[stack] : kNoId;
  const std::string module =
      path.empty() ? process_label(trace, process) : printable(path.substr(path.rfind('/') + 1));
  return frames.address[frame] == trace::kNoInt
             ? module
             : fmt::format("{}+{:#x}", module, frames.address[frame]);
}

std::string frame_function(const Trace& trace, Id frame) {
  const auto& frames = trace.stack_frame;
  const std::string label = frame_label(trace, frame);
  const auto line = source_line(label);
  if (line && !line->function.empty()) return fmt::format("{} ({})", line->function, line->file);
  // Without a name the library says most.
  return trace.text(frames.symbol_id[frame]).empty() ? label.substr(0, label.find("+0x")) : label;
}

size_t frames_to_site(const Trace& trace, std::span<const Id> frames, std::string_view site) {
  size_t count = frames.size();
  while (count > 0 && frame_label(trace, frames[count - 1]) != site) --count;
  return count;
}

std::vector<std::string> stack_lines(const Trace& trace, Id stack) {
  const auto& frames = trace.stack_frame;
  std::vector<Id> found;
  for (Id frame = 0; frame < frames.size(); ++frame) {
    if (frames.stack_id[frame] == stack) found.push_back(frame);
  }
  std::ranges::sort(found, {}, [&](Id frame) { return frames.depth[frame]; });
  const auto nameless = [&](Id frame) {
    return frames.kind[frame] == trace::kNativeFrame && trace.text(frames.symbol_id[frame]).empty();
  };
  std::vector<std::string> lines;
  for (size_t i = 0, next = 0; i < found.size(); i = next) {
    lines.push_back(frame_label(trace, found[i]));
    for (next = i + 1; next < found.size() && nameless(found[i]) && nameless(found[next]) &&
                       frames.module_id[found[next]] == frames.module_id[found[i]];) {
      ++next;
    }
    if (next > i + 1) lines.back() += fmt::format(" and {} more", next - i - 1);
  }
  return lines;
}

std::vector<std::string> call_sites(const Trace& trace) {
  const auto& frames = trace.stack_frame;
  std::vector<Id> best(trace.stack.size(), trace::kNoId);
  const std::vector<std::string> kernels = launched_kernels(trace);
  for (Id frame = 0; frame < frames.size(); ++frame) {
    const Id stack = frames.stack_id[frame];
    if (stack >= best.size()) continue;
    const Rank rank = rank_of(trace, frame);
    if (rank == kNothing) continue;
    if (rank == kProgram && !kernels[stack].empty() &&
        function_name(split(trace.text(frames.symbol_id[frame])).function) == kernels[stack])
      continue;  // what nvcc makes of the call
    const Id known = best[stack];
    const Rank known_rank = known == trace::kNoId ? kNothing : rank_of(trace, known);
    if (rank > known_rank || (rank == known_rank && frames.depth[frame] < frames.depth[known]))
      best[stack] = frame;
  }
  std::vector<std::string> result(best.size());
  for (Id stack = 0; stack < best.size(); ++stack) {
    if (best[stack] != trace::kNoId) result[stack] = frame_label(trace, best[stack]);
  }
  return result;
}

std::optional<SourceLine> source_line(std::string_view call_site) {
  const size_t colon = call_site.find(':');
  if (colon == 0 || colon == call_site.npos) return std::nullopt;
  const std::string_view rest = call_site.substr(colon + 1);
  uint32_t line = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
  const std::string_view function = rest.substr(static_cast<size_t>(end - rest.data()));
  if (error != std::errc() || line == 0 || (!function.empty() && function[0] != ' '))
    return std::nullopt;
  return SourceLine{call_site.substr(0, colon), line, function.substr(function.empty() ? 0 : 1)};
}

}  // namespace streamscope::analysis
