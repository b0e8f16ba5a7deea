// Tokens of service accounts: asked for once, renewed in time, kept while the server is away.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LONGEST_TOKEN, MOST_KEPT_TOKENS, TokenCache } from "../../../../src/main/cluster/tokens/token-cache.js";
import { ApiConnectionError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import type { ApiClient } from "../../../../src/shared/kubernetes/api/client/port.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod as makePod } from "../../../support/pods.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const never = new AbortController().signal;
const pod = makePod({ serviceAccountName: "robot" });
const HOUR = 3600_000;

function world(grantSeconds?: number) {
  const clock = new SteppedClock();
  const calls: { ref: unknown; sub: string; body: unknown }[] = [];
  const server: { fail: Error | undefined; gate: Promise<void> } = { fail: undefined, gate: Promise.resolve() };
  const client: Pick<ApiClient, "createSub"> = {
    async createSub(_kind, ref, sub, body) {
      calls.push({ ref, sub, body });
      await server.gate;
      if (server.fail !== undefined) throw server.fail;
      const { expirationSeconds = 3600 } = (body as { spec: { expirationSeconds?: number } }).spec;
      const seconds = grantSeconds ?? expirationSeconds;
      const expirationTimestamp = new Date(clock.now() + seconds * 1000).toISOString();
      return {
        spec: { expirationSeconds: seconds },
        status: { token: `t${calls.length}`, expirationTimestamp },
      } as never;
    },
  };
  const kept = keptLog();
  const tokens = new TokenCache({ client, clock, log: kept.log, random: () => 0.5 });
  const get = async (more: object = {}): Promise<string> => (await tokens.get({ pod, ...more }, never)).token;
  return { clock, calls, server, tokens, get, kept };
}

test("a token is bound to the pod, and one per audience and lifetime", async () => {
  const { get, calls, tokens } = world();
  assert.equal(await get(), "t1");
  assert.equal(await get(), "t1");
  assert.equal(await get({ audience: "vault" }), "t2");
  assert.equal(await get({ audience: "vault", expirationSeconds: 600 }), "t3");
  assert.deepEqual(calls[0], {
    ref: { namespace: "default", name: "robot" },
    sub: "token",
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: {},
      spec: { audiences: [], boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "web", uid: "uid-web" } },
    },
  });
  assert.deepEqual((calls[2]?.body as { spec: object }).spec, {
    audiences: ["vault"],
    expirationSeconds: 600,
    boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "web", uid: "uid-web" },
  });
  tokens.podRemoved(podUid("uid-web"));
  assert.equal(await get(), "t4");
});

test("a token for an account with a certain UID is another one, and its request has the UID", async () => {
  const { get, calls } = world();
  assert.equal(await get(), "t1");
  assert.equal(await get({ serviceAccountUid: "sa-1" }), "t2");
  assert.equal(await get({ serviceAccountUid: "sa-2" }), "t3");
  assert.deepEqual((calls[1]?.body as { metadata: object }).metadata, { uid: "sa-1" });
});

test("renewed at four fifths of its life, less up to ten seconds; after a day at the latest", async () => {
  const rows: [grantedSeconds: number, renewedAtMs: number][] = [
    [3600, 0.8 * HOUR - 5000],
    [600, 480_000 - 5000],
    [7 * 24 * 3600, 24 * HOUR - 5000],
  ];
  for (const [seconds, at] of rows) {
    const { get, clock } = world(seconds);
    await get();
    clock.step(at - 1);
    assert.equal(await get(), "t1", `${seconds} s, before`);
    clock.step(1);
    assert.equal(await get(), "t2", `${seconds} s, then`);
  }
});

test("while renewal fails the old token holds until its end", async () => {
  const { get, clock, server, kept } = world();
  await get();
  server.fail = new ApiConnectionError("the server does not respond");
  clock.step(0.9 * HOUR);
  assert.equal(await get(), "t1");
  assert.match(kept.warnings().join(), /cannot renew the token of service account default\/robot.*does not respond/);
  clock.step(0.1 * HOUR);
  await assert.rejects(get(), /^OperatorError: failed to fetch token: the server|expired and refresh failed/);
  server.fail = undefined;
  assert.equal(await get(), "t4");
});

test("the first token that cannot be had is an error with the server's words", async () => {
  const { get, server } = world();
  server.fail = new Error('serviceaccounts "robot" not found');
  await assert.rejects(get(), /^OperatorError: failed to fetch token: serviceaccounts "robot" not found$/);
});

test("many waiters make one call; a waiter that stops waiting does not abort it for the others", async () => {
  const { get, calls, server, tokens } = world();
  let open = (): void => undefined;
  server.gate = new Promise((resolve) => (open = resolve));
  const abort = new AbortController();
  const gone = tokens.get({ pod }, abort.signal);
  const stays = get();
  abort.abort(new Error("pod removed"));
  await assert.rejects(gone, /pod removed/);
  open();
  assert.equal(await stays, "t1");
  assert.equal(calls.length, 1);
});

test("a token belongs to one pod, not to a name", async () => {
  const { get, tokens } = world();
  await get();
  tokens.podRemoved(podUid("another"));
  assert.equal(await get(), "t1");
  assert.equal(
    (await tokens.get({ pod: makePod({ serviceAccountName: "robot" }, "web", "uid-2") }, never)).token,
    "t2",
  );
});

function lying(answer: (call: number, now: number) => unknown) {
  const clock = new SteppedClock();
  let calls = 0;
  const client = { createSub: () => Promise.resolve(answer(++calls, clock.now()) as never) };
  const tokens = new TokenCache({ client, clock, log: keptLog().log, random: () => 0 });
  const get = (audience: string): Promise<unknown> => tokens.get({ pod, audience }, never);
  return { clock, get, calls: () => calls };
}

test("a token of megabytes, one that is no text, and one without a time are refused in a few words", async () => {
  const rows: { token: unknown; expirationTimestamp: unknown }[] = [
    { token: "x".repeat(LONGEST_TOKEN + 1), expirationTimestamp: "2100-01-01T00:00:00Z" },
    { token: 7, expirationTimestamp: "2100-01-01T00:00:00Z" },
    { token: ["t"], expirationTimestamp: "2100-01-01T00:00:00Z" },
    { token: "t", expirationTimestamp: 4_102_444_800_000 },
    { token: "t", expirationTimestamp: "no time" },
  ];
  for (const status of rows) {
    const { get } = lying(() => ({ status }));
    await assert.rejects(get("a"), (error: Error) => error.message.length < 200);
  }
});

test("tokens with odd times are asked for again or kept for a day, by the clock of the node", async () => {
  const at = (ms: number): string => new Date(ms).toISOString();
  const rows: [expires: (now: number) => string, expirationSeconds: unknown, asked: number][] = [
    [(now) => at(now - HOUR), 3600, 2],
    [() => "1970-01-01T00:00:00Z", -5, 2],
    [() => "9999-12-31T23:59:59Z", 3600, 1],
    [(now) => at(now + HOUR), -3600, 1],
    [(now) => at(now + HOUR), Infinity, 2],
    [(now) => at(now + HOUR), "an hour", 1],
  ];
  for (const [expires, expirationSeconds, asked] of rows) {
    const { get, calls } = lying((_call, now) => ({
      spec: { expirationSeconds },
      status: { token: "t", expirationTimestamp: expires(now) },
    }));
    await get("a");
    await get("a");
    assert.equal(calls(), asked, `${expires(0)}, ${String(expirationSeconds)}`);
  }
});

test("all kept tokens together are bounded: the oldest one is asked for again", async () => {
  const large = "x".repeat(LONGEST_TOKEN);
  const { get, calls } = lying((_call, now) => ({
    status: { token: large, expirationTimestamp: new Date(now + HOUR).toISOString() },
  }));
  const fitting = MOST_KEPT_TOKENS / LONGEST_TOKEN;
  for (let index = 0; index <= fitting; index++) await get(`audience-${index}`);
  await get(`audience-${fitting}`);
  assert.equal(calls(), fitting + 1);
  await get("audience-0");
  assert.equal(calls(), fitting + 2);
});
