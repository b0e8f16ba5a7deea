// Mirror pods under virtual time: made, healed, removed, and never sooner than is known.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ApiView } from "../../../../../src/main/pods/status/manager/api-view.js";
import { MirrorManager } from "../../../../../src/main/pods/status/mirror/mirror-manager.js";
import { type MirrorNode } from "../../../../../src/main/pods/status/mirror/mirror-pod.js";
import { ApiError } from "../../../../../src/shared/kubernetes/api/client/errors.js";
import type { Pod } from "../../../../../src/shared/kubernetes/api/pod.js";
import { digitsOf } from "../../../../../src/shared/kubernetes/api/wide-integers.js";
import { away, MemoryApi } from "../../../../support/memory-api.js";
import { pod } from "../../../../support/pods.js";
import { keptLog } from "../../../../support/sources-kit.js";
import { SteppedClock } from "../../../../support/stepped-clock.js";

const NODE: MirrorNode = { name: "n1", uid: "node-uid" };
const turn = async (): Promise<void> => {
  for (let i = 0; i < 12; i++) await new Promise((resolve) => setImmediate(resolve));
};

function build(context: TestContext, known = true) {
  const clock = new SteppedClock();
  const api = new MemoryApi();
  const view = new ApiView();
  const kept = keptLog();
  const state: { node: MirrorNode | undefined } = { node: NODE };
  const mirrors = new MirrorManager({
    client: api.client,
    view,
    node: () => state.node,
    clock,
    log: kept.log,
    created: () => undefined,
    deleted: () => undefined,
  });
  context.after(async () => {
    await mirrors.stop();
    assert.equal(clock.pending, 0);
  });
  api.onChange = ({ type, object }) => {
    if (type === "DELETED") view.drop(object.metadata.uid);
    else view.put(object);
    mirrors.onChange(object);
  };
  if (known) {
    mirrors.onSynced();
    mirrors.onStaticsKnown();
  }
  const pass = async (ms: number): Promise<void> => {
    clock.step(ms);
    await turn();
  };
  return { api, mirrors, pass, state, kept };
}

function staticPod(hash = "h1", uid = hash): Pod {
  const made = pod({}, "web", uid);
  made.metadata.annotations = { "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": hash, own: "x" };
  made.metadata.labels = { app: "web" };
  return made;
}

test("the mirror pod has the metadata of the manifest, but the node as its owner", async (t) => {
  const { api, mirrors } = build(t);
  const made = staticPod();
  Object.assign(made.metadata, {
    generateName: "web-",
    creationTimestamp: "2020-01-02T03:04:05Z",
    finalizers: ["a.b/c"],
    ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "1", controller: true }],
  });
  mirrors.want(made);
  await turn();
  const { uid: _uid, ...metadata } = made.metadata;
  const { uid: _serverUid, resourceVersion: _version, ...shown } = api.pod("web")?.metadata ?? pod().metadata;
  assert.deepEqual(shown, {
    ...metadata,
    annotations: { ...metadata.annotations, "kubernetes.io/config.mirror": "h1" },
    ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n1", uid: "node-uid", controller: true }],
  });
});

test("a static pod is shown as its node's own", async (t) => {
  const { api, mirrors } = build(t);
  mirrors.want(staticPod());
  await turn();
  const made = api.pod("web");
  assert.deepEqual(made?.metadata.annotations, {
    ...staticPod().metadata.annotations,
    "kubernetes.io/config.mirror": "h1",
  });
  assert.deepEqual(made.metadata.ownerReferences, [
    { apiVersion: "v1", kind: "Node", name: "n1", uid: "node-uid", controller: true },
  ]);
  assert.notEqual(made.metadata.uid, "h1");
  assert.equal(made.spec.nodeName, "n1");
  assert.equal(api.calls.length, 1, "its own echo is no reason to do anything");
});

test("a wrong mirror pod is created again", async (t) => {
  const rows: [string, (mirror: Pod) => void][] = [
    ["another hash", (mirror) => (mirror.metadata.annotations = { "kubernetes.io/config.mirror": "old" })],
    ["another node's", (mirror) => (mirror.metadata.ownerReferences = [])],
    ["being deleted", (mirror) => (mirror.metadata.deletionTimestamp = "2026-01-01T00:00:00Z")],
  ];
  for (const [name, change] of rows) {
    const { api, mirrors } = build(t);
    mirrors.want(staticPod());
    await turn();
    const first = api.pod("web")?.metadata.uid;
    api.edit("web", change);
    await turn();
    const now = api.pod("web");
    assert.notEqual(now?.metadata.uid, first, name);
    assert.equal(now?.metadata.annotations?.["kubernetes.io/config.mirror"], "h1", name);
    assert.deepEqual(api.calls.length, 3, name);
  }
});

test("a mirror pod that somebody deletes comes again", async (t) => {
  const { api, mirrors } = build(t);
  mirrors.want(staticPod());
  await turn();
  api.take("web");
  await turn();
  assert.ok(api.pod("web"));
});

test("it goes with its static pod, but not with an older one of the same name", async (t) => {
  const { api, mirrors } = build(t);
  mirrors.want(staticPod("h1"));
  await turn();
  mirrors.want(staticPod("h2"));
  mirrors.onStaticPodGone(staticPod("h1"));
  await turn();
  assert.equal(api.pod("web")?.metadata.annotations?.["kubernetes.io/config.mirror"], "h2");
  mirrors.onStaticPodGone(staticPod("h2"));
  await turn();
  assert.equal(api.pod("web"), undefined);
});

test("of an earlier life: removed when all static pods are known, not before", async (t) => {
  const { api, mirrors } = build(t, false);
  const left = staticPod("left");
  left.metadata.annotations = { "kubernetes.io/config.mirror": "left" };
  api.put(left);
  mirrors.onSynced();
  await turn();
  assert.ok(api.pod("web"));
  mirrors.onStaticsKnown();
  await turn();
  assert.equal(api.pod("web"), undefined);
});

test("nothing is made before the server's pods and the node are known", async (t) => {
  const { api, mirrors, state, pass } = build(t, false);
  state.node = undefined;
  mirrors.want(staticPod());
  await pass(60_000);
  assert.deepEqual(api.calls, []);
  mirrors.onSynced();
  await pass(1000);
  assert.deepEqual(api.calls, []);
  state.node = NODE;
  await pass(200);
  assert.equal(api.count("create"), 1);
});

test("requests to an unreachable server have growing delays, for each pod separately", async (t) => {
  const { api, mirrors, pass, kept } = build(t);
  api.fail = (call) => (call.includes("web") ? away() : undefined);
  mirrors.want(staticPod());
  const other = pod({}, "other");
  other.metadata.annotations = { "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": "o" };
  mirrors.want(other);
  await turn();
  assert.ok(api.pod("other"));
  for (let i = 0; i < 600; i++) await pass(1000);
  const tries = api.calls.filter((call) => call.includes("web")).length;
  assert.ok(tries > 15 && tries < 40, `${tries}`);
  assert.equal(kept.warnings().length, 1);
  api.fail = () => undefined;
  await pass(30_000);
  assert.ok(api.pod("web"));
});

test("another kind of pod that has the name is reported and left alone", async (t) => {
  const { api, mirrors, pass, kept } = build(t);
  api.fail = () => new ApiError(409, "AlreadyExists", "it exists");
  mirrors.want(staticPod());
  await pass(10_000);
  assert.equal(api.count("delete"), 0);
  assert.match(kept.warnings().join(), /has its name/);
});

test("a mirror pod that the server does not find though it has it is removed at the next try", async (context) => {
  const { api, mirrors, pass } = build(context);
  const one = staticPod();
  mirrors.want(one);
  await turn();
  assert.equal(api.pods().length, 1);
  let misses = 1;
  api.fail = (call) =>
    call.startsWith("delete ") && misses-- > 0 ? new ApiError(404, "NotFound", "pod not found") : undefined;
  mirrors.onStaticPodGone(one);
  await turn();
  assert.equal(api.pods().length, 1);
  await pass(2000);
  assert.equal(api.pods().length, 0);
});

test("the mirror pod is created with the digits of its manifest", async (t) => {
  const { api, mirrors } = build(t);
  const wideIntegers = [{ path: ["spec", "terminationGracePeriodSeconds"], digits: "9223372036854775807" }];
  const created = t.mock.method(api.client, "create");
  mirrors.want({ ...staticPod(), wideIntegers });
  await turn();
  assert.deepEqual(
    created.mock.calls.map(({ arguments: [, object] }) => digitsOf(object)),
    [wideIntegers],
  );
});
