// Constants of this node and build, set once at start by one thread (main): kubelet_node_name, kubernetes_build_info,
// kubelet_cgroup_version. A second thread that set them would make them 2.

import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";

export interface BuildInfo {
  /** "v1.36.0": the Kubernetes version whose contract is kept. */
  gitVersion: string;
  /** "linux/amd64", as Go names platforms. */
  platform: string;
}

export function recordBuild(registry: ThreadRegistry, build: BuildInfo): void {
  const [, major = "", minor = ""] = /^v(\d+)\.(\d+)/.exec(build.gitVersion) ?? [];
  registry
    .gauge("kubernetes_build_info", "A metric with a constant '1' value labeled by version and build information", [
      "major",
      "minor",
      "git_version",
      "git_commit",
      "git_tree_state",
      "build_date",
      "go_version",
      "compiler",
      "platform",
    ])
    .set(
      {
        major,
        minor,
        git_version: build.gitVersion,
        git_commit: "",
        git_tree_state: "",
        build_date: "",
        go_version: "",
        compiler: "node",
        platform: build.platform,
      },
      1,
    );
}

export function recordNode(registry: ThreadRegistry, node: { nodeName: string; cgroupVersion?: 1 | 2 }): void {
  registry
    .gauge("kubelet_node_name", "The node's name; the value is always 1", ["node"])
    .set({ node: node.nodeName }, 1);
  if (node.cgroupVersion === undefined) return;
  registry.gauge("kubelet_cgroup_version", "Cgroup version on the host, 1 or 2").set(node.cgroupVersion);
}
