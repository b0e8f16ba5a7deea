// Helpers for tests of the sources: manifests, a log that is kept, waiting for a condition, a temporary folder.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { pino } from "pino";
import type { SourcesOptions } from "../../src/main/pods/sources/start-sources.js";
import type { Logger } from "../../src/shared/telemetry/log/logger.js";
import { waitFor } from "../../tools/standalone/wait.js";

export interface LogLine {
  level: number;
  msg: string;
  [field: string]: unknown;
}

/** A logger whose lines can be looked at. */
export function keptLog(): { log: Logger; lines: LogLine[]; errors: () => string[]; warnings: () => string[] } {
  const lines: LogLine[] = [];
  const log = pino(
    { level: "debug", base: null },
    { write: (line: string) => lines.push(JSON.parse(line) as LogLine) },
  );
  const at = (level: number): string[] => lines.filter((line) => line.level === level).map((line) => line.msg);
  return { log, lines, errors: () => at(50), warnings: () => at(40) };
}

type Condition = () => unknown;

/** Waits until the condition holds. Rejects after `ms` with `what`, or with the condition's text. */
export function until(what: string, condition: Condition, ms?: number): Promise<void>;
export function until(condition: Condition): Promise<void>;
export async function until(first: string | Condition, second?: Condition, timeoutMs = 60_000): Promise<void> {
  const condition = typeof first === "string" ? second : first;
  if (condition === undefined) throw new TypeError("until() needs a condition");
  await waitFor(condition, { what: String(first), timeoutMs, intervalMs: 2 });
}

export async function temporaryFolder(t: TestContext | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "nodelet-test-"));
  // A writer that the test has just stopped may complete its last write. rm tries again if a folder is not empty.
  t?.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A small valid manifest; `extra` are lines for the container, indented by four. */
export function manifest(name: string, extra = ""): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  containers:
  - name: main
    image: busybox:1.36
${extra === "" ? "" : `    ${extra}\n`}`;
}

/** A node where no other kubelet ran: its static pods keep the UIDs that this kubelet computes. */
export const NO_EARLIER_PODS: SourcesOptions["earlier"] = {
  path: "/nonexistent/static_pod_uids",
  uidsOnDisk: () => Promise.resolve([]),
  runningPods: () => Promise.reject(new Error("the runtime must not be asked")),
};
