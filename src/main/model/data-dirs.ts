// Layout of the kubelet's root directory (section 27). Other programs (CSI drivers, device plugins) rely on these names.
import { join } from "node:path";

/** Directories and state files directly below the root directory. */
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

export function podsDir(rootDir: string): string {
  return join(rootDir, rootEntries.pods);
}

function podDir(rootDir: string, uid: string): string {
  return join(podsDir(rootDir), uid);
}

/** The three directories that exist before a pod's first container does. */
export function podDataDirs(rootDir: string, uid: string): string[] {
  const pod = podDir(rootDir, uid);
  return [pod, join(pod, "volumes"), join(pod, "plugins")];
}

/** pods/UID/volumes/PLUGIN/NAME, "/" of the plugin name written as "~". */
export function podVolumeDir(rootDir: string, uid: string, plugin: string, volume: string): string {
  return join(podDir(rootDir, uid), "volumes", plugin.replaceAll("/", "~"), volume);
}

export function podVolumeSubpathDir(
  rootDir: string,
  uid: string,
  volume: string,
  container: string,
  index: number,
): string {
  return join(podDir(rootDir, uid), "volume-subpaths", volume, container, String(index));
}

export function podVolumeDevicesDir(rootDir: string, uid: string, plugin: string): string {
  return join(podDir(rootDir, uid), "volumeDevices", plugin.replaceAll("/", "~"));
}

export function podPluginDir(rootDir: string, uid: string, plugin: string): string {
  return join(podDir(rootDir, uid), "plugins", plugin.replaceAll("/", "~"));
}

/** Files of the kubelet's own making, a folder for each container. */
export function podContainersDir(rootDir: string, uid: string): string {
  return join(podDir(rootDir, uid), "containers");
}

function podContainerDir(rootDir: string, uid: string, container: string): string {
  return join(podContainersDir(rootDir, uid), container);
}

/** Host file behind a container's termination message path. `id` is any 32-bit number, new for each start. */
export function terminationLogPath(rootDir: string, uid: string, container: string, id: number): string {
  return join(podContainerDir(rootDir, uid, container), (id >>> 0).toString(16).padStart(8, "0"));
}

export function etcHostsPath(rootDir: string, uid: string): string {
  return join(podDir(rootDir, uid), "etc-hosts");
}

export function usernsPath(rootDir: string, uid: string): string {
  return join(podDir(rootDir, uid), "userns");
}

export function seccompProfileRoot(rootDir: string): string {
  return join(rootDir, rootEntries.seccomp);
}
