// The rules of client-go's correlator, as rows: counting, combining, cutting off.
// @promise Cluster: An object's events of one type never exceed 25 at once and one more in five minutes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { EventCorrelator, type Correlated } from "../../../../src/main/pods/events/correlator.js";
import type { Event } from "../../../../src/shared/kubernetes/api/event.js";
import { entriesIn } from "../../../support/entries-in.js";

const COMBINED_PREFIX = "(combined from similar events): ";

function event(fields: Partial<Event> = {}, uid = "u1"): Event {
  return {
    metadata: { name: "n", namespace: "default" },
    involvedObject: { kind: "Pod", namespace: "default", name: "p", uid },
    reason: "Unhealthy",
    message: "probe failed",
    source: { component: "kubelet", host: "node" },
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: "2026-01-01T00:00:00Z",
    count: 1,
    type: "Warning",
    reportingComponent: "kubelet",
    reportingInstance: "node",
    ...fields,
  };
}

function shown(outcome: Correlated): string {
  return outcome.kind === "suppressed"
    ? "suppressed"
    : `${outcome.kind} ${outcome.event.count} ${outcome.event.message}`;
}

describe("a repeated event", () => {
  test("is counted, and keeps its name and first time", () => {
    const correlator = new EventCorrelator();
    const first = correlator.correlate(event({ metadata: { name: "first", namespace: "default" } }), 0);
    const second = correlator.correlate(
      event({ metadata: { name: "second", namespace: "default" }, lastTimestamp: "2026-01-01T00:00:09Z" }),
      9000,
    );
    assert.equal(shown(first), "new 1 probe failed");
    assert.equal(shown(second), "again 2 probe failed");
    assert.ok(second.kind === "again");
    assert.equal(second.event.metadata.name, "first");
    assert.equal(second.event.firstTimestamp, "2026-01-01T00:00:00Z");
    assert.equal(second.event.lastTimestamp, "2026-01-01T00:00:09Z");
  });

  test("keeps only name, first time and count of the first event: all else is the newest", () => {
    const correlator = new EventCorrelator();
    const metadata = { namespace: "default", annotations: { told: "first" } };
    correlator.correlate(event({ metadata: { ...metadata, name: "first" } }), 0);
    const again = { ...metadata, name: "second", annotations: { told: "second" } };
    const second = correlator.correlate(event({ metadata: again }), 1);
    assert.ok(second.kind === "again");
    assert.deepEqual(second.event.metadata, { ...again, name: "first" });
  });

  for (const [what, other] of [
    ["type", event({ type: "Normal" })],
    ["reason", event({ reason: "Killing" })],
    ["message", event({ message: "another" })],
    ["object", event({}, "u2")],
    [
      "container",
      event({ involvedObject: { kind: "Pod", namespace: "default", name: "p", uid: "u1", fieldPath: "x" } }),
    ],
  ] as const) {
    test(`counts apart when its ${what} differs`, () => {
      const correlator = new EventCorrelator();
      correlator.correlate(event(), 0);
      assert.equal(correlator.correlate(other, 0).kind, "new");
    });
  }
});

describe("similar events", () => {
  test("are combined from the tenth different text on", () => {
    const correlator = new EventCorrelator();
    const outcomes = Array.from({ length: 12 }, (_, i) => shown(correlator.correlate(event({ message: `m${i}` }), i)));
    assert.deepEqual(
      outcomes.slice(0, 9),
      Array.from({ length: 9 }, (_, i) => `new 1 m${i}`),
    );
    assert.deepEqual(outcomes.slice(9), [
      `new 1 ${COMBINED_PREFIX}m9`,
      `again 2 ${COMBINED_PREFIX}m10`,
      `again 3 ${COMBINED_PREFIX}m11`,
    ]);
  });

  test("restart their count after ten minutes without an event", () => {
    const correlator = new EventCorrelator();
    for (let i = 0; i < 9; i++) correlator.correlate(event({ message: `m${i}` }), i);
    assert.equal(shown(correlator.correlate(event({ message: "late" }), 600_010)), "new 1 late");
  });
});

describe("the spam filter", () => {
  test("lets 25 of an object pass at once, then one in five minutes", () => {
    const correlator = new EventCorrelator();
    const kinds = Array.from({ length: 30 }, () => correlator.correlate(event(), 0).kind);
    assert.equal(kinds.filter((kind) => kind !== "suppressed").length, 25);
    assert.equal(correlator.correlate(event(), 299_999).kind, "suppressed");
    assert.equal(correlator.correlate(event(), 300_000).kind, "again");
    assert.equal(correlator.correlate(event(), 300_000).kind, "suppressed");
  });

  test("of warnings does not silence normal events, nor the reverse", () => {
    const correlator = new EventCorrelator();
    for (let i = 0; i < 40; i++) correlator.correlate(event({ type: "Warning" }), 0);
    const kinds = Array.from({ length: 30 }, () => correlator.correlate(event({ type: "Normal" }), 0).kind);
    assert.equal(kinds.filter((kind) => kind !== "suppressed").length, 25);
  });

  test("of one object does not silence another", () => {
    const correlator = new EventCorrelator();
    for (let i = 0; i < 40; i++) correlator.correlate(event(), 0);
    assert.equal(correlator.correlate(event({}, "u2"), 0).kind, "new");
  });
});

test("for any events an object passes at most its burst and one more per refill, of each type", () => {
  const step = fc.record({
    wait: fc.nat(400_000),
    text: fc.nat(30),
    uid: fc.constantFrom("a", "b"),
    type: fc.constantFrom("Normal" as const, "Warning" as const),
  });
  const steps = fc.array(step, { maxLength: 200 });
  fc.assert(
    fc.property(steps, (given) => {
      const correlator = new EventCorrelator();
      const passed = new Map<string, number>();
      let now = 0;
      for (const { wait, text, uid, type } of given) {
        now += wait;
        const outcome = correlator.correlate(event({ message: `m${text}`, type }, uid), now);
        const key = `${uid} ${type}`;
        if (outcome.kind !== "suppressed") passed.set(key, (passed.get(key) ?? 0) + 1);
      }
      for (const count of passed.values()) assert.ok(count <= 25 + now / 300_000 + 1e-6);
    }),
  );
});

test("10,000 removed pods leave nothing; an existing object keeps no more than its limit", () => {
  const correlator = new EventCorrelator({ textsRemembered: 5 });
  correlator.correlate(event({}, "stays"), 0);
  const before = entriesIn(correlator);
  for (let pod = 0; pod < 10_000; pod++) {
    for (const reason of ["Created", "Started", "Killing"]) correlator.correlate(event({ reason }, `uid-${pod}`), pod);
    correlator.forget(`uid-${pod}`);
  }
  assert.equal(entriesIn(correlator), before);
  // Rare enough to pass, and too rare to be combined.
  for (let text = 0; text < 1000; text++) {
    correlator.correlate(event({ message: `m${text}` }, "stays"), 1e6 + text * 700_000);
  }
  assert.ok(entriesIn(correlator) < 20, `${entriesIn(correlator)} entries`);
});

test("objects that are not heard of for long are forgotten, never more are kept than allowed", () => {
  const correlator = new EventCorrelator({ remembered: 2 });
  for (let i = 0; i < 26; i++) correlator.correlate(event({}, "a"), 0);
  for (const uid of ["b", "c"]) correlator.correlate(event({}, uid), 0);
  assert.equal(correlator.correlate(event({}, "a"), 0).kind, "new");
});
