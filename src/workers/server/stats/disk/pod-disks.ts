// Disk usage of pods. Main walks directories, because it has a pool for it (docs/adr/0029); while requests arrive, this
// thread reads main's newest figures. This thread reads volumes that are separate file systems; main reads the claims.
// Invariant: a removed pod has no figures.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import type { WallTime } from "../../../../shared/base/clock/moments.js";
import type { PodDiskUsage } from "../../../../shared/contracts/eviction.js";
import { volumePath } from "../../../../shared/kubernetes/api/pod-paths.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../../shared/kubernetes/api/volume.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import { partOf, type FsFigures, type PodDisk, type VolumeFigures } from "../../../../shared/node/stats/fs-figures.js";
import { figuresOf } from "../../../../shared/node/stats/read-fs-figures.js";
import type { VolumeCalls } from "../../../../shared/node/volume-calls/volume-calls.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";
import type { MetricSnapshot } from "../../../../shared/telemetry/metrics/snapshot.js";
import { type ClaimFigures, claimFigures } from "./claim-figures.js";

/** Minimum interval of upcalls to main; once a second while there are pods without figures. */
const ASK_MS = 5000;
const ASK_FOR_NEW_MS = 1000;
/** Log files are not older than this, even where volumes are measured seldom or never. */
const OLDEST_MS = 60_000;

export interface PodDisksDeps {
  rootDir: string;
  /** volumeStatsAggPeriod; 0 and less: volumes are not shown. */
  periodMs: number;
  pods: () => Iterable<Pod>;
  /** Main's newest figures; older ones are measured again in the background. */
  usage: (uids: PodUid[], maxAgeMs: number) => Promise<PodDiskUsage[]>;
  /** Main's metrics, for the figures of claims. */
  collectMetrics: () => Promise<MetricSnapshot[]>;
  calls: Pick<VolumeCalls, "call">;
  clock: Clock;
  log: Pick<Logger, "debug">;
}

interface Entry extends PodDisk {
  /** The moment of the measurement. */
  at: WallTime;
}

export class PodDisks {
  private entries: ReadonlyMap<PodUid, Entry> = new Map();
  private running: Promise<void> | undefined;
  private askedAt: number | undefined;
  private closed = false;

  constructor(private readonly deps: PodDisksDeps) {}

  /** undefined: not measured yet. */
  of(uid: PodUid): PodDisk | undefined {
    return this.entries.get(uid);
  }

  /** A request needs figures: read newer ones if these are due. */
  ask(): void {
    if (this.closed || this.running !== undefined) return;
    const { clock, pods, log } = this.deps;
    const now = clock.monotonic();
    const all = [...pods()];
    const known = all.every(({ metadata: { uid } }) => this.entries.has(uid));
    if (this.askedAt !== undefined && now - this.askedAt < (known ? ASK_MS : ASK_FOR_NEW_MS)) return;
    this.askedAt = now;
    this.running = this.measurePods(all)
      .catch((error: unknown) => {
        log.debug({ err: error }, "cannot read the disk usage of pods from main; showing the previous values");
      })
      .finally(() => (this.running = undefined));
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.running;
  }

  private async measurePods(pods: readonly Pod[]): Promise<void> {
    const { usage, periodMs } = this.deps;
    const maxAgeMs = periodMs > 0 ? Math.min(periodMs, OLDEST_MS) : OLDEST_MS;
    const uids = pods.map(({ metadata }) => metadata.uid);
    const found = new Map((await usage(uids, maxAgeMs)).map((one) => [one.uid, one]));
    const claims = await this.claims(pods.filter(({ metadata }) => found.has(metadata.uid)));
    const entries = new Map<PodUid, Entry>();
    for (const pod of pods) {
      const { uid } = pod.metadata;
      const last = this.entries.get(uid);
      const newest = found.get(uid);
      const entry = newest === undefined || newest.at === last?.at ? last : await this.diskOf(pod, newest, claims);
      if (entry !== undefined) entries.set(uid, entry);
      if (this.closed) return;
    }
    this.entries = entries;
  }

  private async claims(pods: readonly Pod[]): Promise<Map<string, ClaimFigures>> {
    const { periodMs, collectMetrics, clock, log } = this.deps;
    const wanted = pods.some(({ metadata: { name }, spec: { volumes = [] } }) =>
      volumes.some((volume) => claimOf(name, volume) !== undefined),
    );
    if (!wanted || periodMs <= 0) return new Map();
    try {
      return claimFigures(await collectMetrics(), clock.now());
    } catch (error) {
      log.debug({ err: error }, "the figures of claims could not be had from the main thread");
      return new Map();
    }
  }

  private async diskOf(pod: Pod, usage: PodDiskUsage, claims: ReadonlyMap<string, ClaimFigures>): Promise<Entry> {
    const { periodMs } = this.deps;
    const volumes: VolumeFigures[] = [];
    const local = { ...usage.other };
    for (const volume of periodMs > 0 ? (pod.spec.volumes ?? []) : []) {
      const claimed = claimedVolume(pod, volume, claims);
      if (claimed !== undefined) volumes.push(claimed);
      if (claimOf(pod.metadata.name, volume) !== undefined) continue;
      const measured = await this.volume(pod, volume, usage);
      if (measured === undefined) continue;
      volumes.push({ ...measured.figures, name: volume.name });
      if (!measured.local) continue;
      local.bytes += measured.figures.usedBytes ?? 0;
      local.inodes += measured.figures.inodesUsed ?? 0;
    }
    const logs = new Map(usage.logs.map(({ container, bytes, inodes }) => [container, { bytes, inodes }]));
    return { at: usage.at, volumes, local, logs };
  }

  /** undefined: the volume is not set up yet, was torn down, or is not measured. */
  private async volume(
    { metadata: { uid } }: Pod,
    volume: Volume,
    usage: PodDiskUsage,
  ): Promise<{ figures: FsFigures; local: boolean } | undefined> {
    const { clock, rootDir, calls } = this.deps;
    const path = volumePath(rootDir, uid, volume);
    if (path === undefined) return undefined;
    try {
      const at = { paths: [path] };
      const [own, root] = await Promise.all([
        calls.call("stat", { path }, at),
        calls.call("stat", { path: rootDir }, { paths: [rootDir] }),
      ]);
      const whole = figuresOf(await calls.call("statfs", { path }, at), clock.now());
      if (own.dev !== root.dev) return { figures: whole, local: false };
      const walked = usage.volumes.find(({ name }) => name === volume.name);
      if (walked === undefined) return undefined;
      return { figures: partOf(whole, usage.at, walked.bytes, walked.inodes), local: true };
    } catch {
      return undefined;
    }
  }
}

function claimedVolume(
  { metadata: { name, namespace } }: Pod,
  volume: Volume,
  claims: ReadonlyMap<string, ClaimFigures>,
): VolumeFigures | undefined {
  const claim = claimOf(name, volume);
  const figures = claim === undefined ? undefined : claims.get(`${namespace}/${claim}`);
  if (claim === undefined || figures === undefined) return undefined;
  const { abnormal, ...fs } = figures;
  const health = abnormal === undefined ? {} : { abnormal: abnormal !== 0 };
  return { ...fs, name: volume.name, pvcRef: { name: claim, namespace }, ...health };
}

/** The claim behind a volume. @internal */
export function claimOf(podName: string, volume: Volume): string | undefined {
  if (volume.ephemeral !== undefined) return `${podName}-${volume.name}`;
  return volume.persistentVolumeClaim?.claimName;
}
