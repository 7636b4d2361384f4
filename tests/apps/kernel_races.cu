// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Races between kernels whose accesses only observing them shows (record --with accesses): through
// structs, pointers in memory, indices; of neighbors that are no race, and with atomic operations.
#include <cooperative_groups.h>

#include "race_cases.h"

namespace {

using namespace races;

constexpr int kInts = kBytes / sizeof(int), kHalfInts = kInts / 2;

struct Pair {
  int* first;
  int* second;
};
struct Nested {
  int unused[3];
  struct {
    Pair pair;
  } inner;
};
struct Node {
  Node* next;
  int value;
};

__device__ int variable[64];

__global__ void fill(int* to, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = 1;
}
__global__ void sum(const int* from, int count, int* to) {
  int total = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) total += from[i];
  atomicAdd(to, total);
}
__global__ void fill_member(Pair of, bool second) {
  (second ? of.second : of.first)[threadIdx.x] = 1;
}
__global__ void fill_nested(Nested of) { of.inner.pair.second[threadIdx.x] = of.unused[0]; }
__global__ void fill_indirect(int* const* table, int entry) { table[entry][threadIdx.x] = 1; }
__global__ void link(Node* nodes, int count) {
  if (threadIdx.x < count)
    nodes[threadIdx.x] = {threadIdx.x + 1 < count ? &nodes[threadIdx.x + 1] : nullptr, 1};
}
__global__ void follow(Node* node, int steps) {
  for (; node != nullptr && steps-- > 0; node = node->next) node->value = 2;
}
template <class T>
__global__ void fill_one(T* to) {
  if (threadIdx.x == 0) *to = 1;
}
template <class T>
__global__ void read_one(const T* from, int* to) {
  if (threadIdx.x == 0) *to = *from;
}
__global__ void fill_column(int* matrix, int width, int column) {
  matrix[threadIdx.x * width + column] = 1;
}
__global__ void count(int* counters) { atomicAdd(&counters[threadIdx.x % 8], 1); }
__global__ void fill_vectors(int4* to) { to[threadIdx.x] = {1, 2, 3, 4}; }
__global__ void copy_ahead(const int4* from, int4* to) {
  __shared__ int4 ahead[64];
#if __CUDA_ARCH__ >= 800
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(&ahead[threadIdx.x]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.wait_all;" ::"r"(place),
               "l"(from + threadIdx.x));
#else
  ahead[threadIdx.x] = from[threadIdx.x];
#endif
  to[threadIdx.x] = ahead[threadIdx.x];
}
__global__ void fill_variable() { variable[threadIdx.x] = 1; }
__global__ void read_variable(int* to) { to[threadIdx.x] = variable[threadIdx.x]; }
__global__ void produce(int* to, int* flag) {
  to[threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(flag, 1);
}
__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void consume(const volatile int* flag, const int* from, int* to) {
  while (*flag == 0) {
  }
  to[threadIdx.x] = from[threadIdx.x];
}
__global__ void gather(const int* from, const int* indices, int* to) {
  to[threadIdx.x] = from[indices[threadIdx.x]];
}
__global__ void scatter(int* to, const int* indices) { to[indices[threadIdx.x]] = 1; }
__global__ void number(int* indices, int first) { indices[threadIdx.x] = first + threadIdx.x; }
__global__ void together(int* to) {
  cooperative_groups::this_grid().sync();
  to[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Without "Async" it is synchronous, as the host may access the memory.
void set_managed(void* memory, bool synchronously) {
  if (!synchronously) return set(memory, cudaStreamLegacy);
  CALL(cudaMemset, memory, 1, kBytes);
}

const Case kCases[] = {
    {"plain_pointers", kRace, "fill", "sum",
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, fill, ints(w.a), kInts); },
           [&](auto t) { go(t, sum, ints(w.a), kInts, ints(w.b)); });
     }},
    {"struct_by_value", kRace, "fill_member", "sum",
     [](World& w, bool fixed) {
       // Fixed, the kernel writes the other buffer of the same struct.
       go(w.streams[0], fill_member, Pair{ints(w.a), ints(w.b)}, fixed);
       go(w.streams[1], sum, ints(w.a), 64, ints(w.c));
     }},
    {"same_struct_twice", kRace, "fill_member", "fill_member",
     [](World& w, bool fixed) {
       go(w.streams[0], fill_member, Pair{ints(w.a), ints(w.b)}, false);
       go(w.streams[1], fill_member, Pair{ints(w.a), ints(w.b)}, fixed);
     }},
    {"nested_struct", kRace, "fill_nested", "sum",
     [](World& w, bool fixed) {
       between(
           w, fixed,
           [&](auto s) {
             go(s, fill_nested, Nested{{1, 2, 3}, {{ints(w.b), ints(w.a)}}});
           },
           [&](auto t) { go(t, sum, ints(w.a), 64, ints(w.c)); });
     }},
    {"pointer_in_memory", kRace, "fill_indirect", "sum",
     [](World& w, bool fixed) {
       int* pointers[2] = {ints(w.a), ints(w.b)};
       CALL(cudaMemcpy, w.c, pointers, sizeof pointers, cudaMemcpyHostToDevice);
       CALL(cudaDeviceSynchronize);  // the copy returns when the pointers are staged
       go(w.streams[0], fill_indirect, static_cast<int* const*>(w.c), fixed ? 1 : 0);
       go(w.streams[1], sum, ints(w.a), 64, ints(w.c, 64));
     }},
    {"linked_list", kRace, "link", "follow",
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, link, static_cast<Node*>(w.a), 32); },
           [&](auto t) { go(t, follow, static_cast<Node*>(w.a), 1); });
     }},
    {"slices_that_share_an_element", kRace, "fill", "sum",
     [](World& w, bool fixed) {
       go(w.streams[0], fill, ints(w.a), kHalfInts + (fixed ? 0 : 1));
       go(w.streams[1], sum, ints(w.a, kHalfInts), kHalfInts, ints(w.b));
     }},
    {"shorts_of_one_word", kRace, "fill_one", "read_one",
     [](World& w, bool fixed) {
       go(w.streams[0], fill_one<short>, static_cast<short*>(w.a));
       go(w.streams[1], read_one<short>, static_cast<short*>(w.a) + (fixed ? 1 : 0), ints(w.b));
     }},
    {"bytes_of_one_word", kRace, "fill_one", "fill_one",
     [](World& w, bool fixed) {
       go(w.streams[0], fill_one<char>, static_cast<char*>(w.a) + 2);
       go(w.streams[1], fill_one<char>, static_cast<char*>(w.a) + (fixed ? 3 : 2));
     }},
    {"byte_of_a_word", kRace, "fill_one", "read_one",
     [](World& w, bool fixed) {
       go(w.streams[0], fill_one<char>, static_cast<char*>(w.a) + (fixed ? 4 : 3));
       go(w.streams[1], read_one<int>, ints(w.a), ints(w.b));
     }},
    {"columns_of_a_matrix", kRace, "fill_column", "fill_column",
     [](World& w, bool fixed) {
       go(w.streams[0], fill_column, ints(w.a), 128, 5);
       go(w.streams[1], fill_column, ints(w.a), 128, fixed ? 6 : 5);
     }},
    {"row_and_column", kRace, "fill_column", "fill",
     [](World& w, bool fixed) {
       go(w.streams[0], fill_column, ints(w.a), 128, 64);
       go(w.streams[1], fill, ints(w.a), fixed ? 64 : 65);
     }},
    {"counters_that_are_reset", kRace, "count", "fill",
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, count, ints(w.a)); },
           [&](auto t) { go(t, fill, ints(w.a), 8); });
     }},
    {"counters_that_are_read", kRace, "count", "sum",
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, count, ints(w.a)); },
           [&](auto t) { go(t, sum, ints(w.a), 8, ints(w.b)); });
     }},
    {"two_that_count", kRace, "count", "fill",
     [](World& w, bool fixed) {
       go(w.streams[0], count, ints(w.a));
       // Atomic operations do not race with each other.
       fixed ? go(w.streams[1], count, ints(w.a)) : go(w.streams[1], fill, ints(w.a), 1);
     }},
    {"vectors", kRace, "fill_vectors", "sum",
     [](World& w, bool fixed) {
       go(w.streams[0], fill_vectors, static_cast<int4*>(w.a));
       go(w.streams[1], sum, ints(w.a, fixed ? 256 : 255), 64, ints(w.b));
     }},
    {"copied_ahead", kRace, "fill", "copy_ahead",
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, fill, ints(w.a), 256); },
           [&](auto t) { go(t, copy_ahead, static_cast<int4*>(w.a), static_cast<int4*>(w.b)); });
     }},
    {"memset_under_a_kernel", kRace, "fill", kSet,
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, fill, ints(w.a), kInts); }, [&](auto t) { set(w.a, t); });
     }},
    {"upload_under_a_kernel", kRace, "sum", kUp,
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, sum, ints(w.a), kInts, ints(w.b)); },
           [&](auto t) { up(w.a, w.host, t); });
     }},
    {"download_too_early", kRace, "fill", kDown,
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, fill, ints(w.a), kInts); },
           [&](auto t) { down(w.host, w.a, t); });
     }},
    {"managed_by_kernels", kRace, "fill", "sum",
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, fill, ints(w.managed), 64); },
           [&](auto t) { go(t, sum, ints(w.managed), 64, ints(w.b)); });
     }},
    {"pinned_by_kernels", kRace, "fill", "sum",
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, fill, ints(w.host), 64); },
           [&](auto t) { go(t, sum, ints(w.host), 64, ints(w.b)); });
     }},
    {"variable_of_the_module", kRace, "fill_variable", "read_variable",
     [](World& w, bool fixed) {
       between(
           w, fixed, [&](auto s) { go(s, fill_variable); },
           [&](auto t) { go(t, read_variable, ints(w.a)); });
     }},
    {"gathered_by_index", kRace, "fill", "gather",
     [](World& w, bool fixed) {
       go(w.streams[0], number, ints(w.b), fixed ? 64 : 63);
       CALL(cudaDeviceSynchronize);
       go(w.streams[0], fill, ints(w.a), 64);
       go(w.streams[1], gather, ints(w.a), ints(w.b), ints(w.c));
     }},
    {"scattered_by_index", kRace, "scatter", "scatter",
     [](World& w, bool fixed) {
       go(w.streams[0], number, ints(w.b), 0);
       go(w.streams[0], number, ints(w.c), fixed ? 64 : 32);
       CALL(cudaDeviceSynchronize);
       go(w.streams[0], scatter, ints(w.a), ints(w.b));
       go(w.streams[1], scatter, ints(w.a), ints(w.c));
     }},
    {"double_buffer_of_kernels", kRace, "fill", "sum",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       for (int i = 0; i < 4; ++i) {
         void* const buffer = i % 2 == 0 ? w.a : w.b;
         if (fixed && i >= 2) wait(s, w.events[1]);
         go(s, fill, ints(buffer), 64);
         order(s, t, w.events[0]);
         go(t, sum, ints(buffer), 64, ints(w.c));
         record(w.events[1], t);
       }
     }},
    {"join_of_one_of_two_kernels", kRace, "fill", "sum",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       go(s, fill, ints(w.a), kHalfInts);
       go(t, fill, ints(w.a, kHalfInts), kHalfInts);
       order(s, u, w.events[0]);
       if (fixed) order(t, u, w.events[1]);
       go(u, sum, ints(w.a), kInts, ints(w.b));
     }},
    {"graph_of_kernels_beside_a_stream", kRace, kGraph, "sum",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       const cudaGraphExec_t graph = captured(u, [&] { go(u, fill, ints(w.a), 64); });
       CALL(cudaGraphLaunch, graph, s);
       if (fixed) order(s, t, w.events[0]);
       go(t, sum, ints(w.a), 64, ints(w.b));
     }},
    {"two_graphs_of_kernels", kRace, kGraph, kGraph,
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       const cudaGraphExec_t first = captured(u, [&] { go(u, fill, ints(w.a), 64); });
       const cudaGraphExec_t second =
           captured(u, [&] { go(u, fill, ints(w.a, fixed ? 64 : 63), 64); });
       CALL(cudaGraphLaunch, first, s);
       CALL(cudaGraphLaunch, second, t);
     }},
    {"cooperative_launch", kRace, "together", "sum",
     [](World& w, bool fixed) {
       between(
           w, fixed,
           [&](auto s) {
             int* to = ints(w.a);
             void* arguments[] = {&to};
             CALL(cudaLaunchCooperativeKernel, reinterpret_cast<void*>(together), dim3(4), dim3(64),
                  arguments, size_t{0}, s);
           },
           [&](auto t) { go(t, sum, ints(w.a), 256, ints(w.b)); });
     }},
    {"memset_of_managed_memory", kRace, kSet, "sum",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       set_managed(w.managed, fixed);
       go(s, sum, ints(w.managed), 64, ints(w.b));
     }},
    {"waits_for_a_flag", kRace, "produce", "consume",
     [](World& w, bool fixed) {
       CALL(cudaMemset, w.c, 0, kBytes);
       CALL(cudaDeviceSynchronize);
       between(
           w, fixed, [&](auto s) { go(s, produce, ints(w.a), ints(w.c)); },
           [&](auto t) { go(t, consume, ints(w.c), ints(w.a), ints(w.b)); });
     },
     false, true},
    {"a_kernel_before_it_waits_for_a_flag", kRace, "produce", "sum",
     [](World& w, bool fixed) {
       CALL(cudaMemset, w.c, 0, kBytes);
       CALL(cudaDeviceSynchronize);
       between(
           w, fixed, [&](auto s) { go(s, produce, ints(w.a), ints(w.c)); },
           [&](auto t) {
             go(t, wait_for, ints(w.c));
             go(t, sum, ints(w.a), 64, ints(w.b));
           });
     },
     false, true},
    {"used_before_allocation_by_a_kernel", kEarly, "fill_member", "",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       int* const memory = ints(allocate(s));
       if (fixed) order(s, t, w.events[0]);
       go(t, fill_member, Pair{memory, memory}, false);
     }},
    {"freed_under_a_kernel", kLate, "fill_member", "",
     [](World& w, bool fixed) {
       auto [s, t, u] = w.streams;
       int* const memory = ints(allocate(s));
       order(s, t, w.events[0]);
       go(t, fill_member, Pair{memory, memory}, false);
       if (fixed) order(t, s, w.events[1]);
       release(memory, s);
     }},
};

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, kCases); }
