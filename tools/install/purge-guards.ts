// Shell functions that remove the kubelet's state safely: for scripts of packages, which run without Node, and `make
// uninstall`. ROOT: another root folder than /, for tests.

/**
 * `running_pods` prints the names of pods that run, one a line. The runtimes that are there are asked. If they know of
 * none, the cgroups are, which the kernel keeps without a runtime.
 */
export const RUNNING_PODS = `running_pods() {
  pods=$({
    if [ -S "\${ROOT:-}/run/containerd/containerd.sock" ] && command -v ctr >/dev/null; then
      timeout 20 ctr --address "\${ROOT:-}/run/containerd/containerd.sock" --namespace k8s.io tasks list 2>/dev/null |
        awk '$3 == "RUNNING" { print $1 }' | head -n 50 | while read -r id; do
        timeout 10 ctr --address "\${ROOT:-}/run/containerd/containerd.sock" --namespace k8s.io containers info "$id" 2>/dev/null |
          sed -n 's/.*"io\\.kubernetes\\.pod\\.name": *"\\([^"]*\\)".*/\\1/p' | head -n 1
      done
    fi
    if [ -S "\${ROOT:-}/var/run/crio/crio.sock" ] && command -v crictl >/dev/null; then
      timeout 20 crictl --runtime-endpoint "unix://\${ROOT:-}/var/run/crio/crio.sock" pods --state ready 2>/dev/null |
        sed -n 's/.* Ready  *\\([^ ]*\\) .*/\\1/p'
    fi
    if [ -S "\${ROOT:-}/var/run/docker.sock" ] && command -v docker >/dev/null; then
      timeout 20 docker --host "unix://\${ROOT:-}/var/run/docker.sock" ps --filter label=io.kubernetes.pod.name \\
        --format '{{.Label "io.kubernetes.pod.name"}}' 2>/dev/null
    fi
  } | sort -u)
  if [ -n "$pods" ]; then
    echo "$pods"
    return
  fi
  for tree in "\${ROOT:-}"/sys/fs/cgroup/kubepods* "\${ROOT:-}"/sys/fs/cgroup/*/kubepods*; do
    [ -d "$tree" ] || continue
    if [ -n "$(find "$tree" -name cgroup.procs -exec cat {} + 2>/dev/null | head -n 1)" ]; then
      echo "(processes in $tree)"
      return
    fi
  done
}
`;

/**
 * `remove_network` removes the pod network that \`nodelet doctor --fix\` wrote, and its bridge, unless somebody has
 * changed the file. The folder stays: a runtime watches it.
 */
export const REMOVE_NETWORK = `remove_network() {
  record="\${ROOT:-}/var/lib/kubelet/nodelet/network.sha256"
  [ -e "$record" ] || return 0
  if sha256sum --check --status "$record" 2>/dev/null; then
    rm -f -- "$(sed 's/^[0-9a-f]*  //' "$record")"
    rm -rf -- "\${ROOT:-}/var/lib/cni/networks/nodelet"
    [ -n "\${ROOT:-}" ] || ip link delete nodelet0 2>/dev/null || true
  fi
  rm -f -- "$record"
}
`;
