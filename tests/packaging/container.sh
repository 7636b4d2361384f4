#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The commands of docs/packages.md, those for a container included: with Docker where its daemon runs, else with Podman under its
# name, and the base image from debootstrap. Needs root and a mirror.
#   container.sh FOLDER   FOLDER has the packages
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=$(cd "$1" && pwd) || { echo "SKIPPED: no packages; ./dev package makes them"; exit 77; }
follow() { "$here/../docs/run.py" --packages "$packages" --have packages,network "$here/../../docs/packages.md"; }
if docker version >/dev/null 2>&1; then
  follow
  exit
fi

command -v podman >/dev/null && command -v debootstrap >/dev/null && ((EUID == 0)) && unshare --mount true ||
  { echo "SKIPPED: no Docker, and Podman needs root, mounts and debootstrap"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
# Also where the machine is a container itself: no network, control groups or limits of its own.
cat >"$work/containers.conf" <<END
[containers]
netns = "host"
cgroups = "disabled"
cgroupns = "host"
ipcns = "host"
utsns = "host"
seccomp_profile = "unconfined"
apparmor_profile = "unconfined"
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
END
printf '[storage]\ndriver = "vfs"\nrunroot = "%s/run"\ngraphroot = "%s/images"\n' "$work" "$work" >"$work/storage.conf"
export CONTAINERS_CONF=$work/containers.conf CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot
mkdir "$work/tools"
ln -s "$(command -v podman)" "$work/tools/docker"
PATH=$work/tools:$PATH
debootstrap --variant=minbase bookworm "$work/root" >"$work/log.txt" 2>&1 || { echo "SKIPPED: debootstrap: $(tail -1 "$work/log.txt")"; exit 77; }
base=$(sed -n 's/^FROM //p' "$here/../../cmake/packaging/Containerfile")
tar -C "$work/root" -c . | podman import - "docker.io/library/$base" >"$work/log.txt" 2>&1 || { echo "FAILED: no base image: $(cat "$work/log.txt")"; exit 1; }
export -f follow
export here packages
# The runtime refuses to run beside control groups of both versions.
unshare --mount bash -c 'awk "/ cgroup2 / {print \$5}" /proc/self/mountinfo | xargs -r umount; follow'
