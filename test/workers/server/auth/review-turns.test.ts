// How many reviews the server thread sends and how many wait.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import type { ApiClient } from "../../../../src/shared/api/client/port.js";
import { ThreadRegistry } from "../../../../src/shared/metrics/thread-registry.js";
import { serverAuthMetrics } from "../../../../src/workers/server/auth/metrics.js";
import { MAX_WAITING, TooManyReviewsError } from "../../../../src/workers/server/auth/review-turns.js";
import { Tokens } from "../../../../src/workers/server/auth/tokens.js";
import { ManualClock } from "../manual-clock.js";

test("random tokens are reviewed at the client's rate; of those that wait too many the oldest are refused", async () => {
  const clock = new ManualClock();
  let asked = 0;
  const create = (): Promise<unknown> => {
    asked++;
    return Promise.resolve({ status: { authenticated: false } });
  };
  const metrics = serverAuthMetrics(new ThreadRegistry("server"), clock);
  const api = (): Promise<Pick<ApiClient, "create">> => Promise.resolve({ create: create as ApiClient["create"] });
  const tokens = new Tokens({ api, cacheTTLMs: 1000, limits: { qps: 50, burst: 100 }, clock, metrics });
  const refused: number[] = [];
  const count = 100 + MAX_WAITING + 20;
  const all = Array.from({ length: count }, (_, i) =>
    tokens.verify(`token-${i}`).catch((error: unknown) => {
      ok(error instanceof TooManyReviewsError);
      refused.push(i);
    }),
  );
  for (let i = 0; i < 50; i++) await Promise.resolve();
  equal(asked, 100);
  deepEqual(
    refused,
    Array.from({ length: 20 }, (_, i) => 100 + i),
  );
  for (let second = 0; second < 4; second++) {
    for (let step = 0; step < 50; step++) {
      clock.advance(20);
      await Promise.resolve();
    }
  }
  await Promise.all(all);
  equal(asked, 100 + MAX_WAITING);
});
