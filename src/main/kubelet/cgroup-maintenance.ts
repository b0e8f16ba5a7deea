// Starts the maintenance of the node's cgroups. It begins at once if the start of the kubelet depends on it, because a
// missing reserved cgroup is fatal. Otherwise it begins a second later, when the first pods are starting. Loaded only
// then.

import { Deferred } from "../../shared/base/turns/deferred.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { Component } from "../model/components.js";
import type { PodSubscriber } from "../model/pod-events.js";
import type { CgroupMaintenance, CgroupMaintenanceDeps } from "./node-cgroups.js";

const LATER_MS = 1000;

export interface NodeCgroups extends Required<Component> {
  /** The set of pods, or their granted resources, has changed. */
  readonly subscriber: PodSubscriber;
}

/** Its start rejects as startCgroupMaintenance does, where the start of the kubelet depends on it. */
export function deferredCgroupMaintenance(deps: CgroupMaintenanceDeps): NodeCgroups {
  const { clock, log } = deps;
  const { resources, cgroups } = deps.settings;
  const maintenance = new Deferred<CgroupMaintenance>({
    name: "the cgroups of the node",
    when: {
      ms: LATER_MS,
      clock,
      failed: (error) => log.error({ err: error }, `cannot maintain the node's cgroups: ${errorText(error)}`),
    },
    load: async () => (await import("./node-cgroups.js")).startCgroupMaintenance(deps),
    end: (running) => running.stop(),
  });
  const isFatal =
    cgroups.systemCgroups !== "" || resources.enforceNodeAllocatable.some((entry) => entry.includes("reserved"));
  const changed = (): void => maintenance.current?.podsChanged();
  return {
    name: maintenance.name,
    subscriber: { admitted: changed, resized: changed, terminated: changed, removed: changed },
    start: () => (isFatal ? maintenance.get() : maintenance.start()),
    stop: () => maintenance.stop(),
  };
}
