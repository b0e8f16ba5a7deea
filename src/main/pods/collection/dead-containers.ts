// Selects exited containers and old sandboxes beyond the limits, of pods that keep running. Pure. The termination of an
// unwanted pod removes its own remains.
// Invariant: only exited containers are chosen, and never the newest of a name. That one is the record of the last run;
// without it the kubelet would start the container again.

import { ContainerState, PodSandboxState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod, ObservedContainer } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid, ContainerId, SandboxId } from "../../../shared/kubernetes/identifiers.js";
import { failedStartsBesideRuns } from "../../model/failed-starts.js";

/** By the flags of that name; negative: no limit. */
export interface DeadContainerPolicy {
  minimumContainerTTLMs: number;
  maximumDeadContainersPerContainer: number;
  maximumDeadContainers: number;
}

interface ChosenObject<Id> {
  uid: PodUid;
  id: Id;
  /** The container's name; empty for a sandbox. */
  name: string;
}

export interface Chosen {
  containers: ChosenObject<ContainerId>[];
  sandboxes: ChosenObject<SandboxId>[];
}

/** The ended containers of one name in one pod, newest first. */
interface Unit {
  uid: PodUid;
  name: string;
  dead: ObservedContainer[];
  /** 1 when the newest of them stays in any case. */
  kept: 0 | 1;
}

export function chooseDead(pods: Iterable<ObservedPod>, policy: DeadContainerPolicy, now: number): Chosen {
  const all = [...pods];
  const isOld = ageTest(policy.minimumContainerTTLMs, now);
  const units = all.flatMap((pod) => unitsOf(pod, isOld));
  const containers: ChosenObject<ContainerId>[] = [];
  const trim = (unit: Unit, limit: number): void => {
    for (const { id } of unit.dead.splice(Math.max(limit, unit.kept))) {
      containers.push({ uid: unit.uid, id, name: unit.name });
    }
  };
  const perContainer = policy.maximumDeadContainersPerContainer;
  if (perContainer >= 0) for (const unit of units) trim(unit, perContainer);
  const most = policy.maximumDeadContainers;
  if (most >= 0 && countOf(units) > most) {
    // Every unit gets the same share, one at least; then the oldest containers are removed, whichever unit has them.
    const share = Math.max(1, Math.floor(most / units.filter(({ dead }) => dead.length > 0).length));
    for (const unit of units) trim(unit, share);
    for (let over = countOf(units) - most; over > 0; over--) {
      const oldest = oldestOf(units);
      if (oldest === undefined) break;
      trim(oldest, oldest.dead.length - 1);
    }
  }
  return { containers, sandboxes: all.flatMap(emptySandboxes) };
}

/** All exited containers of terminated pods, for disk pressure: the pod records keep how they exited. */
export function chooseTerminated(pods: Iterable<ObservedPod>, minimumTTLMs: number, now: number): Chosen {
  const isOld = ageTest(minimumTTLMs, now);
  const all = [...pods];
  return {
    containers: all.flatMap(({ uid, containers }) =>
      containers
        .filter(({ state, createdAt }) => state === ContainerState.CONTAINER_EXITED && isOld(createdAt))
        .map(({ id, metadata }) => ({ uid, id, name: metadata?.name ?? "" })),
    ),
    sandboxes: all
      .filter(({ containers }) =>
        containers.every(({ state, createdAt }) => state === ContainerState.CONTAINER_EXITED && isOld(createdAt)),
      )
      .flatMap(({ uid, sandboxes }) =>
        sandboxes
          .filter(({ state }) => state === PodSandboxState.SANDBOX_NOTREADY)
          .map(({ id }) => ({ uid, id, name: "" })),
      ),
  };
}

/**
 * By the wall clock, as the runtime counts. Without a minimum age every container is old: a clock that was set back
 * shows moments to come, and dead containers would fill the disk until then.
 */
function ageTest(minimumTTLMs: number, now: number): (createdAt: bigint) => boolean {
  const before = BigInt(now - minimumTTLMs) * 1_000_000n;
  return (createdAt) => minimumTTLMs <= 0 || createdAt < before;
}

function unitsOf({ uid, containers }: ObservedPod, isOld: (createdAt: bigint) => boolean): Unit[] {
  const units = new Map<string, Unit>();
  const newestFirst = containers.toSorted((a, b) => (a.createdAt > b.createdAt ? -1 : 1));
  const seen = new Set<string>();
  const failedStarts = failedStartsBesideRuns(newestFirst);
  for (const status of newestFirst) {
    const name = status.metadata?.name ?? "";
    const newest = !seen.has(name);
    seen.add(name);
    if (status.state !== ContainerState.CONTAINER_EXITED || !isOld(status.createdAt)) continue;
    // Failed starts beside runs: the newest stays, and the pod's own plan removes the others.
    if (failedStarts.has(status)) continue;
    const unit = units.get(name) ?? { uid, name, dead: [], kept: newest ? 1 : 0 };
    unit.dead.push(status);
    units.set(name, unit);
  }
  return [...units.values()];
}

function countOf(units: readonly Unit[]): number {
  return units.reduce((sum, { dead }) => sum + dead.length, 0);
}

/** The unit with the oldest container that may go. */
function oldestOf(units: readonly Unit[]): Unit | undefined {
  let found: Unit | undefined;
  for (const unit of units) {
    if (unit.dead.length <= unit.kept) continue;
    const [mine, best] = [unit.dead.at(-1)?.createdAt ?? 0n, found?.dead.at(-1)?.createdAt];
    if (best === undefined || mine < best) found = unit;
  }
  return found;
}

/** NOTREADY sandboxes without containers, except the newest sandbox. */
function emptySandboxes({ uid, sandboxes, containers }: ObservedPod): ChosenObject<SandboxId>[] {
  const newestFirst = sandboxes.toSorted((a, b) => (a.createdAt > b.createdAt ? -1 : 1));
  return newestFirst.flatMap((sandbox, index) => {
    const next = newestFirst[index - 1];
    // A pod's sandboxes follow each other: a container was made in the newest one that was there before it.
    const occupied = containers.some(
      ({ createdAt }) => createdAt >= sandbox.createdAt && (next === undefined || createdAt < next.createdAt),
    );
    const down = sandbox.state === PodSandboxState.SANDBOX_NOTREADY;
    return next !== undefined && down && !occupied ? [{ uid, id: sandbox.id, name: "" }] : [];
  });
}
