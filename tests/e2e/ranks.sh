#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# A job of many ranks: each has a trace of its own in the folder of the run, whoever starts whom.
source "$(dirname "$0")/lib.sh" "$1"
for variable in RANK WORLD_SIZE LOCAL_RANK TORCHELASTIC_RESTART_COUNT "${!OMPI_@}" "${!PMI@}" "${!SLURM_@}"; do unset "$variable"; done

# Starts N processes as torchrun does.
cat >torchrun <<'END_OF_SCRIPT'
#!/usr/bin/env bash
ranks=$1
shift
trap 'kill "${children[@]}"' TERM
children=()
for ((rank = 0; rank < ranks; ++rank)); do
  RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$ranks TORCHELASTIC_RESTART_COUNT=0 "$@" &
  children+=($!)
done
status=0
for child in "${children[@]}"; do
  while wait "$child"; (($? > 128)) && kill -0 "$child" 2>/dev/null; do :; done
  wait "$child" || status=$?
done
exit $status
END_OF_SCRIPT
chmod +x torchrun

# expect_traces DIR NAME...: these traces and nothing else, apart from hidden files and what recorders tell each other
expect_traces() {
  local folder=$1 expected
  shift
  expected=$(printf '%s\n' "$@")
  [[ $(ls --ignore='*.hang' "$folder") == "$expected" ]] || fail "in $folder: $(ls "$folder"), expected: $expected"
}

# expect_rank TRACE RANK WORLD_SIZE LOCAL_RANK SOURCE
expect_rank() {
  local found
  found=$(sql "$1" "select rank, world_size, local_rank, value from process join string on string.id = rank_source_id")
  [[ $found == "$2|$3|$4|$5" ]] || fail "$1 is $found, expected $2|$3|$4|$5"
}

contradictions() {
  sql "$1" "select detail.value from loss join string name on name.id = name_id join string detail on detail.id = detail_id
            where name.value = 'rank-contradiction'"
}

# One process: what it is, in the trace and in `info`.
RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 "$bin/streamscope" record -o one.sqlite -- "$worker" count 10 >/dev/null 2>&1
expect_rank one.sqlite 3 8 1 RANK
grep -q 'rank 3 of 8, local rank 1, from RANK' <<<"$("$bin/streamscope" info one.sqlite)" || fail "info names no rank"
[[ -z $(contradictions one.sqlite) ]] || fail "a contradiction of nothing"
RANK=3 WORLD_SIZE=8 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=8 \
  "$bin/streamscope" record --force -o one.sqlite -- "$worker" count 10 >/dev/null 2>said
grep -q 'RANK is 3, but OMPI_COMM_WORLD_RANK is 2' said || fail "no contradiction: $(cat said)"
"$bin/streamscope" record --force -o one.sqlite -- "$worker" count 10 >/dev/null 2>&1
[[ -z $(sql one.sqlite "select rank from process where rank is not null") ]] || fail "a rank without a variable"

# The recorder starts the launcher.
"$bin/streamscope" record --run inside -- ./torchrun 3 "$worker" count 20 >out.json 2>said || fail "inside exits $?: $(cat said)"
expect_traces inside rank-00000.sqlite rank-00001.sqlite rank-00002.sqlite
head -1 out.json >counts.json
for rank in 0 1 2; do
  expect_rank inside/rank-0000$rank.sqlite $rank 3 $rank RANK
  expect_counts inside/rank-0000$rank.sqlite counts.json
  expect_complete inside/rank-0000$rank.sqlite 1
done
expect_nobody
grep -q 'no CUDA call' said && fail "the launcher seems to lack a trace: $(cat said)"

# What a rank starts is in its trace.
"$bin/streamscope" record --quiet --run children -- ./torchrun 2 "$worker" spawn 10 >/dev/null
expect_traces children rank-00000.sqlite rank-00001.sqlite
[[ $(sql children/rank-00001.sqlite "select count(*), min(rank), max(rank) from process") == "2|1|1" ]] || fail "a child is not with its rank"

# Another job is refused before its program runs, without disturbing the traces, and replaces them with --force.
set +e
"$bin/streamscope" record --run inside -- touch started 2>said
code=$?
set -e
[[ $code == 2 && ! -e started && $(wc -l <said) == 1 ]] || fail "a second job exits $code: $(cat said)"
grep -q 'has traces of another job' said || fail "refused otherwise: $(cat said)"
expect_traces inside rank-00000.sqlite rank-00001.sqlite rank-00002.sqlite
"$bin/streamscope" record --quiet --run inside --force -- ./torchrun 2 "$worker" count 5 >/dev/null
expect_traces inside rank-00000.sqlite rank-00001.sqlite

# The launcher starts the recorders, which begin at one moment and do not refuse each other.
force=()
for ((round = 0; round < 2; ++round)); do
  ./torchrun 4 "$bin/streamscope" record --quiet --run outside "${force[@]}" -- "$worker" count 10 >/dev/null || fail "outside exits $?"
  expect_traces outside rank-0000{0,1,2,3}.sqlite
  force=(--force)
done
expect_rank outside/rank-00002.sqlite 2 4 2 RANK
./torchrun 2 "$bin/streamscope" record --quiet --run outside -- touch started 2>said && fail "a second job was not refused"
[[ ! -e started && $(wc -l <said) == 2 ]] || fail "a second job: $(cat said)"

# A task of Slurm starts the launcher: its processes share SLURM_PROCID, so RANK decides. Both tasks are of one job.
export SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_NTASKS=2
for node in 0 1; do
  cat >node$node <<END_OF_SCRIPT
#!/usr/bin/env bash
for rank in $((2 * node)) $((2 * node + 1)); do
  RANK=\$rank LOCAL_RANK=\$((rank % 2)) WORLD_SIZE=4 TORCHELASTIC_RESTART_COUNT=0 "\$@" &
done
wait
END_OF_SCRIPT
  chmod +x node$node
  SLURM_PROCID=$node SLURM_LOCALID=0 "$bin/streamscope" record --quiet --run nested -- ./node$node "$worker" count 10 >/dev/null &
done
wait
for rank in 0 1 2 3; do
  trace=$(ls nested/rank-0000$rank*.sqlite)
  [[ $(wc -l <<<"$trace") == 1 ]] || fail "rank $rank has $trace"
  expect_rank "$trace" $rank 4 $((rank % 2)) RANK
  [[ -z $(contradictions "$trace") ]] || fail "$trace: $(contradictions "$trace")"
done

# Two processes of a job with one rank: both have a trace, and the later one has the reason.
export SLURM_PROCID=1
"$bin/streamscope" record --quiet --run twice -- "$worker" count 10 >/dev/null
"$bin/streamscope" record --quiet --run twice -- "$worker" count 10 >/dev/null
[[ $(ls twice/*.sqlite | wc -l) == 2 && -f twice/rank-00001.sqlite ]] || fail "in twice: $(ls twice)"
later=$(ls twice/rank-00001-*.sqlite)
[[ $(contradictions "$later") == "another trace has this rank: rank-00001.sqlite" ]] || fail "$later: $(contradictions "$later")"
unset "${!SLURM_@}"

# A process without a rank has a trace as well.
"$bin/streamscope" record --quiet --run none -- "$worker" count 10 >/dev/null
[[ $(ls none) == no-rank-*.sqlite ]] || fail "in none: $(ls none)"

# The exit code is the program's; a request to end goes to the program, and the traces are finished.
code=0
RANK=0 WORLD_SIZE=1 "$bin/streamscope" record --quiet --run code -- sh -c "'$worker' count 5; exit 7" >/dev/null || code=$?
[[ $code == 7 ]] || fail "exit code $code instead of 7"
"$bin/streamscope" record --run ended -- ./torchrun 2 "$worker" forever >/dev/null 2>said &
recorder=$!
both_begun() { [[ -s ended/rank-00000.sqlite && -s ended/rank-00001.sqlite ]]; }
wait_until 20 both_begun || fail "no traces: $(ls ended) $(cat said)"
kill -TERM $recorder
set +e
wait $recorder
code=$?
set -e
[[ $code == 143 ]] || fail "the ended job exits $code: $(cat said)"
expect_traces ended rank-00000.sqlite rank-00001.sqlite
for rank in 0 1; do
  [[ $(sql ended/rank-0000$rank.sqlite "select value from meta where key = 'finished'") == 1 ]] || fail "rank $rank is unfinished"
done
expect_nobody

# Profiles of other tools: the rank is in the file or its name.
mkdir profiles
event='"traceEvents": [{"ph": "X", "name": "step", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]'
echo "{\"distributedInfo\": {\"rank\": 1, \"world_size\": 2}, $event}" >profiles/b.json
echo "{$event}" >profiles/rank0.json
echo "not a profile" >profiles/README
"$bin/streamscope" import --quiet profiles --run imported || fail "import exits $?"
expect_traces imported rank-0000{0,1}.sqlite
expect_rank imported/rank-00000.sqlite 0 "" "" "file name"
expect_rank imported/rank-00001.sqlite 1 2 "" kineto
"$bin/streamscope" import --quiet profiles --run imported 2>said && fail "an import was not refused"
cp profiles/b.json profiles/c.json
"$bin/streamscope" import --quiet profiles --run doubled 2>said && fail "two profiles of a rank were accepted"
grep -q 'c.json: is about rank 1, as is profiles/b.json' said || fail "$(cat said)"
echo "{$event}" >step.json
"$bin/streamscope" import --quiet step.json --run unknown 2>said && fail "a profile without a rank was accepted"
grep -q 'does not say which rank' said || fail "$(cat said)"

# Open MPI, with the recorder on either side.
if command -v mpirun >/dev/null; then
  mpi=(mpirun --allow-run-as-root --oversubscribe -n 3)
  "${mpi[@]}" "$bin/streamscope" record --quiet --run mpi_outside -- "$worker" count 10 >/dev/null || fail "mpirun exits $?"
  "$bin/streamscope" record --quiet --run mpi_inside -- "${mpi[@]}" "$worker" count 10 >/dev/null || fail "mpirun exits $?"
  for rank in 0 1 2; do
    for side in mpi_outside mpi_inside; do
      expect_rank $side/rank-0000$rank.sqlite $rank 3 $rank OMPI_COMM_WORLD_RANK
      expect_complete $side/rank-0000$rank.sqlite 1
      [[ -z $(contradictions $side/rank-0000$rank.sqlite) ]] || fail "$(contradictions $side/rank-0000$rank.sqlite)"
    done
  done
  expect_traces mpi_inside rank-0000{0,1,2}.sqlite
  "${mpi[@]}" "$bin/streamscope" record --quiet --run mpi_outside -- touch started >/dev/null 2>&1 && fail "a second mpirun was not refused"
  "${mpi[@]}" "$bin/streamscope" record --quiet --run mpi_outside --force -- "$worker" count 10 >/dev/null || fail "mpirun --force exits $?"
  expect_traces mpi_outside rank-0000{0,1,2}.sqlite
else
  echo "skipped: mpirun is not installed, so only the other launchers were tried"
  exit 77
fi
