// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Functions that only jump, in assembly, so that arguments, stack and return address are those of
// the caller, and that touch no memory but the address that they jump to.
#pragma once

// What is between the two is the body of the function `name`.
#if defined(__x86_64__)
#define JUMP_BEGIN(name)                                                 \
  ".text\n.globl " name "\n.type " name ", @function\n.p2align 4\n" name \
  ":\n .cfi_startproc\n endbr64\n"
#elif defined(__aarch64__)
#define JUMP_BEGIN(name)                                                 \
  ".text\n.globl " name "\n.type " name ", %function\n.p2align 4\n" name \
  ":\n .cfi_startproc\n hint #34\n"
#endif
#define JUMP_END(name) " .cfi_endproc\n.size " name ", .-" name "\n"
