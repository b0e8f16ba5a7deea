// The client side of SPDY/3.1. Streams and data arrive, input cut at any byte is parsed, anything other than SPDY is
// refused.

import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SpdyError } from "../../../../src/shared/io/spdy/frames.js";
import { SpdySession, type SpdyOut } from "../../../../src/workers/server/streams/spdy/session.js";
import { cut } from "../../../support/cut.js";
import { controlFrame, dataFrame, SpdyPeer, word } from "../../../support/spdy-peer.js";

const END = Symbol("end");

/** A connection that takes nothing on by itself. */
class Wire implements SpdyOut {
  readonly writable = true;
  private parts: Buffer[] = [];

  constructor(private readonly limit: number) {}

  get length(): number {
    return this.parts.reduce((sum, part) => sum + part.length, 0);
  }
  get writableNeedDrain(): boolean {
    return this.length >= this.limit;
  }
  cork(): void {
    // Everything waits.
  }
  uncork(): void {
    // For `take`.
  }
  write(part: Buffer): boolean {
    this.parts.push(part);
    return !this.writableNeedDrain;
  }
  take(): Buffer {
    return Buffer.concat(this.parts.splice(0));
  }
}

interface Pair {
  session: SpdySession;
  peer: SpdyPeer;
  out: Wire;
  received: unknown[];
}

/** The peer's frames reach the session only as a test pushes them. */
function pair(limit = 1_000_000): Pair {
  const out = new Wire(limit);
  const received: unknown[] = [];
  const session = new SpdySession(out, {
    onData: (stream, part) => received.push([stream, part.toString("latin1")]),
    onEnd: (stream, reset) => received.push([stream, END, reset]),
    onGoAway: () => received.push("go away"),
  });
  const peer = new SpdyPeer({ write: () => true });
  return { session, peer, out, received };
}

function flush({ out, peer }: Pair): void {
  peer.push(out.take());
}

test("streams are opened with their headers, in one zlib stream", () => {
  const both = pair();
  equal(both.session.open({ streamtype: "error" }), 1);
  equal(both.session.open({ streamtype: "stdin", port: "80", requestid: "0" }), 3);
  equal(both.session.open({ streamtype: "x".repeat(60_000) }), 5);
  flush(both);
  deepEqual(
    both.peer.streams.map(({ id, headers }) => [id, headers]),
    [
      [1, { streamtype: "error" }],
      [3, { streamtype: "stdin", port: "80", requestid: "0" }],
      [5, { streamtype: "x".repeat(60_000) }],
    ],
  );
});

test("written bytes arrive, on their stream, until it is ended", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(2), fc.string({ maxLength: 40 }))), (writes) => {
      const both = pair();
      const names = ["error", "stdin", "resize"];
      const ids = names.map((streamtype) => both.session.open({ streamtype }));
      for (const [index, text] of writes) both.session.write(ids[index] ?? 0, Buffer.from(text));
      both.session.end(3);
      both.session.end(3);
      both.session.write(3, Buffer.from("too late"));
      flush(both);
      for (const [index, name] of names.entries()) {
        const expected = writes.flatMap(([of, text]) => (of === index ? [text] : [])).join("");
        equal(Buffer.concat(both.peer.stream(name).parts).toString(), expected);
        equal(both.peer.stream(name).ended, name === "stdin");
      }
    }),
  );
});

test("a slow connection is reported", () => {
  const both = pair(100);
  const stream = both.session.open({ streamtype: "stdin" });
  flush(both);
  equal(both.session.write(stream, Buffer.alloc(50)), true);
  equal(both.session.write(stream, Buffer.alloc(50)), false);
});

const frame = fc.oneof(
  fc.tuple(fc.constantFrom(1, 3), fc.string({ maxLength: 60 }), fc.boolean()).map(([stream, text, fin]) => ({
    wire: dataFrame(stream, Buffer.from(text, "latin1"), fin),
    stream,
    text: Buffer.from(text, "latin1").toString("latin1"),
    ends: fin,
  })),
  fc.tuple(fc.constantFrom(1, 3), fc.boolean()).map(([stream, fin]) => ({
    wire: controlFrame(2, word(stream), { flags: fin ? 1 : 0 }),
    stream,
    text: "",
    ends: fin,
  })),
  fc.constantFrom(1, 3).map((stream) => ({
    wire: controlFrame(3, Buffer.concat([word(stream), word(5)])),
    stream,
    text: "",
    ends: true,
  })),
  fc
    .tuple(fc.constantFrom(4, 9, 10), fc.uint8Array({ maxLength: 20 }))
    .map(([kind, payload]) => ({ wire: controlFrame(kind, Buffer.from(payload)), stream: 0, text: "", ends: false })),
);

test("frames are delivered in order and each end once, however they are cut; nothing comes after an end", () => {
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (frames, cuts) => {
      const both = pair();
      both.session.open({});
      both.session.open({});
      for (const part of cut(Buffer.concat(frames.map(({ wire }) => wire)), cuts)) both.session.push(part);
      for (const stream of [1, 3]) {
        const own = frames.filter((each) => each.stream === stream);
        const last = own.findIndex(({ ends }) => ends);
        const heard = (last < 0 ? own : own.slice(0, last + 1)).map(({ text }) => text).join("");
        const received = both.received.flatMap((each) =>
          Array.isArray(each) && each[0] === stream ? [each[1] as unknown] : [],
        );
        equal(received.filter((text) => text !== END).join(""), heard);
        equal(received.indexOf(END), last < 0 ? -1 : received.length - 1);
      }
    }),
  );
});

test("the server's pings get responses, its own streams are refused, its GOAWAY is reported", () => {
  const both = pair();
  both.session.push(controlFrame(6, word(0xffff_fffe)));
  both.session.push(controlFrame(6, word(7)));
  both.session.push(controlFrame(1, Buffer.concat([word(2), Buffer.alloc(6)])));
  both.session.push(controlFrame(7, Buffer.alloc(8)));
  flush(both);
  deepEqual(both.peer.control, [
    [6, word(0xffff_fffe)],
    [3, Buffer.concat([word(2), word(3)])],
  ]);
  deepEqual(both.received, ["go away"]);
});

test("a flood of pings from a peer that does not read gets a bounded number of responses", () => {
  const both = pair(1000);
  for (let i = 0; i < 1000; i++) both.session.push(controlFrame(6, word(2)));
  equal(both.out.length < 1100, true);
});

const garbage: [what: string, wire: Buffer][] = [
  ["another version", controlFrame(2, word(1), { version: 2 })],
  ["a control frame of 16 KiB and more", controlFrame(8, Buffer.alloc(16 * 1024 + 1))],
  ["a reset without a status", controlFrame(3, word(1))],
  ["data of a stream nobody opened", dataFrame(9, Buffer.from("x"))],
  ["an HTTP answer", Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
];
for (const [what, wire] of garbage) {
  test(`refused: ${what}`, () => {
    const { session } = pair();
    session.open({});
    throws(() => session.push(wire), SpdyError);
  });
}
