// StopContainer, preceded by the Killing event and the preStop hook, both once per container; hook and stop
// share one deadline.

import type { SteadyTime } from "../../../shared/base/clock/moments.js";
import type { InspectHint } from "../../../shared/contracts/pleg.js";
import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import { CriNotFoundError } from "../../../shared/kubernetes/cri/errors.js";
import { forgetAllBut, type ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { secondsLeft } from "../../model/container-stop.js";
import { isRunning } from "../../model/observed-containers.js";
import type { KillContainerStep, PreStopStep } from "../../model/step.js";
import {
  containerFromAnnotations,
  containerStatus,
  definedContainer,
  hookTarget,
  podFromLabels,
} from "./hooks/hook-target.js";
import { noMemory, PreStops, type PreStopMemory } from "./hooks/pre-stops.js";
import type { NodeRuntime } from "./node-runtime.js";

/** Progress of stopping the containers of one pod. */
export class Stopping {
  readonly preStops: PreStops;
  private readonly announced = new Set<ContainerId>();

  constructor(
    private readonly runtime: NodeRuntime,
    memory: PreStopMemory = noMemory,
  ) {
    this.preStops = new PreStops(runtime, memory);
  }

  /** Forgets the containers that the runtime no longer has. */
  onObserved(observed: ObservedPod): void {
    forgetAllBut(this.announced, observed);
    this.preStops.onObserved(observed);
  }

  announce(pod: Pod, container: string, containerId: ContainerId, message: string): void {
    if (this.announced.has(containerId)) return;
    this.announced.add(containerId);
    this.runtime.events.pod(pod, { type: "Normal", reason: "Killing", message, container });
  }
}

export interface Kill {
  containerId: ContainerId;
  name: string;
  graceSeconds: number;
  /** The end of the grace period. */
  deadline: SteadyTime;
  /** Text of the Killing event. */
  message: string;
  withoutPreStop?: true | undefined;
}

export async function killContainer(
  runtime: NodeRuntime,
  stopping: Stopping,
  pod: Pod | undefined,
  step: KillContainerStep,
  signal: AbortSignal,
): Promise<InspectHint[]> {
  const { containerId, name, graceSeconds, deadline } = step;
  await stopOne(
    runtime,
    stopping,
    pod,
    {
      containerId,
      name,
      graceSeconds,
      deadline,
      message: killMessage(step),
      withoutPreStop: step.withoutPreStop ? true : undefined,
    },
    signal,
  );
  return [{ kind: "container", id: containerId }];
}

/**
 * The message of the Killing event. It gives a reason about the container itself, but not the reason for its whole
 * pod's end.
 * @internal
 */
export function killMessage({ name, reason }: Pick<KillContainerStep, "name" | "reason">): string {
  const own = reason.startsWith(`Container ${name} `) || reason.startsWith(`Init container ${name} `);
  return own ? reason : `Stopping container ${name}`;
}

export async function stopOne(
  runtime: NodeRuntime,
  stopping: Stopping,
  pod: Pod | undefined,
  kill: Kill,
  signal: AbortSignal,
): Promise<void> {
  const { containerId } = kill;
  const target = await identify(runtime, pod, kill, signal);
  if (target === undefined) return;
  stopping.announce(target.pod, kill.name, containerId, kill.message);
  const seconds = (await preStop(runtime, stopping, target, kill, signal)) ?? kill.graceSeconds;
  await unlessGone(runtime.cri.stopContainer({ containerId, timeout: BigInt(seconds) }, { signal }));
}

/**
 * Records the Killing event and runs the preStop hook; a later stop finds both done or joins them. If the hook used the
 * whole grace period, the stop signal is sent at once, before the container's turn.
 */
export async function runPreStopAhead(
  runtime: NodeRuntime,
  stopping: Stopping,
  pod: Pod | undefined,
  step: PreStopStep,
  signal: AbortSignal,
): Promise<InspectHint[]> {
  const { containerId, name, deadline } = step;
  const kill: Kill = { containerId, name, deadline, graceSeconds: 0, message: killMessage(step) };
  const target = await identify(runtime, pod, kill, signal);
  if (target === undefined) return [];
  stopping.announce(target.pod, name, containerId, kill.message);
  const left = await preStop(runtime, stopping, target, kill, signal);
  if (left === undefined || runtime.clock.steady() < deadline) return [];
  await unlessGone(runtime.cri.stopContainer({ containerId, timeout: BigInt(left) }, { signal }));
  return [{ kind: "container", id: containerId }];
}

interface KillTarget {
  pod: Pod;
  container: Container;
}

/** Pod and container by definition, else by the container's labels; undefined if the container is removed. */
async function identify(
  runtime: NodeRuntime,
  pod: Pod | undefined,
  kill: Kill,
  signal: AbortSignal,
): Promise<KillTarget | undefined> {
  const defined = definedContainer(pod, kill.name);
  if (pod !== undefined && defined !== undefined) return { pod, container: defined };
  const status = await containerStatus(runtime, kill.containerId, signal);
  if (status === undefined) return undefined;
  return { pod: pod ?? podFromLabels(status), container: containerFromAnnotations(status) };
}

/** The seconds that are left after a hook; undefined when none was run. */
async function preStop(
  runtime: NodeRuntime,
  { preStops }: Stopping,
  { pod, container }: KillTarget,
  { containerId, deadline, withoutPreStop }: Kill,
  signal: AbortSignal,
): Promise<number | undefined> {
  const handler = container.lifecycle?.preStop;
  if (handler === undefined || withoutPreStop === true || preStops.isOver(containerId)) return undefined;
  if (!preStops.isRunning(containerId)) {
    if (deadline <= runtime.clock.steady()) return undefined;
    const status = await containerStatus(runtime, containerId, signal);
    if (status === undefined || !isRunning(status)) return undefined;
  }
  await preStops.run(hookTarget(runtime, pod, container, containerId), handler, deadline, signal);
  return secondsLeft(deadline, runtime.clock.steady());
}

/**
 * Stops and removals are repeated until they succeed. NotFound counts as success: the object was stopped or
 * removed before.
 */
export async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof CriNotFoundError)) throw error;
  }
}
