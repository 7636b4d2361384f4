// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A preloaded library that wraps dlsym, as layers that share a GPU do: it hands every look-up on and counts those of the
// driver's functions. Reports the count when the program ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void* (*lookup)(void*, const char*);

static lookup next_dlsym;
static int seen;

void* dlsym(void* handle, const char* name) {
  if (next_dlsym == NULL) {
    next_dlsym = (lookup)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (next_dlsym == NULL) next_dlsym = (lookup)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  }
  if (strncmp(name, "cu", 2) == 0) __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
  return next_dlsym(handle, name);
}

__attribute__((destructor)) static void report(void) {
  const char* path = getenv("OTHER_HOOK_FILE");
  FILE* file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%d\n", seen);
  fclose(file);
}
