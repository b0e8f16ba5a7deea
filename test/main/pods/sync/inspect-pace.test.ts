// Inspections of a pod follow its changes at a pace that fits its number of containers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { InspectPace } from "../../../../src/main/pods/sync/inspect-pace.js";
import type { InspectHint, InspectRequest } from "../../../../src/shared/contracts/pleg.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const hint = (at: number): InspectHint => ({ kind: "container", id: containerIdOf(`c${at}`) });

function build() {
  const clock = new SteppedClock();
  const sent: InspectRequest[] = [];
  const pace = new InspectPace(clock, (request) => void sent.push(request));
  const ids = (): string[] => sent.flatMap(({ hints }) => hints.map(({ id }) => id));
  return { clock, sent, pace, ids };
}

test("a pod with few containers is inspected after each change", () => {
  const { sent, pace } = build();
  for (let at = 0; at < 64; at++) pace.request(podUid("u"), at + 1, [hint(at)], 0);
  assert.equal(sent.length, 64);
});

test("ten thousand starts of one pass cause few inspections, which have every container and the last generation", () => {
  const { clock, sent, pace, ids } = build();
  for (let at = 0; at < 10_000; at++) {
    pace.request(podUid("u"), at + 1, [hint(at)], 0);
    if (at % 100 === 0) clock.step(100);
  }
  assert.ok(sent.length < 90, `${sent.length} inspections`);
  clock.step(5000);
  assert.deepEqual(ids().toSorted(), Array.from({ length: 10_000 }, (_, at) => `c${at}`).toSorted());
  assert.equal(sent.at(-1)?.generation, 10_000);
});

test("a pass that waits has what waits sent at once, and the next changes of a small pod are not held back", () => {
  const { sent, pace } = build();
  for (let at = 0; at < 70; at++) pace.request(podUid("u"), at + 1, [hint(at)], 0);
  const held = 70 - sent.length;
  assert.ok(held > 0);
  pace.sendWaiting(podUid("u"));
  assert.equal(sent.at(-1)?.hints.length, held);
  pace.request(podUid("u"), 71, [hint(70)], 0);
  assert.equal(sent.at(-1)?.generation, 71);
});

test("a hint that repeats is sent once; a removed pod sends nothing", () => {
  const { clock, sent, pace } = build();
  for (let at = 0; at < 200; at++) pace.request(podUid("u"), at + 1, [{ kind: "relist", id: "" }], 5000);
  pace.sendWaiting(podUid("u"));
  assert.deepEqual(sent.at(-1)?.hints, [{ kind: "relist", id: "" }]);
  pace.request(podUid("u"), 300, [hint(1)], 5000);
  const before = sent.length;
  pace.forget(podUid("u"));
  clock.step(10_000);
  assert.equal(sent.length, before);
});
