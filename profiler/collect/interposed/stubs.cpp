// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// libstreamscope_calls.so: the names that the collector takes from the driver and from libc, each a
// jump to a function of libstreamscope_inject.so. Nothing but jumps, so that arguments, stack and
// return address are those of the caller.
//
// A library of its own, because its names stand for a driver: where there is none, it must not be
// loaded, or a program would believe in one.
#include "collect/interposed/interposed.h"
#include "collect/interposed/jumps.h"

#if defined(__x86_64__)
// `table` and a byte offset into it.
#define STUB_JUMP(table, offset) " movq " table "@GOTPCREL(%rip), %r11\n jmp *" offset "(%r11)\n"
// Libc's function for names that do not begin with "cu" and for RTLD_NEXT (-1), else ours.
#define STUB_LOOKUP(name, real, ours)                                                            \
  asm(JUMP_BEGIN(name) " movq streamscope_lookups@GOTPCREL(%rip), %r11\n cmpq $0, " real         \
                       "(%r11)\n je 3f\n"                                                        \
                       "1: cmpb $0x63, (%rsi)\n jne 2f\n cmpb $0x75, 1(%rsi)\n jne 2f\n cmpq "   \
                       "$-1, %rdi\n je 2f\n"                                                     \
                       " jmp *" ours                                                             \
                       "(%r11)\n"                                                                \
                       "2: jmp *" real                                                           \
                       "(%r11)\n"                                                                \
                       "3: pushq %rdi\n pushq %rsi\n pushq %rdx\n call *16(%r11)\n popq %rdx\n " \
                       "popq %rsi\n popq %rdi\n"                                                 \
                       " movq streamscope_lookups@GOTPCREL(%rip), %r11\n cmpq $0, " real         \
                       "(%r11)\n jne 1b\n"                                                       \
                       " xorl %eax, %eax\n ret\n" JUMP_END(name));
#elif defined(__aarch64__)
#define STUB_JUMP(table, offset)                                                              \
  " adrp x16, :got:" table "\n ldr x16, [x16, :got_lo12:" table "]\n ldr x16, [x16, #" offset \
  "]\n"                                                                                       \
  " br x16\n"
#define STUB_LOOKUP(name, real, ours) \
  asm(JUMP_BEGIN(name)                                                                           \
      " adrp x16, :got:streamscope_lookups\n ldr x16, [x16, :got_lo12:streamscope_lookups]\n"     \
      " ldr x17, [x16, #" real "]\n cbz x17, 3f\n"                                               \
      "1: ldrb w9, [x1]\n cmp w9, #0x63\n b.ne 2f\n ldrb w9, [x1, #1]\n cmp w9, #0x75\n b.ne 2f\n" \
      " cmn x0, #1\n b.eq 2f\n ldr x17, [x16, #" ours "]\n br x17\n"                             \
      "2: br x17\n"                                                                              \
      "3: stp x0, x1, [sp, #-48]!\n stp x2, x30, [sp, #16]\n str x16, [sp, #32]\n"               \
      " ldr x17, [x16, #16]\n blr x17\n"                                                         \
      " ldr x16, [sp, #32]\n ldp x2, x30, [sp, #16]\n ldp x0, x1, [sp], #48\n"                   \
      " ldr x17, [x16, #" real "]\n cbnz x17, 1b\n mov x0, #0\n ret\n" JUMP_END(name));
#endif

#ifdef STUB_LOOKUP

STUB_LOOKUP("dlsym", "0", "24")
STUB_LOOKUP("dlvsym", "8", "32")

#define STUB(name, table, offset) asm(JUMP_BEGIN(name) STUB_JUMP(table, offset) JUMP_END(name));
STUB("streamscope_stubs", "streamscope_lookups",
     "0")  // by it the collector recognizes this library
STUB("cuGetProcAddress", "streamscope_followed", "8")
STUB("cuGetProcAddress_v2", "streamscope_followed", "32")
STUB("cuInit", "streamscope_followed", "56")
STUB("cuGraphDestroy", "streamscope_followed", "80")
STUB("cuGraphDestroyNode", "streamscope_followed", "104")
STUB("cuTensorMapEncodeTiled", "streamscope_followed", "128")
STUB("cuTensorMapEncodeIm2col", "streamscope_followed", "152")
STUB("cuTensorMapReplaceAddress", "streamscope_followed", "176")
STUB("cuGraphConditionalHandleCreate", "streamscope_followed", "200")
#define CALL_STUB(name, offset) STUB(#name, "streamscope_ways", #offset)
#define RUNTIME_STUB(name, offset) STUB(#name, "streamscope_wrapped_runtime", #offset)
#include "call_stubs.inc"

extern "C" void* streamscope_stub_dlsym(void*, const char*) __asm__("dlsym");

__attribute__((constructor)) static void tell_the_collector() {
  streamscope_lookups.stub_dlsym.store(reinterpret_cast<void*>(&streamscope_stub_dlsym));
}

#endif
