// The flags of the Docker Engine, as Kubernetes 1.23 had them. Source of names and defaults: flags/runtime.ts.

import type { DockershimNetwork } from "../../shared/contracts/dockershim.js";

/** The Docker Engine as the container runtime. */
export interface DockerFlags {
  /**
   * "node": for this kubelet's pods; "server": this process serves CRI and nothing else; "off": no code of it is
   * loaded.
   */
  readonly mode: "off" | "node" | "server";
  readonly endpoint: string;
  readonly imagePullProgressDeadlineMs: number;
  readonly podInfraContainerImage: string;
  readonly network: DockershimNetwork;
  /** --container-runtime and --network-plugin as given, for the rules. */
  readonly given: { readonly runtime: string; readonly networkPlugin: string };
}

/** @param flag the value of a flag, or its default */
export function readDockerFlags(flag: <T>(name: string, fallback: T) => T): DockerFlags {
  const runtime = flag<string>("container-runtime", "remote");
  const networkPlugin = flag<string>("network-plugin", "none");
  const isNode = runtime === "docker";
  return {
    mode: flag<boolean>("experimental-dockershim", false) ? "server" : isNode ? "node" : "off",
    endpoint: flag("docker-endpoint", "unix:///var/run/docker.sock"),
    imagePullProgressDeadlineMs: flag("image-pull-progress-deadline", 60_000),
    podInfraContainerImage: flag("pod-infra-container-image", "registry.k8s.io/pause:3.10.2"),
    network:
      networkPlugin === "cni"
        ? {
            plugin: "cni",
            binDirs: flag<readonly string[]>("cni-bin-dir", ["/opt/cni/bin"]),
            confDir: flag("cni-conf-dir", "/etc/cni/net.d"),
            cacheDir: flag("cni-cache-dir", "/var/lib/cni/cache"),
          }
        : { plugin: "none" },
    given: { runtime, networkPlugin },
  };
}
