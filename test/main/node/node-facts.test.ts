// Main's facts about the node: collected, sent once per burst, kept while the runtime does not respond.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { GatheredFacts } from "../../../src/main/node/node-facts.js";
import type { NodeFacts } from "../../../src/shared/contracts/node-status.js";
import type { PlegRecord, RuntimeState } from "../../../src/shared/contracts/pleg.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { FACTS } from "../../workers/node-status/node-status-kit.js";

const { details } = FACTS.runtime!;
const ANSWERS = {
  reachable: true,
  runtimeReady: true,
  networkReady: true,
  name: "containerd",
  version: "1.6.20",
  events: false,
  message: "",
};
const UP: RuntimeState = { ...ANSWERS, details };
const DOWN: RuntimeState = { ...ANSWERS, reachable: false, name: "", version: "", message: "no answer" };
const runtime = (state: RuntimeState): PlegRecord => ({ kind: "runtime", state });

function gather() {
  const clock = new SteppedClock();
  const published: NodeFacts[] = [];
  const facts = new GatheredFacts({ capacity: { cpu: "2" }, allocatable: { cpu: "1" } }, clock, (all) =>
    published.push(all),
  );
  return { clock, published, facts };
}

test("a burst is reported once and whole; an unchanged fact is not reported", () => {
  const { clock, published, facts } = gather();
  facts.onRecord(runtime(UP));
  facts.onRecord({ kind: "relisted", uids: [], durationMs: 1 });
  facts.set({ volumesInUse: ["v"] });
  equal(published.length, 0);
  clock.step(20);
  deepEqual(published, [
    {
      capacity: { cpu: "2" },
      allocatable: { cpu: "1" },
      runtime: { name: "containerd", version: "1.6.20", silentSinceMs: undefined, details },
      relisted: true,
      images: undefined,
      volumesInUse: ["v"],
      pressures: [],
      shuttingDown: false,
      storageProblem: "",
    },
  ]);
  facts.onRecord({ kind: "relisted", uids: [podUid("u")], durationMs: 1 });
  equal(clock.pending, 0, "a relist more is no news");
  facts.set({ volumesInUse: ["v"] });
  clock.step(20);
  equal(published.length, 1);
});

test("a runtime that falls silent keeps its face, and since when it is silent", () => {
  const { clock, facts } = gather();
  facts.onRecord(runtime(DOWN));
  deepEqual(facts.all.runtime, undefined, "it has never responded");
  facts.onRecord(runtime(UP));
  clock.step(5000);
  facts.onRecord(runtime(DOWN));
  clock.step(5000);
  facts.onRecord(runtime({ ...DOWN, message: "still no answer" }));
  deepEqual(facts.all.runtime, { name: "containerd", version: "1.6.20", silentSinceMs: 5000, details });
  facts.onRecord(runtime(UP));
  deepEqual(facts.all.runtime, FACTS.runtime);
  facts.stop();
  clock.step(1000);
});
