// MetricSources: one thread's silence costs the page that thread's fresh values and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricSources } from "../../../src/main/threads/node-threads.js";
import type { MetricSnapshot } from "../../../src/shared/metrics/snapshot.js";
import { settle } from "../../support/sync-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const named = (thread: string): MetricSnapshot[] => [{ thread, families: [] }];

test("a source that never responds delays the others by its deadline, and its last values are used", async () => {
  const clock = new SteppedClock();
  const sources = new MetricSources(clock);
  let answers = true;
  sources.add(() => Promise.resolve(named("main")));
  sources.add(() => (answers ? Promise.resolve(named("pleg")) : new Promise(() => undefined)));
  assert.deepEqual(await sources.collect(), [...named("main"), ...named("pleg")]);
  answers = false;
  const page = sources.collect();
  await settle();
  clock.step(1500);
  assert.deepEqual(await page, [...named("main"), ...named("pleg")]);
});

test("a source that fails contributes its last values, at first none", async () => {
  const sources = new MetricSources(new SteppedClock());
  sources.add(() => Promise.reject(new Error("the thread restarts")));
  sources.add(() => Promise.resolve(named("main")));
  assert.deepEqual(await sources.collect(), named("main"));
});
