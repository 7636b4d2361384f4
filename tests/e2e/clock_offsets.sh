#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The clocks of two hosts, 100 s apart, by messages between them: the analysis of a run knows the offset without any collective.
# The hosts are names and a changed clock on this machine; the driver is a stand-in.
sources=$(cd "$(dirname "$0")/../.." && pwd)
source "$(dirname "$0")/lib.sh" "$1"

fake=$build/tests/fake
[[ -f $fake/libcuda.so.1 ]] || { echo "SKIPPED: built without the CUDA headers"; exit 77; }
mpicc -O2 -Wall -Wextra -Werror -o clock_offsets "$sources/profiler/job/mpi/clock_offsets.c" 2>mpicc.txt ||
  { grep -q 'mpi.h\|not found' mpicc.txt || fail "$(cat mpicc.txt)"; echo "SKIPPED: no MPI to compile with (libopenmpi-dev)"; exit 77; }
unshare -u true 2>/dev/null || { echo "SKIPPED: host names can only be changed by root"; exit 77; }

cat >ahead.c <<'END_OF_SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec* now) {
  int (*next)(clockid_t, struct timespec*) = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int result = next(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += 100;
  return result;
}
END_OF_SOURCE
gcc -shared -fPIC -o ahead.so ahead.c -ldl
# on HOST [VARIABLE=VALUE...] COMMAND...
cat >on <<'END_OF_SCRIPT'
#!/usr/bin/env bash
name=$1
shift
[[ $name != ahead ]] || export LD_PRELOAD=$PWD/ahead.so
exec unshare -u bash -c 'hostname "$0" && exec env "$@"' "$name" "$@"
END_OF_SCRIPT
chmod +x on
mpi=(timeout -s KILL 60 mpirun --allow-run-as-root --oversubscribe --mca btl 'self,vader')

export STREAMSCOPE_JOB=pair
for rank in 0 1; do
  host=$([[ $rank == 0 ]] && echo first || echo ahead)
  ./on "$host" RANK=$rank WORLD_SIZE=2 LD_LIBRARY_PATH="$fake" \
    "$bin/streamscope" record --quiet --tier structure --run run -- "$bin/tests/sampled" calls 200000 >out.txt || fail "rank $rank: $(cat out.txt)"
done
refused() { "$bin/streamscope" query run "SELECT refused FROM clock WHERE rank = 1" --format csv; }
[[ $(refused) == *"no collective or message joins it with rank 0"* ]] || fail "without a measurement: $(refused)"

# Two processes a host; the first of each is measured.
"${mpi[@]}" -n 2 ./on first ./clock_offsets run : -n 2 ./on ahead ./clock_offsets run >mpi.txt 2>&1 || fail "$(cat mpi.txt)"
[[ $(wc -l <run/clock-offsets.jsonl) == 1 ]] || fail "$(cat run/clock-offsets.jsonl)"
expect_offset() {
  local found
  found=$("$bin/streamscope" query run "SELECT min(lower_ns) <= 100e9 AND max(upper_ns) >= 100e9 AND max(upper_ns - lower_ns) < 1e9
    AND abs(offset_ns - 100e9) < 1e9 FROM clock WHERE rank = $1" --format csv | tail -1)
  [[ $found == 1 ]] || fail "$("$bin/streamscope" query run 'SELECT * FROM clock')"
}
expect_offset 1

# The other host as the reference, again and again until the job step is ended.
rm run/clock-offsets.jsonl
"${mpi[@]}" -n 1 ./on ahead ./clock_offsets run 1 : -n 1 ./on first ./clock_offsets run 1 >mpi.txt 2>&1 &
measuring=$!
companions+=("$measuring")
wait_until 20 eval '[[ $(wc -l 2>/dev/null <run/clock-offsets.jsonl) -ge 2 ]]' || fail "$(cat mpi.txt)"
kill -TERM "$measuring"
wait "$measuring" 2>/dev/null || true
expect_offset 1

code=0
"${mpi[@]}" -n 1 ./clock_offsets >mpi.txt 2>&1 || code=$?
[[ $code != 0 && $(cat mpi.txt) == *"usage: clock_offsets RUN [SECONDS]"* ]] || fail "$code: $(cat mpi.txt)"
"${mpi[@]}" -n 1 ./clock_offsets /no/such/folder >mpi.txt 2>&1 && fail "a folder that is not there"
[[ $(cat mpi.txt) == *"/no/such/folder/clock-offsets.jsonl cannot be written"* ]] || fail "$(cat mpi.txt)"
echo "ok"
