// The reader of responses: how the bytes are cut into pieces makes no difference, and no bytes make it fail otherwise
// than by a ReplyError.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { ReplyError } from "../../../../../src/shared/io/http/client/reply-error.js";
import { MAX_HEAD_BYTES, ReplyReader } from "../../../../../src/shared/io/http/client/reply-reader.js";
import { randomFrom } from "../../../../support/seeded-random.js";

const LIMITS = { bodyBytes: 10_240, fields: ["Location"] };

interface Read {
  status: number | undefined;
  location: string | undefined;
  isComplete: boolean;
  body: string;
  error: string | undefined;
}

function read(pieces: readonly Buffer[], ends: boolean): Read {
  const reader = new ReplyReader(LIMITS);
  let error: string | undefined;
  try {
    for (const piece of pieces) reader.feed(piece);
    if (ends) reader.end();
  } catch (thrown) {
    if (!(thrown instanceof ReplyError)) throw thrown;
    error = `${thrown.part}: ${thrown.message}`;
  }
  const { head, isComplete } = reader;
  const body = reader.body().toString("latin1");
  return { status: head?.status, location: head?.field("Location"), isComplete, body, error };
}

const bytewise = (bytes: Buffer): Buffer[] => Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1));

function cutAtRandom(bytes: Buffer, random: () => number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const next = at + 1 + Math.floor(random() * 20);
    pieces.push(bytes.subarray(at, next));
    at = next;
  }
  return pieces;
}

const recorded = readFileSync("test/facts/http-client.jsonl", "utf8")
  .trim()
  .split("\n")
  .flatMap((line) => (JSON.parse(line) as { replies: string[] }).replies.map((reply) => Buffer.from(reply, "latin1")));

describe("pieces", () => {
  test("a response in single bytes, in random pieces and whole reads alike", () => {
    const random = randomFrom(1);
    for (const reply of recorded) {
      for (const ends of [true, false]) {
        const whole = read([reply], ends);
        assert.deepEqual(read(bytewise(reply), ends), whole, reply.toString("latin1"));
        assert.deepEqual(read(cutAtRandom(reply, random), ends), whole, reply.toString("latin1"));
      }
    }
  });

  test("damaged responses end in a result or in a ReplyError, however they are cut", () => {
    const random = randomFrom(2);
    for (const reply of recorded) {
      const damaged = Buffer.from(reply);
      for (let hits = 0; hits < 3 && damaged.length > 0; hits++) {
        damaged[Math.floor(random() * damaged.length)] = Math.floor(random() * 256);
      }
      assert.deepEqual(read(bytewise(damaged), true), read([damaged], true));
    }
  });
});

describe("limits", () => {
  const head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";

  test("a head of 500 KiB is read, in one field or in many", () => {
    for (const fields of [`X: ${"v".repeat(500 * 1024)}\r\n`, "X: v\r\n".repeat(80_000)]) {
      assert.equal(read([Buffer.from(`${head}${fields}\r\nok`)], true).body, "ok");
    }
  });

  test("a longer head is an error before its end", () => {
    for (const flood of ["v".repeat(MAX_HEAD_BYTES), "X: v\r\n".repeat(100_000)]) {
      const { error } = read([Buffer.from(`${head}X: ${flood}`)], false);
      assert.equal(error, `head: net/http: server response headers exceeded ${MAX_HEAD_BYTES} bytes; aborted`);
    }
  });

  test("a body is complete at its limit, and keeps no more", () => {
    const reply = read([Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${"x".repeat(20_000)}`)], false);
    assert.deepEqual([reply.isComplete, reply.body.length], [true, 10_240]);
  });
});
