// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Measures how far the wall clocks of a job's hosts are apart, by messages between them, for the analysis of a run. It is compiled with
// the MPI of the cluster, which differs from cluster to cluster:
//
//   mpicc -O2 -o clock_offsets clock_offsets.c
//   mpirun -n RANKS ./clock_offsets RUN [SECONDS]
//
// Appends a line for each host to RUN/clock-offsets.jsonl; with SECONDS, again after each such time until it is ended. A message
// that host B answers at time b of its clock was sent after time a and came back before time c of host A's clock; so B's clock is
// between b - c and b - a ahead of A's. Of many messages, the highest and the lowest bound count.
#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { kMessages = 200, kTag = 1, kNameBytes = 256 };

static int64_t wall_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// What rank 0 finds out about the clock of another rank.
struct offset {
  int64_t at_ns;  // by that rank's clock
  int64_t lower_ns, upper_ns;
};

static struct offset offset_of(int rank) {
  struct offset found = {0, INT64_MIN, INT64_MAX};
  for (int i = 0; i < kMessages; ++i) {
    int64_t theirs = 0;
    const int64_t before = wall_clock_ns();
    MPI_Send(&before, 1, MPI_INT64_T, rank, kTag, MPI_COMM_WORLD);
    MPI_Recv(&theirs, 1, MPI_INT64_T, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int64_t after = wall_clock_ns();
    if (theirs - after > found.lower_ns) found.lower_ns = theirs - after;
    if (theirs - before < found.upper_ns) found.upper_ns = theirs - before;
    if (i == kMessages / 2) found.at_ns = theirs;
  }
  return found;
}

static void answer(void) {
  for (int i = 0; i < kMessages; ++i) {
    int64_t ignored = 0;
    MPI_Recv(&ignored, 1, MPI_INT64_T, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int64_t now = wall_clock_ns();
    MPI_Send(&now, 1, MPI_INT64_T, 0, kTag, MPI_COMM_WORLD);
  }
}

static int is_first_of_host(const char* names, int rank) {
  for (int other = 0; other < rank; ++other)
    if (strcmp(names + other * kNameBytes, names + rank * kNameBytes) == 0) return 0;
  return 1;
}

// Rank 0 measures one rank of each host after the other. False if a line could not be written.
static int measure(const char* names, int size, FILE* lines) {
  for (int rank = 1; rank < size; ++rank) {
    if (!is_first_of_host(names, rank)) continue;
    const struct offset found = offset_of(rank);
    fprintf(lines, "{\"reference\": \"%s\", \"host\": \"%s\", \"at_ns\": %" PRId64 ", \"lower_ns\": %" PRId64 ", \"upper_ns\": %" PRId64 "}\n",
            names, names + rank * kNameBytes, found.at_ns, found.lower_ns, found.upper_ns);
  }
  return fflush(lines) == 0 && !ferror(lines);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (count < 2 || count > 3) {
    if (rank == 0) fprintf(stderr, "usage: clock_offsets RUN [SECONDS]\n");
    MPI_Finalize();
    return 2;
  }
  const int seconds = count > 2 ? atoi(arguments[2]) : 0;

  struct utsname host;
  uname(&host);
  char own[kNameBytes] = {0};
  strncpy(own, host.nodename, kNameBytes - 1);
  char* names = calloc((size_t)size, kNameBytes);
  if (names == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Allgather(own, kNameBytes, MPI_CHAR, names, kNameBytes, MPI_CHAR, MPI_COMM_WORLD);

  FILE* lines = NULL;
  if (rank == 0) {
    char path[4096];
    snprintf(path, sizeof path, "%s/clock-offsets.jsonl", arguments[1]);
    lines = fopen(path, "a");
    if (lines == NULL) {
      fprintf(stderr, "clock_offsets: %s cannot be written: %s\n", path, strerror(errno));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  do {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
      if (is_first_of_host(names, rank)) answer();
    } else if (!measure(names, size, lines)) {
      fprintf(stderr, "clock_offsets: clock-offsets.jsonl cannot be written: %s\n", strerror(errno));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (seconds > 0) sleep((unsigned)seconds);
  } while (seconds > 0);
  if (lines != NULL) fclose(lines);
  free(names);
  MPI_Finalize();
  return 0;
}
