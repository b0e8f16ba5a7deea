// Events on their way to the API server: in order, counted when lost, never for ever.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { EventSink } from "../../../../../src/main/pods/events/sink/event-sink.js";
import { ApiError } from "../../../../../src/shared/kubernetes/api/client/errors.js";
import type { Event } from "../../../../../src/shared/kubernetes/api/event.js";
import { away, MemoryApi } from "../../../../support/memory-api.js";
import { keptLog } from "../../../../support/sources-kit.js";
import { SteppedClock } from "../../../../support/stepped-clock.js";

const QUEUE_LIMIT = 1000;
/** The longest wait of a routine event. */
const WHOLE_WAIT_MS = 2000;

const turn = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
};

function build(context: TestContext) {
  const clock = new SteppedClock();
  const api = new MemoryApi();
  const counted: string[] = [];
  const counters = { sent: () => void counted.push("sent"), dropped: (why: string) => void counted.push(why) };
  const { log, errors } = keptLog();
  const sink = new EventSink({ client: api.client, clock, log, counters, random: () => 0.5 });
  context.after(async () => {
    await sink.stop();
    assert.equal(clock.pending, 0);
  });
  const pass = async (ms: number): Promise<void> => {
    clock.step(ms);
    await turn();
  };
  return { api, sink, counted, pass, errors };
}

function event(name: string, count = 1): Event {
  return {
    metadata: { name, namespace: "default" },
    involvedObject: { kind: "Pod", name: "web", uid: "u" },
    reason: "Pulled",
    message: `told ${count}`,
    source: { component: "kubelet", host: "n1" },
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: `2026-01-01T00:00:0${count}Z`,
    count,
    type: "Normal",
    reportingComponent: "kubelet",
    reportingInstance: "n1",
  };
}

test("an event is created, patched when repeated, and created again when the server has deleted it", async (t) => {
  const { api, sink, pass } = build(t);
  sink.put(event("a"), false);
  await pass(WHOLE_WAIT_MS);
  sink.put(event("a", 2), true);
  await pass(WHOLE_WAIT_MS);
  sink.put(event("b", 3), true);
  await pass(WHOLE_WAIT_MS);
  assert.deepEqual(api.calls, [
    "create events default/a",
    "patch events default/a",
    "patch events default/b",
    "create events default/b",
  ]);
  assert.deepEqual(api.patches, [{ count: 2, lastTimestamp: "2026-01-01T00:00:02Z", message: "told 2" }]);
});

test("repeated while it waits: sent once", async (t) => {
  const { api, sink, pass } = build(t);
  api.fail = away;
  sink.put(event("a"), false);
  sink.put(event("b"), false);
  sink.put(event("b", 2), true);
  await pass(WHOLE_WAIT_MS);
  api.fail = () => undefined;
  await pass(5000);
  assert.deepEqual(api.calls.slice(1), ["create events default/a", "create events default/b"]);
});

test("a server that is away: twelve tries, then the next one", async (t) => {
  const { api, sink, counted, pass } = build(t);
  api.fail = away;
  sink.put(event("a"), false);
  sink.put(event("b"), false);
  await pass(WHOLE_WAIT_MS);
  for (let i = 0; i < 12; i++) await pass(10_000);
  assert.equal(api.calls.filter((call) => call.endsWith("/a")).length, 12);
  assert.deepEqual(counted, ["unreachable"]);
  api.fail = () => undefined;
  await pass(10_000);
  assert.deepEqual(counted, ["unreachable", "sent"]);
});

test("an event that the server refuses is dropped at once; in a terminating namespace that is no error", async (t) => {
  const { api, sink, counted, pass, errors } = build(t);
  const refusals = new Map([
    ["a", new ApiError(403, "Forbidden", "not yours")],
    ["b", new ApiError(403, "Forbidden", "it goes", { causes: [{ reason: "NamespaceTerminating" }] })],
  ]);
  api.fail = (call) => refusals.get(call.slice(-1));
  for (const name of ["a", "b", "c"]) sink.put(event(name), false);
  await pass(WHOLE_WAIT_MS);
  assert.deepEqual(counted, ["refused", "refused", "sent"]);
  assert.deepEqual(errors(), ["the API server rejected event default/a: not yours"]);
});

test("the queue is bounded: the oldest goes", async (t) => {
  const { api, sink, counted, pass } = build(t);
  let open = (): void => undefined;
  api.gate = new Promise((resolve) => {
    open = resolve;
  });
  sink.put(event("first"), false);
  await pass(WHOLE_WAIT_MS);
  for (let i = 0; i <= QUEUE_LIMIT; i++) sink.put(event(`e${i}`), false);
  assert.deepEqual(counted, ["full"]);
  open();
  await pass(WHOLE_WAIT_MS);
  for (let i = 0; i < 300; i++) await turn();
  assert.equal(counted.filter((one) => one === "sent").length, QUEUE_LIMIT + 1);
  assert.equal(
    api.calls.some((call) => call.endsWith("/e0")),
    false,
  );
});

test("routine events wait longer the more of them wait, in their order; a warning goes at once", async (t) => {
  const { api, sink, pass } = build(t);
  sink.put(event("a"), false);
  await pass(499);
  assert.equal(api.calls.length, 0);
  sink.put({ ...event("bad"), type: "Warning" }, false);
  await turn();
  assert.deepEqual(api.calls, ["create events default/bad"]);
  await pass(1);
  assert.equal(api.calls.at(-1), "create events default/a");
  for (let at = 0; at < 100; at++) sink.put(event(`e${at}`), false);
  await pass(500);
  assert.equal(api.calls.length, 3);
  await pass(250);
  assert.equal(api.calls.length, 13);
  await pass(WHOLE_WAIT_MS - 750);
  assert.deepEqual(
    api.calls.slice(2),
    Array.from({ length: 100 }, (_, at) => `create events default/e${at}`),
  );
});

test("a stop sends the events that wait, and ends without a server", async (t) => {
  const { api, sink } = build(t);
  sink.put(event("a"), false);
  await sink.stop();
  assert.deepEqual(api.calls, ["create events default/a"]);
  const other = build(t);
  other.api.fail = away;
  other.sink.put(event("b"), false);
  const stopped = other.sink.stop();
  await turn();
  await other.pass(500);
  await stopped;
  assert.deepEqual(other.api.calls, ["create events default/b"]);
});
