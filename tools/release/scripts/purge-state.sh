# Removes the kubelet's state. Fails, and removes nothing, while pods use it.
purge_state() {
  if used=$(grep -o ' @STATE_ROOT@/[^ ]*' /proc/self/mountinfo | head -n 1) && [ -n "$used" ]; then
    echo "nodelet: the state in @STATE_ROOT@ is kept, because pods still use it (mount$used): stop these pods and repeat" >&2
    return 1
  fi
  pods=$(running_pods | head -n 5 | tr '\n' ' ')
  if [ -n "$pods" ]; then
    echo "nodelet: the state in @STATE_ROOT@ is kept, because pods still run: ${pods% }: stop these pods and repeat" >&2
    return 1
  fi
  remove_network
  # Where / is not a shared mount, the kubelet mounts its root directory on itself. A disk of the operator's stays.
  if awk '$5 == "@STATE_ROOT@" && $4 != "/" { found = 1 } END { exit !found }' /proc/self/mountinfo; then
    umount @STATE_ROOT@
  fi
  # Cgroups of pods that are empty.
  if [ -d /run/systemd/system ] && grep -qsx 'populated 0' /sys/fs/cgroup/kubepods.slice/cgroup.events; then
    systemctl stop kubepods.slice || true
  fi
  for tree in /sys/fs/cgroup/kubepods* /sys/fs/cgroup/*/kubepods*; do
    [ ! -d "$tree" ] || find "$tree" -depth -type d -exec rmdir -- {} + 2>/dev/null || true
  done
  rm -rf -- @STATE@
  rmdir --ignore-fail-on-non-empty -- @STATE_ROOT@ 2>/dev/null || true
}
