import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { waitFor } from "../../../tools/standalone/wait.js";
import type { OpenLane } from "../../harness/environment.js";
import { brokenFile, type FileResult } from "../../harness/file-result.js";
import type { Lane } from "../../harness/lane.js";
import type { Job } from "../../harness/selection.js";
import { TestRun } from "../../harness/test-run.js";
import { timeBudget } from "../../harness/time-budget.js";

/** More files than lanes. */
const FILES = 100;

const job = (name: string): Job => ({ suite: "unit", name, lane: "plain", timeoutMs: 60_000 });

/** A lane whose files hang until it stops; the file "fails" fails at once. */
class HangingLane {
  readonly kind = "plain";
  private readonly hanging: ((result: FileResult) => void)[] = [];

  constructor(private readonly began: string[]) {}

  run(file: string): Promise<FileResult> {
    this.began.push(file);
    if (file.endsWith("fails.test.js")) return Promise.resolve(brokenFile("✖ a title"));
    return new Promise((resolve) => this.hanging.push(resolve));
  }

  stop(): Promise<void> {
    for (const resolve of this.hanging.splice(0)) resolve(brokenFile("✖ the lane's process ended"));
    return Promise.resolve();
  }
}

test("a stopped run begins no file, runs none once more, and has no result of a file that ran", async (t) => {
  const keptIn = await mkdtemp(join(tmpdir(), "nodelet-kept-"));
  t.after(() => rm(keptIn, { recursive: true }));
  const said: string[] = [];
  t.mock.method(console, "log", (line: string) => said.push(line));
  const began: string[] = [];
  const stop = new AbortController();
  const open = (): Promise<OpenLane> => {
    const lane = new HangingLane(began);
    return Promise.resolve({ lane: lane as unknown as Lane, close: () => lane.stop() });
  };
  const budget = timeBudget(undefined, () => 0);
  const jobs = [job("fails"), ...Array.from({ length: FILES }, (_, index) => job(`hangs-${index}`))];
  const run = new TestRun(jobs, { root: "/x", keptIn, environment: { open }, budget, slowness: 1 }, stop.signal).run();
  const lineOfFailure = (): boolean => said.some((line) => line.includes("fails"));
  await waitFor(() => lineOfFailure() && began.length > 1, { what: "a file to hang after one failed" });
  const before = began.length;
  stop.abort();
  const outcomes = await run;
  assert.deepEqual(
    outcomes.map(({ job: { name }, second }) => [name, second]),
    [["fails", undefined]],
  );
  assert.equal(began.length, before, began.join("\n"));
  assert.deepEqual(
    said.filter((line) => /once more|hangs/.test(line)),
    [],
  );
});
