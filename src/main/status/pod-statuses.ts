// The statuses of all pods of the node: computed when something of a pod changed, published in batches to the server
// thread. What must hold: a published pod is the newest computed one; equal statuses are published once; an exit is
// never published without the container's last words.
import type { Pod } from "../../shared/api/pod.js";
import { podDescription } from "../../shared/api/pod.js";
import type { PodStatus } from "../../shared/api/pod-status.js";
import type { Clock, Timer } from "../../shared/clock/clock.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Logger } from "../../shared/log/logger.js";
import type { StartError } from "./container-status.js";
import type { RestartGates } from "../sync/restart.js";
import type { RestartingAll } from "../sync/step.js";
import { computePodStatus } from "./compute-pod-status.js";
import type { ProbeResults } from "./probe-results.js";
import type { TerminationReader } from "./termination-reader.js";

export interface PodDelta {
  set: Pod[];
  /** UIDs. */
  removed: string[];
}

export interface PodStatusesDeps {
  clock: Clock;
  log: Logger;
  nodeIPs: readonly string[];
  /** Name of the runtime, "" until it has answered. */
  runtimeName: () => string;
  qosClass: (pod: Pod) => NonNullable<PodStatus["qosClass"]>;
  probes: ProbeResults;
  /** Absent: those of 1.36. */
  gates?: RestartGates;
  terminations: Pick<TerminationReader, "messagesOf" | "forget">;
  publish: (delta: PodDelta) => void;
  /** A pod's containers all run for the first time: milliseconds since the pod was first seen. */
  onStarted: (pod: Pod, sinceSeenMs: number) => void;
}

export interface StatusUpdate {
  pod: Pod;
  observed: ObservedPod;
  waiting: ReadonlyMap<string, StartError>;
  /** Nothing of the pod will start again. */
  final: boolean;
  /** The container whose postStart hook is under way. */
  inPostStart?: string;
  /** Names of containers that will be started again, whatever their exit code. */
  restarting?: ReadonlySet<string>;
  restartingAll?: RestartingAll;
}

/** Changes within this time reach the server thread together. */
const BATCH_MS = 2;

interface Entry {
  pod: Pod;
  status: PodStatus;
  text: string;
  started: boolean;
}

export class PodStatuses {
  private readonly entries = new Map<string, Entry>();
  private readonly changed = new Set<string>();
  private readonly removed = new Set<string>();
  /** The newest update of a pod that waits for messages being read. */
  private readonly held = new Map<string, StatusUpdate>();
  /** The newest update of each pod. */
  private readonly newest = new Map<string, StatusUpdate>();
  private timer: Timer | undefined;

  constructor(private readonly deps: PodStatusesDeps) {}

  /** The pod with its last computed status. */
  get(uid: string): Pod | undefined {
    const entry = this.entries.get(uid);
    return entry === undefined ? undefined : withStatus(entry);
  }

  all(): Pod[] {
    return [...this.entries.values()].map(withStatus);
  }

  /** A pod is known before anything of it runs; `startTime` is when this node first accepted it. */
  accept(pod: Pod, startTime: string): void {
    const { uid } = pod.metadata;
    const status = this.entries.get(uid)?.status ?? { phase: "Pending", startTime, qosClass: this.deps.qosClass(pod) };
    this.put(pod, status, this.entries.get(uid)?.started ?? false);
  }

  update(input: StatusUpdate): void {
    const { pod, observed, waiting, final, inPostStart, restarting, restartingAll } = input;
    const { uid } = pod.metadata;
    this.newest.set(uid, input);
    const terminationMessages = this.deps.terminations.messagesOf(pod, observed);
    if (terminationMessages === undefined) {
      this.held.set(uid, input);
      return;
    }
    this.held.delete(uid);
    const entry = this.entries.get(uid);
    const previous = entry?.status;
    const status = computePodStatus({
      pod,
      observed,
      ...(previous === undefined ? {} : { previous }),
      startErrors: waiting,
      nodeIPs: this.deps.nodeIPs,
      runtimeName: this.deps.runtimeName(),
      now: this.deps.clock.now(),
      qosClass: this.deps.qosClass(pod),
      podFinal: final,
      probes: this.deps.probes,
      terminationMessages,
      ...(inPostStart !== undefined && { inPostStart }),
      ...(this.deps.gates !== undefined && { gates: this.deps.gates }),
      ...(restarting !== undefined && { restarting }),
      ...(restartingAll !== undefined && { restartingAll }),
    });
    const running = status.phase === "Running" && (status.containerStatuses ?? []).every((one) => one.state.running);
    if (running && entry?.started === false) this.noteStarted(pod);
    if (previous !== undefined && previous.phase !== status.phase) {
      this.deps.log.info(
        { pod: uid, phase: status.phase },
        `${podDescription(pod)}: ${previous.phase} → ${status.phase}`,
      );
    }
    this.put(pod, status, entry?.started === true || running);
  }

  /** A probe of the pod changed its mind: the same picture, shown anew. */
  refresh(uid: string): void {
    const input = this.newest.get(uid);
    if (input !== undefined) this.update(input);
  }

  /** Last words of one of the pod's containers were read. */
  onMessageRead(uid: string): void {
    const input = this.held.get(uid);
    if (input !== undefined) this.update(input);
  }

  /** The pod is gone: it is no longer shown. */
  forget(uid: string): void {
    this.held.delete(uid);
    this.newest.delete(uid);
    if (!this.entries.delete(uid)) return;
    this.deps.terminations.forget(uid);
    this.changed.delete(uid);
    this.removed.add(uid);
    this.schedule();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }

  private put(pod: Pod, status: PodStatus, started: boolean): void {
    const { uid } = pod.metadata;
    const text = JSON.stringify(status);
    const entry = this.entries.get(uid);
    const same = entry?.text === text && entry.pod === pod;
    this.entries.set(uid, { pod, status, text, started });
    if (same) return;
    this.removed.delete(uid);
    this.changed.add(uid);
    this.schedule();
  }

  private noteStarted(pod: Pod): void {
    const seen = Date.parse(pod.metadata.annotations?.["kubernetes.io/config.seen"] ?? "");
    if (!Number.isNaN(seen)) this.deps.onStarted(pod, this.deps.clock.now() - seen);
  }

  private schedule(): void {
    this.timer ??= this.deps.clock.after(BATCH_MS, () => {
      this.timer = undefined;
      const set = [...this.changed].map((uid) => this.get(uid)).filter((pod) => pod !== undefined);
      const removed = [...this.removed];
      this.changed.clear();
      this.removed.clear();
      this.deps.publish({ set, removed });
    });
  }
}

function withStatus({ pod, status }: Entry): Pod {
  return { ...pod, status };
}
