// What one run of a container has written to its log. A line shows its run and number, so that its text is known.

import type { FakeContainer } from "../../fake-cri/state.js";
import type { Inode } from "../disk/inode.js";
import { kernel } from "../kernel/kernel.js";
import type { LogScript } from "../plan/pod-shapes.js";
import { podNameOf } from "./pod-facts.js";

/** Bytes of a record of a long line; containerd cuts at 16 KiB. */
const RECORD = 512;
const RECORDS_OF_LONG = 3;
/** The first and the last line only. */
const QUIET: LogScript = { everyMs: 0, lines: 0, length: 30, longEvery: 0, writes: 0, silentMs: 0 };
const FILL = "abcdefghijklmnopqrstuvwxyz ".repeat(100);

export interface Line {
  /** Steady moment at which its last record was in the file; Infinity: not yet. */
  atMs: number;
  /** Wall time of its first and of its last record, nanoseconds. */
  first: bigint;
  last: bigint;
}

export class LogRun {
  readonly id: string;
  readonly pod: string;
  /** Its name in the API. */
  readonly fullName: string;
  readonly namespace: string;
  readonly container: string;
  readonly attempt: number;
  readonly path: string;
  /** The folder of all logs of the container. */
  readonly folder: string;
  readonly startedAt = kernel.monotonic;
  /** Steady moment; undefined: it runs. */
  endedAt: number | undefined;
  readonly lines: Line[] = [];
  /** The file that it writes to; undefined: it could open none. */
  inode: Inode | undefined;
  /** Records of its last line that are not written yet. */
  readonly waiting: string[] = [];
  /** A loss of power has torn its files, or a full disk has taken a part of a line. */
  isTorn = false;
  /** Number of the oldest line that rotation has not removed. */
  keptFrom = 1;
  /** Bytes that were written until steady moments. */
  private readonly written: { atMs: number; bytes: number }[] = [];
  private bytes = 0;
  private readonly tag: string;

  constructor(
    { status, config }: FakeContainer,
    readonly script: LogScript = QUIET,
  ) {
    const { labels, metadata } = config;
    this.id = status.id;
    this.pod = podNameOf(labels);
    this.fullName = labels["io.kubernetes.pod.name"] ?? "";
    this.namespace = labels["io.kubernetes.pod.namespace"] ?? "";
    this.container = metadata?.name ?? "";
    this.attempt = metadata?.attempt ?? 0;
    this.path = status.logPath;
    this.folder = this.path.slice(0, this.path.lastIndexOf("/"));
    this.tag = `${this.pod}.${this.container}.${this.attempt}.${this.id.slice(0, 8)}`;
  }

  /** Text of the line of that number, which counts from 1. */
  textOf(number: number): string {
    const { length, longEvery } = this.script;
    const head = `${this.tag} #${number} `;
    const isLong = longEvery > 0 && number % longEvery === 0;
    const whole = isLong ? RECORDS_OF_LONG * RECORD - 100 : length + ((number * 7) % length);
    return head + FILL.slice(0, Math.max(1, whole - head.length));
  }

  /** Number of the line that a text shows as its beginning; undefined: it is no line of this run. */
  numberOf(text: string): number | undefined {
    const [, tag, number] = /^(\S+) #(\d+) /.exec(text) ?? [];
    return tag === this.tag ? Number(number) : undefined;
  }

  /** Its texts and streams, as the records of the next line. */
  begin(): string[] {
    const number = this.lines.push({ atMs: Infinity, first: nowNanos(), last: nowNanos() });
    const text = this.textOf(number);
    const stream = number % 5 === 0 ? "stderr" : "stdout";
    const count = Math.ceil(text.length / RECORD);
    return Array.from({ length: count }, (_, index) => {
      const tag = index === count - 1 ? "F" : "P";
      return `${stream} ${tag} ${text.slice(index * RECORD, (index + 1) * RECORD)}\n`;
    });
  }

  /** The records of a line are in the file. `line`: its number. */
  done(number: number): void {
    const line = this.lines[number - 1];
    if (line !== undefined) Object.assign(line, { atMs: kernel.monotonic, last: nowNanos() });
  }

  add(bytes: number): void {
    this.bytes += bytes;
    this.written.push({ atMs: kernel.monotonic, bytes: this.bytes });
  }

  /** Bytes that it has written since a steady moment. */
  bytesSince(atMs: number): number {
    return this.bytes - (this.written.findLast((one) => one.atMs < atMs)?.bytes ?? 0);
  }

  /** Number of the newest line that was in the file at a steady moment; 0: none. */
  lastAt(atMs: number): number {
    return this.lines.findLastIndex((line) => line.atMs <= atMs) + 1;
  }
}

export function nowNanos(): bigint {
  return BigInt(Math.round(kernel.wall * 1e6));
}

/** RFC 3339 with nanoseconds. */
export function timeText(nanos: bigint): string {
  const seconds = new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 19);
  return `${seconds}.${(nanos % 1_000_000_000n).toString().padStart(9, "0")}Z`;
}
