// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The kernel behind StreamRef::launch on CUDA, as PTX, so that building libcoord needs no device
// compiler.
//
// output[i] = input[i] * scale + offset for i < count, over all threads of the grid; then each
// thread spins until `duration_ns` have passed since it began and, if there is a `flag`, until the
// word at `flag` has reached `wanted`.
#pragma once

namespace coord::cuda {

inline constexpr const char* kBusyKernelName = "coord_busy";
inline constexpr unsigned kBusyKernelThreads = 128;

inline constexpr const char* kBusyKernelPtx = R"(
.version 6.0
.target sm_50
.address_size 64

.visible .entry coord_busy(
  .param .u64 duration_ns,
  .param .u64 input,
  .param .u64 output,
  .param .u64 count,
  .param .f32 scale,
  .param .f32 offset,
  .param .u64 flag,
  .param .u64 wanted)
{
  .reg .pred %at_end, %early, %no_flag, %less;
  .reg .f32 %value, %scale, %offset;
  .reg .b32 %block, %threads, %thread, %blocks;
  .reg .b64 %begin, %duration, %input, %output, %count, %index, %step, %extra, %place, %address, %now, %passed, %flag, %wanted, %seen;

  mov.u64 %begin, %globaltimer;
  ld.param.u64 %duration, [duration_ns];
  ld.param.u64 %input, [input];
  ld.param.u64 %output, [output];
  ld.param.u64 %count, [count];
  ld.param.f32 %scale, [scale];
  ld.param.f32 %offset, [offset];
  cvta.to.global.u64 %input, %input;
  cvta.to.global.u64 %output, %output;

  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %blocks, %nctaid.x;
  mul.wide.u32 %index, %block, %threads;
  cvt.u64.u32 %extra, %thread;
  add.u64 %index, %index, %extra;
  mul.wide.u32 %step, %threads, %blocks;

element:
  setp.ge.u64 %at_end, %index, %count;
  @%at_end bra spin;
  shl.b64 %place, %index, 2;
  add.u64 %address, %input, %place;
  ld.global.f32 %value, [%address];
  fma.rn.f32 %value, %value, %scale, %offset;
  add.u64 %address, %output, %place;
  st.global.f32 [%address], %value;
  add.u64 %index, %index, %step;
  bra element;

spin:
  mov.u64 %now, %globaltimer;
  sub.u64 %passed, %now, %begin;
  setp.lt.u64 %early, %passed, %duration;
  @%early bra spin;

  ld.param.u64 %flag, [flag];
  ld.param.u64 %wanted, [wanted];
  setp.eq.u64 %no_flag, %flag, 0;
  @%no_flag bra end;
look:
  ld.volatile.u64 %seen, [%flag];
  sub.s64 %seen, %seen, %wanted;
  setp.lt.s64 %less, %seen, 0;
  @%less bra look;
end:
  ret;
}
)";

}  // namespace coord::cuda
