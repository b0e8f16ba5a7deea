// /healthz and its sub-checks, with upstream's texts. A failed check gives its reason as text; only the path of a
// single check shows the reason, the list withholds it.

import type { ServerResponse } from "node:http";
import type { ThreadSnapshot } from "../../../shared/base/queue/board.js";
import { replyError, replyExact } from "../http/reply.js";

export interface HealthCheck {
  name: string;
  /** undefined = healthy, else the problem. */
  check: () => string | undefined;
  /** The list shows a problem, and the whole passes all the same: a restart of the kubelet would mend nothing. */
  advisory?: true;
}

/** The input of the checks; read again for each request. */
export interface HealthInputs {
  /** Milliseconds since the sync loop was last entered. */
  syncLoopAgeMs(): number;
  /** Milliseconds since the thread's log was last flushed. */
  logFlushAgeMs(): number;
  /** Why device plugins cannot register; "": they can, or the kubelet has not tried yet. */
  devicePluginProblem(): string;
  threads(): readonly ThreadSnapshot[];
}

/** Upstream's limit for the log check, milliseconds. */
const LOG_FLUSH_LIMIT_MS = 120_000;

export const pingCheck: HealthCheck = { name: "ping", check: () => undefined };

/** A thread that runs stamps its slot each 0.5 s; after so long its supervisor ends it. */
const SILENT_MS = 10_000;

/** The checks of the ports that serve more than /healthz. */
export function nodeChecks(inputs: HealthInputs, syncLoopMaxAgeMs: number): HealthCheck[] {
  return [
    pingCheck,
    {
      name: "log",
      check: () => (inputs.logFlushAgeMs() > LOG_FLUSH_LIMIT_MS ? "logging blocked" : undefined),
    },
    {
      name: "syncloop",
      check: () => (inputs.syncLoopAgeMs() > syncLoopMaxAgeMs ? "sync Loop took longer than expected" : undefined),
    },
    { name: "device-plugin", check: () => inputs.devicePluginProblem() || undefined },
    // A thread restarts by itself, and what ended it can be the work of its clients.
    { name: "threads", check: () => threadProblem(inputs.threads()), advisory: true },
  ];
}

/** undefined: all threads run, rest until there is work for them, or start for the first time. */
function threadProblem(threads: readonly ThreadSnapshot[]): string | undefined {
  const down = threads.filter(({ state, generation, ageMs }) => {
    if (generation === 0 || state === "resting") return false;
    return state === "exited" || (state === "spawned" ? generation > 1 : ageMs > SILENT_MS);
  });
  return down.length === 0
    ? undefined
    : `not running: ${down.map(({ thread, state }) => `${thread} (${state})`).join(", ")}`;
}

/** GET /healthz?verbose&exclude=name */
export function replyHealth(response: ServerResponse, checks: readonly HealthCheck[], query: URLSearchParams): void {
  const excluded = new Set(query.getAll("exclude"));
  let report = "";
  let failed = false;
  for (const { name, check, advisory } of checks) {
    if (excluded.delete(name)) {
      if (advisory !== true) report += `[+]${name} excluded: ok\n`;
    } else if (advisory === true) {
      const problem = check();
      if (problem !== undefined) report += `[-]${name} failed, which fails nothing else: ${problem}\n`;
    } else if (check() === undefined) {
      report += `[+]${name} ok\n`;
    } else {
      failed = true;
      report += `[-]${name} failed: reason withheld\n`;
    }
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(",");
    report += `warn: some health checks cannot be excluded: no matches for ${names}\n`;
  }
  if (failed) replyError(response, 500, `${report}healthz check failed`);
  else if (query.has("verbose")) replyExact(response, `${report}healthz check passed\n`);
  else replyExact(response, "ok");
}

/** GET /healthz/name */
export function replyOneCheck(response: ServerResponse, check: HealthCheck): void {
  const problem = check.check();
  if (problem === undefined) replyExact(response, "ok");
  else replyError(response, 500, `internal server error: ${problem}`);
}
