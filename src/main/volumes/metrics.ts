// Volumes as operators of other kubelets know them: operations, their durations, and how many volumes are wanted and
// set up. Main thread only.

import { LabelValues } from "../../shared/telemetry/metrics/label-values.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";

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
  // A pod names the CSI driver of a volume in it, also one that does not exist.
  const plugins = new LabelValues();
  return {
    operation({ plugin, migrated = false }, operation_name, durationMs, ok) {
      const labels = { volume_plugin: plugins.of(plugin), operation_name, migrated: String(migrated) };
      durations.observe({ ...labels, status: ok ? "success" : "fail-unknown" }, durationMs / 1000);
    },
    mounted(plugin, durationMs) {
      overall.observe({ plugin_name: plugins.of(plugin), operation_name: "overall_volume_mount" }, durationMs / 1000);
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
