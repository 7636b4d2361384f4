#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# For Slurm's Epilog (slurm.conf) or the end of a batch script: leaves the metrics of a finished job where node_exporter's
# textfile collector reads them. Jobs that were not recorded are passed over. A failure never drains the node.
#
#   STREAMSCOPE_RUNS  folder with the run of each job, as in: srun streamscope record --run "$STREAMSCOPE_RUNS/$SLURM_JOB_ID" -- …
#   STREAMSCOPE_PROM  folder that node_exporter reads (--collector.textfile.directory)
#   STREAMSCOPE_KEEP  days after which metrics of old jobs are removed
runs=${STREAMSCOPE_RUNS:-/var/spool/streamscope}
prom=${STREAMSCOPE_PROM:-/var/lib/prometheus/node-exporter}
keep=${STREAMSCOPE_KEEP:-1}

run=$runs/$SLURM_JOB_ID
[[ -n ${SLURM_JOB_ID:-} && -d $run && -d $prom ]] || exit 0

# As one node of the job: all others see the same folder.
first=$(scontrol show hostnames "${SLURM_JOB_NODELIST:-}" 2>/dev/null | head -1)
[[ -z $first || $first == "$(hostname -s)" ]] || exit 0

timeout 300 streamscope metrics --quiet -o "$prom/streamscope-$SLURM_JOB_ID.prom" "$run" ||
  logger -t streamscope "no metrics of job $SLURM_JOB_ID" 2>/dev/null
find "$prom" -maxdepth 1 -name 'streamscope-*.prom' -mtime +"$keep" -delete
exit 0
