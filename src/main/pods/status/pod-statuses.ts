// The statuses of all pods of the node. A change of a pod computes its status; batches are published to the server
// thread. Invariant: a published pod is the newest computed one. Equal statuses are published once. An exit is never
// published without the container's termination message. The final status of a pod is published before the pod is
// removed.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { forEachIsolated } from "../../../shared/base/turns/for-each-isolated.js";
import { finishInTurns, type LoopShare } from "../../../shared/base/turns/loop-share.js";
import { isConditionTrue, type PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import { isStaticPod, type Pod, podDescription } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { isLargePod } from "../../model/large-pod.js";
import type { PodDelta } from "../../model/pod-delta.js";
import type { PodEventStream } from "../../model/pod-events.js";
import type { PodFailure } from "../../model/refusal.js";
import { statusText, textsAhead } from "../../model/status-text.js";
import { computeAhead, computePodStatus, rejectedPodStatus, type StatusInput } from "./compute-pod-status.js";
import { finalStatus, reportableStatus } from "./final-status.js";
import { withGenerationDigits } from "./generation-digits.js";
import type { HostIPsChange } from "./host-ips.js";
import { withForeign } from "./manager/shown-status.js";
import { statusInput, type StatusSettings, type StatusUpdate } from "./status-input.js";
import type { TerminationReader } from "./termination-reader.js";

export interface PodStatusesDeps extends StatusSettings {
  clock: Clock;
  /** Shares main's event loop between the pods. */
  loop: Pick<LoopShare, "turn">;
  log: Logger;
  terminations: Pick<TerminationReader, "messagesOf" | "forget">;
  /** The status of the pod in the API server; absent: there is no server. */
  apiStatus?: (uid: PodUid) => PodStatus | undefined;
  publish: (delta: PodDelta) => void;
  events: Pick<PodEventStream, "emit">;
}

/** Changes within this time reach the server thread together. */
const BATCH_MS = 2;

interface Entry {
  pod: Pod;
  status: PodStatus;
  text: string;
  started: boolean;
  /** It is the status the pod ended with. */
  final: boolean;
}

export class PodStatuses {
  private readonly entries = new Map<PodUid, Entry>();
  private readonly changed = new Set<PodUid>();
  private readonly removed = new Set<PodUid>();
  /** The newest update of a pod that waits for messages being read. */
  private readonly held = new Map<PodUid, StatusUpdate>();
  /** The newest update of each pod. */
  private readonly newest = new Map<PodUid, StatusUpdate>();
  /** Pods to be forgotten once their termination messages are read. */
  private readonly leaving = new Set<PodUid>();
  /** The last status of removed pods: reported in one batch, deleted in the next. */
  private readonly last = new Map<PodUid, Pod>();
  /** Large pods whose update takes turns of the loop now. */
  private readonly preparing = new Set<PodUid>();
  private timer: Timer | undefined;

  constructor(private readonly deps: PodStatusesDeps) {}

  /** The pod with its last computed status. */
  get(uid: PodUid): Pod | undefined {
    const entry = this.entries.get(uid);
    return entry === undefined ? undefined : withStatus(entry);
  }

  all(): Pod[] {
    return [...this.entries.values()].map(withStatus);
  }

  /** A pod is known before anything of it runs; `startTime` is for a pod without a status. */
  accept(pod: Pod, startTime: string): void {
    const { uid } = pod.metadata;
    if (this.leaving.has(uid)) this.drop(uid);
    const known = this.entries.get(uid)?.status ?? this.deps.apiStatus?.(uid);
    this.put(pod, { phase: "Pending", startTime, qosClass: this.deps.qosClass(pod), ...known });
  }

  /** A terminated pod runs again: its final status is no longer its status. */
  acceptAgain(pod: Pod, startTime: string): void {
    this.held.delete(pod.metadata.uid);
    this.newest.delete(pod.metadata.uid);
    this.put(pod, { phase: "Pending", startTime, qosClass: this.deps.qosClass(pod) }, { final: false });
  }

  /** Restores the status of a pod that terminated under an earlier kubelet process. */
  restore(pod: Pod, status: PodStatus): void {
    this.newest.delete(pod.metadata.uid);
    this.put(pod, status, { final: true });
    this.deps.events.emit("statusComputed", { pod, status });
  }

  /** Admission rejected the pod; no container of it runs. */
  reject(pod: Pod, { reason, message }: PodFailure): void {
    this.held.delete(pod.metadata.uid);
    this.newest.delete(pod.metadata.uid);
    const { generation } = pod.metadata;
    const status = rejectedPodStatus(reason, message, this.deps.qosClass(pod), this.deps.clock.now());
    this.store(
      pod,
      omitUndefined<PodStatus>({ ...status, observedGeneration: generation ?? status.observedGeneration }),
    );
  }

  /**
   * Computes the statuses of the containers of a large pod in turns of the loop; the next update finds them. Never
   * throws: the update does.
   */
  async prepare(pod: Pod, updateOf: () => StatusUpdate): Promise<void> {
    if (!isLargePod(pod)) return;
    try {
      const update = updateOf();
      const computed = this.inputOf(update);
      if (computed === undefined) return;
      const { loop } = this.deps;
      await finishInTurns(computeAhead(computed), loop);
      if (!update.ended) return;
      // All containers change at once.
      await loop.turn();
      const status = computePodStatus(computed);
      await loop.turn();
      await finishInTurns(textsAhead(this.finalOf(computed, status)), loop);
    } catch (error) {
      this.logFailure({ pod }, error);
    }
  }

  update(input: StatusUpdate): void {
    const { restarting, mayRun, ended } = input;
    const { uid } = input.pod.metadata;
    this.newest.set(uid, input);
    const computedFrom = this.inputOf(input);
    if (computedFrom === undefined) {
      this.held.set(uid, input);
      return;
    }
    this.held.delete(uid);
    const { pod, previous } = computedFrom;
    const entry = this.entries.get(uid);
    const computed = computePodStatus(computedFrom);
    const status = ended ? this.finalOf(computedFrom, computed) : reportableStatus(previous, computed, mayRun);
    const running = status.phase === "Running" && (status.containerStatuses ?? []).every((one) => one.state.running);
    if (running && entry?.started === false) this.deps.events.emit("started", { pod: input.pod });
    const marks = { started: running, final: ended, unpublished: isBetweenRuns(status, pod, restarting) };
    this.store(this.deps.resize(uid).desired ?? input.pod, status, marks);
    if (ended) this.deps.events.emit("statusFinal", { pod: input.pod, status });
  }

  private finalOf({ pod, now }: StatusInput, computed: PodStatus): PodStatus {
    return finalStatus(pod, computed, isStaticPod(pod), now);
  }

  /** undefined: a termination message is still being read. */
  private inputOf(input: StatusUpdate): StatusInput | undefined {
    const { uid } = input.pod.metadata;
    const api = this.deps.apiStatus?.(uid);
    const pod = api === undefined ? input.pod : { ...input.pod, status: api };
    const terminationMessages = this.deps.terminations.messagesOf(pod, input.observed);
    if (terminationMessages === undefined) return undefined;
    const own = this.entries.get(uid)?.status;
    const previous = own === undefined ? undefined : withForeign(own, api);
    return statusInput(this.deps, { update: input, pod, previous, terminationMessages });
  }

  /** The pod's volumes are set up: it may be ready to start containers. */
  onVolumesSetUp(uid: PodUid): void {
    const hasSandbox = (this.newest.get(uid)?.observed.sandboxes.length ?? 0) > 0;
    if (hasSandbox && !isConditionTrue(this.get(uid)?.status, "PodReadyToStartContainers")) this.refresh(uid);
  }

  /** A probe result of the pod changed: computes the status again from the same state. Never throws. */
  refresh(uid: PodUid): void {
    const input = this.newest.get(uid);
    if (input !== undefined) this.updateIsolated(input);
  }

  /**
   * The node's addresses have changed from `before`; `guessed`: the earlier addresses should not have been reported.
   */
  hostIPsChanged({ before, guessed }: Pick<HostIPsChange, "before" | "guessed">): void {
    for (const input of [...this.newest.values()]) {
      if (input.ended) continue;
      const entry = this.entries.get(input.pod.metadata.uid);
      // A pod on the node's network keeps its addresses, except those that were empty.
      if (guessed && entry !== undefined && input.pod.spec.hostNetwork === true) {
        const status = { ...entry.status };
        if (before.includes(status.podIP ?? "")) {
          delete status.podIP;
          delete status.podIPs;
        }
        entry.status = status;
      }
      this.updateIsolated(input);
    }
  }

  /** The pod is shown in another form, although its status is the same. */
  republish(uid: PodUid): void {
    if (!this.entries.has(uid)) return;
    this.changed.add(uid);
    this.schedule();
  }

  /** The termination messages of the pod's containers were read. */
  onMessageRead(uid: PodUid): void {
    const input = this.held.get(uid);
    if (input !== undefined) this.updateIsolated(input);
    this.dropIfRead(uid);
  }

  /** The pod was removed: it is no longer shown after its last status was shown. */
  forget(uid: PodUid): void {
    if (this.held.get(uid)?.ended === true) this.leaving.add(uid);
    else this.drop(uid);
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }

  /** An update outside a pass of the pod. Its error concerns no other pod, and the next pass updates again. */
  private updateIsolated(input: StatusUpdate): void {
    if (isLargePod(input.pod)) void this.updateInTurns(input);
    else this.updateNow(input);
  }

  /** Updates that arrive meanwhile are in this one. Never rejects. */
  private async updateInTurns(input: StatusUpdate): Promise<void> {
    const { uid } = input.pod.metadata;
    if (this.preparing.has(uid)) return;
    this.preparing.add(uid);
    await this.prepare(input.pod, () => input);
    this.preparing.delete(uid);
    const newest = this.newest.get(uid);
    if (newest === undefined) return;
    this.updateNow(newest);
    this.dropIfRead(uid);
  }

  private updateNow(input: StatusUpdate): void {
    forEachIsolated(
      [input],
      (one) => this.update(one),
      (error) => this.logFailure(input, error),
    );
  }

  private logFailure({ pod }: Pick<StatusUpdate, "pod">, error: unknown): void {
    this.deps.log.error(
      { pod: pod.metadata.uid, err: error },
      `cannot compute the status of ${podDescription(pod)}: ${messageOf(error)}`,
    );
  }

  private dropIfRead(uid: PodUid): void {
    if (this.leaving.has(uid) && !this.held.has(uid)) this.drop(uid);
  }

  private drop(uid: PodUid): void {
    this.leaving.delete(uid);
    this.held.delete(uid);
    this.newest.delete(uid);
    const entry = this.entries.get(uid);
    if (entry === undefined) return;
    this.entries.delete(uid);
    this.deps.terminations.forget(uid);
    if (this.changed.delete(uid) && entry.final) this.last.set(uid, withStatus(entry));
    this.removed.add(uid);
    this.schedule();
  }

  /** Stores the status and reports it; a new phase also in the log. */
  private store(
    pod: Pod,
    status: PodStatus,
    { unpublished = false, ...marks }: Partial<Pick<Entry, "started" | "final">> & { unpublished?: boolean } = {},
  ): void {
    const { uid } = pod.metadata;
    const previous = this.entries.get(uid)?.status.phase;
    if (previous !== undefined && previous !== status.phase) {
      this.deps.log.info({ pod: uid, phase: status.phase }, `${podDescription(pod)}: ${previous} → ${status.phase}`);
    }
    if (this.put(pod, status, marks) && !unpublished) this.deps.events.emit("statusComputed", { pod, status });
  }

  /** @returns true when pod or status differ from the last ones */
  private put(pod: Pod, status: PodStatus, marks: Partial<Pick<Entry, "started" | "final">> = {}): boolean {
    const { uid } = pod.metadata;
    const text = statusText(withGenerationDigits(status, pod));
    const entry = this.entries.get(uid);
    const same = entry?.text === text && entry.pod === pod;
    const started = entry?.started === true || marks.started === true;
    this.entries.set(uid, { pod, status, text, started, final: marks.final ?? entry?.final ?? false });
    if (same) return false;
    this.deps.events.emit("statusChanged", { pod, status });
    this.removed.delete(uid);
    this.changed.add(uid);
    this.schedule();
    return true;
  }

  private schedule(): void {
    this.timer ??= this.deps.clock.after(BATCH_MS, () => {
      this.timer = undefined;
      for (const uid of this.changed) this.last.delete(uid);
      const shown = [...this.changed].map((uid) => this.get(uid)).filter((pod) => pod !== undefined);
      const set = [...this.last.values(), ...shown];
      const removed = [...this.removed].filter((uid) => !this.last.has(uid));
      for (const uid of removed) this.removed.delete(uid);
      this.changed.clear();
      this.last.clear();
      this.deps.publish({ set, removed });
      if (this.removed.size > 0) this.schedule();
    });
  }
}

/**
 * A container was stopped for a restart that its restart policy would not make after such an exit. Its exit is not
 * reported, because the API server refuses a container that runs again after a final exit.
 */
function isBetweenRuns(
  { containerStatuses = [] }: PodStatus,
  { spec }: Pod,
  restarting?: ReadonlySet<string>,
): boolean {
  if (restarting === undefined || (spec.restartPolicy ?? "Always") === "Always") return false;
  return containerStatuses.some(({ name, state }) => state.terminated !== undefined && restarting.has(name));
}

function withStatus({ pod, status }: Entry): Pod {
  return { ...pod, status };
}
