// What must outlive the agent about a pod: its definition, when it was first accepted, and the deadline of a termination
// under way. Everything else is read back from the runtime. A record that can't be written costs nothing but that.
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import { readState, writeState } from "../../shared/fs/state-file.js";
import type { Logger } from "../../shared/log/logger.js";
import type { TerminationRequest } from "./pod-worker.js";

export interface PodRecord {
  version: 1;
  pod: Pod;
  /** RFC 3339, when this node accepted the pod: status.startTime. */
  startTime: string;
  termination?: TerminationRequest;
}

/** No pod outlives the machine, so its record need not: the runtime's own disk writes are not delayed by ours. */
const NOT_DURABLE = { durable: false };

export class PodRecords {
  private readonly records = new Map<string, PodRecord>();
  /** Writes of one pod go one after the other. */
  private readonly writes = new Map<string, Promise<void>>();
  private failing = false;

  constructor(
    private readonly directory: string,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Reads what an earlier agent left. Garbage is set aside with a warning. */
  async load(): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o750 });
    const names = (await readdir(this.directory)).filter((name) => name.endsWith(".json"));
    await Promise.all(
      names.map(async (name) => {
        const record = await readState(join(this.directory, name), decodeRecord, { clock: this.clock, log: this.log });
        if (record !== undefined) this.records.set(record.pod.metadata.uid, record);
      }),
    );
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

  terminating(uid: string, termination: TerminationRequest): void {
    const known = this.records.get(uid);
    if (known !== undefined) this.put({ ...known, termination });
  }

  forget(uid: string): void {
    if (!this.records.delete(uid)) return;
    this.enqueue(uid, () => rm(this.path(uid), { force: true }));
  }

  /** Resolves when all writes so far are done. */
  async flush(): Promise<void> {
    await Promise.all(this.writes.values());
  }

  private put(record: PodRecord): void {
    const { uid } = record.pod.metadata;
    this.records.set(uid, record);
    this.enqueue(uid, () => writeState(this.path(uid), record, NOT_DURABLE));
  }

  private enqueue(uid: string, job: () => Promise<void>): void {
    const before = this.writes.get(uid) ?? Promise.resolve();
    const write = before.then(job).then(
      () => {
        this.failing = false;
      },
      (error: unknown) => this.onWriteFailed(uid, error),
    );
    this.writes.set(uid, write);
    void write.then(() => {
      if (this.writes.get(uid) === write) this.writes.delete(uid);
    });
  }

  private onWriteFailed(uid: string, error: unknown): void {
    if (this.failing) return;
    this.failing = true;
    const message = error instanceof Error ? error.message : String(error);
    this.log.error(
      { uid, err: error },
      `pod records can't be written to ${this.directory}: ${message}; pods go on, but start times and termination ` +
        `deadlines will not survive a restart of the agent until this works again`,
    );
  }

  private path(uid: string): string {
    return join(this.directory, `${uid}.json`);
  }
}

function decodeRecord(value: unknown): PodRecord {
  const record = value as Partial<PodRecord> | null;
  if (record?.version !== 1) throw new Error("not a pod record of version 1");
  if (typeof record.pod?.metadata.uid !== "string" || typeof record.startTime !== "string") {
    throw new Error("the pod or its start time is missing");
  }
  return record as PodRecord;
}
