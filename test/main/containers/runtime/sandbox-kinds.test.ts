// Pods that need a certain runtime: a handler by name, user namespaces. Missing features of the runtime are reported
// before any call that needs them.
// @promise Resources of the node: No two pods with user namespaces share an id; ids survive the kubelet and are
//   released.
// @with test/main/containers/user-namespaces

import assert from "node:assert/strict";
import { access, stat } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Doer } from "../../../../src/main/containers/runtime/doer.js";
import { knownRuntimeHandler } from "../../../../src/main/containers/runtime/runtime-handlers.js";
import type { ClusterObjects } from "../../../../src/main/model/cluster-access.js";
import type { PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import {
  NamespaceMode,
  type CreateContainerRequest,
  type RunPodSandboxRequest,
  type RuntimeHandler,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { app, never, podOf, runtimeOn, startStep } from "./runtime-kit.js";

const handler = (name: string, userNamespaces = false): RuntimeHandler => ({
  name,
  features: { recursiveReadOnlyMounts: false, userNamespaces },
});

async function build(t: TestContext, spec: Partial<PodSpec>, runtimeHandlers: RuntimeHandler[] = []) {
  const world = await runtimeOn(t, { runtimeHandlers });
  const container = app();
  const pod = podOf(container, spec);
  const doer = new Doer(world.runtime, podUid("uid-web"), () => undefined);
  const sandbox = async (): Promise<string> => {
    const [hint] = await doer.execute(pod, { kind: "create-sandbox", attempt: 0, reason: "" }, never);
    return hint?.id ?? "";
  };
  const asked = (): RunPodSandboxRequest | undefined =>
    world.calls("RunPodSandbox")[0] as RunPodSandboxRequest | undefined;
  const usernsFile = join(world.root, "pods", "uid-web", "userns");
  return { ...world, container, pod, doer, sandbox, asked, usernsFile };
}

test("a pod without special fields causes no request for the runtime's handlers", async (t) => {
  const world = await build(t, {});
  await world.sandbox();
  assert.deepEqual([world.calls("Status").length, world.asked()?.runtimeHandler], [0, ""]);
  const options = world.asked()?.config?.linux?.securityContext?.namespaceOptions;
  assert.deepEqual(options?.usernsOptions, { mode: NamespaceMode.NODE, uids: [], gids: [] });
});

test("the runtime class's name is the handler's, for a runtime that lists it and for one that lists none", async (t) => {
  for (const handlers of [[], [handler(""), handler("kata")]]) {
    const world = await build(t, { runtimeClassName: "kata" }, handlers);
    await world.sandbox();
    assert.equal(world.asked()?.runtimeHandler, "kata");
  }
});

/** A cluster with one class: "strong" is run by "kata". */
const cluster = {
  runtimeClass: (name: string) =>
    Promise.resolve(name === "strong" ? { metadata: { name }, handler: "kata" } : undefined),
} as unknown as ClusterObjects;

test("the handler that is known without waiting", () => {
  const known = { knownRuntimeClass: () => ({ metadata: { name: "strong" }, handler: "kata" }) };
  const unread = { knownRuntimeClass: () => undefined };
  const strong = podOf(app(), { runtimeClassName: "strong" });
  const rows: [string | undefined, (() => Pick<ClusterObjects, "knownRuntimeClass"> | undefined) | undefined][] = [
    ["kata", () => known],
    [undefined, () => unread],
    [undefined, () => undefined],
    ["strong", undefined],
  ];
  for (const [expected, access] of rows) {
    assert.equal(knownRuntimeHandler({ ...(access && { cluster: access }) }, strong), expected);
    assert.equal(knownRuntimeHandler({ ...(access && { cluster: access }) }, podOf(app())), "");
  }
});

const FROM_API = { "kubernetes.io/config.source": "api" };
const FROM_FILE = { "kubernetes.io/config.source": "file" };

test("in a cluster the class says which handler; one that is not there keeps the sandbox from being made", async (t) => {
  const rows: [name: string, joined: boolean, annotations: Record<string, string>, handler: string | RegExp][] = [
    ["strong", true, FROM_API, "kata"],
    ["strong", true, FROM_FILE, "kata"],
    ["weak", true, FROM_API, /runtimeclass.node.k8s.io "weak" not found$/],
    ["kata", false, FROM_FILE, "kata"],
    ["strong", false, FROM_API, /has not joined its cluster yet/],
  ];
  for (const [runtimeClassName, joined, annotations, expected] of rows) {
    const world = await build(t, { runtimeClassName });
    world.runtime.cluster = () => (joined ? cluster : undefined);
    world.pod.metadata.annotations = annotations;
    if (typeof expected === "string") {
      await world.sandbox();
      assert.equal(world.asked()?.runtimeHandler, expected);
      continue;
    }
    await assert.rejects(world.sandbox(), expected);
    assert.match(world.events[0] ?? "", /FailedCreatePodSandBox: Failed to create pod sandbox: /);
    assert.match(world.events[0] ?? "", expected);
  }
});

test("an unknown runtime handler is reported with the known ones", async (t) => {
  const world = await build(t, { runtimeClassName: "kata" }, [handler(""), handler("runc")]);
  await assert.rejects(world.sandbox(), /"kata" names no handler/);
  assert.equal(world.asked(), undefined);
  assert.deepEqual(world.events, [
    'web  Warning FailedCreatePodSandBox: Failed to create pod sandbox: runtimeClassName "kata" names no handler of the ' +
      'container runtime, which has "" (the default), "runc"; add the handler to the runtime\'s configuration or change the name',
  ]);
});

test("a runtime without user namespaces: no sandbox, and the event has the reason", async (t) => {
  const cases: [Partial<PodSpec>, RuntimeHandler[], string][] = [
    [{}, [], "runtime"],
    [{}, [handler("")], "runtime"],
    [{}, [{ name: "", features: undefined }], "runtime"],
    [{ runtimeClassName: "kata" }, [handler("", true), handler("kata")], 'RuntimeClass handler "kata"'],
  ];
  for (const [spec, handlers, whose] of cases) {
    const world = await build(t, { hostUsers: false, ...spec }, handlers);
    await assert.rejects(world.sandbox());
    assert.equal(world.asked(), undefined);
    assert.deepEqual(world.events, [
      `web  Warning FailedCreatePodSandBox: Failed to create pod sandbox: can't set \`spec.hostUsers: false\`, ${whose} does not support user namespaces`,
    ]);
  }
});

test("a pod with users of its own: sandbox, container and every mount have its ids; clean-up gives them back", async (t) => {
  const world = await build(t, { hostUsers: false }, [handler("", true)]);
  const sandboxId = await world.sandbox();
  await world.doer.execute(world.pod, startStep(world.container, sandboxId), never);
  const ids = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
  const users = { mode: NamespaceMode.POD, uids: ids, gids: ids };
  assert.deepEqual(world.asked()?.config?.linux?.securityContext?.namespaceOptions?.usernsOptions, users);
  const { config, sandboxConfig } = world.calls("CreateContainer")[0] as CreateContainerRequest;
  assert.deepEqual(config?.linux?.securityContext?.namespaceOptions?.usernsOptions, users);
  assert.deepEqual(sandboxConfig, world.asked()?.config);
  assert.ok(config.mounts.length > 0);
  for (const mount of config.mounts) assert.deepEqual([mount.uidMappings, mount.gidMappings], [ids, ids]);
  assert.ok((await stat(world.usernsFile)).isFile());
  await world.doer.execute(undefined, { kind: "clean-up" }, never);
  await assert.rejects(access(world.usernsFile));
  const other = { ...world.pod, metadata: { ...world.pod.metadata, uid: podUid("uid-other") } };
  assert.equal((await world.runtime.userNamespaces.forPod(other))?.uids[0]?.hostId, 65_536);
});

test("mounts of a pod on the node's users have no ids", async (t) => {
  const world = await build(t, {});
  await world.doer.execute(world.pod, startStep(world.container, await world.sandbox()), never);
  const { config } = world.calls("CreateContainer")[0] as CreateContainerRequest;
  for (const mount of config?.mounts ?? []) assert.deepEqual([mount.uidMappings, mount.gidMappings], [[], []]);
});

test("overhead goes to the sandbox apart from the containers' resources", async (t) => {
  const world = await build(t, { overhead: { cpu: "250m", memory: "64Mi" } });
  await world.sandbox();
  const linux = world.asked()?.config?.linux;
  assert.equal(linux?.overhead?.memoryLimitInBytes, 64n * 1024n ** 2n);
  assert.equal(linux.overhead.cpuShares, 256n);
});
