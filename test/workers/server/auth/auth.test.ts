// The rules of authentication and authorization, without a connection. Covers a request's user and attributes, the
// reviews sent to the API server, and the validity of their results.

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { parseTarget } from "../../../../src/shared/io/http/target.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { subresourcesOf, verbOf } from "../../../../src/workers/server/auth/attributes.js";
import { authenticate, type Credentials } from "../../../../src/workers/server/auth/authenticator.js";
import { Authorizer } from "../../../../src/workers/server/auth/authorizer.js";
import { bearerToken, withoutToken } from "../../../../src/workers/server/auth/bearer.js";
import { certificateClaim, type TlsPeer } from "../../../../src/workers/server/auth/certificate-claim.js";
import { ExpiringCache } from "../../../../src/workers/server/auth/expiring-cache.js";
import { serverAuthMetrics } from "../../../../src/workers/server/auth/metrics.js";
import { Peers } from "../../../../src/workers/server/auth/peers.js";
import { Refusals } from "../../../../src/workers/server/auth/refusals.js";
import { Tokens, type TokenVerdict } from "../../../../src/workers/server/auth/tokens.js";
import { facts } from "../../../support/facts.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const REFUSAL_TTL_MS = 10_000;
const NO_LIMITS = { qps: -1, burst: 0 };

describe("attributes", () => {
  const rows = facts("http-api").filter(
    ({ path = "", server = "" }) => path.startsWith("/") && server.includes("10250"),
  );
  for (const { path = "", authz = "" } of rows) {
    if (authz === "as above") continue;
    test(`${path} is ${authz}`, () => {
      equal(subresourcesOf(path.replaceAll(/[{}]/g, "")).join(", "), authz);
    });
  }
  test("a longer name is another path in every encoding; all other paths need nodes/proxy", () => {
    const subresources = (text: string) => subresourcesOf(parseTarget(text, "https")?.path ?? "malformed");
    deepEqual(subresources("/podsx"), ["proxy"]);
    deepEqual(subresources("/pods/"), ["pods", "proxy"]);
    deepEqual(subresources("/%65xec/a/b/c"), ["proxy"]);
    deepEqual(subresources("/metrics%2fcadvisor"), ["metrics"]);
    deepEqual(subresources("//metrics"), ["proxy"]);
    deepEqual(subresources("/"), ["proxy"]);
    for (const path of ["/manifests", "/manifests/", "/manifests/default/web", "/%6danifests"]) {
      deepEqual(subresources(path), ["manifests"], "the right to the proxy does not include it");
    }
  });
  test("each HTTP method has its verb", () => {
    const verbs = {
      POST: "create",
      GET: "get",
      PUT: "update",
      PATCH: "patch",
      DELETE: "delete",
      HEAD: "",
      OPTIONS: "",
      constructor: "",
    };
    for (const [method, verb] of Object.entries(verbs)) equal(verbOf(method), verb, method);
  });
});

describe("authentication", () => {
  const user = { name: "alice", groups: ["dev"] };
  const verdicts: Record<string, TokenVerdict | Error> = {
    good: { kind: "user", user: { name: "bob", groups: ["system:authenticated"] } },
    bad: { kind: "refused", why: "bearer token: no" },
    away: new Error("connection refused"),
  };
  const tokens = {
    verify: (token: string): Promise<TokenVerdict> => {
      const verdict = verdicts[token];
      return verdict === undefined || verdict instanceof Error
        ? Promise.reject(verdict ?? new Error())
        : Promise.resolve(verdict);
    },
  };
  const certificates = {
    none: { kind: "none" },
    good: { kind: "user", user, expiresAt: 1 },
    bad: { kind: "refused", why: "client certificate: expired" },
  } as const;
  type Claim = keyof typeof certificates;
  const rows: [
    certificate: Claim,
    token: string | undefined,
    reviews: boolean,
    anonymous: boolean,
    result: string | RegExp,
  ][] = [
    ["none", undefined, true, true, "system:anonymous"],
    ["none", undefined, true, false, /no credentials/],
    ["good", undefined, true, true, "alice"],
    ["good", "bad", true, true, "alice"],
    ["bad", undefined, true, true, /expired/],
    ["bad", "good", true, false, "bob"],
    ["bad", "bad", true, true, /expired; bearer token: no/],
    ["none", "good", true, false, "bob"],
    ["none", "bad", true, true, /bearer token: no/],
    ["none", "away", true, true, /request to the API server failed: connection refused/],
    ["none", "good", false, true, "system:anonymous"],
    ["none", "good", false, false, /no credentials/],
  ];
  for (const [certificate, token, reviews, anonymous, result] of rows) {
    test(`certificate ${certificate}, token ${String(token)}, reviews ${reviews}, anonymous ${anonymous}`, async () => {
      const credentials: Credentials = { certificate: certificates[certificate], token, network: "10.0.0.1" };
      const who = await authenticate(credentials, { tokens: reviews ? tokens : undefined, anonymous });
      if (typeof result === "string") {
        ok(who.kind === "user");
        equal(who.user.name, result);
        const everybody = result === "system:anonymous" ? "system:unauthenticated" : "system:authenticated";
        equal(who.user.groups.filter((group) => group === everybody).length, 1);
      } else {
        ok(who.kind === "refused");
        match(who.why, result);
      }
    });
  }

  test("bearer tokens are found where clients put them", () => {
    const rows: [headers: Record<string, string>, token: string | undefined][] = [
      [{}, undefined],
      [{ authorization: "Bearer abc" }, "abc"],
      [{ authorization: " bEARER abc def " }, "abc"],
      [{ authorization: "Basic abc" }, undefined],
      [{ authorization: "Bearer" }, undefined],
      [{ "sec-websocket-protocol": "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.YWJj" }, "abc"],
      [{ "sec-websocket-protocol": "v4.channel.k8s.io" }, undefined],
    ];
    for (const [headers, token] of rows) equal(bearerToken(headers), token, JSON.stringify(headers));
    equal(withoutToken("a, base64url.bearer.authorization.k8s.io.YWJj,b"), "a, b");
  });

  test("a certificate's dates count at each request, its CA's while it is accepted", () => {
    const certificate = {
      subject: { CN: ["first", "last"], O: "one" },
      valid_from: "Jan  1 00:00:00 2026 GMT",
      valid_to: "Jan  3 00:00:00 2026 GMT",
      fingerprint256: "AA:BB",
    };
    const peer = (authorized: boolean, found: object = certificate): TlsPeer => ({
      authorized,
      authorizationError: authorized ? undefined : "CERT_HAS_EXPIRED",
      getPeerCertificate: () => found as never,
    });
    const at = (day: number): number => Date.UTC(2026, 0, day);
    deepEqual(certificateClaim(peer(false, {}), at(2)), { kind: "none" });
    equal(certificateClaim(peer(false), at(2)).kind, "refused");
    const claim = certificateClaim(peer(true), at(2));
    ok(claim.kind === "user");
    deepEqual([claim.user.name, claim.user.groups, claim.expiresAt], ["last", ["one"], at(3)]);
    equal(certificateClaim(peer(true), at(4)).kind, "refused");
    equal(certificateClaim(peer(true), at(1) - 1).kind, "refused");
    equal(certificateClaim(peer(true, { ...certificate, subject: {} }), at(2)).kind, "none");

    const [peers, socket, bare] = [new Peers(), peer(true), peer(true, {})];
    peers.opened(socket, at(2));
    peers.opened(bare, at(2));
    deepEqual([peers.claimOf(socket, at(2)).kind, peers.claimOf(socket, at(3)).kind], ["user", "refused"]);
    peers.casChanged();
    deepEqual([peers.claimOf(socket, at(2)).kind, peers.claimOf(bare, at(2)).kind], ["refused", "none"]);
    equal(peers.claimOf({}, at(2)).kind, "none");
  });
});

/** An API server that answers as `answers` says, and what it was asked. */
function reviews(answers: () => object | Error): { asked: object[]; api: () => Promise<never> } {
  const asked: object[] = [];
  const create = (_kind: unknown, object: { spec: object }): Promise<object> => {
    asked.push(object.spec);
    const status = answers();
    return status instanceof Error ? Promise.reject(status) : Promise.resolve({ status });
  };
  return { asked, api: () => Promise.resolve({ create } as never) };
}

describe("tokens", () => {
  function open(answers: () => object | Error) {
    const clock = new SteppedClock();
    const registry = new ThreadRegistry("server");
    const { asked, api } = reviews(answers);
    const tokens = new Tokens({
      api,
      cacheTTLMs: 120_000,
      limits: NO_LIMITS,
      clock,
      metrics: serverAuthMetrics(registry, clock),
    });
    return { tokens, asked, clock, registry };
  }
  const alice = { authenticated: true, user: { username: "alice", uid: "7", groups: ["dev"], extra: { a: ["b"] } } };

  test("are known for cacheTTL", async () => {
    const { tokens, asked, clock } = open(() => alice);
    const expected = { kind: "user", user: { name: "alice", uid: "7", groups: ["dev"], extra: { a: ["b"] } } };
    deepEqual(await tokens.verify("t", "10.0.0.1"), expected);
    clock.step(119_999);
    await tokens.verify("t", "10.0.0.1");
    deepEqual(asked, [{ token: "t" }]);
    clock.step(1);
    await tokens.verify("t", "10.0.0.1");
    equal(asked.length, 2);
  });
  test("are refused for seconds only", async () => {
    let answer: object = { authenticated: false, error: "unknown" };
    const { tokens, asked, clock } = open(() => answer);
    equal((await tokens.verify("t", "10.0.0.1")).kind, "refused");
    answer = alice;
    clock.step(REFUSAL_TTL_MS - 1);
    equal((await tokens.verify("t", "10.0.0.1")).kind, "refused");
    clock.step(1);
    equal((await tokens.verify("t", "10.0.0.1")).kind, "user");
    equal(asked.length, 2);
  });
  test("a user without a name is none", async () => {
    equal(
      (await open(() => ({ authenticated: true, user: { username: "" } })).tokens.verify("t", "10.0.0.1")).kind,
      "refused",
    );
  });
  for (const [what, answer] of Object.entries({
    "an authenticated that is a text": { authenticated: "true", user: alice.user },
    "a list of user names": { authenticated: true, user: { username: ["system:admin"] } },
    "a text of groups": { authenticated: true, user: { username: "a", groups: "system:masters" } },
    "groups that are no texts": { authenticated: true, user: { username: "a", groups: [{}] } },
    "a number for the UID": { authenticated: true, user: { username: "a", uid: 7 } },
    "extra values that are no lists": { authenticated: true, user: { username: "a", extra: { a: "b" } } },
    "a list for the user": { authenticated: true, user: [] },
  })) {
    test(`${what} grants nothing`, async () => {
      equal((await open(() => answer).tokens.verify("t", "10.0.0.1")).kind, "refused");
    });
  }
  test("a missing response is not cached", async () => {
    let answer: object | Error = new Error("away");
    const { tokens, registry } = open(() => answer);
    await rejects(tokens.verify("t", "10.0.0.1"), /away/);
    answer = alice;
    equal((await tokens.verify("t", "10.0.0.1")).kind, "user");
    const { families } = await registry.exportSnapshot();
    const total = families.find(({ name }) => name === "authentication_token_cache_fetch_total");
    deepEqual(
      total?.samples.map(({ labels, value }) => [labels["status"], value]),
      [
        ["error", 1],
        ["ok", 1],
      ],
    );
  });
  test("concurrent requests with the same token are one review", async () => {
    const { tokens, asked } = open(() => alice);
    await Promise.all(Array.from({ length: 50 }, () => tokens.verify("t", "10.0.0.1")));
    equal(asked.length, 1);
  });
});

describe("authorisation", () => {
  function open(answers: () => object | Error, mode: "Webhook" | "AlwaysAllow" = "Webhook") {
    const clock = new SteppedClock();
    const { asked, api } = reviews(answers);
    const authorizer = new Authorizer({
      authorization: { mode, cacheAuthorizedTTLMs: 300_000, cacheUnauthorizedTTLMs: 30_000 },
      limits: NO_LIMITS,
      nodeName: "n1",
      api,
      clock,
      metrics: serverAuthMetrics(new ThreadRegistry("server"), clock),
    });
    const ask = async (subresources = ["proxy"], name = "alice"): Promise<string> =>
      (await authorizer.decide({ user: { name, groups: [] }, verb: "get", subresources, network: "10.0.0.1" })).kind;
    return { ask, asked, clock };
  }

  test("AlwaysAllow calls no authoriser", async () => {
    const { ask, asked } = open(() => new Error("away"), "AlwaysAllow");
    equal(await ask(), "allowed");
    equal(asked.length, 0);
  });
  test("yes counts for its time, no for its own", async () => {
    for (const [allowed, ttlMs] of [
      [true, 300_000],
      [false, 30_000],
    ] as const) {
      const { ask, asked, clock } = open(() => ({ allowed }));
      const expected = allowed ? "allowed" : "forbidden";
      equal(await ask(), expected);
      clock.step(ttlMs - 1);
      equal(await ask(), expected);
      equal(asked.length, 1);
      clock.step(1);
      equal(await ask(), expected);
      equal(asked.length, 2);
      await ask(["proxy"], "bob");
      equal(asked.length, 3);
    }
  });
  test("the first of several that is allowed suffices; none after it is checked", async () => {
    let answers = [{ allowed: false }, { allowed: true }];
    const { ask, asked } = open(() => answers.shift() ?? {});
    equal(await ask(["pods", "proxy"]), "allowed");
    deepEqual(
      asked.map((spec) => (spec as { resourceAttributes: { subresource: string } }).resourceAttributes.subresource),
      ["pods", "proxy"],
    );
    answers = [{ allowed: true }];
    equal(await open(() => answers.shift() ?? {}).ask(["healthz", "proxy"]), "allowed");
  });
  test("denied refuses the request even beside allowed; a failure is not cached", async () => {
    equal(await open(() => ({ allowed: true, denied: true })).ask(), "forbidden");
    let answer: object | Error = new Error("away");
    const { ask } = open(() => answer);
    equal(await ask(), "failed");
    answer = { allowed: true };
    equal(await ask(), "allowed");
  });
});

test("a cache holds as many as it may: the least recently used make room", () => {
  const clock = new SteppedClock();
  const cache = new ExpiringCache<number>(3, clock);
  for (const [index, key] of ["a", "b", "c"].entries()) cache.set(key, index, 1000);
  equal(cache.get("a"), 0);
  cache.set("d", 3, 1000);
  deepEqual(
    ["a", "b", "c", "d"].map((key) => cache.get(key)),
    [0, undefined, 2, 3],
  );
  for (let i = 0; i < 10_000; i++) cache.set(`x${i}`, i, 1000);
  equal(cache.size, 3);
  clock.step(1000);
  equal(cache.get("x9999"), undefined);
});

test("refusals are logged once per client and minute, with their number", () => {
  const clock = new SteppedClock();
  const logged: object[] = [];
  const refusals = new Refusals(clock, { warn: (fields: object) => void logged.push(fields) });
  const refuse = (client: string): void =>
    refusals.request({ client, status: 401, method: "GET", path: `/${"x".repeat(1000)}`, why: "no" });
  for (let i = 0; i < 100; i++) refuse("10.0.0.1");
  refuse("10.0.0.2");
  equal(logged.length, 2);
  clock.step(60_000);
  refuse("10.0.0.1");
  deepEqual(logged.length, 3);
  equal((logged[2] as { repeated: number }).repeated, 99);
  equal((logged[2] as { path: string }).path.length, 256);
});
