// Metrics of volumes mounted with an SELinux label. Gauges that only grow, as upstream's are. Only on nodes with
// SELinux.

import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";

export interface SELinuxMountMetrics {
  /** Containers of one pod need different labels; `refused`: the pod cannot start for that. */
  podMismatch(accessModes: readonly string[], refused: boolean): void;
  /** The volume is in use with another label. */
  volumeMismatch(volume_plugin: string, accessModes: readonly string[], refused: boolean): void;
  /** A volume is to be mounted with a label. */
  admitted(volume_plugin: string, accessModes: readonly string[]): void;
}

const LATER = "they become errors when mounts with a label are extended to all access modes";

export function seLinuxMountMetrics(registry: ThreadRegistry): SELinuxMountMetrics {
  const byMode = (name: string, help: string) =>
    registry.gauge(`volume_manager_selinux_${name}_total`, help, ["access_mode"]);
  const byPlugin = (name: string, help: string) =>
    registry.gauge(`volume_manager_selinux_${name}_total`, help, ["volume_plugin", "access_mode"]);
  // The label of a container is made of the API's words; this kubelet has no way to fail at it.
  byMode("container_errors", "Number of errors when the kubelet cannot compute the SELinux context of a container");
  byMode(
    "container_warnings",
    "Number of ignored errors when the kubelet cannot compute the SELinux context of a container",
  );
  const podWhat = "Number of pods whose containers use a volume with different SELinux contexts";
  const podErrors = byMode("pod_context_mismatch_errors", `${podWhat}; such a pod cannot start, and each try counts`);
  const podWarnings = byMode("pod_context_mismatch_warnings", `${podWhat} and that start; ${LATER}`);
  const volumeWhat = "Number of pods that use a volume which is mounted with another SELinux context";
  const volumeErrors = byPlugin(
    "volume_context_mismatch_errors",
    `${volumeWhat}; such a pod cannot start, and each try counts`,
  );
  const volumeWarnings = byPlugin("volume_context_mismatch_warnings", `${volumeWhat} and that start; ${LATER}`);
  const admitted = byPlugin("volumes_admitted", "Number of volumes to be mounted with an SELinux context");
  return {
    podMismatch: (modes, refused) => (refused ? podErrors : podWarnings).inc({ access_mode: modeOf(modes) }),
    volumeMismatch: (volume_plugin, modes, refused) =>
      (refused ? volumeErrors : volumeWarnings).inc({ volume_plugin, access_mode: modeOf(modes) }),
    admitted: (volume_plugin, modes) => admitted.inc({ volume_plugin, access_mode: modeOf(modes) }),
  };
}

const MODES = [
  ["ReadWriteMany", "RWX"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteOnce", "RWO"],
  ["ReadWriteOncePod", "RWOP"],
] as const;

/** The mode that allows most; "inline" for a volume that the pod names itself. */
function modeOf(accessModes: readonly string[]): string {
  if (accessModes.length === 0) return "inline";
  return MODES.find(([mode]) => accessModes.includes(mode))?.[1] ?? "unknown";
}
