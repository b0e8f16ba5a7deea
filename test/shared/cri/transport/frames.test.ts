import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { frameOf, FrameReader } from "../../../../src/shared/cri/transport/frames.js";
import { CallFailedError } from "../../../../src/shared/cri/transport/status.js";
import { grpcTimeout } from "../../../../src/shared/cri/transport/exchange.js";

const LIMIT = 1000;

function failure(work: () => unknown): CallFailedError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof CallFailedError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "the chunk was accepted" });
}

describe("frames of gRPC messages", () => {
  it("give the same messages, however the bytes are cut into chunks", () => {
    const messages = fc.array(fc.uint8Array({ maxLength: LIMIT }), { maxLength: 8 });
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 700 })), (sent, sizes) => {
        const bytes = Buffer.concat(sent.map((message) => frameOf(message)));
        const reader = new FrameReader(LIMIT);
        const got: Buffer[] = [];
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          got.push(...reader.push(bytes.subarray(at, at + size)));
          at += size;
        }
        assert.deepEqual(
          got.map((message) => [...message]),
          sent.map((message) => [...message]),
        );
      }),
    );
  });

  it("of any bytes are messages within the limit or a failure of the call", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
        const reader = new FrameReader(LIMIT);
        try {
          for (const chunk of chunks)
            for (const message of reader.push(Buffer.from(chunk))) assert.ok(message.length <= LIMIT);
        } catch (error) {
          assert.ok(error instanceof CallFailedError, String(error));
        }
      }),
    );
  });

  it("over the limit are refused by their prefix alone", () => {
    const prefix = frameOf(new Uint8Array(LIMIT + 1)).subarray(0, 5);
    assert.equal(failure(() => new FrameReader(LIMIT).push(prefix)).code, "RESOURCE_EXHAUSTED");
  });

  it("that are compressed are refused", () => {
    assert.equal(failure(() => new FrameReader(LIMIT).push(Buffer.from([1, 0, 0, 0, 0]))).code, "INTERNAL");
  });
});

describe("grpc-timeout", () => {
  it("has eight digits at most, and is never shorter than the time left", () => {
    const cases: [number, string | undefined][] = [
      [0, "0m"],
      [0.2, "1m"],
      [120_000, "120000m"],
      [99_999_999, "99999999m"],
      [100_000_001, "100001S"],
      [100 * 365 * 86_400 * 1000, "52560000M"],
      [Number.MAX_VALUE, undefined],
    ];
    for (const [ms, expected] of cases) assert.equal(grpcTimeout(ms), expected, String(ms));
  });
});
