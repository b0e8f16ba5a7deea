// Lists all sandboxes and containers and finds the pods that changed since the last time. One relist at a time.
import type { Clock } from "../../shared/clock/clock.js";
import type { CriClient } from "../../shared/cri/client.js";
import { POD_UID_LABEL, type ListedPod } from "./pod-inspector.js";

export type RelisterCri = Pick<CriClient, "listPodSandbox" | "listContainers">;

export interface RelistResult {
  /** Every pod the runtime has. */
  pods: Map<string, ListedPod>;
  /** Pods that differ from the relist before, those that vanished included. */
  changed: Map<string, ListedPod>;
  durationMs: number;
}

export interface RelisterOptions {
  cri: RelisterCri;
  clock: Clock;
  deadlineMs: number;
}

const GONE: ListedPod = { sandboxIds: [], containerIds: [] };

export class Relister {
  private signatures = new Map<string, string>();

  constructor(private readonly options: RelisterOptions) {}

  /** Rejects with the CRI error when a list call fails; the next relist then reports what this one missed. */
  async relist(): Promise<RelistResult> {
    const startedAt = this.options.clock.monotonic();
    const deadline = { deadlineMs: this.options.deadlineMs };
    const [sandboxes, containers] = await Promise.all([
      this.options.cri.listPodSandbox({}, deadline),
      this.options.cri.listContainers({}, deadline),
    ]);
    const pods = new Map<string, ListedPod>();
    const signatures = new Map<string, string>();
    const note = (uid: string | undefined, text: string): ListedPod | undefined => {
      // Objects without the label were not made by a kubelet.
      if (uid === undefined) return undefined;
      signatures.set(uid, `${signatures.get(uid) ?? ""}|${text}`);
      let pod = pods.get(uid);
      if (pod === undefined) pods.set(uid, (pod = { sandboxIds: [], containerIds: [] }));
      return pod;
    };
    for (const sandbox of sandboxes.items.sort(byId)) {
      note(sandbox.labels[POD_UID_LABEL], `s${sandbox.state}${sandbox.id}`)?.sandboxIds.push(sandbox.id);
    }
    for (const container of containers.containers.sort(byId)) {
      note(container.labels[POD_UID_LABEL], `c${container.state}${container.id}`)?.containerIds.push(container.id);
    }
    const changed = this.difference(pods, signatures);
    this.signatures = signatures;
    return { pods, changed, durationMs: this.options.clock.monotonic() - startedAt };
  }

  private difference(pods: Map<string, ListedPod>, signatures: Map<string, string>): Map<string, ListedPod> {
    const changed = new Map<string, ListedPod>();
    for (const [uid, pod] of pods) if (this.signatures.get(uid) !== signatures.get(uid)) changed.set(uid, pod);
    for (const uid of this.signatures.keys()) if (!signatures.has(uid)) changed.set(uid, GONE);
    return changed;
  }
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
