// MetricSources: one thread's silence costs the page that thread's fresh values and nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricSources } from "../../../src/main/threads/metric-sources.js";
import type { MetricSnapshot } from "../../../src/shared/telemetry/metrics/snapshot.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";

const named = (thread: string): MetricSnapshot[] => [{ thread, families: [] }];

test("a source that never responds delays the others by its deadline, and its last values are used", async () => {
  const clock = new SteppedClock();
  const sources = new MetricSources(clock);
  let answers = true;
  sources.add("main", () => Promise.resolve(named("main")));
  sources.add("pleg", () => (answers ? Promise.resolve(named("pleg")) : new Promise(() => undefined)));
  assert.deepEqual(await sources.collect("server"), [...named("main"), ...named("pleg")]);
  answers = false;
  const page = sources.collect("server");
  await settle();
  clock.step(1500);
  assert.deepEqual(await page, [...named("main"), ...named("pleg")]);
});

test("a source that fails contributes its last values, at first none", async () => {
  const sources = new MetricSources(new SteppedClock());
  sources.add("pleg", () => Promise.reject(new Error("the thread restarts")));
  sources.add("main", () => Promise.resolve(named("main")));
  assert.deepEqual(await sources.collect("server"), named("main"));
});

test("a thread that asks for the page gets all values but its own", async () => {
  const sources = new MetricSources(new SteppedClock());
  for (const thread of ["main", "server", "secure-server"]) sources.add(thread, () => Promise.resolve(named(thread)));
  assert.deepEqual(await sources.collect("server"), [...named("main"), ...named("secure-server")]);
  assert.deepEqual(await sources.collect("secure-server"), [...named("main"), ...named("server")]);
});
