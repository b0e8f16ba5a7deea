// Features that only the fixture has: faults, restarts, lost storage, expired credentials; and HTTP/2.

import assert from "node:assert/strict";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { connect } from "node:http2";
import { afterEach, beforeEach, describe, it } from "node:test";
import { ApiKit, ApiRefusal, type WatchEvent } from "../support/api-kit.js";
import { until } from "../support/sources-kit.js";
import { FakeApi, type Fields } from "./fake-api.js";

const ADMIN = { name: "admin", groups: ["system:masters"] };

let api: FakeApi;
let kit: ApiKit;
beforeEach(async () => {
  api = await FakeApi.start({ controllers: true });
  kit = await ApiKit.fromKubeconfig(await api.kubeconfig(ADMIN));
});
afterEach(async () => {
  kit.close();
  await api[Symbol.asyncDispose]();
});

const make = (name: string): Promise<unknown> => kit.create("configmaps", { metadata: { name, namespace: "default" } });
const list = (): Promise<unknown> => kit.list("configmaps", "default");

/** All events until the watch ends; "broken" when its connection does. */
async function watched(query: Record<string, string>, opened: () => void = () => undefined): Promise<string[]> {
  const seen: string[] = [];
  const tell = ({ type, object }: WatchEvent): unknown => seen.push(`${type} ${object.metadata.name}`);
  try {
    const events = kit.watch("configmaps", "default", query, AbortSignal.timeout(60_000));
    const first = events.next();
    // One that is refused is over before it is seen open.
    const over = new AbortController();
    void first.finally(() => over.abort()).catch(() => undefined);
    while (api.open.watches === 0 && !over.signal.aborted) await new Promise((resolve) => setImmediate(resolve));
    opened();
    for (let next = await first; next.done !== true; next = await events.next()) tell(next.value);
  } catch {
    seen.push("broken");
  }
  return seen;
}

describe("faults", () => {
  it("a share of the calls of a verb fails, and none has an effect", async () => {
    const undo = api.faults.fail({ verb: "create", resource: "configmaps" }, { code: 500 }, { share: 0.5 });
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => make(`m${index}`)));
    const made = results.filter(({ status }) => status === "fulfilled").length;
    assert.ok(made > 3 && made < 17, `${made} of 20 were made`);
    assert.equal(api.store.list("configmaps", "default").length, made + 1);
    undo();
    await make("after");
  });

  it("429 has a Retry-After header", async () => {
    api.faults.fail({ resource: "configmaps" }, { code: 429, retryAfter: 7 }, { times: 1 });
    const { code, headers, body } = await kit.raw("GET", "/api/v1/configmaps");
    assert.deepEqual(
      [code, headers["retry-after"], (body as { reason: string }).reason],
      [429, "7", "TooManyRequests"],
    );
    await list();
  });

  it("a response can be lost after the call took effect", async () => {
    api.faults.drop({ verb: "create" }, "after", { times: 1 });
    await assert.rejects(make("there"), /socket hang up|ECONNRESET/);
    assert.ok(api.store.get("configmaps", "default", "there") !== undefined);
  });

  it("a hanging call continues when the fault is removed", async () => {
    const undo = api.faults.hang({ verb: "list" });
    let answered = false;
    const call = list().then(() => (answered = true));
    await until(() => api.calls.count({ verb: "list" }) > 0);
    await make("meanwhile");
    assert.equal(answered, false);
    undo();
    await call;
  });

  it("watches are cut, politely or not, and may be resumed", async () => {
    const { resourceVersion } = (await kit.list("configmaps", "default")).metadata;
    assert.deepEqual(await watched({ resourceVersion }, () => api.faults.cutWatchesNow("end")), []);
    assert.deepEqual(await watched({ resourceVersion }, () => api.faults.cutWatchesNow("drop")), ["broken"]);
    await make("resumed");
    const undo = api.faults.cutWatches(50);
    assert.deepEqual(await watched({ resourceVersion }), ["ADDED resumed"]);
    undo();
  });

  it("the tests can expire the version of open watches", async () => {
    const { resourceVersion } = (await kit.list("configmaps", "default")).metadata;
    assert.deepEqual(await watched({ resourceVersion }, () => api.faults.expireWatches()), ["ERROR undefined"]);
    await make("unseen");
    api.store.compact();
    assert.deepEqual(await watched({ resourceVersion }), ["ERROR undefined"]);
  });

  it("an expired continue token is returned with one that continues", async () => {
    for (const name of ["a", "b", "c"]) await make(name);
    const first = await kit.list("configmaps", "default", { limit: 2 });
    await make("aa");
    api.store.compact();
    const refused = kit.list("configmaps", "default", { limit: 2, continue: first.metadata.continue ?? "" });
    const error = await refused.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ApiRefusal && error.code === 410);
    const { continue: token = "" } = error.status["metadata"] as { continue?: string };
    const rest = await kit.list("configmaps", "default", { limit: 9, continue: token });
    assert.deepEqual(
      rest.items.map(({ metadata }) => metadata.name),
      ["c", "kube-root-ca.crt"],
    );
  });
});

describe("the server's life", () => {
  it("stops, refuses, and comes back on its port with its objects", async () => {
    await make("kept");
    const { url } = api;
    await api.stop();
    using other = kit.as({});
    await assert.rejects(other.raw("GET", "/healthz"), /ECONNREFUSED/);
    assert.deepEqual(api.open, { connections: 0, watches: 0 });
    await api.restart();
    assert.equal(api.url, url);
    // The kit may not have noticed yet that its connection broke.
    using again = await ApiKit.fromKubeconfig(await api.kubeconfig(ADMIN));
    assert.ok((await again.find("configmaps", "default", "kept")) !== undefined);
  });

  it("loses its storage: objects are removed, versions start from the beginning", async () => {
    for (let at = 0; at < 20; at++) await make(`m${at}`);
    const before = api.store.revision;
    api.store.wipe();
    assert.ok(api.store.revision < before);
    assert.equal(await kit.find("configmaps", "default", "m1"), undefined);
    assert.ok((await kit.find("serviceaccounts", "default", "default")) !== undefined);
  });

  it("presents another certificate to new connections", async () => {
    await list();
    const stranger = await FakeApi.start();
    api.rotateServingCertificate(stranger.authority.servingCertificate(["127.0.0.1"]));
    await list();
    api.dropConnections();
    await assert.rejects(list(), /certificate|socket hang up|ECONNRESET/);
    await assert.rejects(list(), /certificate/);
    api.rotateServingCertificate();
    await list();
    await stranger[Symbol.asyncDispose]();
  });

  it("refuses certificates that ran out or are of others", async () => {
    const stranger = await FakeApi.start();
    for (const pair of [
      api.clientCertificate(ADMIN.name, ADMIN.groups, { lifeMs: -1000 }),
      stranger.clientCertificate(ADMIN.name, ADMIN.groups),
    ]) {
      using other = kit.as(pair);
      assert.equal((await other.raw("GET", "/api/v1/pods")).code, 401);
    }
    await stranger[Symbol.asyncDispose]();
  });

  it("knows fixed tokens and grants", async () => {
    api.settings.tokens.set("abc", { name: "robot", groups: [] });
    using robot = kit.as({ token: "abc" });
    assert.equal((await robot.raw("GET", "/api/v1/pods")).code, 403);
    api.settings.grants.push(
      ({ name }, { verb, resource }) => name === "robot" && verb === "list" && resource === "pods",
    );
    assert.equal((await robot.raw("GET", "/api/v1/pods")).code, 200);
  });

  it("serves HTTP/2 to clients that negotiate it", async () => {
    const session = connect(api.url, { ca: api.ca, ...api.clientCertificate(ADMIN.name, ADMIN.groups) });
    const stream = session.request({ ":path": "/api/v1/namespaces/default/configmaps?watch=1" });
    const [headers] = (await once(stream, "response")) as [{ ":status": number }];
    assert.equal(headers[":status"], 200);
    const [line] = (await once(stream, "data")) as [Buffer];
    assert.equal((JSON.parse(line.toString()) as WatchEvent).type, "ADDED");
    stream.close();
    session.close();
    await once(session, "close");
  });

  it("a stopped server leaves no file behind", async () => {
    const other = await FakeApi.start();
    const path = await other.kubeconfig(ADMIN);
    await other[Symbol.asyncDispose]();
    await assert.rejects(access(path), /ENOENT/);
  });
});

describe("the control plane", () => {
  it("binds a pod to a node once it is Ready, and leaves others pending", async () => {
    api.store.put("pods", { metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "b" }] } });
    const told = (status: string): Fields => ({ conditions: [{ type: "Ready", status }] });
    api.store.put("nodes", { metadata: { name: "n" }, status: told("False") });
    const unschedulable = await kit.waitFor(
      "pods",
      "default",
      "p",
      (pod) => pod?.status?.["conditions"] !== undefined,
      {
        what: "a verdict",
      },
    );
    assert.equal(unschedulable?.spec?.["nodeName"], undefined);
    await kit.patch("nodes", "", "n", { status: told("True") }, { subresource: "status" });
    const bound = await kit.waitFor("pods", "default", "p", (pod) => pod?.spec?.["nodeName"] === "n", {
      what: "bound",
    });
    const conditions = bound?.status?.["conditions"] as { type: string; status: string }[];
    assert.deepEqual(
      conditions.map(({ type, status }) => [type, status]),
      [["PodScheduled", "True"]],
    );
  });

  it("a namespace goes with its content; pods with grace keep it", async () => {
    api.store.put("namespaces", { metadata: { name: "gone" } });
    const spec = { nodeName: "n", containers: [{ name: "a", image: "b" }] };
    api.store.put("pods", { metadata: { name: "p", namespace: "gone" }, spec });
    await kit.delete("namespaces", "", "gone");
    assert.equal((await kit.get("namespaces", "", "gone")).status?.["phase"], "Terminating");
    const late = kit.create("configmaps", { metadata: { name: "late", namespace: "gone" } });
    await assert.rejects(late, /being terminated/);
    await kit.delete("pods", "gone", "p", { gracePeriodSeconds: 0 });
    assert.equal(await kit.find("namespaces", "", "gone"), undefined);
  });
});

it("counts calls by verb, resource and user agent", async () => {
  await list();
  await kit.raw("GET", "/api/v1/pods", { headers: { "user-agent": "other/1.0" } });
  assert.equal(api.calls.count({ verb: "list" }), 2);
  assert.equal(api.calls.count({ verb: "list", userAgent: "other" }), 1);
  assert.equal(api.calls.counts().get("list configmaps api-kit"), 1);
  assert.equal(api.calls.matching({ resource: "pods" })[0]?.user, "admin");
  api.calls.clear();
  assert.equal(api.calls.count(), 0);
});
