// What must outlive the agent about a pod: its definition, when it was first accepted, and the deadline of a termination
// under way. Everything else is read back from the runtime. A record that can't be written costs nothing but that.
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "../../shared/api/pod.js";
import { safePodUid } from "../../shared/api/pod-uid.js";
import type { Clock, Timer } from "../../shared/clock/clock.js";
import { readState, removeLeftovers, writeState } from "../../shared/fs/state-file.js";
import type { Logger } from "../../shared/log/logger.js";
import type { TerminationRequest } from "./pod-worker.js";

const SUFFIX = ".json";

export interface PodRecord {
  version: 1;
  pod: Pod;
  /** RFC 3339, when this node accepted the pod: status.startTime. */
  startTime: string;
  termination?: TerminationRequest;
}

/** No pod outlives the machine, so its record need not: the runtime's own disk writes are not delayed by ours. */
const NOT_DURABLE = { durable: false };

/** Records that could not be written are tried again this often; sooner when another write succeeds. */
const RETRY_MS = 10_000;

/** A disk that hangs must not keep a pod alive. */
const WRITE_PATIENCE_MS = 1000;

export class PodRecords {
  private readonly records = new Map<string, PodRecord>();
  /** Writes of one pod go one after the other. */
  private readonly writes = new Map<string, Promise<void>>();
  /** Pods whose file is not as it should be, because the last write failed. */
  private readonly unsaved = new Set<string>();
  /** The failure has been told; it is over when nothing is unsaved. */
  private failing = false;
  private retryTimer: Timer | undefined;

  constructor(
    private readonly directory: string,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Reads what an earlier agent left. Garbage is set aside with a warning, half-written files go. */
  async load(): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o750 });
    await removeLeftovers(this.path("any"));
    const names = (await readdir(this.directory)).filter((name) => name.endsWith(SUFFIX));
    await Promise.all(names.map((name) => this.loadOne(name.slice(0, -SUFFIX.length))));
  }

  get(uid: string): PodRecord | undefined {
    return this.records.get(uid);
  }

  uids(): string[] {
    return [...this.records.keys()];
  }

  /** Notes a pod; keeps the start time of an earlier record. */
  accept(pod: Pod, now: Date): void {
    const known = this.records.get(pod.metadata.uid);
    this.put({ version: 1, pod, startTime: known?.startTime ?? now.toISOString().replace(/\.\d+Z$/, "Z") });
  }

  /** Settles when the record is written, when that failed, or at the latest after WRITE_PATIENCE_MS. */
  async terminating(uid: string, termination: TerminationRequest): Promise<void> {
    const known = this.records.get(uid);
    if (known === undefined) return;
    this.put({ ...known, termination });
    const written = this.writes.get(uid);
    await new Promise<void>((resolve) => {
      const patience = this.clock.after(WRITE_PATIENCE_MS, resolve);
      void written?.then(() => {
        patience.cancel();
        resolve();
      });
    });
  }

  forget(uid: string): void {
    if (this.records.delete(uid)) this.save(uid);
  }

  /** Resolves when all writes so far are done. What could not be written is not tried again. */
  async flush(): Promise<void> {
    this.retryTimer?.cancel();
    await Promise.all(this.writes.values());
    this.retryTimer?.cancel();
  }

  /** A file that cannot even be read is left alone: it may be a good one that is out of reach for the moment. */
  private async loadOne(uid: string): Promise<void> {
    const { clock, log } = this;
    const path = this.path(uid);
    try {
      const record = await readState(path, (value) => decodeRecord(value, uid), { clock, log });
      if (record !== undefined) this.records.set(uid, record);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.warn({ path, err: error }, `pod record ${path} can't be read: ${message}; starting without it`);
    }
  }

  private put(record: PodRecord): void {
    this.records.set(record.pod.metadata.uid, record);
    this.save(record.pod.metadata.uid);
  }

  /** Makes the file as the record is when its turn comes. */
  private save(uid: string): void {
    const before = this.writes.get(uid) ?? Promise.resolve();
    const write = before
      .then(async () => {
        const record = this.records.get(uid);
        if (record === undefined) await rm(this.path(uid), { force: true });
        else await writeState(this.path(uid), record, NOT_DURABLE);
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

  private onSaved(uid: string): void {
    this.unsaved.delete(uid);
    if (this.unsaved.size > 0) this.retryUnsaved();
    else if (this.failing) {
      this.failing = false;
      this.retryTimer?.cancel();
      this.log.info(`pod records are written to ${this.directory} again; none is missing`);
    }
  }

  private onSaveFailed(uid: string, error: unknown): void {
    this.unsaved.add(uid);
    this.retryTimer?.cancel();
    this.retryTimer = this.clock.after(RETRY_MS, () => this.retryUnsaved()).unref();
    if (this.failing) return;
    this.failing = true;
    const message = error instanceof Error ? error.message : String(error);
    this.log.error(
      { uid, err: error },
      `pod records can't be written to ${this.directory}: ${message}; pods go on, but start times and termination ` +
        `deadlines will not survive a restart of the agent until this works again`,
    );
  }

  /** A pod whose write is under way is left to it. */
  private retryUnsaved(): void {
    for (const uid of this.unsaved) if (!this.writes.has(uid)) this.save(uid);
  }

  private path(uid: string): string {
    return join(this.directory, `${uid}${SUFFIX}`);
  }
}

/** Only what the rest of the agent relies on; throws on anything else. */
function decodeRecord(value: unknown, uid: string): PodRecord {
  const record = value as { [Key in keyof PodRecord]?: unknown } | null;
  if (record?.version !== 1) throw new Error("not a pod record of version 1");
  const pod = record.pod as { metadata?: Partial<Pod["metadata"]>; spec?: Partial<Pod["spec"]> } | undefined;
  if (pod?.metadata?.uid !== uid) throw new Error("its pod is missing or is not the one of the file's name");
  safePodUid(uid);
  const { name, namespace } = pod.metadata;
  if (typeof name !== "string" || typeof namespace !== "string" || !Array.isArray(pod.spec?.containers)) {
    throw new Error("its pod is incomplete");
  }
  if (typeof record.startTime !== "string") throw new Error("the start time is missing");
  const termination = record.termination as Partial<TerminationRequest> | undefined;
  if (termination !== undefined && !(Number.isFinite(termination.deadline) && typeof termination.reason === "string")) {
    throw new Error("the termination is incomplete");
  }
  return record as PodRecord;
}
