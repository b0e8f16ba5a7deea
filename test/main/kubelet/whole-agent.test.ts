// The whole agent in one thread: the order of start and stop, stops during the start, and a pod of each source up to
// Running.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NODE_NAME, OneThreadWorld } from "../../support/one-thread/agent.js";
import { stepUntilSettled } from "../../support/one-thread/virtual-time.js";
import { manifest } from "../../support/sources-kit.js";

/** Components of a stand-alone node without ports, in the order of their start. */
const COMPONENTS = [
  "the connection to the runtime",
  "the tasks pool",
  "eviction",
  "the threads",
  "probes",
  "the state on disk",
  "the resource managers",
  "the sync path",
  "calls on volumes",
  "the replies to threads",
  "the other threads",
  "the pod CIDR",
  "collection",
  "the fault hook",
  "the list of manifests",
  "the pod sources",
  "the cluster",
  "log rotation",
  "the socket for the registration of device plugins",
  "the socket for pod resources",
  "the socket for plugins_registry",
  "warnings about the machine",
  "the release of free memory",
  "the release of the program's pages",
  "the policy for V8's optimizer",
  "the samples of main's delay",
  "the cgroups of pods",
  "the cgroups of the node",
];

const IMAGE = "nodelet.local/busybox:1";
const WEB = manifest("web").replace("busybox:1.36", IMAGE);

function containersOf(world: OneThreadWorld): (string | undefined)[] {
  return [...world.runtime.state.containers.values()].map(({ config }) => config.metadata?.name);
}

describe("a stand-alone node", () => {
  test("starts its components in order, runs a static pod, and stops in reverse while the pod runs on", async () => {
    await using world = await OneThreadWorld.open();
    await world.writeManifest("web", WEB);
    const agent = await world.start();
    assert.deepEqual(world.components("starting"), COMPONENTS);
    await world.until("the pod to run", () => agent.pods()[0]?.status?.phase === "Running");
    assert.deepEqual(containersOf(world), ["main"]);
    await world.stop(agent);
    assert.deepEqual(world.components("stopping"), [...COMPONENTS].reverse());
    assert.deepEqual(containersOf(world), ["main"]);
    await world.untilNoTimer();
    assert.deepEqual(world.kept.errors(), []);
  });

  test("adopts the pod of an earlier agent without a second container", async () => {
    await using world = await OneThreadWorld.open();
    await world.writeManifest("web", WEB);
    const runs = (agent: Awaited<ReturnType<typeof world.start>>) => () => agent.pods()[0]?.status?.phase === "Running";
    const first = await world.start();
    await world.until("the pod to run", runs(first));
    await world.stop(first);
    const second = await world.start();
    await world.until("the pod to run under the second agent", runs(second));
    await world.until("the second agent to know all pods", () => second.settled());
    await world.stop(second);
    assert.deepEqual(containersOf(world), ["main"]);
    assert.deepEqual(world.kept.errors(), []);
  });

  test("a runtime that does not answer holds up no stop", async () => {
    await using world = await OneThreadWorld.open();
    await world.writeManifest("web", WEB);
    world.runtime.failpoint("RunPodSandbox", "hang");
    const agent = await world.start();
    await world.until("the sandbox to be requested", () =>
      world.runtime.calls.some(({ verb }) => verb === "RunPodSandbox"),
    );
    await world.stop(agent);
    await world.untilNoTimer();
  });
});

describe("a stop during the start", () => {
  test("a component that cannot start stops those before it, in reverse", async () => {
    // The last component cannot start: the system's processes have no cgroup of their own.
    await using world = await OneThreadWorld.open({ config: { systemCgroups: "/", cgroupRoot: "/" } });
    const { agent } = await world.begin();
    await assert.rejects(stepUntilSettled(world.clock, "the failed start", agent), {
      name: "OperatorError",
      message: /^systemCgroups /,
    });
    assert.deepEqual(world.components("starting"), COMPONENTS);
    assert.deepEqual(world.components("stopping"), [...COMPONENTS].reverse());
    await world.untilNoTimer();
  });

  test("threads that are stopped before the agent is built end with it, and no worker stays", async () => {
    await using world = await OneThreadWorld.open();
    const { agent, threads, gaveUp } = await world.begin();
    await stepUntilSettled(world.clock, "the stop of the threads", threads.stop());
    const built = await stepUntilSettled(world.clock, "the start of the agent", agent);
    await world.stop(built);
    await world.untilNoTimer();
    assert.deepEqual(gaveUp, []);
  });
});

describe("a node of a cluster", () => {
  test("registers itself, runs a pod of the API server and reports it", async () => {
    await using world = await OneThreadWorld.open({ cluster: true });
    const agent = await world.start();
    const store = world.api?.store;
    assert.ok(store !== undefined);
    await world.until("the Node to be registered", () => store.get("nodes", "", NODE_NAME) !== undefined);
    store.put("pods", {
      metadata: { name: "api", namespace: "default" },
      // The token's volume would be a mount.
      spec: { nodeName: NODE_NAME, automountServiceAccountToken: false, containers: [{ name: "app", image: IMAGE }] },
    });
    await world.until("the API server to have the pod as Running", () => {
      const status = store.get("pods", "default", "api")?.["status"] as { phase?: string } | undefined;
      return status?.phase === "Running";
    });
    assert.deepEqual(containersOf(world), ["app"]);
    await world.until("the Node to have the images of the runtime", () => {
      const status = store.get("nodes", "", NODE_NAME)?.["status"] as { images?: { names: string[] }[] } | undefined;
      return status?.images?.some(({ names }) => names.includes(IMAGE)) === true;
    });
    await world.stop(agent);
    await world.untilNoTimer();
  });
});
