import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import { readJson } from "../../../../../../src/shared/kubernetes/api/client/call/body.js";
import { Caller, type Call } from "../../../../../../src/shared/kubernetes/api/client/call/caller.js";
import { RateLimit } from "../../../../../../src/shared/kubernetes/api/client/call/rate-limit.js";
import type { WireResponse } from "../../../../../../src/shared/kubernetes/api/client/connection/wire.js";
import { ApiConnectionError, ApiError } from "../../../../../../src/shared/kubernetes/api/client/errors.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";
import { keptLog } from "../client-kit.js";

const GET: Call = { method: "GET", path: "/api/v1/pods?limit=1", timeoutMs: 30_000 };
const TOO_LARGE = {
  kind: "Status",
  code: 504,
  reason: "Timeout",
  message: "Timeout: Too large resource version: 99999999, current: 1559",
  details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
};

const answer = (status: number, body: unknown = {}, retryAfter?: string): WireResponse => ({
  status,
  headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
  body: Readable.from([Buffer.from(JSON.stringify(body))]),
});
const broken = (code: string) => Object.assign(new Error("it broke"), { code });

/** Sends the call; answers come in their order, the last one for good. */
function send(answers: (() => WireResponse | Error)[], call: Partial<Call> = {}, qps = -1, clock = new SteppedClock()) {
  const at: number[] = [];
  const { log, lines } = keptLog();
  const caller = new Caller({
    config: { server: "https://10.0.0.1/base/", origin: "k" },
    wire: {
      send: () => {
        at.push(clock.monotonic());
        const next = (answers.length > 1 ? answers.shift() : answers[0])?.() ?? new Error("none");
        return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
      },
    },
    limit: new RateLimit(qps, 1, clock),
    clock,
    log,
    userAgent: "test",
    metrics: undefined,
  });
  const run = () => caller.run({ ...GET, ...call }, undefined, readJson);
  const outcome = run().catch((error: unknown) => error);
  return { outcome, at, clock, lines, run };
}
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise(setImmediate);
}
async function seconds(clock: SteppedClock, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await settle();
    clock.step(1000);
  }
  await settle();
}

describe("a call is sent again", () => {
  for (const [status, method] of [
    [429, "POST"],
    [503, "PATCH"],
    [500, "GET"],
    [504, "GET"],
  ] as const) {
    it(`after ${status} with Retry-After (${method})`, async () => {
      const sent = send([() => answer(status, {}, "2"), () => answer(status, {}, "1"), () => answer(200, { a: 1 })], {
        method,
      });
      await seconds(sent.clock, 3);
      deepEqual(await sent.outcome, { a: 1 });
      deepEqual(sent.at, [0, 2000, 3000]);
      equal(sent.clock.pending, 0);
    });
  }

  it("ten times at most", async () => {
    const sent = send([() => answer(429, {}, "1")]);
    await seconds(sent.clock, 12);
    const error = await sent.outcome;
    ok(error instanceof ApiError && error.status === 429);
    equal(sent.at.length, 11);
  });

  it("when a read's connection broke, and nothing else's", async () => {
    const read = send([() => broken("ECONNRESET"), () => answer(200)]);
    await seconds(read.clock, 1);
    deepEqual([await read.outcome, read.at], [{}, [0, 1000]]);
    const write = send([() => broken("ECONNRESET")], { method: "POST" });
    ok((await write.outcome) instanceof ApiConnectionError);
    const other = send([() => broken("ECONNREFUSED")]);
    ok((await other.outcome) instanceof ApiConnectionError);
    deepEqual([write.at, other.at], [[0], [0]]);
  });
});

describe("a refusal is given at once", () => {
  for (const [name, refusal] of [
    ["without Retry-After", () => answer(503)],
    ["with a Retry-After that is no number of seconds", () => answer(503, {}, "Wed, 21 Oct 2015 07:28:00 GMT")],
    ["that nothing can mend", () => answer(409, {}, "1")],
    ["whose wait would pass the deadline", () => answer(429, {}, "30")],
    ["because the version is of the future: the server has waited for it", () => answer(504, TOO_LARGE, "1")],
  ] as const) {
    it(name, async () => {
      const sent = send([refusal]);
      const error = await sent.outcome;
      ok(error instanceof ApiError, String(error));
      equal(error.status, refusal().status);
      deepEqual([sent.at, sent.clock.pending], [[0], 0]);
    });
  }

  it("when the waits together would pass the deadline", async () => {
    const sent = send([() => answer(429, { kind: "Status", code: 429, message: "slow down" }, "4")], {
      timeoutMs: 10_000,
    });
    await seconds(sent.clock, 8);
    const error = await sent.outcome;
    ok(error instanceof ApiError);
    deepEqual([error.message, sent.at], ["slow down", [0, 4000, 8000]]);
  });
});

it("a long wait for the rate limit is logged with verb and URL", async () => {
  const sent = send([() => answer(200)], {}, 0.5);
  await sent.outcome;
  const second = sent.run();
  await seconds(sent.clock, 2);
  await second;
  deepEqual(sent.lines, ["Waited before sending request: client-side throttling"]);
});

it("a call without response names server, path and the awaited part", async () => {
  const sent = send([() => answer(200)], { timeoutMs: 1000 }, 0.1);
  await sent.outcome;
  const second = sent.run();
  const failed = rejects(second, (error: Error) => {
    match(
      error.message,
      /^GET \/api\/v1\/pods: the API server https:\/\/10.0.0.1\/base\/ \(k\): no response within 1000 ms/,
    );
    return error instanceof ApiConnectionError;
  });
  await seconds(sent.clock, 1);
  await failed;
  equal(sent.clock.pending, 0);
});
