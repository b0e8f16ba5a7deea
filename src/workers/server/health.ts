// /healthz and its sub-checks, with upstream's texts. A failed check gives its reason as text; only the path of a
// single check shows the reason, the list withholds it.
import type { ServerResponse } from "node:http";
import { replyError, replyText } from "./reply.js";

export interface HealthCheck {
  name: string;
  /** undefined = healthy, else the problem. */
  check: () => string | undefined;
}

/** The input of the checks; read again for each request. */
export interface HealthInputs {
  /** Milliseconds since the sync loop was last entered. */
  syncLoopAgeMs(): number;
  /** Milliseconds since the thread's log was last flushed. */
  logFlushAgeMs(): number;
  /** Why device plugins cannot register; "": they can, or the kubelet has not tried yet. */
  devicePluginProblem(): string;
}

/** Upstream's limit for the log check, milliseconds. */
const LOG_FLUSH_LIMIT_MS = 120_000;

export const pingCheck: HealthCheck = { name: "ping", check: () => undefined };

/** The read-only port's checks. */
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
  ];
}

/** GET /healthz?verbose&exclude=name */
export function replyHealth(response: ServerResponse, checks: readonly HealthCheck[], query: URLSearchParams): void {
  const excluded = new Set(query.getAll("exclude"));
  let report = "";
  let failed = false;
  for (const { name, check } of checks) {
    if (excluded.delete(name)) {
      report += `[+]${name} excluded: ok\n`;
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
  else if (query.has("verbose")) replyText(response, `${report}healthz check passed\n`);
  else replyText(response, "ok");
}

/** GET /healthz/name */
export function replyOneCheck(response: ServerResponse, check: HealthCheck): void {
  const problem = check.check();
  if (problem === undefined) replyText(response, "ok");
  else replyError(response, 500, `internal server error: ${problem}`);
}
