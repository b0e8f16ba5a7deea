#!/bin/sh
# On cgroup v2 a cgroup with processes gives its children no controllers. So the processes of this container move into one of their own, and
# the kubelet's cgroups lie beside it. https://docs.kernel.org/admin-guide/cgroup-v2.html#no-internal-process-constraint
set -eu
tree=/sys/fs/cgroup
[ -e "$tree/cgroup.subtree_control" ] || exit 0
mkdir -p "$tree/container"
while read -r pid; do
  # A process may end meanwhile.
  echo "$pid" >"$tree/container/cgroup.procs" 2>/dev/null || true
done <"$tree/cgroup.procs"
for controller in $(cat "$tree/cgroup.controllers"); do echo "+$controller" >"$tree/cgroup.subtree_control"; done
