// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/gpu_code.h"

#define STREAMSCOPE_EMBED(name, file) \
  asm(".section .rodata\n"            \
      ".balign 64\n"                  \
      ".global " #name                \
      "\n"                            \
      ".hidden " #name "\n" #name     \
      ":\n"                           \
      ".incbin \"" file               \
      "\"\n"                          \
      ".previous\n")

STREAMSCOPE_EMBED(streamscope_patches, STREAMSCOPE_PATCHES_FILE);
STREAMSCOPE_EMBED(streamscope_reader, STREAMSCOPE_READER_FILE);
