// The planner for a pod that must go: containers, then sandboxes, then what they leave. Pure; converges to nothing.
import type { Pod } from "../../shared/api/pod.js";
import { ContainerState, type ContainerStatus } from "../../shared/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import { readySandboxes } from "./plan-context.js";
import { isSidecar } from "./restart.js";
import type { Plan, Step } from "./step.js";

/** The runtime gets at least this long between the stop signal and SIGKILL. */
const MIN_STOP_SECONDS = 2;

export interface TerminationInput {
  /** undefined for a pod that only the runtime still knows. */
  pod: Pod | undefined;
  observed: ObservedPod;
  /** Milliseconds since the epoch. */
  now: number;
  /** When the grace ends, milliseconds since the epoch. */
  deadline: number;
  reason: string;
  /** Everything but the runtime's objects has been cleaned up. */
  cleaned: boolean;
}

export function planTermination(input: TerminationInput): Plan {
  const steps = nextSteps(input);
  return { steps, waiting: new Map(), finished: steps.length === 0 };
}

function nextSteps(input: TerminationInput): Step[] {
  const { observed } = input;
  const alive = observed.containers.filter((status) => status.state !== ContainerState.CONTAINER_EXITED);
  if (alive.length > 0) return stops(input, alive);
  const ready = readySandboxes(observed.sandboxes);
  if (ready.length > 0) {
    return ready.map((sandbox) => ({ kind: "stop-sandbox", sandboxId: sandbox.id, reason: input.reason }));
  }
  // A sandbox takes its containers along; only what has lost its sandbox goes by itself.
  if (observed.sandboxes.length > 0) {
    return observed.sandboxes.map((sandbox) => ({ kind: "remove-sandbox", sandboxId: sandbox.id }));
  }
  if (observed.containers.length > 0) {
    return observed.containers.map((status) => ({
      kind: "remove-container",
      containerId: status.id,
      name: status.metadata?.name ?? "",
    }));
  }
  return input.cleaned ? [] : [{ kind: "clean-up" }];
}

/** App containers stop together; sidecars wait for them, then stop one after the other, the last one first. */
function stops(input: TerminationInput, alive: readonly ContainerStatus[]): Step[] {
  const sidecars = (input.pod?.spec.initContainers ?? []).filter(isSidecar).map((container) => container.name);
  const nameOf = (status: ContainerStatus): string => status.metadata?.name ?? "";
  const others = alive.filter((status) => !sidecars.includes(nameOf(status)));
  const stopping =
    others.length > 0
      ? others
      : alive.toSorted((a, b) => sidecars.indexOf(nameOf(b)) - sidecars.indexOf(nameOf(a))).slice(0, 1);
  const left = Math.ceil((input.deadline - input.now) / 1000);
  return stopping.map((status) =>
    // A container that never started has nothing to stop.
    status.state === ContainerState.CONTAINER_CREATED
      ? { kind: "remove-container", containerId: status.id, name: nameOf(status) }
      : {
          kind: "kill-container",
          containerId: status.id,
          name: nameOf(status),
          graceSeconds: Math.max(left, MIN_STOP_SECONDS),
          deadline: input.deadline,
          reason: input.reason,
        },
  );
}
