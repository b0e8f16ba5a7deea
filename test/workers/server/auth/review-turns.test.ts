// Number of reviews that the server thread sends, number that wait, and their order.
// @promise Hostile tenants and clients: kubeAPIQPS and kubeAPIBurst limit TokenReviews and SubjectAccessReviews.
//   Client addresses take turns: made-up tokens of one address delay a review of another by one turn. Few reviews wait,
//   also of one address; beyond that the oldest gets 429 (docs/adr/0039).
// @with test/workers/server/clients/unauthorised-clients.test.ts

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import type { ApiClient } from "../../../../src/shared/kubernetes/api/client/port.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { serverAuthMetrics } from "../../../../src/workers/server/auth/metrics.js";
import { TooManyReviewsError } from "../../../../src/workers/server/auth/review-turns.js";
import { Tokens } from "../../../../src/workers/server/auth/tokens.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const MAX_WAITING_PER_NETWORK = 32;
const MAX_WAITING = 128;

/** Tokens, and an API server that knows "good" ones only. */
class World {
  readonly clock = new SteppedClock(1000);
  readonly asked: string[] = [];
  readonly refused: string[] = [];
  readonly tokens: Tokens;

  constructor(limits: { qps: number; burst: number }) {
    const create = (_kind: unknown, { spec: { token } }: { spec: { token: string } }): Promise<unknown> => {
      this.asked.push(token);
      const user = { username: token };
      return Promise.resolve({ status: token.startsWith("good") ? { authenticated: true, user } : {} });
    };
    const api = (): Promise<Pick<ApiClient, "create">> => Promise.resolve({ create: create as ApiClient["create"] });
    const metrics = serverAuthMetrics(new ThreadRegistry("server"), this.clock);
    this.tokens = new Tokens({ api, cacheTTLMs: 1000, limits, clock: this.clock, metrics });
  }

  async verify(token: string, network: string): Promise<string> {
    try {
      return (await this.tokens.verify(token, network)).kind;
    } catch (error) {
      ok(error instanceof TooManyReviewsError);
      this.refused.push(token);
      return "too many";
    }
  }

  /** Everything that needs no more time is done. */
  async settle(): Promise<void> {
    for (let i = 0; i < 50; i++) await Promise.resolve();
  }

  async steps(count: number, ms: number): Promise<void> {
    for (let step = 0; step < count; step++) {
      this.clock.step(ms);
      await this.settle();
    }
  }
}

const list = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `token-${from + i}`);

test("random tokens are reviewed at the client's rate; of those that wait too many the oldest are refused", async () => {
  const world = new World({ qps: 50, burst: 100 });
  const all = list(100 + MAX_WAITING + 20).map((token, i) => world.verify(token, `10.0.0.${i % 8}`));
  await world.settle();
  equal(world.asked.length, 100);
  deepEqual(world.refused, list(20, 100));
  await world.steps(200, 20);
  await Promise.all(all);
  equal(world.asked.length, 100 + MAX_WAITING);
});

test("networks take turns: one that sends many tokens delays the review of another by one turn", async () => {
  const world = new World({ qps: 50, burst: 1 });
  const strange = list(30).map((token) => world.verify(token, "10.0.0.1"));
  await world.settle();
  const [first, second] = [world.verify("good-1", "10.0.0.2"), world.verify("good-2", "10.0.0.2")];
  await world.steps(4, 20);
  deepEqual(world.asked, ["token-0", "token-1", "good-1", "token-2", "good-2"]);
  deepEqual(await Promise.all([first, second]), ["user", "user"]);
  await world.steps(30, 20);
  await Promise.all(strange);
  deepEqual(world.refused, []);
});

test("one network has few reviews waiting, and more do not take the places of others", async () => {
  const world = new World({ qps: 50, burst: 1 });
  const strange = list(1 + MAX_WAITING_PER_NETWORK + 10).map((token) => world.verify(token, "10.0.0.1"));
  await world.settle();
  deepEqual(world.refused, list(10, 1));
  const good = world.verify("good", "10.0.0.2");
  await world.steps(2, 20);
  equal(await good, "user");
  await world.steps(MAX_WAITING_PER_NETWORK, 20);
  await Promise.all(strange);
  equal(world.refused.length, 10);
});

test("when too many reviews wait, the network with most of them loses one", async () => {
  const world = new World({ qps: 50, burst: 1 });
  const strange = list(1 + MAX_WAITING).map((token, i) => world.verify(token, `10.0.0.${i % 8}`));
  await world.settle();
  const good = world.verify("good", "10.0.1.1");
  await world.settle();
  equal(world.refused.length, 1);
  await world.steps(9, 20);
  equal(await good, "user");
  await world.steps(MAX_WAITING, 20);
  await Promise.all(strange);
});

test("a known token needs no turn, also while its network has too many reviews waiting", async () => {
  const world = new World({ qps: 1, burst: 1 });
  equal(await world.verify("good", "10.0.0.1"), "user");
  const strange = list(2 * MAX_WAITING_PER_NETWORK).map((token) => world.verify(token, "10.0.0.1"));
  equal(await world.verify("good", "10.0.0.1"), "user");
  await world.steps(2 * MAX_WAITING_PER_NETWORK, 1000);
  await Promise.all(strange);
});
