// Init containers and sidecars: the one that runs next. Pure.
import { isSidecar, type Container } from "../../shared/api/pod.js";
import { ContainerState, type ContainerStatus, type PodSandboxStatus } from "../../shared/cri/gen/runtime.v1.js";
import { killReason } from "./kill-reason.js";
import type { PlanBuilder } from "./plan-builder.js";
import { startReason } from "./plan-context.js";
import { restartsAfterProbeKill } from "../model/restart.js";
import { newestIn, newestOf } from "../model/observed-containers.js";

/** done: app containers may start; waiting: not yet; failed: the pod has failed. */
export type InitProgress = "done" | "waiting" | "failed";

export function planInit(builder: PlanBuilder, sandbox: PodSandboxStatus): InitProgress {
  const { pod, observed } = builder.input;
  const inits = pod.spec.initContainers ?? [];
  if (inits.length === 0) return "done";
  const statusOf = (container: Container): ContainerStatus | undefined => newestIn(sandbox, observed, container.name);
  const start = (container: Container): void => {
    const previous = newestOf(observed, container.name);
    // An exit in an earlier sandbox does not count as a crash of the container.
    const crashed = statusOf(container);
    builder.start({ container, containerKind: "init", sandbox, previous, crashed, reason: startReason(crashed) });
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
    const first = inits[0];
    if (first !== undefined) start(first);
    return "waiting";
  }
  const passed = isSidecar(current)
    ? keepSidecar(builder, current, status, start)
    : ordinaryProgress(builder, current, status, start);
  if (passed !== "done") return passed;
  const next = inits[last + 1];
  if (next === undefined) return "done";
  start(next);
  return "waiting";
}

/** A sidecar runs until the pod terminates; returns done while it runs and has started. */
function keepSidecar(
  builder: PlanBuilder,
  container: Container,
  status: ContainerStatus | undefined,
  start: (container: Container) => void,
): InitProgress {
  const { name, startupProbe } = container;
  switch (status?.state) {
    case ContainerState.CONTAINER_RUNNING: {
      const kill = killReason(builder.input, container, status);
      if (kill !== undefined) {
        const { why, forResize, graceSeconds } = kill;
        const rest = { graceSeconds, restart: true, ...(forResize && { forResize }) } as const;
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
  status: ContainerStatus,
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
