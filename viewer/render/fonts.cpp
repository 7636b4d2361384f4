// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "fonts.h"

// The assembler copies the files into read-only data; their paths come from CMake
// (STREAMSCOPE_FONT_*). In WebAssembly every symbol has a size.
#ifdef __EMSCRIPTEN__
#define STREAMSCOPE_EMBED(name, path)                                               \
  asm(".section .rodata.streamscope_" name ",\"\",@\n.p2align 4\nstreamscope_" name \
      ":\n.incbin \"" path "\"\nstreamscope_" name                                  \
      "_end:\n.int8 0\n"                                                            \
      ".size streamscope_" name ", streamscope_" name "_end-streamscope_" name      \
      "\n.size streamscope_" name "_end, 1\n")
#else
#define STREAMSCOPE_EMBED(name, path)                      \
  asm(".section .rodata\n.balign 16\n"                     \
      ".local streamscope_" name "\nstreamscope_" name     \
      ":\n"                                                \
      ".incbin \"" path                                    \
      "\"\n"                                               \
      ".local streamscope_" name "_end\nstreamscope_" name \
      "_end:\n"                                            \
      ".byte 0\n.previous\n")
#endif

STREAMSCOPE_EMBED("sans", STREAMSCOPE_FONT_SANS);
STREAMSCOPE_EMBED("bold", STREAMSCOPE_FONT_BOLD);
STREAMSCOPE_EMBED("mono", STREAMSCOPE_FONT_MONO);

extern "C" {
extern const std::byte streamscope_sans[], streamscope_sans_end[];
extern const std::byte streamscope_bold[], streamscope_bold_end[];
extern const std::byte streamscope_mono[], streamscope_mono_end[];
}

namespace streamscope::viewer {

std::span<const std::byte> sans_font() { return {streamscope_sans, streamscope_sans_end}; }
std::span<const std::byte> bold_font() { return {streamscope_bold, streamscope_bold_end}; }
std::span<const std::byte> mono_font() { return {streamscope_mono, streamscope_mono_end}; }

}  // namespace streamscope::viewer
