// What pods have on disk: each pod is measured once per period, one at a time, while somebody asks. Volumes that are file systems
// of their own are asked, others are walked. What must hold: a pod that is gone is measured no more, and its figures go with it.
import { stat } from "node:fs/promises";
import type { Pod } from "../../../../shared/api/pod.js";
import type { Clock } from "../../../../shared/clock/clock.js";
import type { Logger } from "../../../../shared/log/logger.js";
import type { MetricSnapshot } from "../../../../shared/metrics/snapshot.js";
import { partOf, type FsFigures, type PodDisk, type VolumeFigures } from "../../../../shared/stats/fs-figures.js";
import { claimFigures, type ClaimFigures } from "./claim-figures.js";
import { fsFigures, takenBy } from "../../../../shared/stats/fs-usage.js";
import { claimOf, volumePath } from "../../../../shared/stats/volume-paths.js";

/** Measuring ends so long after the last request. */
const INTEREST_MS = 5 * 60_000;
/** Between two looks at who is due. */
const ROUND_MS = 1000;
/** A pod's period is longer by up to this part, so that pods do not stay in step. */
const JITTER = 0.2;

export interface PodDisksParts {
  rootDir: string;
  /** 0 and less: volumes are not measured. */
  periodMs: number;
  pods: () => Iterable<Pod>;
  /** Main's metrics, for the figures of claims. */
  collectMetrics: () => Promise<MetricSnapshot[]>;
  clock: Clock;
  log: Pick<Logger, "debug">;
}

interface Entry {
  disk: PodDisk;
  /** Monotonic. */
  due: number;
}

export class PodDisks {
  private readonly entries = new Map<string, Entry>();
  private readonly ended = new AbortController();
  private running: Promise<void> | undefined;
  private askedAt = 0;

  constructor(private readonly parts: PodDisksParts) {}

  /** undefined: not measured yet. Starts measuring. */
  of(uid: string): PodDisk | undefined {
    this.ask();
    return this.entries.get(uid)?.disk;
  }

  /** Somebody wants figures. */
  ask(): void {
    const { clock, periodMs, log } = this.parts;
    if (periodMs <= 0 || this.ended.signal.aborted) return;
    this.askedAt = clock.monotonic();
    this.running ??= this.rounds()
      .catch((error: unknown) => {
        if (!this.ended.signal.aborted)
          log.debug({ err: error }, "measuring volumes ended; the next request begins anew");
      })
      .finally(() => (this.running = undefined));
  }

  async close(): Promise<void> {
    this.ended.abort(new Error("the server stops"));
    await this.running;
  }

  private async rounds(): Promise<void> {
    const { clock, pods } = this.parts;
    const { signal } = this.ended;
    while (clock.monotonic() - this.askedAt < INTEREST_MS) {
      const known = new Map([...pods()].map((pod) => [pod.metadata.uid, pod]));
      for (const uid of this.entries.keys()) if (!known.has(uid)) this.entries.delete(uid);
      const due = [...known.values()].filter(({ metadata: { uid } }) => this.isDue(uid));
      if (due.length > 0) {
        const claims = await this.claims(due);
        for (const pod of due) await this.measure(pod, claims);
      }
      await clock.sleep(ROUND_MS, signal);
    }
  }

  private isDue(uid: string): boolean {
    return (this.entries.get(uid)?.due ?? 0) <= this.parts.clock.monotonic();
  }

  private async claims(pods: readonly Pod[]): Promise<Map<string, ClaimFigures>> {
    const { collectMetrics, clock, log } = this.parts;
    const wanted = pods.some(({ metadata: { name }, spec: { volumes = [] } }) =>
      volumes.some((volume) => claimOf(name, volume) !== undefined),
    );
    if (!wanted) return new Map();
    try {
      return claimFigures(await collectMetrics(), clock.now());
    } catch (error) {
      log.debug({ err: error }, "the figures of claims could not be had from the main thread");
      return new Map();
    }
  }

  private async measure(pod: Pod, claims: ReadonlyMap<string, ClaimFigures>): Promise<void> {
    const { periodMs, clock, rootDir, pods } = this.parts;
    const { uid, name: podName, namespace } = pod.metadata;
    // A walk of a pod that goes is cut short at its next rest.
    const { signal } = this.ended;
    const volumes: VolumeFigures[] = [];
    const local = { bytes: 0, inodes: 0 };
    for (const volume of pod.spec.volumes ?? []) {
      const claim = claimOf(podName, volume);
      const figures = claim === undefined ? undefined : claims.get(`${namespace}/${claim}`);
      if (claim !== undefined && figures !== undefined) {
        const { abnormal, ...fs } = figures;
        const health = abnormal === undefined ? {} : { abnormal: abnormal !== 0 };
        volumes.push({ ...fs, name: volume.name, pvcRef: { name: claim, namespace }, ...health });
      }
      const path = claim === undefined ? volumePath(rootDir, uid, volume) : undefined;
      const measured = path === undefined ? undefined : await this.volume(path, signal);
      if (measured === undefined) continue;
      volumes.push({ ...measured.figures, name: volume.name });
      if (!measured.local) continue;
      local.bytes += measured.figures.usedBytes ?? 0;
      local.inodes += measured.figures.inodesUsed ?? 0;
    }
    const hosts = await takenBy(`${rootDir}/pods/${uid}/etc-hosts`, clock, signal);
    local.bytes += hosts.bytes;
    local.inodes += hosts.inodes;
    for (const { metadata } of pods()) {
      if (metadata.uid !== uid) continue;
      const due = clock.monotonic() + periodMs * (1 + Math.random() * JITTER);
      this.entries.set(uid, { disk: { volumes, local }, due });
    }
  }

  private async volume(path: string, signal: AbortSignal): Promise<{ figures: FsFigures; local: boolean } | undefined> {
    const { clock, rootDir } = this.parts;
    try {
      const [own, root] = await Promise.all([stat(path), stat(rootDir)]);
      const whole = await fsFigures(path, clock.now());
      if (own.dev !== root.dev) return { figures: whole, local: false };
      const { bytes, inodes } = await takenBy(path, clock, signal);
      return { figures: partOf(whole, clock.now(), bytes, inodes), local: true };
    } catch (error) {
      if (signal.aborted) throw error;
      // Not set up yet, or no more.
      return undefined;
    }
  }
}
