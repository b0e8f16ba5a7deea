// Figures of the volumes behind claims, taken every volumeStatsAggPeriod; and the event of one that its driver calls
// sick.
// Invariant: one measurement per volume at a time; a volume that hangs does not delay the others, and has no figures
// itself.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { Scope } from "../../../shared/base/abort/scope.js";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../shared/kubernetes/api/volume.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { VolumeNotAnsweringError } from "../../../shared/node/volume-calls/errors.js";
import type { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { BoundClaim } from "../claims/claim.js";
import { deviceOf } from "../csi/csi-volume.js";
import type { CsiVolumes } from "../csi/csi-volumes.js";
import { isDevicePlace, isImagePlace, type VolumePlace } from "../place.js";
import type { VolumeUsage } from "../volume-usage.js";
import type { ClaimFigures, VolumeStatsMetrics } from "./metrics.js";

/** A claim that a pod uses, and where its figures are to be had. */
export interface WatchedClaim {
  pod: Pod;
  volume: string;
  /** Name on disk, which is all that a teardown has. */
  onDisk: string;
  claim: string;
  path: string;
  csi?: { driver: string; handle: string } | undefined;
}

export interface ClaimStatsDeps {
  periodMs: number;
  csi: () => Promise<CsiVolumes>;
  calls: VolumeCalls;
  clock: Clock;
  log: Logger;
  events: EventRecorder;
  metrics: (figures: () => readonly ClaimFigures[]) => VolumeStatsMetrics;
  /** Gate CSIVolumeHealth. */
  volumeHealth: boolean;
}

/** Time limit of one volume's measurement. */
const PATIENCE_MS = 30_000;

interface Entry extends WatchedClaim {
  usage?: VolumeUsage;
  looking?: Promise<void>;
}

export class ClaimStats {
  private readonly claims = new Map<string, Entry>();
  private readonly lifetime = new Lifetime();
  private readonly metrics: VolumeStatsMetrics;
  private timer: Timer | undefined;

  constructor(private readonly deps: ClaimStatsDeps) {
    this.metrics = deps.metrics(() => this.figures());
  }

  /** The pod uses the volume of that claim from now on: it is measured if it can be. Idempotent. */
  onBound(pod: Pod, volume: Volume, { claim, pv }: BoundClaim, place: VolumePlace): void {
    // Of a device nothing is known but its size, and a path of the node is the node's.
    if (isImagePlace(place) || isDevicePlace(place) || place.unmeasured || pv.spec.hostPath !== undefined) return;
    this.watch({
      pod,
      volume: volume.name,
      onDisk: place.volumeName ?? volume.name,
      claim: claim.metadata.name ?? "",
      path: place.hostPath,
      csi: pv.spec.csi === undefined ? undefined : deviceOf(pv.spec.csi),
    });
  }

  forget(uid: PodUid, onDisk: string): void {
    this.claims.delete(`${uid}/${onDisk}`);
    if (this.claims.size > 0) return;
    this.timer?.cancel();
    this.timer = undefined;
  }

  /** Usage of the pod's claims, by volume name. */
  ofPod(uid: PodUid): Map<string, { claim: string; usage: VolumeUsage }> {
    const found = new Map<string, { claim: string; usage: VolumeUsage }>();
    for (const { pod, volume, claim, usage } of this.claims.values()) {
      if (pod.metadata.uid === uid && usage !== undefined) found.set(volume, { claim, usage });
    }
    return found;
  }

  /** Starts a measurement of every volume without a pending one. */
  measureAll(): void {
    for (const entry of this.claims.values()) {
      entry.looking ??= this.lookAt(entry).finally(() => {
        delete entry.looking;
      });
    }
  }

  async stop(): Promise<void> {
    this.timer?.cancel();
    this.lifetime.end();
    await Promise.all([...this.claims.values()].flatMap(({ looking }) => (looking === undefined ? [] : [looking])));
  }

  private watch(claim: WatchedClaim): void {
    const { periodMs, clock } = this.deps;
    const key = `${claim.pod.metadata.uid}/${claim.onDisk}`;
    const known = this.claims.get(key);
    this.claims.set(key, { ...known, ...claim, csi: claim.csi ?? known?.csi });
    if (known !== undefined || periodMs <= 0) return;
    this.timer ??= clock.every(periodMs, () => this.measureAll()).unref();
  }

  private async lookAt(entry: Entry): Promise<void> {
    const { clock, log, events, volumeHealth } = this.deps;
    const startedAt = clock.monotonic();
    using look = new Scope(this.lifetime.signal).limit(clock, PATIENCE_MS, () => new Error("no response in time"));
    const { signal } = look;
    try {
      const usage =
        entry.csi === undefined
          ? await fsUsage(this.deps.calls, entry.path, this.lifetime.signal)
          : await this.csiUsage(entry, entry.csi, signal);
      if (usage === undefined) return;
      entry.usage = usage;
      this.metrics.collected(usage.source, clock.monotonic() - startedAt);
      if (!volumeHealth || usage.condition?.abnormal !== true) return;
      const message = `Volume ${entry.volume}: ${usage.condition.message}`;
      events.pod(entry.pod, { type: "Warning", reason: "VolumeConditionAbnormal", message });
    } catch (error) {
      // Figures of a volume that hangs would be those of another time.
      if (error instanceof VolumeNotAnsweringError) delete entry.usage;
      log.debug({ err: error, claim: entry.claim }, `no volume stats for claim ${entry.claim}`);
    }
  }

  private async csiUsage(
    { path }: Entry,
    csi: { driver: string; handle: string },
    signal: AbortSignal,
  ): Promise<VolumeUsage | undefined> {
    return (await this.deps.csi()).usage({ ...csi, path }, signal);
  }

  private figures(): ClaimFigures[] {
    return [...this.claims.values()].flatMap(({ pod, claim, usage }) => {
      if (usage === undefined) return [];
      const { condition } = usage;
      const abnormal =
        this.deps.volumeHealth && condition !== undefined ? { abnormal: condition.abnormal ? 1 : 0 } : {};
      return [{ ...usage, namespace: pod.metadata.namespace, claim, ...abnormal }];
    });
  }
}

async function fsUsage(calls: VolumeCalls, path: string, signal: AbortSignal): Promise<VolumeUsage> {
  const { blocks, bsize, bavail, bfree, files, ffree } = await calls.call(
    "statfs",
    { path },
    { paths: [path] },
    signal,
  );
  return {
    source: "fs",
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
  };
}
