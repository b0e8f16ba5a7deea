// Maintains the node's cgroups while the kubelet runs: limits of node allocatable, QoS tiers and kernel flags. It also
// moves the kubelet's and the system's processes into their cgroups. Loaded by cgroup-maintenance.ts once the tree
// exists: no pod waits for it.

import type { Clock } from "../../shared/base/clock/clock.js";
import { Loop } from "../../shared/base/turns/loop.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { CgroupMounts } from "../../shared/node/cgroup/mounts.js";
import { parseCgroupRoot, qosCgroupName } from "../../shared/node/cgroup/name.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { setKernelDefaults } from "../node/kernel-defaults.js";
import type { CgroupManager } from "../resources/cgroups/cgroup-manager.js";
import { ProcessPlacement } from "../resources/cgroups/process-placement.js";
import { QosUpdates } from "../resources/cgroups/qos-updates.js";
import { enforcementOf } from "../resources/node-allocatable/enforcement.js";
import { AllocatableEnforcer } from "../resources/node-allocatable/enforcer.js";
import { pidCapacity } from "../resources/node-allocatable/pid-capacity.js";
import { reservedOf } from "../resources/node-allocatable/reserved.js";
import type { NodeResources } from "../resources/node-capacity.js";
import type { NodeSettings } from "./node-settings.js";

/** Upstream's period for both. */
const ENSURE_MS = 60_000;

export interface CgroupMaintenanceDeps {
  settings: Pick<NodeSettings, "cgroups" | "resources" | "runtime">;
  cgroups: CgroupManager;
  mounts: CgroupMounts;
  capacity: NodeResources;
  /** Admitted pods that are not terminated. */
  pods: () => readonly Pod[];
  events: EventRecorder;
  clock: Clock;
  log: Logger;
}

export interface CgroupMaintenance {
  /** The set of pods, or their granted resources, has changed. */
  podsChanged(): void;
  stop(): Promise<void>;
}

/** @throws OperatorError */
export async function startCgroupMaintenance(deps: CgroupMaintenanceDeps): Promise<CgroupMaintenance> {
  const { settings, cgroups, mounts, capacity, pods, events, clock } = deps;
  const log = moduleLogger(deps.log, "cgroups");
  if (mounts.version === 1) warnAboutCgroupV1(events);
  const { memoryQos, cgroupRoot, cgroupDriver, cgroupsPerQOS, kubeletCgroups, systemCgroups } = settings.cgroups;
  const root = parseCgroupRoot(cgroupRoot, cgroupDriver);
  const enforcer = new AllocatableEnforcer({
    cgroups,
    events,
    clock,
    log,
    enforcement: enforcementOf(capacity, await pidCapacity(), reservedOf(settings.resources), {
      ...settings.resources,
      cgroupsPerQOS,
      memoryQos: memoryQos !== undefined && mounts.version === 2,
    }),
    podsCgroup: qosCgroupName(root, "Guaranteed", cgroupsPerQOS),
  });
  const placement =
    kubeletCgroups === "" && systemCgroups === ""
      ? undefined
      : new ProcessPlacement({ kubeletCgroups, systemCgroups, mounts, log });
  enforcer.startPods();
  try {
    await enforcer.enforceReserved();
  } catch (error) {
    await enforcer.stop();
    throw error;
  }
  const qos = new QosUpdates({ cgroups, pods, clock, log });
  if (cgroupsPerQOS) qos.start();
  const placing =
    placement &&
    new Loop({
      clock,
      periodMs: ENSURE_MS,
      round: async () => {
        await placement.ensure();
        return undefined;
      },
      failed: (error) => {
        log.error({ err: error }, `cannot place the processes of the kubelet or the system: ${errorText(error)}`);
        return undefined;
      },
    });
  placing?.start();
  if (!settings.cgroups.protectKernelDefaults) {
    await setKernelDefaults(log, { inUserNamespace: settings.runtime.kubeletInUserNamespace });
  }
  return {
    podsChanged: () => qos.changed(),
    async stop() {
      await Promise.all([enforcer.stop(), qos.stop(), placing?.stop()]);
    },
  };
}

function warnAboutCgroupV1(events: Pick<EventRecorder, "node">): void {
  events.node({
    type: "Warning",
    reason: "CgroupV1",
    message:
      "cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to " +
      "cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1",
  });
}
