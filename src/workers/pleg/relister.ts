// Lists all sandboxes and containers and finds the pods that changed since the last time. One relist at a time.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { ContainerState, type PodSandboxState } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { containerIdOf, sandboxIdOf, type PodUid, podUid } from "../../shared/kubernetes/identifiers.js";
import { POD_UID_LABEL, type ListedPod } from "./pod-inspector.js";

type RelisterCri = Pick<CriClient, "listPodSandbox" | "listContainers">;

export interface RelistResult {
  /** Every pod the runtime has. */
  pods: Map<PodUid, ChangedPod>;
  /** Pods that differ from the relist before, those that vanished included. */
  changed: Map<PodUid, ChangedPod>;
  durationMs: number;
}

export interface ChangedPod extends ListedPod {
  /** Ids and states of all its objects, see signatureOf. */
  signature: string;
}

interface Stated<State> {
  id: string;
  state: State;
}
type StatedSandbox = Stated<PodSandboxState>;
type StatedContainer = Stated<ContainerState>;

/**
 * Equal for equal sets of objects in equal states, whether they were listed or inspected one by one. Containers in the
 * state created do not count. Main created them and requests an inspection after their start or its failure.
 */
export function signatureOf(sandboxes: readonly StatedSandbox[], containers: readonly StatedContainer[]): string {
  const text = (kind: string) => (object: StatedSandbox | StatedContainer) => `${kind}${object.state}${object.id}`;
  const begun = containers.filter(({ state }) => state !== ContainerState.CONTAINER_CREATED);
  if (sandboxes.length + begun.length === 0 && containers.length > 0) return "created";
  return [...sandboxes.map(text("s")), ...begun.map(text("c"))].sort().join("|");
}

export interface RelisterOptions {
  cri: RelisterCri;
  clock: Clock;
  deadlineMs: number;
  /** Pods that the last lists left out: their objects are not known, which does not mean that they are gone. */
  leftOut?: (() => readonly PodUid[]) | undefined;
}

/** The runtime has no object of the pod. */
export const GONE: ChangedPod = { sandboxIds: [], containerIds: [], signature: "" };

export class Relister {
  private signatures = new Map<PodUid, string>();

  constructor(private readonly options: RelisterOptions) {}

  /** Rejects with the CRI error when a list call fails; the next relist then reports what this one missed. */
  async relist(): Promise<RelistResult> {
    const startedAt = this.options.clock.monotonic();
    const deadline = { deadlineMs: this.options.deadlineMs };
    const [sandboxes, containers] = await Promise.all([
      this.options.cri.listPodSandbox({}, deadline),
      this.options.cri.listContainers({}, deadline),
    ]);
    const found = new Map<PodUid, { sandboxes: StatedSandbox[]; containers: StatedContainer[] }>();
    const entry = (labels: Record<string, string>) => {
      const label = labels[POD_UID_LABEL];
      // Objects without the label were not made by a kubelet.
      if (label === undefined) return undefined;
      const uid = podUid(label);
      const known = found.get(uid) ?? { sandboxes: [], containers: [] };
      found.set(uid, known);
      return known;
    };
    for (const sandbox of sandboxes.items) entry(sandbox.labels)?.sandboxes.push(sandbox);
    for (const container of containers.containers) entry(container.labels)?.containers.push(container);
    const pods = new Map<PodUid, ChangedPod>();
    for (const [uid, objects] of found) {
      pods.set(uid, {
        sandboxIds: objects.sandboxes.map(({ id }) => sandboxIdOf(id)),
        containerIds: objects.containers.map(({ id }) => containerIdOf(id)),
        signature: signatureOf(objects.sandboxes, objects.containers),
      });
    }
    for (const uid of this.options.leftOut?.() ?? []) {
      pods.set(uid, { ...GONE, signature: this.signatures.get(uid) ?? "" });
    }
    const changed = this.difference(pods);
    this.signatures = new Map([...pods].map(([uid, { signature }]) => [uid, signature]));
    return { pods, changed, durationMs: this.options.clock.monotonic() - startedAt };
  }

  private difference(pods: Map<PodUid, ChangedPod>): Map<PodUid, ChangedPod> {
    const changed = new Map<PodUid, ChangedPod>();
    for (const [uid, pod] of pods) if (this.signatures.get(uid) !== pod.signature) changed.set(uid, pod);
    for (const uid of this.signatures.keys()) if (!pods.has(uid)) changed.set(uid, GONE);
    return changed;
  }
}
