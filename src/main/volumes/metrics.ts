// Volumes as operators of other kubelets know them: operations, their durations, and how many volumes are wanted and set
// up. Main thread only.
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { DoneBy, VolumeDoer } from "./plugin.js";

const OPERATION_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

export type VolumeOperationName =
  | "volume_mount"
  | "volume_unmount"
  | "map_volume"
  | "unmap_volume"
  | "unmount_device"
  | "unmap_device"
  | "volume_attach"
  | "verify_controller_attached_volume"
  | "volume_fs_resize"
  | "volume_apply_access_control";
/** `plugin` of CSI with its driver: "kubernetes.io/csi:ebs.csi.aws.com"; `migrated`: the API names no CSI volume. */
interface MeasuredVolume {
  plugin: string;
  migrated?: boolean;
}
const STATES = ["desired_state_of_world", "actual_state_of_world"] as const;
type WorldState = (typeof STATES)[number];

export interface VolumeMetrics {
  operation(volume: MeasuredVolume, operation: VolumeOperationName, durationMs: number, ok: boolean): void;
  /** Time from a pod's first request for a volume until it is set up. */
  mounted(plugin: string, durationMs: number): void;
  /** A volume that an earlier kubelet left was found again, or could not be read. */
  reconstructed(ok: boolean): void;
  /** Volumes by plugin, read at each scrape. */
  watchTotals(read: (state: WorldState) => ReadonlyMap<string, number>): void;
}

export function volumeMetrics(registry: ThreadRegistry): VolumeMetrics {
  const durations = registry.histogram(
    "storage_operation_duration_seconds",
    "Storage operation duration in seconds",
    ["volume_plugin", "operation_name", "status", "migrated"],
    OPERATION_BUCKETS,
  );
  const overall = registry.histogram(
    "volume_operation_total_seconds",
    "Storage operation end to end duration in seconds",
    ["plugin_name", "operation_name"],
    OPERATION_BUCKETS,
  );
  const totals = registry.gauge(
    "volume_manager_total_volumes",
    "Number of volumes in the volume manager, by plugin and state (desired or actual state of world)",
    ["plugin_name", "state"],
  );
  const found = registry.counter(
    "reconstruct_volume_operations_total",
    "The number of volumes that the kubelet attempted to reconstruct from the operating system at start-up",
  );
  const notFound = registry.counter(
    "reconstruct_volume_operations_errors_total",
    "The number of volumes that failed reconstruction from the operating system at start-up",
  );
  return {
    operation({ plugin, migrated = false }, operation_name, durationMs, ok) {
      const labels = { volume_plugin: plugin, operation_name, migrated: String(migrated) };
      durations.observe({ ...labels, status: ok ? "success" : "fail-unknown" }, durationMs / 1000);
    },
    mounted(plugin_name, durationMs) {
      overall.observe({ plugin_name, operation_name: "overall_volume_mount" }, durationMs / 1000);
    },
    reconstructed(ok) {
      found.inc();
      if (!ok) notFound.inc();
    },
    watchTotals(read) {
      registry.onSnapshot(() => {
        totals.reset();
        for (const state of STATES) {
          for (const [plugin_name, count] of read(state)) totals.set({ plugin_name, state }, count);
        }
      });
    },
  };
}

// Measures one operation on a volume under the name of the plugin that does it.

/** Of volumes that pods have as devices. */
const BLOCK: Partial<Record<VolumeOperationName, VolumeOperationName>> = {
  volume_mount: "map_volume",
  volume_unmount: "unmap_volume",
  unmount_device: "unmap_device",
};

/** `doer` undefined: `work` has to say it, or nothing is measured. */
export async function measured<T>(
  { clock, metrics }: { clock: Clock; metrics: VolumeMetrics },
  operation: VolumeOperationName,
  doer: VolumeDoer | undefined,
  work: (doneBy: DoneBy) => Promise<T>,
): Promise<T> {
  const startedAt = clock.monotonic();
  let known = doer;
  let ok = false;
  try {
    const result = await work((found) => (known = found));
    ok = true;
    return result;
  } finally {
    if (known !== undefined) {
      const name = known.block === true ? (BLOCK[operation] ?? operation) : operation;
      metrics.operation(known, name, clock.monotonic() - startedAt, ok);
    }
  }
}

// Metrics of volumes mounted with an SELinux label. Gauges that only grow, as upstream's are. Only on nodes with SELinux.

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
