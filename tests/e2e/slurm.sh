#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Jobs of Slurm: a scheduler of one node, which this test starts and ends, runs recorders as tasks. With STREAMSCOPE_SLURM=all
# (./dev nightly) one is ended at its time limit, too, which takes more than a minute.
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$folder/lib.sh" "$1"
source "$folder/slurm_cluster.sh"
start_slurm

# expect_rank TRACE RANK WORLD_SIZE LOCAL_RANK SOURCE
expect_rank() {
  local found
  found=$(sql "$1" "select rank, world_size, local_rank, value from process join string on string.id = rank_source_id")
  [[ $found == "$2|$3|$4|$5" ]] || fail "$1 is $found, expected $2|$3|$4|$5"
}
record=("$bin/streamscope" record --quiet --run)

# begin NAME [OPTION...]: a job that does not end by itself
begin() {
  local what=$1
  shift
  srun -n 2 --job-name="$what" "$@" "${record[@]}" "$what" -- "$worker" forever >"$what.out" 2>"$what.said" &
  jobs[$what]=$!
  both_begun() { [[ -s $what/rank-00000.sqlite && -s $what/rank-00001.sqlite ]]; }
  wait_until 30 both_begun || fail "$what: no traces: $(ls "$what") $(cat "$what.said")"
}
# finished NAME: Slurm ends it, and its traces are complete but for the end of the program
finished() {
  local rank
  wait "${jobs[$1]}" || true
  gone() { [[ -z $(squeue --noheader --name="$1") ]]; }
  wait_until 20 gone "$1" || fail "$1 is still there"
  for rank in 0 1; do
    is_finished() { [[ $(sql "$1" "select value from meta where key = 'finished'" 2>&1) == 1 ]]; }
    wait_until 10 is_finished "$1/rank-0000$rank.sqlite" || fail "$1: rank $rank is unfinished: $(cat "$1.said")"
  done
}
declare -A jobs

# The shortest time limit is a minute, and Slurm looks at it twice a minute: this one is looked at last.
[[ ${STREAMSCOPE_SLURM:-} != all ]] || begin over_time --time=1

# Each task is a rank.
srun -n 4 "${record[@]}" tasks -- "$worker" count 10 >out 2>said || fail "srun exits $?: $(cat said)"
for rank in 0 1 2 3; do
  expect_rank tasks/rank-0000$rank.sqlite $rank 4 $rank SLURM_PROCID
  expect_complete tasks/rank-0000$rank.sqlite 1
done
[[ $(ls tasks/*.sqlite | wc -l) == 4 ]] || fail "in tasks: $(ls tasks)"
# The step is the job: another one is refused, or replaces it.
srun -n 2 "${record[@]}" tasks -- touch started >out 2>said && fail "a second job was not refused"
[[ ! -e started ]] && grep -q 'has traces of another job' said || fail "refused otherwise: $(cat said)"
srun -n 2 "${record[@]}" tasks --force -- "$worker" count 10 >out 2>said || fail "srun --force exits $?: $(cat said)"
[[ $(ls tasks/*.sqlite | wc -l) == 2 ]] || fail "after --force in tasks: $(ls tasks)"

# Tasks that start several ranks, which share the number of the task, as with torchrun.
cat >launcher <<'END_OF_SCRIPT'
#!/usr/bin/env bash
for rank in $((2 * SLURM_PROCID)) $((2 * SLURM_PROCID + 1)); do
  RANK=$rank LOCAL_RANK=$((rank % 2)) WORLD_SIZE=4 TORCHELASTIC_RESTART_COUNT=0 "$@" &
done
wait
END_OF_SCRIPT
chmod +x launcher
srun -n 2 "${record[@]}" nested -- ./launcher "$worker" count 10 >out 2>said || fail "srun exits $?: $(cat said)"
for rank in 0 1 2 3; do
  trace=$(ls nested/rank-0000$rank*.sqlite)
  [[ $(wc -l <<<"$trace") == 1 ]] || fail "rank $rank has $trace"
  expect_rank "$trace" $rank 4 $((rank % 2)) RANK
  expect_complete "$trace" 1
done

# The tasks of another step make the summaries, each its share.
srun -n 2 "$bin/streamscope" analyze nested >made 2>said || fail "analyze exits $?: $(cat said)"
[[ $(grep -c 'made 2' made) == 2 && $(ls nested/*.summary | wc -l) == 4 ]] || fail "analyze says $(cat made), in nested: $(ls nested)"
"$bin/streamscope" report --quiet nested >report.txt || fail "report exits $?"

# Slurm ends jobs: their traces are finished.
begin scancelled
scancel --name=scancelled
finished scancelled
[[ ${STREAMSCOPE_SLURM:-} != all ]] || finished over_time

wait_until 20 no_steps || fail "steps are left: $(steps)"
