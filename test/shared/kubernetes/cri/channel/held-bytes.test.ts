// What the calls of a channel hold together is bounded, whatever a runtime leaves unfinished.

import assert from "node:assert/strict";
import type { ServerHttp2Stream } from "node:http2";
import { describe, test } from "node:test";
import fc from "fast-check";
import { HeldBytes, MAX_HELD_BYTES, type Holder } from "../../../../../src/shared/kubernetes/cri/channel/held-bytes.js";
import { MessageReader, withPrefix } from "../../../../../src/shared/kubernetes/cri/channel/message-reader.js";
import { waitFor } from "../../../../../tools/standalone/wait.js";
import { MAX_MESSAGE_BYTES, TestClient, type Outcome } from "./channels.js";
import { newSocket, startRawHttp2 } from "./servers.js";

const FIRST = { ":status": 200, "content-type": "application/grpc" };
const LARGEST = withPrefix(Buffer.alloc(MAX_MESSAGE_BYTES, "x"));
const PART = withPrefix(Buffer.alloc(100_000, "y"));
const SMALL = withPrefix(Buffer.from("z"));

interface Case {
  /** What each call brings, and then nothing more. */
  bytes: Buffer;
  streams: boolean;
  calls: number;
  /** Calls that fit beside each other. */
  fit: number;
}

const CASES: Record<string, Case> = {
  "messages that are not complete": { bytes: LARGEST.subarray(0, -1), streams: false, calls: 16, fit: 11 },
  // Twelve are exactly the limit.
  "whole messages of calls that do not end": { bytes: LARGEST, streams: false, calls: 16, fit: 12 },
  "second messages of unary calls": {
    bytes: Buffer.concat([SMALL, ...Array<Buffer>(10).fill(PART)]),
    streams: false,
    calls: 56,
    fit: 51,
  },
  "messages of streams without a reader": {
    // The client's stream reads sixteen ahead.
    bytes: Buffer.concat(Array<Buffer>(40).fill(PART)),
    streams: true,
    calls: 56,
    fit: 51,
  },
};

describe("a runtime that answers many calls and ends none", () => {
  for (const [title, { bytes, streams, calls, fit }] of Object.entries(CASES)) {
    test(`${title} take no more than the limit, and a small call passes`, { timeout: 170_000 }, async (context) => {
      const path = await newSocket(context);
      const onStream = (stream: ServerHttp2Stream, route: string): boolean => {
        if (route !== "/t.T/Held") return false;
        stream.respond(FIRST);
        stream.write(bytes);
        return true;
      };
      const server = await startRawHttp2(path, { calls: 0, cancelled: 0 }, { onStream });
      context.after(() => server.stop());
      const client = new TestClient(context, "own", path);
      const held = client.own?.held;
      assert.ok(held !== undefined);
      const ended: Outcome[] = [];
      const cancels: (() => void)[] = [];
      const never = new Promise<void>((resolve) => cancels.push(resolve));
      const open = Array.from({ length: calls }, async () => {
        const onCall = (call: { cancel(): void }): unknown => cancels.push(() => call.cancel());
        const between = (): Promise<void> => never;
        ended.push(await client[streams ? "stream" : "unary"]("/t.T/Held", undefined, { onCall, between }));
      });
      // A reader of a stream who has stopped hears of its end later: the server does at once.
      const isFull = (): boolean =>
        streams ? held.calls <= fit && held.sum > MAX_HELD_BYTES / 2 : ended.length >= calls - fit;
      const outcomes = (): string => ended.map(({ code, details }) => `${code} ${details}`).join("; ");
      const lastSeen = (): string =>
        `${held.calls} calls hold ${held.sum} bytes; ended: ${outcomes()}; faults: ${client.faults.join("; ")}`;
      await waitFor(isFull, { what: "the limit", lastSeen });
      const small = await client.unary("/t.T/Echo", Buffer.from("hello"));
      assert.deepEqual([small.code, small.messages.map(String)], [0, ["hello"]]);
      assert.ok(held.sum <= MAX_HELD_BYTES, `${held.sum} bytes are held`);
      for (const cancel of cancels.reverse()) cancel();
      await Promise.all(open);
      const exhausted = ended.filter(({ code }) => code === 8);
      assert.ok(exhausted.length >= calls - fit, `${exhausted.length} calls failed`);
      for (const { details } of exhausted) assert.match(details, /replies that are together larger than max/);
      assert.deepEqual([held.sum, held.calls], [0, 0]);
      assert.deepEqual(client.faults, []);
    });
  }

  test("replies that ended count no longer", { timeout: 170_000 }, async (context) => {
    const path = await newSocket(context);
    const server = await startRawHttp2(path, { calls: 0, cancelled: 0 });
    context.after(() => server.stop());
    const client = new TestClient(context, "own", path);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(MAX_MESSAGE_BYTES);
    for (let round = 0; round < 14; round++) {
      const { code, messages } = await client.unary("/t.T/Bytes", size);
      assert.deepEqual([code, messages[0]?.length], [0, MAX_MESSAGE_BYTES]);
    }
    assert.equal(client.own?.held.sum, 0);
  });
});

test("the sum stays within the limit, and who ends held the most", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat(120)), { maxLength: 200 }), (changes) => {
      const held = new HeldBytes(100);
      const known = new Map<Holder, number>();
      const holders = Array.from({ length: 10 }, () => {
        const holder: Holder = {
          endOverLimit: (sum, most) => {
            assert.ok(sum > most);
            assert.equal(known.get(holder), Math.max(...known.values()));
            known.set(holder, 0);
            held.set(holder, 0);
          },
        };
        return holder;
      });
      for (const [at, bytes] of changes) {
        const holder = holders[at];
        if (holder === undefined) continue;
        known.set(holder, bytes);
        held.set(holder, bytes);
        assert.equal(
          held.sum,
          [...known.values()].reduce((sum, one) => sum + one, 0),
        );
        assert.ok(held.sum <= 100);
      }
    }),
  );
});

test("messages in arbitrary pieces are read whole, and a large one takes no more memory than its bytes", () => {
  const sizes = fc.array(fc.oneof(fc.nat(20), fc.nat(9000), fc.integer({ min: 60_000, max: 300_000 })), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(sizes, fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1 }), (lengths, cuts) => {
      const sent = lengths.map((length, at) => Buffer.alloc(length, at + 1));
      const bytes = Buffer.concat(sent.map(withPrefix));
      const reader = new MessageReader(1024 * 1024);
      const read: Buffer[] = [];
      for (let offset = 0, at = 0; offset < bytes.length; at++) {
        const end = offset + (cuts[at % cuts.length] ?? 1);
        // The socket's buffer is used again.
        const piece = Buffer.from(bytes.subarray(offset, end));
        reader.push(piece);
        for (let next = reader.next(); next !== undefined; next = reader.next()) read.push(next);
        reader.keep();
        piece.fill(0xff);
        const rest = sent[read.length];
        // A small message may keep the buffer of those before it.
        assert.ok(reader.room <= Math.max(128 * 1024, 5 + (rest?.length ?? 0)), `${reader.room} bytes`);
        offset = end;
      }
      assert.deepEqual(read, sent);
      assert.equal(reader.room, 0);
    }),
    { numRuns: 60 },
  );
});
