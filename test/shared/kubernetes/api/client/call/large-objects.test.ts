// A watch event with an object of megabytes is decoded in turns of the thread.
// @promise Hostile tenants and clients: An object of the API server of megabytes is decoded in turns of main's loop.

import { deepEqual, ok } from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { PROTOBUF_FRAMES } from "../../../../../../src/shared/kubernetes/api/client/call/protobuf.js";
import { watchEvents } from "../../../../../../src/shared/kubernetes/api/client/call/watch.js";
import type { Turn } from "../../../../../../src/shared/kubernetes/api/client/decode/turn.js";
import { encodeObject } from "../../../../../../src/shared/kubernetes/api/protobuf/objects.js";

function field(number: number, content: Buffer): Buffer {
  const head = [(number << 3) | 2];
  let left = content.length;
  for (; left > 0x7f; left = Math.floor(left / 128)) head.push((left & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...head, left]), content]);
}

function frameOf(type: string, object: Record<string, unknown>): Buffer {
  const event = Buffer.concat([
    field(1, Buffer.from(type)),
    field(2, field(1, encodeObject(object) ?? Buffer.alloc(0))),
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

test("a watch gives the loop back while it decodes a pod of a megabyte", async () => {
  let turns = 0;
  const turn = {
    isOver: true,
    next: () => {
      turns++;
      return Promise.resolve();
    },
  } as unknown as Turn;
  const containers = Array.from({ length: 20_000 }, (_, at) => ({ name: `c${at}`, image: "registry.example/none:v1" }));
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", uid: "u" }, spec: { containers } };
  const frame = frameOf("ADDED", pod);
  ok(frame.length > 700_000);
  for await (const event of watchEvents(Readable.from([frame]), PROTOBUF_FRAMES, { turn })) {
    deepEqual((event as { object: unknown }).object, pod);
    break;
  }
  // One turn is after the object.
  ok(turns > frame.length / 80_000, `${turns} turns for ${frame.length} bytes`);
});
