// Inspects pods one by one on request, in parallel across pods. Invariant: at most one inspection of a pod is
// under way; a request that comes meanwhile runs another afterwards; a pod that hangs holds a lane for slow pods only;
// events without end of a pod with many containers cause one inspection in each gap of its size.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import { mapAtMost } from "../../shared/base/turns/map-at-most.js";
import type { InspectHint } from "../../shared/contracts/pleg.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { CriNotFoundError } from "../../shared/kubernetes/cri/errors.js";
import { ContainerState } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { inspectionGapMs } from "../../shared/kubernetes/cri/inspection-gap.js";
import {
  newestFirst,
  type ObservedPod,
  type ObservedContainer,
  type ObservedSandbox,
  observedContainer,
  observedSandbox,
} from "../../shared/kubernetes/cri/observed-pod.js";
import {
  type PodUid,
  containerIdOf,
  sandboxIdOf,
  type ContainerId,
  type SandboxId,
} from "../../shared/kubernetes/identifiers.js";
import { LANE_SLOW, LANE_FAST, Lanes, type Lane } from "./lanes.js";
import { stableContainer, stableSandbox } from "./stable-status.js";

/**
 * Status calls of one pod at once. Their deadlines must not run while thousands of others wait in the runtime, and a
 * connection with a thousand calls under way may never return another response.
 */
const CALLS_AT_ONCE = 8;

export const POD_UID_LABEL = "io.kubernetes.pod.uid";

/** CRI calls of an inspection. */
type InspectorCri = Pick<CriClient, "listPodSandbox" | "listContainers" | "podSandboxStatus" | "containerStatus">;

interface InspectorOutcome {
  observed(pod: ObservedPod): void;
  failed(uid: PodUid, generation: number, error: unknown): void;
}

export interface InspectorOptions {
  cri: InspectorCri;
  clock: Clock;
  /** Deadline of each call of an inspection, milliseconds. */
  deadlineMs: number;
  /** Inspections under way at once. */
  concurrency: number;
  outcome: InspectorOutcome;
}

interface Labelled {
  labels: Readonly<Record<string, string>>;
}

/** The runtime returned the status of another object. */
function foreignStatusError(
  kind: string,
  id: string,
  { id: answered, labels }: Labelled & { id: string },
): OperatorError {
  const of = `${kind} ${answered.slice(0, 64)} of pod ${(labels[POD_UID_LABEL] ?? "").slice(0, 64)}`;
  return new OperatorError(
    `the runtime responded to a request for ${kind} ${id.slice(0, 64)} with the status of ${of}`,
  );
}

interface Entry {
  uid: PodUid;
  generation: number;
  sandboxIds: Set<SandboxId>;
  containerIds: Set<ContainerId>;
  /** Exited containers never change again: their status is requested once. */
  exited: Map<ContainerId, ObservedContainer>;
  /** Sandboxes as last inspected. */
  sandboxes: Map<SandboxId, ObservedSandbox>;
  /** Something other than a call of main to a container may have changed a sandbox: their status is requested. */
  sandboxesDue: boolean;
  /** Whether the id sets are known to be complete. */
  listed: boolean;
  /** An object was not found in this inspection, though nothing removed it by a request. */
  missed: boolean;
  running: boolean;
  again: boolean;
  /** End of the last inspection; by a monotonic clock, ms. */
  endedAt: number;
  /** Events are waiting for the gap between two inspections to pass. */
  gap: Timer | undefined;
  /** An event of the pod came while its inspection ran. */
  eventDue: boolean;
  /** The last inspection ran into its deadline: the pod waits in the slow lane until one succeeds. */
  slow: boolean;
}

/** Ids of one pod as a list call gave them. */
export interface ListedPod {
  sandboxIds: SandboxId[];
  containerIds: ContainerId[];
}

export class PodInspector {
  private readonly entries = new Map<PodUid, Entry>();
  /** After the first relist an unknown pod is new: it consists only of the objects that main created. */
  private knowsAll = false;
  private readonly lanes: Lanes;

  constructor(private readonly options: InspectorOptions) {
    this.lanes = new Lanes({
      [LANE_FAST]: options.concurrency,
      [LANE_SLOW]: Math.max(1, Math.floor(options.concurrency / 4)),
    });
  }

  /**
   * Requests an inspection. `hints` are objects that main created or removed. A call to a container alone does not
   * change its sandbox. A start of the container proves that, and a stop does not touch the sandbox. An event or the
   * next relist, both without hints, find an exit of the sandbox meanwhile.
   */
  request(uid: PodUid, generation: number, hints: readonly InspectHint[]): void {
    const entry = this.entry(uid);
    if (hints.length === 0 || hints.some(({ kind }) => kind !== "container")) entry.sandboxesDue = true;
    entry.generation = Math.max(entry.generation, generation);
    for (const hint of hints) applyHint(entry, hint);
    this.schedule(entry);
  }

  /** An event of the pod: inspects it at once, or when the gap since the last inspection has passed. */
  onEvent(uid: PodUid): void {
    const entry = this.entry(uid);
    entry.sandboxesDue = true;
    if (entry.running) entry.eventDue = true;
    else this.scheduleAfterGap(entry);
  }

  /** No inspection begins any more by itself. */
  stop(): void {
    for (const { gap } of this.entries.values()) gap?.cancel();
  }

  /**
   * Takes over the ids that a relist found for a pod, and inspects it. Ids are only added: main may have created an
   * object after the list was taken. A removed object returns NotFound, so cached exited containers that are no longer
   * listed are inspected again.
   */
  relisted(uid: PodUid, ids: ListedPod): void {
    const entry = this.entry(uid);
    for (const id of ids.sandboxIds) entry.sandboxIds.add(id);
    for (const id of ids.containerIds) entry.containerIds.add(id);
    const listed = new Set(ids.containerIds);
    for (const id of entry.exited.keys()) if (!listed.has(id)) entry.exited.delete(id);
    entry.listed = true;
    entry.sandboxesDue = true;
    this.schedule(entry);
  }

  /** relisted() has reported every pod of the runtime. */
  onRelisted(): void {
    this.knowsAll = true;
  }

  /** Pods with an inspection under way or waiting. */
  get pending(): number {
    let count = 0;
    for (const entry of this.entries.values()) if (entry.running) count++;
    return count;
  }

  has(uid: PodUid): boolean {
    return this.entries.has(uid);
  }

  /** Forgets a pod that the runtime no longer has and main no longer requests. */
  forget(uid: PodUid): void {
    const entry = this.entries.get(uid);
    if (entry === undefined || entry.running) return;
    entry.gap?.cancel();
    this.entries.delete(uid);
  }

  private entry(uid: PodUid): Entry {
    let entry = this.entries.get(uid);
    if (entry === undefined) {
      entry = {
        uid,
        generation: 0,
        sandboxIds: new Set(),
        containerIds: new Set(),
        exited: new Map(),
        sandboxes: new Map(),
        sandboxesDue: true,
        listed: this.knowsAll,
        missed: false,
        running: false,
        again: false,
        endedAt: -Infinity,
        gap: undefined,
        eventDue: false,
        slow: false,
      };
      this.entries.set(uid, entry);
    }
    return entry;
  }

  private schedule(entry: Entry): void {
    entry.gap?.cancel();
    entry.gap = undefined;
    if (entry.running) {
      entry.again = true;
      return;
    }
    entry.running = true;
    const lane: Lane = entry.slow ? LANE_SLOW : LANE_FAST;
    this.lanes.run(lane, () => this.run(entry));
  }

  private scheduleAfterGap(entry: Entry): void {
    const { clock } = this.options;
    const waitMs = entry.endedAt + inspectionGapMs(entry.containerIds.size) - clock.monotonic();
    if (waitMs <= 0) this.schedule(entry);
    else entry.gap ??= clock.after(waitMs, () => this.schedule(entry)).unref();
  }

  private async run(entry: Entry): Promise<void> {
    entry.again = entry.eventDue = false;
    const generation = entry.generation;
    try {
      const pod = await this.inspect(entry, generation);
      entry.slow = false;
      this.options.outcome.observed(pod);
    } catch (error) {
      entry.slow = true;
      entry.sandboxesDue = true;
      this.options.outcome.failed(entry.uid, generation, error);
    } finally {
      entry.running = false;
      entry.endedAt = this.options.clock.monotonic();
      if (wantsAnother(entry)) this.schedule(entry);
      else if (awaitsGap(entry)) this.scheduleAfterGap(entry);
      else if (isOver(entry)) this.entries.delete(entry.uid);
    }
  }

  private async inspect(entry: Entry, generation: number): Promise<ObservedPod> {
    const observedAt = this.options.clock.now();
    if (!entry.listed) await this.list(entry);
    if (entry.sandboxesDue) entry.sandboxes.clear();
    entry.sandboxesDue = false;
    entry.missed = false;
    let [sandboxes, containers] = await this.statuses(entry);
    // The runtime lost an object of the pod: containers that exited before may be lost, too. Their statuses are known,
    // and the older run would show as the newest.
    if (missedOne(entry) && entry.exited.size > 0) {
      entry.exited.clear();
      [sandboxes, containers] = await this.statuses(entry);
    }
    const observed: ObservedPod = {
      uid: entry.uid,
      namespace: "",
      name: "",
      sandboxes: sandboxes.filter((status) => status !== undefined).sort(newestFirst),
      containers: containers.filter((status) => status !== undefined).sort(newestFirst),
      generation,
      observedAt,
    };
    const labels = observed.sandboxes[0]?.labels ?? observed.containers[0]?.labels ?? {};
    observed.namespace = labels["io.kubernetes.pod.namespace"] ?? "";
    observed.name = labels["io.kubernetes.pod.name"] ?? "";
    return observed;
  }

  private statuses(entry: Entry): Promise<[(ObservedSandbox | undefined)[], (ObservedContainer | undefined)[]]> {
    return Promise.all([
      mapAtMost(CALLS_AT_ONCE, entry.sandboxIds, (id) => this.sandbox(entry, id)),
      mapAtMost(CALLS_AT_ONCE, entry.containerIds, (id) => this.container(entry, id)),
    ]);
  }

  private async list(entry: Entry): Promise<void> {
    const labelSelector = { [POD_UID_LABEL]: entry.uid };
    const deadline = { deadlineMs: this.options.deadlineMs };
    const [sandboxes, containers] = await Promise.all([
      this.options.cri.listPodSandbox({ filter: { labelSelector } }, deadline),
      this.options.cri.listContainers({ filter: { labelSelector } }, deadline),
    ]);
    // A runtime may ignore the filter or mix up its replies. Only objects with the pod's UID are the pod's.
    const isOwn = ({ labels }: Labelled): boolean => labels[POD_UID_LABEL] === entry.uid;
    for (const { id } of sandboxes.items.filter(isOwn)) entry.sandboxIds.add(sandboxIdOf(id));
    for (const { id } of containers.containers.filter(isOwn)) entry.containerIds.add(containerIdOf(id));
    entry.listed = true;
  }

  private async sandbox(entry: Entry, podSandboxId: SandboxId): Promise<ObservedSandbox | undefined> {
    const known = entry.sandboxes.get(podSandboxId);
    if (known !== undefined) return known;
    try {
      const reply = await this.options.cri.podSandboxStatus({ podSandboxId }, { deadlineMs: this.options.deadlineMs });
      if (reply.status === undefined) return undefined;
      checkAnswer("sandbox", entry.uid, podSandboxId, reply.status);
      const status = observedSandbox(stableSandbox(reply.status));
      entry.sandboxes.set(podSandboxId, status);
      return status;
    } catch (error) {
      if (!(error instanceof CriNotFoundError)) throw error;
      entry.sandboxIds.delete(podSandboxId);
      entry.missed = true;
      return undefined;
    }
  }

  private async container(entry: Entry, containerId: ContainerId): Promise<ObservedContainer | undefined> {
    const known = entry.exited.get(containerId);
    if (known !== undefined) return known;
    try {
      const reply = await this.options.cri.containerStatus({ containerId }, { deadlineMs: this.options.deadlineMs });
      if (reply.status === undefined) return undefined;
      checkAnswer("container", entry.uid, containerId, reply.status);
      const status = observedContainer(stableContainer(reply.status));
      if (status.state === ContainerState.CONTAINER_EXITED) entry.exited.set(containerId, status);
      return status;
    } catch (error) {
      if (!(error instanceof CriNotFoundError)) throw error;
      entry.containerIds.delete(containerId);
      entry.missed = true;
      return undefined;
    }
  }
}

/**
 * Refuses the status of another object. It proves neither that the object exists nor that it is removed, so the
 * inspection fails. Runtimes also resolve the beginning of an id. Without this check the kubelet would stop another
 * pod's container under the UID of a pod that does not exist.
 * @throws OperatorError
 */
function checkAnswer(kind: "sandbox" | "container", uid: PodUid, id: string, status: Labelled & { id: string }): void {
  if (status.id !== id || status.labels[POD_UID_LABEL] !== uid) throw foreignStatusError(kind, id, status);
}

/** A request may have come while the inspection ran. */
function wantsAnother(entry: Entry): boolean {
  return entry.again;
}

/** A call of the inspection may have said so. */
function missedOne(entry: Entry): boolean {
  return entry.missed;
}

/** An event may have come while the inspection ran. */
function awaitsGap(entry: Entry): boolean {
  return entry.eventDue;
}

/** The runtime has no object of the pod, and main has no request for it. */
function isOver(entry: Entry): boolean {
  return entry.generation === 0 && entry.listed && entry.sandboxIds.size + entry.containerIds.size === 0;
}

function applyHint(entry: Entry, hint: InspectHint): void {
  switch (hint.kind) {
    case "sandbox":
      entry.sandboxIds.add(hint.id);
      return;
    case "container":
      entry.containerIds.add(hint.id);
      return;
    case "sandbox-removed":
      entry.sandboxIds.delete(hint.id);
      entry.sandboxes.delete(hint.id);
      // A removed sandbox removes its containers: with the last one all of them are removed.
      if (entry.listed && entry.sandboxIds.size === 0) {
        entry.containerIds.clear();
        entry.exited.clear();
      }
      return;
    case "container-removed":
      entry.containerIds.delete(hint.id);
      entry.exited.delete(hint.id);
      return;
    case "recheck":
      entry.exited.clear();
      return;
    case "relist":
      entry.exited.clear();
      entry.listed = false;
      return;
  }
}
