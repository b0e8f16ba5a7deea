// The planner for a pod that terminates: containers first, sandboxes after them. A pod that is still shown is then
// released (claims, volumes, cgroup). A removed pod leaves the node: its volumes, cgroup and files go, and with them
// its object; the runtime's records of it come last. A removed pod with claims is released before that, while its
// containers still show how they ended. Pure; converges to an empty plan.

import { boundedSeconds } from "../../../shared/base/clock/durations.js";
import type { SteadyTime } from "../../../shared/base/clock/moments.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod, ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import { secondsLeft } from "../../model/container-stop.js";
import { isAlive, readySandboxes } from "../../model/observed-containers.js";
import type { Plan, Step } from "../../model/step.js";
import { preStopsAhead } from "./pre-stops-ahead.js";
import { stopOrder, stopsAtOnce, type PlannedStop } from "./stop-order.js";

const DEFAULT_GRACE_SECONDS = 30;

interface StopInput {
  /** undefined for a pod that only the runtime still lists. */
  pod: Pod | undefined;
  observed: ObservedPod;
  now: SteadyTime;
  /** The end of the grace period. */
  deadline: SteadyTime;
  reason: string;
  /** Claims of the pod are prepared: its final status waits for their end. */
  holdsClaims?: boolean;
  /** The runtime refuses to remove containers and sandboxes: the pod ends without it. */
  removalsRefused?: boolean;
}

export interface EndInput extends StopInput {
  /** Volumes are unmounted and the cgroup is removed. */
  released: boolean;
}

export interface TerminationInput extends StopInput {
  /** Everything except the runtime's objects has been cleaned up. */
  cleaned: boolean;
}

/** The grace period: the smaller of the API's and the caller's request, else the definition's; never below a second. */
export function effectiveGraceSeconds(pod: Pod | undefined, override?: number): number {
  const asked = [pod?.metadata.deletionGracePeriodSeconds, override].filter((grace) => grace !== undefined);
  const grace = asked.length > 0 ? Math.min(...asked) : pod?.spec.terminationGracePeriodSeconds;
  return boundedSeconds(grace ?? DEFAULT_GRACE_SECONDS, { least: 1, fallback: DEFAULT_GRACE_SECONDS });
}

/** True if a container of the pod runs, or may run. */
export function isUp(observed: ObservedPod): boolean {
  return observed.containers.some(isAlive) || readySandboxes(observed.sandboxes).length > 0;
}

/** A terminated pod that is still shown: its containers' records and logs are the evidence of its exit. */
export function planEnd(input: EndInput): Plan {
  const stops = stopSteps(input);
  if (stops.length > 0) return planOf(stops);
  return planOf(input.released && input.holdsClaims !== true ? [] : [{ kind: "release" }]);
}

export function planTermination(input: TerminationInput): Plan {
  return planOf(terminationSteps(input));
}

function planOf(steps: Step[]): Plan {
  return { steps, waiting: new Map(), finished: steps.length === 0 };
}

function terminationSteps(input: TerminationInput): Step[] {
  const { observed } = input;
  const stops = stopSteps(input);
  if (stops.length > 0) return stops;
  if (input.holdsClaims === true) return [{ kind: "release" }];
  if (!input.cleaned) return [{ kind: "clean-up" }];
  if (input.removalsRefused === true) return [];
  // The removal of a sandbox includes its containers; only a container without its sandbox is removed by itself.
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
  return [];
}

function stopSteps(input: StopInput): Step[] {
  const { observed, reason } = input;
  const alive = observed.containers.filter(({ state }) => mayBeStopped(state, input));
  if (alive.length > 0) return stops(input, alive);
  const ready = readySandboxes(observed.sandboxes);
  return ready.map((sandbox) => ({ kind: "stop-sandbox", sandboxId: sandbox.id, reason }));
}

function mayBeStopped(state: ContainerState, { removalsRefused = false }: StopInput): boolean {
  if (state === ContainerState.CONTAINER_CREATED) return !removalsRefused;
  return state !== ContainerState.CONTAINER_EXITED;
}

function stops(input: StopInput, alive: readonly ObservedContainer[]): Step[] {
  const graceOver = input.now >= input.deadline;
  const order = input.pod === undefined ? alive.map((status) => ({ status })) : stopOrder(input.pod, alive, graceOver);
  const graceSeconds = secondsLeft(input.deadline, input.now);
  const stops = order.map(({ status, after }: PlannedStop): Step => {
    const name = status.metadata?.name ?? "";
    // A container that never started has nothing to stop.
    if (status.state === ContainerState.CONTAINER_CREATED) {
      return { kind: "remove-container", containerId: status.id, name };
    }
    return {
      kind: "kill-container",
      containerId: status.id,
      name,
      graceSeconds,
      deadline: input.deadline,
      after,
      reason: input.reason,
    };
  });
  return [...stops, ...preStopsAhead(input.pod, alive, stopsAtOnce(order), input)];
}
