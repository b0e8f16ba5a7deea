// An object over the limit of size keeps its name, its version and its deletion. Otherwise a tenant could let a running
// pod grow until nothing ends it.
// @promise Hostile tenants and clients: A pod whose object grows over 3 MiB is still ended when it is deleted.

import { deepEqual, equal } from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import fc from "fast-check";
import { readList } from "../../../../../../src/shared/kubernetes/api/client/call/list.js";
import * as protobuf from "../../../../../../src/shared/kubernetes/api/client/call/protobuf.js";
import { JSON_LINES, watchEvents } from "../../../../../../src/shared/kubernetes/api/client/call/watch.js";
import { eventHeadOfJson, headOfJson } from "../../../../../../src/shared/kubernetes/api/client/decode/object-head.js";
import { HEAD_BYTES, OBJECT_LIMIT } from "../../../../../../src/shared/kubernetes/api/client/decode/oversized.js";
import { Turn } from "../../../../../../src/shared/kubernetes/api/client/decode/turn.js";
import { PODS } from "../../../../../../src/shared/kubernetes/api/client/kinds.js";
import type { ApiObject, Restore } from "../../../../../../src/shared/kubernetes/api/client/port.js";
import { headOfEvent, headOfObject } from "../../../../../../src/shared/kubernetes/api/protobuf/object-head.js";
import { encodeMessage, enveloped } from "../../../../../../src/shared/kubernetes/api/protobuf/objects.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";

const BLOCK = 64 * 1024;
const HEAD = {
  ...{ name: "big", namespace: "default", uid: "u", resourceVersion: "7", generation: 2 },
  deletionTimestamp: "2026-11-29T00:00:00Z",
  deletionGracePeriodSeconds: 1,
};
const TEXT = "\u00e9".repeat(OBJECT_LIMIT / 2);
const BIG = { metadata: { ...HEAD, annotations: { text: TEXT } }, spec: { containers: [] } };
const known: Restore<ApiObject> = (head) =>
  head.uid === "u" ? { metadata: { ...head, labels: { known: "" } } } : undefined;

function bodyOf(bytes: Buffer): Readable {
  const count = Math.ceil(bytes.length / BLOCK);
  return Readable.from(Array.from({ length: count }, (_, at) => bytes.subarray(at * BLOCK, (at + 1) * BLOCK)));
}

const turn = (): Turn => new Turn(new SteppedClock());
const small = (name: string) => ({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "", uid: name } });

async function seen(events: AsyncIterable<{ type: string; object?: ApiObject }>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const { type, object } of events) all.push([type, object?.metadata.name, object?.metadata.labels]);
  return all;
}

function field(number: number, bytes: Uint8Array): Buffer {
  const head = [(number << 3) | 2];
  let rest = bytes.length;
  for (; rest > 0x7f; rest >>>= 7) head.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...head, rest]), bytes]);
}

function frame(type: string, object: ApiObject): Buffer {
  const raw = enveloped("v1", "Pod", encodeMessage("Pod", object));
  const event = Buffer.concat([field(1, Buffer.from(type)), field(2, field(1, raw))]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

const EVENTS: readonly (readonly [string, ApiObject])[] = [
  ["ADDED", small("a")],
  ["MODIFIED", { apiVersion: "v1", kind: "Pod", ...BIG }],
  ["DELETED", { apiVersion: "v1", kind: "Pod", ...BIG }],
  ["ADDED", { apiVersion: "v1", kind: "Pod", metadata: { ...BIG.metadata, uid: "other" } }],
  ["ADDED", small("b")],
];
const SEEN = [
  ["ADDED", "a", undefined],
  ["MODIFIED", "big", { known: "" }],
  ["DELETED", "big", { known: "" }],
  ["ADDED", "b", undefined],
];

test("a watch in JSON delivers the deletion of an object over the limit, in its place", async () => {
  const lines = EVENTS.map(([type, object]) => `${JSON.stringify({ type, object })}\n`).join("");
  deepEqual(await seen(watchEvents(bodyOf(Buffer.from(lines)), JSON_LINES, { turn: turn(), restore: known })), SEEN);
});

test("a watch in protobuf delivers the deletion of an object over the limit, in its place", async () => {
  const frames = Buffer.concat(EVENTS.map(([type, object]) => frame(type, object)));
  deepEqual(await seen(watchEvents(bodyOf(frames), protobuf.PROTOBUF_FRAMES, { turn: turn(), restore: known })), SEEN);
});

test("a list keeps an item over the limit that its owner knows", async () => {
  const items = EVENTS.slice(1).map(([, object]) => object);
  const names = (list: { items: ApiObject[] }): unknown[] => list.items.map(({ metadata }) => metadata.name).toSorted();
  const json = Buffer.from(JSON.stringify({ metadata: {}, items }));
  const inJson = { status: 200, headers: {}, body: bodyOf(json) };
  deepEqual(names(await readList<ApiObject>(inJson, turn(), undefined, undefined, known)), ["b", "big", "big"]);
  const list = enveloped("v1", "PodList", Buffer.concat(items.map((item) => field(2, encodeMessage("Pod", item)))));
  const inProtobuf = { status: 200, headers: {}, body: bodyOf(list) };
  const found = await protobuf.readProtobufList<ApiObject>(inProtobuf, PODS, turn(), undefined, undefined, known);
  deepEqual(names(found), ["b", "big", "big"]);
});

test("the head of an object has the same values in JSON and protobuf", () => {
  const json = Buffer.from(JSON.stringify({ kind: "Pod", apiVersion: "v1", ...BIG })).subarray(0, HEAD_BYTES);
  deepEqual(headOfJson(json), HEAD);
  const bytes = enveloped("v1", "Pod", encodeMessage("Pod", BIG)).subarray(0, HEAD_BYTES);
  deepEqual(headOfObject(bytes), HEAD);
});

test("fields behind a long text are absent, and those of a label are not read", () => {
  const long = { labels: { uid: "forged", text: TEXT }, name: "n", uid: "u" };
  equal(headOfJson(Buffer.from(JSON.stringify({ metadata: long })).subarray(0, HEAD_BYTES)), undefined);
  const short = { labels: { uid: "forged", x: '"},{"' }, name: "n", uid: "u" };
  deepEqual(headOfJson(Buffer.from(`${JSON.stringify({ metadata: short }).slice(0, -1)},"spec":{`)), {
    name: "n",
    uid: "u",
  });
});

test("whatever follows, a head has what JSON.parse finds or lacks it", () => {
  fc.assert(
    fc.property(fc.json(), fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(400), (spec, more, cut) => {
      const object = { metadata: { ...more, name: "n", uid: "u", ...more }, spec };
      const text = Buffer.from(JSON.stringify({ type: "ADDED", object }));
      const head = eventHeadOfJson(text.subarray(0, cut))?.head ?? {};
      const all = object.metadata as Record<string, unknown>;
      for (const [key, value] of Object.entries(head)) equal(value, all[key]);
    }),
  );
});

test("arbitrary bytes have no head, and nothing fails", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      eventHeadOfJson(Buffer.from(bytes));
      try {
        headOfEvent(Buffer.from(bytes));
      } catch (error) {
        equal((error as Error).name, "ProtobufDecodeError");
      }
    }),
  );
});
