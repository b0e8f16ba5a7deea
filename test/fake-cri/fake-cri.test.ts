// The fake is trusted by many tests: its state must be as honest as a runtime's.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CriNotFoundError, CriUnavailableError } from "../../src/shared/kubernetes/cri/errors.js";
import { ContainerEventType, ContainerState, PodSandboxState } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { IMAGE, pair, podConfig, runPod, type Pair } from "../shared/kubernetes/cri/support.js";
import { until } from "../support/sources-kit.js";
import { parseFailpoint } from "./failpoints.js";

async function stateOf({ client }: Pair, containerId: string): Promise<ContainerState | undefined> {
  return (await client.containerStatus({ containerId })).status?.state;
}

test("a container's life: created, running, exited with code and times in order, removed", async (context) => {
  const both = await pair(context);
  const { client, fake } = both;
  const { containerId } = await runPod(client, "life");
  assert.equal(await stateOf(both, containerId), ContainerState.CONTAINER_RUNNING);
  await assert.rejects(client.startContainer({ containerId }), /CONTAINER_RUNNING state/);
  fake.exit(containerId, 3);
  const { status } = await client.containerStatus({ containerId });
  assert.equal(status?.state, ContainerState.CONTAINER_EXITED);
  assert.equal(status.exitCode, 3);
  assert.equal(status.reason, "Error");
  assert.ok(status.createdAt < status.startedAt && status.startedAt < status.finishedAt);
  await client.stopContainer({ containerId, timeout: 1n });
  assert.equal((await client.containerStatus({ containerId })).status?.exitCode, 3, "stopping twice changes nothing");
  await client.removeContainer({ containerId });
  await client.removeContainer({ containerId });
  await assert.rejects(client.containerStatus({ containerId }), CriNotFoundError);
  assert.equal((await client.listContainers({})).containers.length, 0);
});

test("a container that cannot start is exited with 128 and was never started", async (context) => {
  const { client, fake } = await pair(context, {
    startFails: ({ command }) => (command[0] === "/nope" ? "no /nope" : undefined),
  });
  const { podSandboxId } = await client.runPodSandbox({ config: podConfig("bad") });
  const config = { metadata: { name: "app" }, image: { image: IMAGE }, command: ["/nope"] };
  const { containerId } = await client.createContainer({ podSandboxId, config });
  await assert.rejects(client.startContainer({ containerId }), /no \/nope/);
  const { status } = await client.containerStatus({ containerId });
  assert.deepEqual(
    [status?.state, status?.exitCode, status?.reason],
    [ContainerState.CONTAINER_EXITED, 128, "StartError"],
  );
  assert.equal(status?.startedAt, 0n);
  assert.equal(fake.calls.filter((call) => call.code === "UNKNOWN").length, 1);
});

test("stop: 143 on the signal, 137 after the grace when it is ignored, at once with grace 0", async (context) => {
  const { client, fake } = await pair(context);
  const [willing, stubborn, killed] = [await runPod(client, "a"), await runPod(client, "b"), await runPod(client, "c")];
  const exitCode = async (containerId: string) => (await client.containerStatus({ containerId })).status?.exitCode;
  await client.stopContainer({ containerId: willing.containerId, timeout: 30n });
  assert.equal(await exitCode(willing.containerId), 143);
  fake.ignoreTerm(stubborn.containerId);
  const begin = performance.now();
  await client.stopContainer({ containerId: stubborn.containerId, timeout: 1n });
  assert.ok(performance.now() - begin >= 990);
  assert.equal(await exitCode(stubborn.containerId), 137);
  fake.ignoreTerm(killed.containerId);
  await client.stopContainer({ containerId: killed.containerId, timeout: 0n });
  assert.equal(await exitCode(killed.containerId), 137);
});

test("a container that exits by itself ends a stop that waits for its grace", async (context) => {
  const { client, fake } = await pair(context);
  const { containerId } = await runPod(client, "early");
  fake.ignoreTerm(containerId);
  const stop = client.stopContainer({ containerId, timeout: 60n });
  await until("the stop waits", () => fake.state.container(containerId).ended.size > 0);
  fake.exit(containerId, 9);
  await stop;
  assert.equal((await client.containerStatus({ containerId })).status?.exitCode, 9);
});

test("sandboxes: own addresses, names reserved per attempt, stopping and removing take the containers along", async (context) => {
  const both = await pair(context);
  const { client, fake } = both;
  const first = await runPod(client, "one");
  const second = await runPod(client, "two");
  const ip = async (podSandboxId: string) => (await client.podSandboxStatus({ podSandboxId })).status?.network?.ip;
  assert.notEqual(await ip(first.sandboxId), await ip(second.sandboxId));
  await assert.rejects(client.runPodSandbox({ config: podConfig("one") }), { code: "ALREADY_EXISTS" });
  const retry = await client.runPodSandbox({ config: podConfig("one", 1) });
  assert.notEqual(retry.podSandboxId, first.sandboxId);

  fake.killSandbox(first.sandboxId);
  assert.equal(await stateOf(both, first.containerId), ContainerState.CONTAINER_EXITED);
  const { status } = await client.podSandboxStatus({ podSandboxId: first.sandboxId });
  assert.equal(status?.state, PodSandboxState.SANDBOX_NOTREADY);
  const create = { podSandboxId: first.sandboxId, config: { metadata: { name: "x" }, image: { image: IMAGE } } };
  await assert.rejects(client.createContainer(create), CriNotFoundError);
  await client.stopPodSandbox({ podSandboxId: first.sandboxId });
  await client.removePodSandbox({ podSandboxId: first.sandboxId });
  await client.removePodSandbox({ podSandboxId: first.sandboxId });
  await assert.rejects(client.containerStatus({ containerId: first.containerId }), CriNotFoundError);
  await client.runPodSandbox({ config: podConfig("one") });
});

test("filters: state, labels, sandbox, id", async (context) => {
  const { client, fake } = await pair(context);
  const a = await runPod(client, "a");
  const b = await runPod(client, "b");
  fake.exit(b.containerId, 0);
  const containers = async (filter: object) => (await client.listContainers({ filter })).containers.map(({ id }) => id);
  assert.deepEqual(await containers({ state: { state: ContainerState.CONTAINER_RUNNING } }), [a.containerId]);
  assert.deepEqual(await containers({ labelSelector: { "io.kubernetes.pod.name": "b" } }), [b.containerId]);
  assert.deepEqual(await containers({ podSandboxId: a.sandboxId }), [a.containerId]);
  assert.deepEqual(await containers({ id: b.containerId.slice(0, 12) }), [b.containerId]);
  assert.deepEqual(
    await containers({ podSandboxId: a.sandboxId, labelSelector: { "io.kubernetes.pod.name": "b" } }),
    [],
  );
});

test("images: present, pulled, removed, unknown", async (context) => {
  const { client } = await pair(context, { registry: { "registry.test/app:1": { size: 5, user: "nobody" } } });
  const image = { image: { image: "registry.test/app:1" } };
  assert.equal((await client.imageStatus(image)).image, undefined);
  const { imageRef } = await client.pullImage(image);
  const found = (await client.imageStatus({ image: { image: imageRef } })).image;
  assert.deepEqual(found?.repoTags, ["registry.test/app:1"]);
  assert.equal(found.username, "nobody");
  await client.removeImage(image);
  await client.removeImage(image);
  assert.equal((await client.imageStatus(image)).image, undefined);
  await assert.rejects(client.pullImage({ image: { image: "registry.test/none:1" } }), CriNotFoundError);
});

test("events report a pod's life in order", async (context) => {
  const { client, fake } = await pair(context, { events: true });
  const seen: [string, ContainerEventType][] = [];
  const controller = new AbortController();
  const reader = (async () => {
    for await (const event of client.getContainerEvents({}, { signal: controller.signal })) {
      seen.push([event.containerId, event.containerEventType]);
    }
  })().catch(() => undefined);
  await until("the stream is open", () => fake.state.eventListeners.size === 1);
  const { sandboxId, containerId } = await runPod(client, "told");
  fake.exit(containerId, 0);
  await client.removePodSandbox({ podSandboxId: sandboxId });
  const type = ContainerEventType;
  const expected = [
    [sandboxId, type.CONTAINER_CREATED_EVENT],
    [sandboxId, type.CONTAINER_STARTED_EVENT],
    [containerId, type.CONTAINER_CREATED_EVENT],
    [containerId, type.CONTAINER_STARTED_EVENT],
    [containerId, type.CONTAINER_STOPPED_EVENT],
    [sandboxId, type.CONTAINER_STOPPED_EVENT],
    [containerId, type.CONTAINER_DELETED_EVENT],
    [sandboxId, type.CONTAINER_DELETED_EVENT],
  ];
  await until("all events arrived", () => seen.length >= expected.length);
  assert.deepEqual(seen, expected);
  controller.abort();
  await reader;
});

test("failpoints: used up from left to right, matched by pod and container, before or after the effect", async (context) => {
  const { client, fake } = await pair(context);
  fake.failpoint("ListImages", "1*off->2*error(INTERNAL: twice)->1*delay(50)->off");
  const outcomes: string[] = [];
  let slowest = 0;
  for (let index = 0; index < 6; index++) {
    const begin = performance.now();
    outcomes.push(
      await client.listImages({}).then(
        () => "ok",
        (error: unknown) => (error as { code: string }).code,
      ),
    );
    slowest = Math.max(slowest, performance.now() - begin);
  }
  assert.deepEqual(outcomes, ["ok", "INTERNAL", "INTERNAL", "ok", "ok", "ok"]);
  assert.ok(slowest >= 49);

  fake.failpoint("RunPodSandbox", "error(UNAVAILABLE: boom)", { pod: "bad" });
  await assert.rejects(client.runPodSandbox({ config: podConfig("bad") }), CriUnavailableError);
  await client.runPodSandbox({ config: podConfig("good") });
  fake.failpoint("RunPodSandbox", "error(UNAVAILABLE: lost)", { pod: "half", when: "after" });
  await assert.rejects(client.runPodSandbox({ config: podConfig("half") }), CriUnavailableError);
  fake.failpoint("RunPodSandbox", "off");
  await assert.rejects(client.runPodSandbox({ config: podConfig("half") }), { code: "ALREADY_EXISTS" });
  await client.runPodSandbox({ config: podConfig("bad") });

  const { containerId } = await runPod(client, "matched");
  fake.failpoint("StopContainer", "error(INTERNAL: stuck)", { container: "app", pod: "matched" });
  await assert.rejects(client.stopContainer({ containerId }), /stuck/);
});

test("a hung call continues when its failpoint is removed", async (context) => {
  const { client, fake } = await pair(context);
  fake.failpoint("Status", "hang");
  const hung = client.status({});
  await until("the call hangs", () => fake.calls.length === 1);
  fake.failpoint("Status", "off");
  await hung;
});

test("bad failpoints are refused", () => {
  for (const spec of ["", "boom", "delay(x)", "error(NO_CODE: x)", "x*off", "off->"]) {
    assert.throws(() => parseFailpoint(spec), Error, spec);
  }
});

test("a restart keeps everything", async (context) => {
  const both = await pair(context);
  const { containerId } = await runPod(both.client, "kept");
  await both.fake.stop();
  await both.fake.start();
  await both.client.version({}).catch(() => undefined); // the connection that died is noticed by the first call at the latest
  assert.equal(await stateOf(both, containerId), ContainerState.CONTAINER_RUNNING);
});

test("a thousand pods fit in one reply each", async (context) => {
  const { client } = await pair(context, { recordCalls: false });
  const names = Array.from({ length: 1000 }, (_, index) => `pod-${index}`);
  for (let at = 0; at < names.length; at += 50)
    await Promise.all(names.slice(at, at + 50).map((name) => runPod(client, name)));
  const [sandboxes, containers] = await Promise.all([client.listPodSandbox({}), client.listContainers({})]);
  assert.equal(sandboxes.items.length, 1000);
  assert.equal(containers.containers.length, 1000);
});
