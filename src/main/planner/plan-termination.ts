// The planner for a pod that is ended: containers first, sandboxes after them. A pod that stays to be seen is released
// then (volumes, cgroup); of one that must go everything goes. Pure; converges to nothing.
import type { Pod } from "../../shared/api/pod.js";
import { boundedSeconds } from "../../shared/clock/durations.js";
import { ContainerState, type ContainerStatus } from "../../shared/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import { preStopsAhead } from "./pre-stops-ahead.js";
import type { Plan, Step } from "../model/step.js";
import { nextToStop } from "./stop-order.js";
import { isAlive, readySandboxes } from "../model/observed-containers.js";
import { MIN_STOP_SECONDS } from "../model/grace.js";

const DEFAULT_GRACE_SECONDS = 30;

interface StopInput {
  /** undefined for a pod that only the runtime still knows. */
  pod: Pod | undefined;
  observed: ObservedPod;
  /** By the steady clock. */
  now: number;
  /** When the grace ends, by the steady clock. */
  deadline: number;
  reason: string;
}

export interface EndInput extends StopInput {
  /** Volumes and cgroup are down. */
  released: boolean;
}

export interface TerminationInput extends StopInput {
  /** Everything but the runtime's objects has been cleaned up. */
  cleaned: boolean;
}

/** Section 9: the smallest of what the API and the caller ask for, else the definition's; never below a second. */
export function effectiveGraceSeconds(pod: Pod | undefined, override?: number): number {
  const asked = [pod?.metadata.deletionGracePeriodSeconds, override].filter((grace) => grace !== undefined);
  const grace = asked.length > 0 ? Math.min(...asked) : pod?.spec.terminationGracePeriodSeconds;
  return boundedSeconds(grace ?? DEFAULT_GRACE_SECONDS, { least: 1, fallback: DEFAULT_GRACE_SECONDS });
}

/** Something of the pod runs, or can't be ruled out to. */
export function isUp(observed: ObservedPod): boolean {
  return observed.containers.some(isAlive) || readySandboxes(observed.sandboxes).length > 0;
}

/** A pod that is over but stays: its containers' records and logs tell how it ended. */
export function planEnd(input: EndInput): Plan {
  const stops = stopSteps(input);
  if (stops.length > 0) return planOf(stops);
  return planOf(input.released ? [] : [{ kind: "release" }]);
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

function stopSteps(input: StopInput): Step[] {
  const { observed, reason } = input;
  const alive = observed.containers.filter((status) => status.state !== ContainerState.CONTAINER_EXITED);
  if (alive.length > 0) return stops(input, alive);
  const ready = readySandboxes(observed.sandboxes);
  return ready.map((sandbox) => ({ kind: "stop-sandbox", sandboxId: sandbox.id, reason }));
}

function stops(input: StopInput, alive: readonly ContainerStatus[]): Step[] {
  const stopping = input.pod === undefined ? alive : nextToStop(input.pod, alive, input.now >= input.deadline);
  const left = Math.ceil((input.deadline - input.now) / 1000);
  const stops = stopping.map((status): Step => {
    const name = status.metadata?.name ?? "";
    // A container that never started has nothing to stop.
    if (status.state === ContainerState.CONTAINER_CREATED) {
      return { kind: "remove-container", containerId: status.id, name };
    }
    return {
      kind: "kill-container",
      containerId: status.id,
      name,
      graceSeconds: Math.max(left, MIN_STOP_SECONDS),
      deadline: input.deadline,
      reason: input.reason,
    };
  });
  return [...stops, ...preStopsAhead(input.pod, alive, stopping, input)];
}
