// Main requests inspections of its own changes. Each is inspected once, and none stays unseen if main's request does
// not come.

import assert from "node:assert/strict";
import { test } from "node:test";
import { podUid, containerIdOf, sandboxIdOf } from "../../../src/shared/kubernetes/identifiers.js";
import { podConfig, runPod } from "../../shared/kubernetes/cri/support.js";
import { until } from "../../support/sources-kit.js";
import { plegOn } from "./pleg-kit.js";

type World = Awaited<ReturnType<typeof plegOn>>;

/** Calls of inspections. */
const looks = (world: World): number =>
  world.fake.calls.filter(({ verb }) => verb === "PodSandboxStatus" || verb === "ContainerStatus").length;

async function asked(world: World, generation: number, ...hints: Parameters<World["ask"]>[2] & object): Promise<void> {
  world.ask("uid-web", generation, hints);
  await until("answered", () => world.last("uid-web")?.generation === generation);
  await world.nothingPending();
  world.fake.calls.length = 0;
}

test("a change that a relist sees during a call of main is inspected one relist later, if main sent no request", async (t) => {
  const world = await plegOn(t);
  const { containerId } = await runPod(world.client, "web");
  await world.started();
  await asked(world, 1);
  world.fake.exit(containerId, 3);
  await world.relist();
  assert.equal(looks(world), 0);
  await world.relist();
  await until("the exit is told", () => world.last("uid-web")?.containers[0]?.exitCode === 3);
});

test("a change for which main has sent a request meanwhile is not inspected again", async (t) => {
  const world = await plegOn(t);
  const { containerId } = await runPod(world.client, "web");
  await world.started();
  await asked(world, 1);
  world.fake.exit(containerId, 3);
  await world.relist();
  await asked(world, 2);
  await world.relist();
  await world.relist();
  assert.equal(looks(world), 0);
});

test("a change long after main's request is inspected with the first relist that shows it", async (t) => {
  const world = await plegOn(t);
  const { containerId } = await runPod(world.client, "web");
  await world.started();
  await asked(world, 1);
  await world.relist();
  await world.relist();
  world.fake.exit(containerId, 3);
  await world.relist();
  await until("the exit is told", () => world.last("uid-web")?.containers[0]?.exitCode === 3);
});

test("a container that is created and not started yet is no change; its removal without its pod is one", async (t) => {
  const world = await plegOn(t);
  const { podSandboxId } = await world.client.runPodSandbox({ config: podConfig("web") });
  await world.started();
  world.fake.calls.length = 0;
  const sandboxConfig = podConfig("web");
  const config = {
    metadata: { name: "main", attempt: 0 },
    image: { image: "nodelet.local/busybox:1" },
    labels: sandboxConfig.labels,
  };
  const { containerId } = await world.client.createContainer({ podSandboxId, sandboxConfig, config });
  await world.relist();
  assert.equal(looks(world), 0);
  await world.client.startContainer({ containerId });
  await world.relist();
  await until("it is told", () => world.last("uid-web")?.containers.length === 1);
  await world.client.removePodSandbox({ podSandboxId });
  await world.relist();
  await until("its end is told", () => world.last("uid-web")?.sandboxes.length === 0);
});

test("a pod is removed with its last sandbox without an inspection; with one of two it is inspected", async (t) => {
  const world = await plegOn(t);
  const { sandboxId, containerId } = await runPod(world.client, "web");
  const second = await world.client.runPodSandbox({ config: podConfig("web", 1) });
  world.fake.exit(containerId, 0);
  await world.started();
  await asked(world, 1);
  await world.client.removePodSandbox({ podSandboxId: sandboxId });
  const removed = (id: string) =>
    [
      { kind: "sandbox-removed", id: sandboxIdOf(id) },
      { kind: "recheck", id: "" },
    ] as const;
  world.fake.calls.length = 0;
  world.ask("uid-web", 2, [...removed(sandboxId)]);
  await until("answered", () => world.last("uid-web")?.generation === 2);
  assert.equal(looks(world), 2);
  assert.equal(world.last("uid-web")?.containers.length, 0);
  await world.client.removePodSandbox(second);
  world.fake.calls.length = 0;
  world.ask("uid-web", 3, [...removed(second.podSandboxId)]);
  await until("answered", () => world.last("uid-web")?.generation === 3);
  assert.equal(looks(world), 0);
  assert.equal(world.last("uid-web")?.sandboxes.length, 0);
  world.pleg.unwatch(podUid("uid-web"));
  const published = world.podRecords("uid-web").length;
  await world.relist();
  assert.equal(world.podRecords("uid-web").length, published, "no event for a forgotten pod that was removed");
});

test("events: a container that main starts is not inspected, one that exits is", async (t) => {
  const world = await plegOn(t, { events: true }, { useEvents: true });
  await world.started();
  await until("the stream is open", () => world.fake.state.eventListeners.size === 1);
  await asked(world, 1);
  const { sandboxId, containerId } = await runPod(world.client, "web");
  await world.nothingPending();
  assert.equal(looks(world), 0);
  await asked(
    world,
    2,
    { kind: "sandbox", id: sandboxIdOf(sandboxId) },
    { kind: "container", id: containerIdOf(containerId) },
  );
  world.fake.exit(containerId, 4);
  await until("the exit is told", () => world.last("uid-web")?.containers[0]?.exitCode === 4);
});
