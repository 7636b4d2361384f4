// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels that touch memory through textures and surfaces; see signals.cu.
#define KERNEL extern "C" __global__ void

KERNEL neither_plain(const int* from, int* to) { to[threadIdx.x] = from[threadIdx.x]; }

KERNEL unseen_fetch(cudaTextureObject_t from, int* to) {
  to[threadIdx.x] = tex1Dfetch<int>(from, static_cast<int>(threadIdx.x));
}
KERNEL unseen_plane(cudaTextureObject_t from, float* to) {
  to[threadIdx.x] = tex2D<float>(from, threadIdx.x, 1);
}
KERNEL unseen_volume(cudaTextureObject_t from, float* to) {
  to[threadIdx.x] = tex3D<float>(from, threadIdx.x, 1, to[32]);
}
KERNEL unseen_layer(cudaTextureObject_t from, float* to) {
  to[threadIdx.x] = tex2DLayered<float>(from, threadIdx.x, 1, 2);
}
KERNEL unseen_gather(cudaTextureObject_t from, float4* to) {
  to[threadIdx.x] = tex2Dgather<float4>(from, threadIdx.x, 1, 0);
}
KERNEL unseen_gradient(cudaTextureObject_t from, float* to) {
  to[threadIdx.x] = tex2DGrad<float>(from, threadIdx.x, 1, make_float2(1, 2), make_float2(2, 1));
}
KERNEL unseen_surface_read(cudaSurfaceObject_t from, int* to) {
  to[threadIdx.x] = surf2Dread<int>(from, static_cast<int>(threadIdx.x * sizeof(int)), 1);
}
KERNEL unseen_surface_write(cudaSurfaceObject_t to, const int* from) {
  surf2Dwrite(from[0], to, static_cast<int>(threadIdx.x * sizeof(int)), 1);
}
KERNEL unseen_surface_reduction(cudaSurfaceObject_t to, const int* from) {
  asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(to), "r"(4), "r"(8), "r"(from[0])
               : "memory");
}
