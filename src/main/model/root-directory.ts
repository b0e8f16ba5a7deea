// Layout of the kubelet's root directory. Other programs (CSI drivers, device plugins) rely on these names. A pod's
// directory: shared/kubernetes/api/pod-paths.ts.

import { join } from "path/posix";

/** Directories and state files directly below the root directory. @internal */
export const rootEntries = {
  pods: "pods",
  plugins: "plugins",
  pluginsRegistry: "plugins_registry",
  podResources: "pod-resources",
  podsApi: "pods-api",
  checkpoints: "checkpoints",
  devicePlugins: "device-plugins",
  seccomp: "seccomp",
  pki: "pki",
  imageManager: "image_manager",
  cpuManagerState: "cpu_manager_state",
  memoryManagerState: "memory_manager_state",
  draManagerState: "dra_manager_state",
  allocatedPodsState: "allocated_pods_state",
  actuatedPodsState: "actuated_pods_state",
} as const;

/** Mode of a pod's data directories. */
export const podDirMode = 0o750;
/** Mode of a pod's hosts file. */
export const hostsFileMode = 0o644;
/** Mode of a termination log: any user of the container may write it. */
export const terminationLogMode = 0o666;

export function seccompProfileRoot(rootDir: string): string {
  return join(rootDir, rootEntries.seccomp);
}
