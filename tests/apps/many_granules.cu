// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Races of kernels that touch more memory than a table of record --with accesses has room for: 1
// GiB in pieces and in a scattered order, beside a kernel that touches a few words of it. Fixed,
// those words lie between the pieces. Nothing orders the two, so each word has to be known.
#include "race_cases.h"

namespace {

using namespace races;

constexpr unsigned kPieces = 4096;
constexpr unsigned kGranule = 512, kGranulesOfPiece = 508, kGranulesApart = 512;
constexpr unsigned kGranules = kPieces * kGranulesOfPiece, kPrime = 1'000'003;

// A warp for each granule of all pieces.
__global__ void fill_pieces(int4* to) {
  const unsigned warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;
  for (unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < kGranules; i += warps) {
    const auto granule = static_cast<unsigned>(size_t{i} * kPrime % kGranules);
    const size_t place = size_t{granule / kGranulesOfPiece} * kGranulesApart;
    to[(place + granule % kGranulesOfPiece) * 32 + lane] = {1, 2, 3, 4};
  }
}
// A word of each 64th piece, or of the gap behind it.
__global__ void fill_words(int* to, bool in_gap) {
  const size_t granule =
      size_t{threadIdx.x} * 64 * kGranulesApart + (in_gap ? kGranulesOfPiece : threadIdx.x);
  to[granule * (kGranule / sizeof(int)) + threadIdx.x] = 5;
}

void fill_both(World& w, bool fixed, unsigned blocks, unsigned threads) {
  void* memory = nullptr;
  CALL(cudaMalloc, &memory, size_t{kPieces} * kGranulesApart * kGranule);
  counted::launch(fill_pieces, blocks, threads, w.streams[0], static_cast<int4*>(memory));
  go(w.streams[1], fill_words, ints(memory), fixed);
}

const Case kCases[] = {
    {"more_than_a_small_table", kRace, "fill_pieces", "fill_words",
     [](World& w, bool fixed) { fill_both(w, fixed, 264, 128); }},
    {"more_than_a_large_table", kRace, "fill_pieces", "fill_words",
     [](World& w, bool fixed) { fill_both(w, fixed, 4096, 256); }},
};

}  // namespace

int main(int argc, char** argv) { return races::run(argc, argv, kCases); }
