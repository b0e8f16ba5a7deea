// The pod records that the next kubelet process reads: definition, start time, order of admission, deadline of the
// termination, verdict. The runtime has everything else. A failed write loses only the record. A record from before the
// machine's last boot is removed, because its pod no longer runs.
// Invariant: a pod that was not admitted has no file, since nothing of it is on the node; the sum of all files is
// bounded (docs/adr/0080).

import { mkdir, readdir, readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { SteadyTime } from "../../../shared/base/clock/moments.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { unlessGone } from "../../../shared/base/errors/unless-gone.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { oncePer } from "../../../shared/base/objects/once-per.js";
import { LoopYield } from "../../../shared/base/queue/loop-yield.js";
import { mapAtMost } from "../../../shared/base/turns/map-at-most.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { readState, removeLeftovers, stateText } from "../../../shared/io/fs/state-file.js";
import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import { type PodUid, podUid, type ContainerId } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { isLargePod } from "../../model/large-pod.js";
import type { PodFailure } from "../../model/refusal.js";
import type { TerminationRequest } from "../../model/synced-pod.js";
import { decodeRecord, isNeeded, onClock, type PodRecord, runsAgain, withoutDefinition } from "./pod-record.js";

const SUFFIX = ".json";

/**
 * Records may be megabytes: as text and as objects, only so many are in memory before it is known whether they stay.
 */
const READS_AT_ONCE = 2;

/**
 * Limit for the sum of all files: far above what a node's pods need. A record beyond it is not written, as on a full
 * disk.
 */
export const MAX_SUM_BYTES = 256 * 1024 * 1024;

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/**
 * Containers do not survive a reboot, so their records need not. Records are not synced, and do not delay the
 * runtime's disk writes.
 */
const NOT_DURABLE = { durable: false };

/** Records that could not be written are tried again this often; sooner when another write succeeds. */
const RETRY_MS = 10_000;

/** A disk that hangs must not delay a pod's termination. */
const WRITE_PATIENCE_MS = 1000;

export class PodRecords {
  private readonly records = new Map<PodUid, PodRecord>();
  /** Writes of one pod run one after the other. */
  private readonly writes = new Map<PodUid, Promise<void>>();
  private readonly loop = new LoopYield();
  /** Pods with a pending write that has not started: it writes the state at its start. */
  private readonly waiting = new Set<PodUid>();
  /** Pods whose file is out of date because the last write failed. */
  private readonly unsaved = new Set<PodUid>();
  /** The failure has been reported; it ends when every record is saved. */
  private unwritable = false;
  /** Terminal pods whose final phase the API server has: they have no file, since the next kubelet needs none. */
  private readonly settled = new Set<PodUid>();
  private retryTimer: Timer | undefined;
  private bootId: string | undefined;
  private lastAdmitted = 0;
  /** Size of each file; a write that failed counts as if it had succeeded. */
  private readonly bytes = new Map<PodUid, number>();
  private sum = 0;

  constructor(
    private readonly directory: string,
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly maxSumBytes = MAX_SUM_BYTES,
  ) {}

  /** Bytes of all files, and pods whose file is out of date because it could not be written. */
  get usage(): { bytes: number; unsaved: number } {
    return { bytes: this.sum, unsaved: this.unsaved.size };
  }

  /** Reads the records of an earlier kubelet. Garbage is set aside with a warning, half-written files are removed. */
  async load(): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o750 });
    await removeLeftovers(this.path("any"));
    this.bootId = await this.readBootId();
    const names = (await readdir(this.directory)).filter((name) => name.endsWith(SUFFIX));
    await mapAtMost(READS_AT_ONCE, names, (name) => this.loadOne(podUid(name.slice(0, -SUFFIX.length))));
  }

  get(uid: PodUid): PodRecord | undefined {
    return this.records.get(uid);
  }

  /** The definition of an admitted pod that has not ended. */
  keptDefinition(uid: PodUid): Pod | undefined {
    const record = this.records.get(uid);
    return record?.admitted === undefined || record.finalStatus !== undefined ? undefined : record.pod;
  }

  uids(): PodUid[] {
    return [...this.records.keys()];
  }

  /** Admitted pods with possibly running containers, terminating ones included, in the order of their admission. */
  unendedPods(): Pod[] {
    return [...this.records.values()]
      .filter(({ admitted, finalStatus }) => admitted !== undefined && finalStatus === undefined)
      .sort((a, b) => (a.admitted ?? 0) - (b.admitted ?? 0))
      .map(({ pod }) => pod);
  }

  /**
   * Records a pod, on disk from its admission on; keeps the data of an earlier record. A pod that completed runs
   * again with another definition.
   */
  accept(pod: Pod, now: Date): void {
    const { uid } = pod.metadata;
    const known = this.records.get(uid);
    const again = known?.failure === undefined && runsAgain(known?.pod, pod);
    const record: PodRecord = omitUndefined({
      startTime: apiTime(now.getTime()),
      bootId: this.bootId,
      ...known,
      version: 1,
      pod,
    });
    delete record.termination;
    if (again) {
      delete record.finalStatus;
      delete record.endDeadline;
    }
    // After a restart the sources deliver every recorded pod again, mostly unchanged.
    if (isDeepStrictEqual(known, record)) return;
    this.records.set(uid, record);
    if (this.settled.has(uid)) return;
    if (isNeeded(record) || this.bytes.has(uid) || this.writes.has(uid)) this.save(uid);
  }

  admitted(uid: PodUid): void {
    const known = this.records.get(uid);
    if (known === undefined || known.admitted !== undefined) return;
    this.put({ ...known, admitted: ++this.lastAdmitted });
  }

  /** Settles when the record is written, when that failed, or at the latest after WRITE_PATIENCE_MS. */
  async terminating(uid: PodUid, termination: TerminationRequest): Promise<void> {
    const known = this.records.get(uid);
    if (known === undefined) return;
    this.put({ ...known, termination, clockOffset: this.clockOffset() });
    await this.written(uid);
  }

  /** Settles as terminating does. */
  async failing(uid: PodUid, failure: PodFailure, deadline: SteadyTime): Promise<void> {
    const known = this.records.get(uid);
    if (known === undefined) return;
    this.put({ ...known, failure: { ...failure, deadline }, clockOffset: this.clockOffset() });
    await this.written(uid);
  }

  /** Deadline for the rest of a completed pod; undefined: no container is left. */
  endDeadline(uid: PodUid): SteadyTime | undefined {
    return this.records.get(uid)?.endDeadline;
  }

  /** Settles as terminating does. */
  async keepEndDeadline(uid: PodUid, endDeadline: SteadyTime | undefined): Promise<void> {
    const known = this.records.get(uid);
    if (known === undefined || known.endDeadline === endDeadline) return;
    const record = { ...known, clockOffset: this.clockOffset() };
    if (endDeadline === undefined) delete record.endDeadline;
    else record.endDeadline = endDeadline;
    this.put(record);
    if (endDeadline !== undefined) await this.written(uid);
  }

  ended(uid: PodUid, finalStatus: PodStatus): void {
    const known = this.records.get(uid);
    // The record of a pod that is being removed is not read any more.
    if (known === undefined || known.termination !== undefined || isDeepStrictEqual(known.finalStatus, finalStatus))
      return;
    this.put({ ...known, finalStatus });
  }

  /** The API server has the final phase of the pod, and nothing of the pod is left to stop or to release. */
  markReleased(uid: PodUid): void {
    if (this.settled.has(uid)) return;
    this.settled.add(uid);
    if (this.records.has(uid)) this.save(uid);
  }

  /** The preStop hook of a container has run: no later stop of the container runs it again. */
  preStopDone(uid: PodUid, containerId: ContainerId): void {
    const known = this.records.get(uid);
    if (known === undefined || this.isPreStopDone(uid, containerId)) return;
    const preStopsDone = known.preStopsDone ?? [];
    idsOf(preStopsDone).add(containerId);
    preStopsDone.push(containerId);
    this.put({ ...known, preStopsDone });
  }

  /** Forgets the hooks of containers that the runtime no longer has. The file follows with the record's next write. */
  preStopsSeen({ uid, containers }: ObservedPod): void {
    const known = this.records.get(uid);
    if (known?.preStopsDone === undefined) return;
    const ids = new Set(containers.map(({ id }) => id));
    const preStopsDone = known.preStopsDone.filter((id) => ids.has(id));
    if (preStopsDone.length < known.preStopsDone.length) this.records.set(uid, { ...known, preStopsDone });
  }

  /** @internal */
  preStopsDone(uid: PodUid): readonly ContainerId[] {
    return this.records.get(uid)?.preStopsDone ?? [];
  }

  isPreStopDone(uid: PodUid, containerId: ContainerId): boolean {
    const done = this.records.get(uid)?.preStopsDone;
    return done !== undefined && idsOf(done).has(containerId);
  }

  forget(uid: PodUid): void {
    const isWritten = !this.settled.delete(uid);
    if (this.records.delete(uid) && isWritten) this.save(uid);
  }

  /** Resolves when all writes so far are done. Failed writes are not repeated. */
  async flush(): Promise<void> {
    this.retryTimer?.cancel();
    await Promise.all(this.writes.values());
    this.retryTimer?.cancel();
  }

  private async readBootId(): Promise<string | undefined> {
    try {
      return (await readFile(BOOT_ID, "utf8")).trim();
    } catch (error) {
      this.log.warn({ err: error }, `${BOOT_ID} can't be read: pods that terminated before a reboot stay terminated`);
      return undefined;
    }
  }

  private async written(uid: PodUid): Promise<void> {
    const write = this.writes.get(uid);
    if (write === undefined) return;
    await new Promise<void>((resolve) => {
      const patience = this.clock.after(WRITE_PATIENCE_MS, resolve);
      void write.then(() => {
        patience.cancel();
        resolve();
      });
    });
  }

  /** An unreadable file is left alone: it may be valid and unreachable only for the moment. */
  private async loadOne(uid: PodUid): Promise<void> {
    const { clock, log } = this;
    const path = this.path(uid);
    try {
      const { size } = await stat(path);
      this.bytes.set(uid, size);
      this.sum += size;
      const record = await readState(path, (value) => decodeRecord(value, uid), { clock, log });
      if (record === undefined) return;
      const isOld = record.bootId !== undefined && this.bootId !== undefined && record.bootId !== this.bootId;
      if (isOld || !isNeeded(record)) {
        this.save(uid);
        return;
      }
      // The monotonic clock is the machine's: its values are comparable only within one boot.
      const sameBoot = record.bootId !== undefined && this.bootId !== undefined;
      const kept = withoutDefinition(record);
      this.records.set(uid, sameBoot ? onClock(kept, this.clockOffset()) : kept);
      if (kept !== record && !isDeepStrictEqual(kept.pod, record.pod)) this.save(uid);
      this.lastAdmitted = Math.max(this.lastAdmitted, record.admitted ?? 0);
    } catch (error) {
      const message = messageOf(error);
      log.warn({ path, err: error }, `cannot read pod record ${path}: ${message}; starting without it`);
    }
  }

  private clockOffset(): number {
    return this.clock.steady() - this.clock.monotonic();
  }

  private put(record: PodRecord): void {
    const { uid } = record.pod.metadata;
    this.records.set(uid, record);
    if (!this.settled.has(uid)) this.save(uid);
  }

  /** Writes the record's state at its turn. */
  private save(uid: PodUid): void {
    if (this.waiting.has(uid)) return;
    this.waiting.add(uid);
    const before = this.writes.get(uid) ?? Promise.resolve();
    const write = before
      .then(async () => {
        const known = this.records.get(uid);
        if (known !== undefined && isLargePod(known.pod)) await this.loop.round();
        this.waiting.delete(uid);
        await this.write(uid);
      })
      .then(
        () => this.onSaved(uid),
        (error: unknown) => this.onSaveFailed(uid, error),
      );
    this.writes.set(uid, write);
    void write.then(() => {
      if (this.writes.get(uid) === write) this.writes.delete(uid);
    });
  }

  private async write(uid: PodUid): Promise<void> {
    const record = this.records.get(uid);
    const before = this.bytes.get(uid);
    if (record === undefined || this.settled.has(uid) || !isNeeded(record)) {
      if (before === undefined) return;
      await unlessGone(unlink(this.path(uid)));
      this.bytes.delete(uid);
      this.sum -= before;
      return;
    }
    const text = Buffer.from(stateText(record));
    const more = text.length - (before ?? 0);
    if (more > 0 && this.sum + more > this.maxSumBytes)
      throw new OperatorError(`the records of all pods would take more than ${this.maxSumBytes / 1024 ** 2} MiB`);
    this.bytes.set(uid, text.length);
    this.sum += more;
    await atomicWrite(this.path(uid), text, NOT_DURABLE);
  }

  private onSaved(uid: PodUid): void {
    this.unsaved.delete(uid);
    if (this.unsaved.size > 0) this.retryUnsaved();
    else if (this.unwritable) {
      this.unwritable = false;
      this.retryTimer?.cancel();
      this.log.info(`writing pod records to ${this.directory} succeeded again; no record is missing`);
    }
  }

  private onSaveFailed(uid: PodUid, error: unknown): void {
    this.unsaved.add(uid);
    this.retryTimer?.cancel();
    this.retryTimer = this.clock.after(RETRY_MS, () => this.retryUnsaved()).unref();
    if (this.unwritable) return;
    this.unwritable = true;
    const message = messageOf(error);
    this.log.error(
      { uid, err: error },
      `cannot write pod records to ${this.directory}: ${message}; pods keep running, but start times and termination ` +
        `deadlines will not survive a restart of the kubelet until writing succeeds`,
    );
  }

  /** A pod with a pending write is left to that write. */
  private retryUnsaved(): void {
    for (const uid of this.unsaved) if (!this.writes.has(uid)) this.save(uid);
  }

  private path(uid: PodUid | "any"): string {
    return join(this.directory, `${uid}${SUFFIX}`);
  }
}

/** A list of a record as a set. Both grow together. */
const idsOf = oncePer((list: readonly ContainerId[]) => new Set(list));
