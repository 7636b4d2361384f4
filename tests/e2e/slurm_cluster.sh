# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# shellcheck shell=bash disable=SC2154  # work, from lib.sh
#
# After lib.sh: `source slurm_cluster.sh; start_slurm` starts a scheduler of one node, which ends with the test. Skips it
# where Slurm is not installed or cannot run.
for variable in RANK WORLD_SIZE LOCAL_RANK TORCHELASTIC_RESTART_COUNT "${!OMPI_@}" "${!PMI@}" "${!SLURM_@}"; do unset "$variable"; done
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd munged srun scancel; do
  command -v $program >/dev/null || { echo "SKIPPED: $program is not installed"; exit 77; }
done
((EUID == 0)) || { echo "SKIPPED: slurmd needs root"; exit 77; }

host=$(hostname)
daemons=()
# The daemons of jobs go through slurmd, and all of them need munged: it ends last.
stop_slurm() {
  local daemon
  scancel --user="$(id -un)" 2>/dev/null || true
  wait_until 20 no_steps || true
  for daemon in "${daemons[@]}"; do
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
  done
  rm -rf "$work"
}
steps() { grep -lsz "^slurmstepd: \[" /proc/[0-9]*/cmdline | while read -r file; do [[ $(readlink "${file%/cmdline}/cwd") != "$work"* ]] || echo "$file"; done; }
no_steps() { [[ -z $(squeue --noheader 2>/dev/null) && -z $(steps) ]]; }
trap stop_slurm EXIT

# A port that nobody listens on, as the kernel picks it.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
start_slurm() {
  chmod 755 "$work"
  mkdir state spool
  head -c 128 /dev/urandom >munge.key
  chmod 400 munge.key
  cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=10
OverTimeLimit=0
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
  echo CgroupPlugin=cgroup/v1 >cgroup.conf  # is loaded, but nothing uses it
  export SLURM_CONF=$work/slurm.conf
  munged --force --foreground --socket="$work/munge.socket" --key-file="$work/munge.key" --pid-file="$work/munge.pid" \
    --log-file="$work/munge.log" --seed-file="$work/munge.seed" >munged.out 2>&1 &
  daemons=($!)
  wait_until 10 test -S munge.socket || fail "munged: $(cat munged.out)"
  slurmctld -D -c -f slurm.conf >slurmctld.out 2>&1 &
  daemons=($! "${daemons[@]}")
  slurmd -D -f slurm.conf >slurmd.out 2>&1 &
  daemons=($! "${daemons[@]}")
  idle() { sinfo --noheader --format=%T 2>/dev/null | grep -q idle; }
  wait_until 20 idle || { echo "SKIPPED: Slurm cannot run here: $(tail -n 3 slurmd.out slurmctld.out munged.out)"; exit 77; }
}
