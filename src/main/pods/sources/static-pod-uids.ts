// Static pods from files keep the UID under which they run already, when another kubelet started them.
// <root-dir>/static_pod_uids has the UIDs that were taken over, by the UID that the kubelet computes from the
// definition.
// Invariant: a UID is taken over only in the first whole set of a kubelet's life; it is on disk before a pod is
// delivered with it; a node where no other kubelet ran reads one folder and asks the runtime nothing.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { readState, writeState } from "../../../shared/io/fs/state-file.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { type PodUid, podUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { CONFIG_HASH, earlierUid, type RunningPods } from "./earlier-uid.js";
import type { PodChanges } from "./pod-changes.js";

const AGAIN_MS = 1000;
const VERSION = 1;

export interface StaticPodUidsOptions {
  /** State file with the decided UIDs. */
  path: string;
  /** Pods that have a directory on this node. */
  uidsOnDisk: () => Promise<readonly PodUid[]>;
  runningPods: (signal: AbortSignal) => Promise<RunningPods>;
  /** Time of the last change to the pod's manifest, ns since the epoch; undefined if it was removed. */
  changedAt(pod: Pod): Promise<bigint | undefined>;
  changes: Pick<PodChanges, "deliver">;
  clock: Clock;
  log: Logger;
}

interface Delivery {
  pods: readonly Pod[];
  complete: boolean;
}

export class StaticPodUids {
  /** By computed UID; pods that keep theirs have it as value. */
  private readonly decided = new Map<PodUid, PodUid>();
  private recorded = new Map<PodUid, PodUid>();
  private onDisk: ReadonlySet<PodUid> = new Set();
  private running: RunningPods | undefined;
  private newest: Delivery | undefined;
  private deciding: Promise<void> | undefined;
  /** A whole set was delivered: pods that come now were not there when the kubelet started. */
  private settled = false;
  private readonly lifetime = new Lifetime();
  private readonly read: Promise<void>;

  constructor(private readonly options: StaticPodUidsOptions) {
    this.read = this.readAll();
  }

  /**
   * The source's whole set, as FileSource delivers it. It is passed on at once, or when the UIDs of its pods are
   * decided.
   */
  deliver(pods: readonly Pod[], complete: boolean): void {
    this.newest = { pods, complete };
    if (this.deciding !== undefined) return;
    if (this.settled || pods.every(({ metadata }) => this.decided.has(metadata.uid))) {
      this.passOn();
      return;
    }
    this.deciding = this.decide()
      .catch((error: unknown) => {
        if (this.lifetime.hasEnded) return;
        const { log } = this.options;
        log.error({ err: error }, `UIDs of static pods cannot be compared with those that run: ${errorText(error)}`);
        this.settled = true;
      })
      .finally(() => {
        this.deciding = undefined;
        if (!this.lifetime.hasEnded) this.passOn();
      });
  }

  /** The pod with the UID under which it was delivered. */
  delivered(pod: Pod): Pod {
    return withUid(pod, this.decided.get(pod.metadata.uid));
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.read;
    await this.deciding;
  }

  private passOn(): void {
    const { newest } = this;
    if (newest === undefined) return;
    this.settled ||= newest.complete;
    this.options.changes.deliver(
      "file",
      newest.pods.map((pod) => this.delivered(pod)),
      newest.complete,
    );
  }

  /** Ends when every pod of the newest set is decided. */
  private async decide(): Promise<void> {
    await this.read;
    for (;;) {
      const open = (this.newest?.pods ?? []).filter(({ metadata }) => !this.decided.has(metadata.uid));
      if (open.length === 0) break;
      for (const pod of open) this.decided.set(pod.metadata.uid, await this.uidOf(pod));
    }
    await this.record();
  }

  private async uidOf(pod: Pod): Promise<PodUid> {
    const { uid, name, namespace } = pod.metadata;
    const recorded = this.recorded.get(uid);
    if (recorded !== undefined && this.onDisk.has(recorded)) return recorded;
    if (this.onDisk.size === 0 || this.onDisk.has(uid)) return uid;
    const changedAt = await this.options.changedAt(pod);
    if (changedAt === undefined) return uid;
    this.running ??= await this.askRuntime();
    const earlier = earlierUid(pod, changedAt, this.running);
    if (earlier === undefined) return uid;
    this.options.log.info(
      { pod: `${namespace}/${name}`, uid: earlier, computed: uid },
      `static pod ${namespace}/${name} already runs with the UID ${earlier} from another kubelet and keeps it`,
    );
    return earlier;
  }

  /** Waits until the runtime responds: a pod that starts under a new UID terminates the running one. */
  private async askRuntime(): Promise<RunningPods> {
    const { runningPods, clock, log } = this.options;
    const { signal } = this.lifetime;
    for (let tries = 0; ; tries++) {
      try {
        return await runningPods(signal);
      } catch (error) {
        signal.throwIfAborted();
        if (tries === 0) {
          log.warn(
            { err: error },
            `static pods wait until the container runtime reports which of them run already: ${errorText(error)}`,
          );
        }
      }
      await clock.sleep(AGAIN_MS, signal);
    }
  }

  private async readAll(): Promise<void> {
    const { path, uidsOnDisk, clock, log } = this.options;
    try {
      const [onDisk, recorded] = await Promise.all([uidsOnDisk(), readState(path, decode, { clock, log })]);
      this.onDisk = new Set(onDisk);
      this.recorded = recorded ?? new Map<PodUid, PodUid>();
    } catch (error) {
      log.error({ err: error, path }, `cannot read the UIDs of static pods: ${errorText(error)}`);
    }
  }

  /** Only what differs from the computed UID; nothing is written while that is nothing. */
  private async record(): Promise<void> {
    const taken = [...this.decided].filter(([computed, uid]) => computed !== uid);
    if (taken.length === this.recorded.size && taken.every(([key, uid]) => this.recorded.get(key) === uid)) return;
    try {
      const state: StateFile = { version: VERSION, uids: Object.fromEntries(taken) };
      await writeState(this.options.path, state);
      this.recorded = new Map(taken);
    } catch (error) {
      const { log, path } = this.options;
      log.error(
        { err: error, path },
        `cannot write ${path}: ${errorText(error)}; if a manifest changes, the next kubelet may restart its pod`,
      );
    }
  }
}

interface StateFile {
  version: number;
  uids: Record<string, string>;
}

/** @throws Error for another shape */
function decode(file: unknown): Map<PodUid, PodUid> {
  const { version, uids } = (typeof file === "object" && file !== null ? file : {}) as Partial<StateFile>;
  if (version !== VERSION || typeof uids !== "object") throw new Error(`not a list of UIDs of version ${VERSION}`);
  const entries = Object.entries(uids);
  if (!entries.every(([, uid]) => typeof uid === "string")) throw new Error("a UID is not a text");
  return new Map(entries.map(([computed, uid]) => [podUid(computed), podUid(uid)]));
}

/** The pod under another UID; undefined: under its own. */
export function withUid(pod: Pod, uid: PodUid | undefined): Pod {
  if (uid === undefined || uid === pod.metadata.uid) return pod;
  const annotations = { ...pod.metadata.annotations, [CONFIG_HASH]: uid };
  return { ...pod, metadata: { ...pod.metadata, uid, annotations } };
}
