// Reads logs of services with journalctl. Services that do not log to the journal have files in the log directory.
// Invariant: nothing a client writes becomes an option of journalctl; a run ends after 30 s, and with its client.

import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import { openLogFile } from "./log-file.js";
import type { NodeLogOptions } from "./query.js";

const JOURNAL_LIMIT_MS = 30_000;
const UNITS_BYTES = 16 * 1024 * 1024;
const run = promisify(execFile);

export interface JournalDeps {
  logDirectory: string;
  clock: Clock;
  /** Program in place of journalctl. */
  program?: string;
}

/** @throws the signal's reason; any other error is in the text, as upstream does */
export async function* serviceLogs(
  services: readonly string[],
  options: NodeLogOptions,
  { logDirectory, clock, program = "journalctl" }: JournalDeps,
  gone: AbortSignal,
): AsyncGenerator<Uint8Array | string> {
  const end = new AbortController();
  const stop = (): void => end.abort();
  const timer = clock.after(JOURNAL_LIMIT_MS, stop);
  gone.addEventListener("abort", stop, { once: true });
  try {
    const units = await journalUnits(program, end.signal);
    const native = services.filter((service) => units.includes(`${service}.service`));
    const files = services.filter((service) => !native.includes(service));
    if (files.length > 0 && Object.keys(options).length > 0) {
      yield `\noptions present and query resolved to log files for [${files.join(" ")}]\ntry without specifying options\n`;
    } else if (files.length > 0) {
      for (const service of files) yield* fileOf(service, logDirectory);
    } else {
      yield* journal(program, journalArguments(native, options), end.signal);
    }
  } finally {
    timer.cancel();
    gone.removeEventListener("abort", stop);
    end.abort();
  }
}

/** @internal */
export function journalArguments(services: readonly string[], options: NodeLogOptions): string[] {
  const { sinceTime, untilTime, tailLines, pattern, boot } = options;
  return [
    "--utc",
    "--no-pager",
    "--output=short-precise",
    ...(sinceTime === undefined ? [] : [`--since=${utc(sinceTime)}`]),
    ...(untilTime === undefined ? [] : [`--until=${utc(untilTime)}`]),
    ...(tailLines === undefined ? [] : ["--pager-end", `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === undefined ? [] : [`--grep=${pattern}`]),
    ...(boot === undefined ? [] : ["--boot", String(boot)]),
  ];
}

/** journalctl reads times in UTC here, to the second. */
function utc(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace("T", " ");
}

async function journalUnits(program: string, signal: AbortSignal): Promise<string> {
  try {
    return (await run(program, ["--field", "_SYSTEMD_UNIT"], { signal, maxBuffer: UNITS_BYTES })).stdout;
  } catch {
    return "";
  }
}

async function* journal(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array | string> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], signal });
  let failed: Error | undefined;
  child.on("error", (error) => (failed = error));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    if (complaints.length < 4096) complaints += part;
  });
  try {
    for await (const part of child.stdout as Readable & AsyncIterable<Uint8Array>) yield part;
    await closed;
    if (complaints !== "") yield complaints;
    if (failed !== undefined && !signal.aborted) yield "\nerror: journal output not available\n";
  } finally {
    child.kill("SIGKILL");
  }
}

async function* fileOf(service: string, logDirectory: string): AsyncGenerator<Uint8Array | string> {
  for (const name of [service, `${service}.log`, join(service, `${service}.log`)]) {
    const file = await openLogFile(logDirectory, name, { within: true });
    if (file === undefined) continue;
    for await (const part of file.chunks()) yield part;
    return;
  }
  yield `\nlog not found for ${service}\n`;
}
