// Init containers and sidecars: the one that runs next. Pure.

import { isSidecar, type Container } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer, ObservedSandbox } from "../../../shared/kubernetes/cri/observed-pod.js";
import { newestIn, newestOf } from "../../model/observed-containers.js";
import { restartsAfterProbeKill } from "../../model/restart.js";
import { killReason } from "./kill-reason.js";
import type { PlanBuilder } from "./plan-builder.js";
import { startReason } from "./plan-context.js";

/**
 * A pod with more init containers starts sidecars that need not be waited for in one pass: a pass reads the whole pod.
 */
const MANY = 64;
/** Sidecars that one pass starts. */
const CHAIN = 64;

/** done: app containers may start; waiting: not yet; failed: the pod has failed. */
export type InitProgress = "done" | "waiting" | "failed";

export function planInit(builder: PlanBuilder, sandbox: ObservedSandbox): InitProgress {
  const { pod, observed } = builder.input;
  const inits = pod.spec.initContainers ?? [];
  if (inits.length === 0) return "done";
  const statusOf = (container: Container): ObservedContainer | undefined => newestIn(sandbox, observed, container.name);
  const start = (container: Container, after?: string): void => {
    const previous = newestOf(observed, container.name);
    // An exit in an earlier sandbox does not count as a crash of the container.
    const crashed = statusOf(container);
    const reason = startReason(crashed);
    builder.start({ container, containerKind: "init", sandbox, previous, crashed, after, reason });
  };

  // Once an app container exists in this sandbox, ordinary init containers never run again; sidecars are kept alive.
  const appStarted = pod.spec.containers.some((container) => statusOf(container) !== undefined);
  if (appStarted) {
    for (const init of inits) if (isSidecar(init)) keepSidecar(builder, init, statusOf(init), start);
    return "done";
  }

  const last = inits.findLastIndex((init) => statusOf(init) !== undefined);
  for (const earlier of inits.slice(0, Math.max(last, 0))) {
    if (isSidecar(earlier)) keepSidecar(builder, earlier, statusOf(earlier), start);
  }
  const current = inits[last];
  const status = current === undefined ? undefined : statusOf(current);
  if (current === undefined || status === undefined) {
    startFrom(builder, inits, 0, start);
    return "waiting";
  }
  const passed = isSidecar(current)
    ? keepSidecar(builder, current, status, start)
    : ordinaryProgress(builder, current, status, start);
  if (passed !== "done") return passed;
  if (last + 1 === inits.length) return "done";
  startFrom(builder, inits, last + 1, start);
  return "waiting";
}

/** The next container, and in a pod with many those behind it that wait only for the start of the one before them. */
function startFrom(
  { plan }: PlanBuilder,
  inits: readonly Container[],
  first: number,
  start: (container: Container, after?: string) => void,
): void {
  const chain = inits.slice(first, first + (inits.length > MANY ? CHAIN : 1));
  let after: string | undefined;
  for (const container of chain) {
    const planned = plan.steps.length;
    start(container, after);
    if (plan.steps.length === planned) return;
    if (!isSidecar(container) || container.startupProbe !== undefined) return;
    after = container.name;
  }
}

/** A sidecar runs until the pod terminates; returns done while it runs and has started. */
function keepSidecar(
  builder: PlanBuilder,
  container: Container,
  status: ObservedContainer | undefined,
  start: (container: Container) => void,
): InitProgress {
  const { name, startupProbe } = container;
  switch (status?.state) {
    case ContainerState.CONTAINER_RUNNING: {
      const kill = killReason(builder.input, container, status);
      if (kill !== undefined) {
        const { why, forResize, graceSeconds } = kill;
        const rest = { graceSeconds, restart: true, forResize: forResize || undefined } as const;
        builder.kill(status, `Init container ${name} ${why}`, rest);
        return "waiting";
      }
      const startedUp = startupProbe === undefined || builder.input.probes.startup(status.id) === "Success";
      return startedUp ? "done" : "waiting";
    }
    case ContainerState.CONTAINER_UNKNOWN:
      builder.kill(status, `Init container ${name} is in an unknown state, will be restarted`, { restart: true });
      return "waiting";
    default:
      start(container);
      return "waiting";
  }
}

function ordinaryProgress(
  builder: PlanBuilder,
  container: Container,
  status: ObservedContainer,
  start: (container: Container) => void,
): InitProgress {
  const { pod, gates } = builder.input;
  switch (status.state) {
    case ContainerState.CONTAINER_RUNNING:
      return "waiting";
    case ContainerState.CONTAINER_EXITED:
      if (status.exitCode === 0) return "done";
      if (!builder.mayStart(container, status)) return "failed";
      start(container);
      return "waiting";
    case ContainerState.CONTAINER_UNKNOWN:
      if (!restartsAfterProbeKill(pod.spec, container, gates)) return "failed";
      builder.kill(status, `Init container ${container.name} is in an unknown state, will be restarted`, {
        restart: true,
      });
      return "waiting";
    default:
      start(container);
      return "waiting";
  }
}
