// The input of the planner, with its memory of completed steps, and small queries that several plan functions use.

import type { SteadyTime } from "../../../shared/base/clock/moments.js";
import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { type ObservedPod, type ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import { containerHash } from "../../model/container-hash.js";
import type { CrashBackoff } from "../../model/crash-backoff.js";
import { annotationKeys } from "../../model/labels.js";
import { type ResizeView } from "../../model/pod-resources.js";
import type { ProbeResults } from "../../model/probe-results.js";
import type { RestartGates } from "../../model/restart.js";
import type { StartFailure } from "../../model/synced-pod.js";
import type { RestartMemory } from "./restart-memory.js";

export interface PlanInput {
  pod: Pod;
  observed: ObservedPod;
  now: SteadyTime;
  backoff: CrashBackoff;
  startFailures: ReadonlyMap<string, StartFailure>;
  probes: ProbeResults;
  gates: RestartGates;
  memory: Pick<RestartMemory, "restarts" | "resizes" | "removed">;
  /** The containers run in no cgroup of the pod, so no pod limit applies to them. */
  cgroupLost?: boolean;
  /** Absent: running containers are never resized. */
  resize?: ResizeView;
  /** From the previous plan: the end of the grace period of a completed pod. */
  endDeadline?: SteadyTime | undefined;
  /** Number of exited containers of a name that stay; negative: all. Default 1. */
  deadContainersKept?: number;
}

export function definitionChanged(container: Container, status: ObservedContainer): boolean {
  const hash = status.annotations[annotationKeys.hash];
  return hash !== undefined && hash !== containerHash(container);
}

export function startReason(status: ObservedContainer | undefined): string {
  if (status === undefined) return "it has not run yet";
  if (status.state === ContainerState.CONTAINER_CREATED) return "it was created but never started";
  return `it exited with code ${status.exitCode}${status.reason === "" ? "" : ` (${status.reason})`}`;
}
