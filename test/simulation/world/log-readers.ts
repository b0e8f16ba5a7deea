// Clients of port 10250: `kubectl logs`, and monitors that ask for pods, usage and health.

import { kernel } from "../kernel/kernel.js";
import type { Random } from "../kernel/random.js";
import type { Trace } from "../kernel/trace.js";
import { NOSY_TOKEN, READER_TOKEN } from "./api.js";
import type { ContainerLogs } from "./container-logs.js";
import { nowNanos, timeText, type LogRun } from "./log-run.js";
import { askNode } from "./node-port.js";

export interface LogQuery {
  follow?: true;
  previous?: true;
  timestamps?: true;
  tailLines?: number;
  limitBytes?: number;
  /** sinceTime is so long ago. */
  agoMs?: number;
}

export type ReaderAction =
  /** `leavesMs`: the client disconnects then. `paceMs`: it takes so long for each piece. */
  | { do: "log-read"; pick: number; query: LogQuery; paceMs?: number; leavesMs?: number }
  | { do: "node-asked"; path: string; as: Client };

export type Client = "reader" | "nosy" | "unknown" | "none";

export const TOKENS: Readonly<Record<Client, string | undefined>> = {
  reader: READER_TOKEN,
  nosy: NOSY_TOKEN,
  unknown: "token-of-no-client",
  none: undefined,
};

/** One request for a log. */
export interface Reading {
  readonly query: LogQuery;
  readonly paceMs: number | undefined;
  /** The newest run of the container as the request was sent. */
  readonly run: LogRun;
  readonly beganAt: number;
  readonly sinceNanos: bigint | undefined;
  /** The oldest line of each run that rotation had not removed as the status came. */
  kept: ReadonlyMap<LogRun, number>;
  /** 0: none came. */
  status: number;
  text: string;
  /** For each piece of a follower's text: where it ends, and the oldest line of each run that was there as it came. */
  readonly pieces: { end: number; kept: ReadonlyMap<LogRun, number> }[];
  /** Steady moment; undefined: it goes on. */
  endedAt: number | undefined;
  /** The response is whole: neither side has ended it before. */
  isWhole: boolean;
}

export interface Answered {
  path: string;
  as: Client;
  beganAt: number;
  /** 0: none came. */
  status: number;
  body: string;
}

export class LogReaders {
  /** Those that go on. */
  readonly open = new Set<Reading>();
  readonly onEnd = new Set<(reading: Reading) => void>();
  readonly onAnswer = new Set<(answered: Answered) => void>();

  constructor(
    private readonly logs: ContainerLogs,
    private readonly trace: Trace,
    private readonly random: Random,
  ) {}

  perform(action: ReaderAction): void {
    if (action.do === "log-read") void this.read(action);
    else void this.ask(action);
  }

  /** The runs of a run's container, in the order of their starts. */
  runsOf({ folder }: LogRun): LogRun[] {
    return [...this.logs.runs.values()].filter((run) => run.folder === folder);
  }

  private async read({ pick, query, paceMs, leavesMs }: Extract<ReaderAction, { do: "log-read" }>): Promise<void> {
    const run = this.newestRun(pick);
    if (run === undefined) return;
    const sinceNanos = query.agoMs === undefined ? undefined : nowNanos() - BigInt(query.agoMs) * 1_000_000n;
    const beganAt = kernel.monotonic;
    const began = { status: 0, text: "", endedAt: undefined, isWhole: false, kept: new Map<LogRun, number>() };
    const reading: Reading = { query, paceMs, run, beganAt, sinceNanos, pieces: [], ...began };
    this.open.add(reading);
    const leave = new AbortController();
    if (leavesMs !== undefined) kernel.after(kernel.world, leavesMs, () => leave.abort(new Error("the client leaves")));
    const about = `${run.fullName} ${run.container} ${JSON.stringify(query)}`;
    this.trace.add(`reader begins ${about}`);
    try {
      await this.receive(reading, pathOf(reading), leave.signal);
      reading.isWhole = true;
    } catch {
      // The connection has ended before the response.
    }
    reading.endedAt = kernel.monotonic;
    this.open.delete(reading);
    const { status, text, isWhole } = reading;
    this.trace.add(`reader ends ${about}: ${status}, ${text.length} bytes${isWhole ? "" : ", cut"}`);
    for (const listener of this.onEnd) listener(reading);
  }

  private async receive(reading: Reading, path: string, signal: AbortSignal): Promise<void> {
    const { paceMs } = reading;
    const request = { path, token: READER_TOKEN, signal };
    const { status, body } = await askNode(paceMs === undefined ? request : { ...request, paceMs });
    reading.status = status;
    reading.kept = this.keptOf(reading.run);
    for await (const part of body as AsyncIterable<Buffer>) {
      reading.text += part.toString();
      if (reading.query.follow === true)
        reading.pieces.push({ end: reading.text.length, kept: this.keptOf(reading.run) });
    }
  }

  private keptOf(run: LogRun): Map<LogRun, number> {
    return new Map(this.runsOf(run).map((one) => [one, one.keptFrom]));
  }

  /** Most readers are curious about containers that write much. */
  private newestRun(pick: number): LogRun | undefined {
    const newest = new Map(this.logs.known().map((run) => [run.folder, run]));
    const all = [...newest.values()];
    const busy = all.filter(({ script }) => script.lines > 0);
    const some = busy.length > 0 && this.random.chance(0.8) ? busy : all;
    return some[pick % Math.max(1, some.length)];
  }

  private async ask({ path, as }: Extract<ReaderAction, { do: "node-asked" }>): Promise<void> {
    const token = TOKENS[as];
    const answered: Answered = { path, as, beganAt: kernel.monotonic, status: 0, body: "" };
    try {
      const { status, body } = await askNode(token === undefined ? { path } : { path, token });
      for await (const part of body as AsyncIterable<Buffer>) answered.body += part.toString();
      answered.status = status;
    } catch {
      // As above.
    }
    this.trace.add(`${as} asks for ${path}: ${answered.status}, ${answered.body.length} bytes`);
    for (const listener of this.onAnswer) listener(answered);
  }
}

function pathOf({ run, query, sinceNanos }: Reading): string {
  const { agoMs: _agoMs, ...plain } = query;
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(plain)) words.set(name, String(value));
  if (sinceNanos !== undefined) words.set("sinceTime", timeText(sinceNanos));
  const path = `/containerLogs/${run.namespace}/${run.fullName}/${run.container}`;
  return words.size === 0 ? path : `${path}?${words.toString()}`;
}
