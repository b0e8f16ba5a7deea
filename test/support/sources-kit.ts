// Helpers for tests of the sources: manifests, a log that is kept, waiting for a condition, a temporary folder.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { pino } from "pino";
import type { SourcesOptions } from "../../src/main/pods/sources/start-sources.js";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import type { Logger } from "../../src/shared/telemetry/log/logger.js";

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

/** Resolves when `test` holds; rejects with what was waited for after `ms`. */
export async function until(what: string, test: () => boolean, ms = 60_000): Promise<void> {
  const end = systemClock.monotonic() + ms;
  while (!test()) {
    if (systemClock.monotonic() > end) throw new Error(`waited ${ms} ms for: ${what}`);
    await systemClock.sleep(2);
  }
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
