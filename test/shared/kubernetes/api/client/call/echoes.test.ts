// Changes whose version is known are not decoded: they come as bookmarks. Whatever does not look like one is decoded.

import { deepEqual, equal } from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { JSON_LINES, watchEvents } from "../../../../../../src/shared/kubernetes/api/client/call/watch.js";
import { Turn } from "../../../../../../src/shared/kubernetes/api/client/decode/turn.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";

const line = (type: string, metadata: object, rest: object = {}): string =>
  `${JSON.stringify({ type, object: { kind: "Pod", apiVersion: "v1", metadata, ...rest } })}\n`;
const WEB = {
  name: "web",
  generateName: "we",
  namespace: "default",
  uid: "u-1",
  resourceVersion: "7",
  labels: { a: "b" },
};

async function echoed(text: string, known: readonly string[]): Promise<string[]> {
  const events: string[] = [];
  const isKnown = (uid: string, version: string): boolean => known.includes(`${uid}@${version}`);
  const reading = { turn: new Turn(new SteppedClock()), isKnown };
  for await (const event of watchEvents(Readable.from([Buffer.from(text)]), JSON_LINES, reading)) {
    const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
    events.push(`${event.type} ${version}`);
    if (event.type === "BOOKMARK") equal(event.initialEventsEnd, false);
  }
  return events;
}

test("a change of a known version is a bookmark", async () => {
  deepEqual(await echoed(line("MODIFIED", WEB), ["u-1@7"]), ["BOOKMARK 7"]);
  const { name, namespace, uid, resourceVersion } = WEB;
  deepEqual(await echoed(line("MODIFIED", { name, namespace, uid, resourceVersion }), ["u-1@7"]), ["BOOKMARK 7"]);
});

test("it is not decoded: the text after its version may be cut or wrong", async () => {
  const head = line("MODIFIED", WEB, { spec: { hostname: "x".repeat(50) } }).slice(0, -40);
  deepEqual(await echoed(`${head}\n${line("MODIFIED", { ...WEB, resourceVersion: "8" })}`, ["u-1@7"]), [
    "BOOKMARK 7",
    "MODIFIED 8",
  ]);
});

test("other versions, other kinds of events and other orders of fields are decoded", async () => {
  deepEqual(await echoed(line("MODIFIED", WEB), ["u-1@8", "u-2@7"]), ["MODIFIED 7"]);
  deepEqual(await echoed(line("ADDED", WEB) + line("DELETED", WEB), ["u-1@7"]), ["ADDED 7", "DELETED 7"]);
  const { resourceVersion, ...others } = WEB;
  deepEqual(await echoed(line("MODIFIED", { resourceVersion, ...others }), ["u-1@7"]), ["MODIFIED 7"]);
});

test("a label that looks like a resource version is not taken for one", async () => {
  const labels = { x: '","uid":"u-1","resourceVersion":"7"' };
  deepEqual(await echoed(line("MODIFIED", { name: "web", labels, resourceVersion: "9" }), ["u-1@7"]), ["MODIFIED 9"]);
});
