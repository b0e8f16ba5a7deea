// The pod lifecycle event generator on a fake runtime: the changes that it finds and publishes, each once.

import assert from "node:assert/strict";
import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { armFaultPoint } from "../../../src/shared/base/faults/fault-points.js";
import type { InspectHint } from "../../../src/shared/contracts/pleg.js";
import { ContainerState, PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid, containerIdOf, sandboxIdOf } from "../../../src/shared/kubernetes/identifiers.js";
import { renderExposition } from "../../../src/workers/server/metrics/merge-metrics.js";
import { podConfig, runPod } from "../../shared/kubernetes/cri/support.js";
import { temporaryFolder, until } from "../../support/sources-kit.js";
import { plegOn } from "./pleg-kit.js";

const NOTHING = { sandboxes: 0, containers: 0 };
const countOf = (pod: { sandboxes: unknown[]; containers: unknown[] } | undefined) => ({
  sandboxes: pod?.sandboxes.length,
  containers: pod?.containers.length,
});

test("the first relist reports all pods, then the state of each, newest first", async (t) => {
  const world = await plegOn(t);
  const { sandboxId, containerId } = await runPod(world.client, "web");
  await runPod(world.client, "db");
  world.fake.killSandbox(sandboxId);
  const { podSandboxId } = await world.client.runPodSandbox({ config: podConfig("web", 1) });
  await world.started();
  const relisted = world.records.find((record) => record.kind === "relisted");
  assert.deepEqual(relisted?.uids.toSorted(), ["uid-db", "uid-web"]);
  await until("both pods are told", () => world.podRecords("uid-web").length + world.podRecords("uid-db").length === 2);
  const web = world.last("uid-web");
  assert.ok(web);
  assert.deepEqual(
    web.sandboxes.map((sandbox) => [sandbox.id, sandbox.state]),
    [
      [podSandboxId, PodSandboxState.SANDBOX_READY],
      [sandboxId, PodSandboxState.SANDBOX_NOTREADY],
    ],
  );
  assert.deepEqual(
    web.containers.map((container) => [container.id, container.exitCode]),
    [[containerId, 137]],
  );
  assert.deepEqual([web.name, web.generation], ["web", 0]);
});

test("relists after the first one carry no list of pods", async (t) => {
  const world = await plegOn(t);
  await runPod(world.client, "web");
  await world.started();
  await world.relist();
  const lists = world.records.flatMap((record) => (record.kind === "relisted" ? [record.uids] : []));
  assert.deepEqual([lists[0], lists.at(-1)], [["uid-web"], []]);
});

test("sandboxes of others than a kubelet are left out", async (t) => {
  const world = await plegOn(t);
  await world.client.runPodSandbox({ config: { ...podConfig("foreign"), labels: {} } });
  await world.started();
  assert.deepEqual(world.records.filter((record) => record.kind === "relisted")[0]?.uids, []);
  assert.equal(world.kinds("pod"), 0);
});

test("a relist finds an exit; equal state is published once however often it is relisted", async (t) => {
  const world = await plegOn(t);
  const { containerId } = await runPod(world.client, "web");
  await world.started();
  for (let i = 0; i < 3; i++) await world.relist();
  assert.equal(world.podRecords("uid-web").length, 1);
  world.fake.exit(containerId, 3);
  await world.relist();
  await until("the exit is told", () => world.last("uid-web")?.containers[0]?.exitCode === 3);
  for (let i = 0; i < 3; i++) await world.relist();
  assert.equal(world.podRecords("uid-web").length, 2);
});

test("a pod that vanished is reported as empty, once", async (t) => {
  const world = await plegOn(t);
  const { sandboxId } = await runPod(world.client, "web");
  await world.started();
  await world.client.removePodSandbox({ podSandboxId: sandboxId });
  await world.relist();
  await until("the end is told", () => world.podRecords("uid-web").length === 2);
  assert.deepEqual(countOf(world.last("uid-web")), NOTHING);
  await world.relist();
  assert.equal(world.podRecords("uid-web").length, 2);
});

test("a container removed behind our back is found although its exit is remembered", async (t) => {
  const world = await plegOn(t);
  const { containerId } = await runPod(world.client, "web");
  world.fake.exit(containerId, 0);
  await world.started();
  await until("the exit is told", () => world.last("uid-web")?.containers.length === 1);
  await world.client.removeContainer({ containerId });
  await world.relist();
  await until("the removal is told", () => world.last("uid-web")?.containers.length === 0);
  assert.equal(world.last("uid-web")?.sandboxes.length, 1);
});

test("every request gets a reply with its generation, also when nothing changed", async (t) => {
  const world = await plegOn(t);
  await runPod(world.client, "web");
  await world.started();
  for (const generation of [5, 9]) {
    world.ask("uid-web", generation);
    await until(`answer ${generation}`, () => world.last("uid-web")?.generation === generation);
  }
  world.ask("uid-nobody", 12);
  await until("an unknown pod is answered too", () => world.last("uid-nobody")?.generation === 12);
  assert.deepEqual(countOf(world.last("uid-nobody")), NOTHING);
  assert.equal(world.podRecords("uid-web").length, 3);
});

test("requests during an inspection make one more, with the highest generation", async (t) => {
  const world = await plegOn(t, { latency: { PodSandboxStatus: 30 } });
  await runPod(world.client, "web");
  await world.started();
  world.fake.calls.length = 0;
  for (let generation = 1; generation <= 20; generation++) world.ask("uid-web", generation);
  await until("the last is answered", () => world.last("uid-web")?.generation === 20);
  await world.nothingPending();
  assert.equal(world.fake.calls.filter((call) => call.verb === "PodSandboxStatus").length, 2);
});

test("hints save the lists, also for a pod never seen before; a list hint requests those of that pod alone", async (t) => {
  const world = await plegOn(t);
  await world.started();
  const verbs = (): string[] => world.fake.calls.map((call) => call.verb).sort();
  world.fake.calls.length = 0;
  const { sandboxId, containerId } = await runPod(world.client, "web");
  world.fake.calls.length = 0;
  world.ask("uid-web", 1, [{ kind: "sandbox", id: sandboxIdOf(sandboxId) }]);
  await until("answered", () => world.last("uid-web")?.generation === 1);
  assert.deepEqual(verbs(), ["PodSandboxStatus"], "after the first relist an unknown pod is new");
  world.fake.calls.length = 0;
  world.ask("uid-web", 2, [{ kind: "container", id: containerIdOf(containerId) }]);
  await until("answered", () => world.last("uid-web")?.generation === 2);
  assert.deepEqual(verbs(), ["ContainerStatus"], "the container was started in a sandbox that is up");

  const unhinted = await world.client.createContainer({
    podSandboxId: sandboxId,
    sandboxConfig: podConfig("web"),
    config: {
      metadata: { name: "second", attempt: 0 },
      image: { image: "nodelet.local/busybox:1" },
      labels: podConfig("web").labels,
    },
  });
  world.ask("uid-web", 3, []);
  await until("answered", () => world.last("uid-web")?.generation === 3);
  assert.equal(world.last("uid-web")?.containers.length, 1, "no source reported a second one");
  world.fake.calls.length = 0;
  world.ask("uid-web", 4, [{ kind: "relist", id: "" }]);
  await until("answered", () => world.last("uid-web")?.generation === 4);
  for (const { request } of world.fake.calls.filter((call) => call.verb.startsWith("List"))) {
    const { filter } = request as { filter?: { labelSelector: Record<string, string> } };
    if (filter !== undefined) assert.deepEqual(filter.labelSelector, { "io.kubernetes.pod.uid": "uid-web" });
  }
  assert.equal(world.last("uid-web")?.containers[0]?.id, unhinted.containerId);

  world.fake.calls.length = 0;
  await world.client.removeContainer(unhinted);
  world.fake.calls.length = 0;
  world.ask("uid-web", 5, [{ kind: "container-removed", id: containerIdOf(unhinted.containerId) }]);
  await until("answered", () => world.last("uid-web")?.generation === 5);
  const asked = world.fake.calls.filter((call) => call.verb === "ContainerStatus").map((call) => call.request);
  assert.deepEqual(
    asked.map((request) => (request as { containerId: string }).containerId),
    [containerId],
    "what was removed is not asked for",
  );
});

test("an exited container is not read again", async (t) => {
  const world = await plegOn(t);
  const { containerId } = await runPod(world.client, "web");
  world.fake.exit(containerId, 1);
  await world.started();
  world.fake.calls.length = 0;
  world.ask("uid-web", 1);
  await until("answered", () => world.last("uid-web")?.generation === 1);
  assert.equal(world.last("uid-web")?.containers[0]?.state, ContainerState.CONTAINER_EXITED);
  assert.equal(world.fake.calls.filter((call) => call.verb === "ContainerStatus").length, 0);
});

test("a call to a container alone does not read its sandbox; every other inspection does", async (t) => {
  const world = await plegOn(t);
  const { sandboxId, containerId } = await runPod(world.client, "web");
  await world.started();
  const asked = (): number => world.fake.calls.filter((call) => call.verb === "PodSandboxStatus").length;
  let generation = 0;
  const answered = async (hints: InspectHint[]): Promise<number> => {
    const before = asked();
    world.ask("uid-web", ++generation, hints);
    await until("the request is answered", () => world.last("uid-web")?.generation === generation);
    assert.equal(world.last("uid-web")?.sandboxes[0]?.id, sandboxId);
    return asked() - before;
  };
  assert.equal(await answered([{ kind: "container", id: containerIdOf(containerId) }]), 0);
  assert.equal(await answered([]), 1);
  assert.equal(await answered([{ kind: "sandbox", id: sandboxIdOf(sandboxId) }]), 1);
  assert.equal(await answered([{ kind: "container", id: containerIdOf(containerId) }]), 0);
  assert.equal(await answered([{ kind: "relist", id: "" }]), 1);
  world.fake.killSandbox(sandboxId);
  // Requests of main came a moment ago: the relists leave the pod to the next one.
  for (let i = 0; i < 3; i++) await world.relist();
  await until("the end of the sandbox is told", () => {
    return world.last("uid-web")?.sandboxes[0]?.state === PodSandboxState.SANDBOX_NOTREADY;
  });
});

test("pods are inspected in parallel, at most so many at once", async (t) => {
  const world = await plegOn(t, { latency: { PodSandboxStatus: 20 } }, { inspectConcurrency: 3 });
  for (let i = 0; i < 12; i++) await runPod(world.client, `p${i}`);
  await world.started();
  await until("all are told", () => world.kinds("pod") === 12);
  const spans = world.fake.calls.filter((call) => call.verb === "PodSandboxStatus");
  const most = Math.max(
    ...spans.map(
      ({ startedAt }) =>
        spans.filter((other) => other.startedAt <= startedAt && (other.endedAt ?? Infinity) > startedAt).length,
    ),
  );
  assert.ok(most >= 2 && most <= 3, `${most} at once`);
});

test("a hung container delays its own pod only, and its requests get a failure as reply", async (t) => {
  // A deadline that only a hung call misses, also on a busy machine.
  const world = await plegOn(t, {}, { inspectDeadlineMs: 1500, inspectConcurrency: 4 });
  for (const name of ["stuck", "a", "b", "c", "d", "e"]) await runPod(world.client, name);
  world.fake.failpoint("ContainerStatus", "hang", { pod: "stuck" });
  await world.started();
  await until("the others are told", () => world.kinds("pod") === 5);
  await until("its first look failed", () => world.failures().length === 1);
  for (let generation = 1; generation <= 3; generation++) {
    world.ask("uid-stuck", generation);
    for (const name of ["a", "b", "c", "d", "e"]) world.ask(`uid-${name}`, generation);
    await until("the others are answered", () =>
      ["a", "b", "c", "d", "e"].every((name) => world.last(`uid-${name}`)?.generation === generation),
    );
    await until("the hung one is answered by a failure", () => world.failures().at(-1)?.generation === generation);
  }
  assert.deepEqual(
    [...new Set(world.failures().map(({ uid, code }) => `${uid} ${code}`))],
    ["uid-stuck CriDeadlineExceededError"],
  );
  assert.equal(world.podRecords("uid-stuck").length, 0, "no picture is made up");
  world.fake.failpoint("ContainerStatus", "off");
  world.ask("uid-stuck", 9);
  await until("it is seen when the runtime lets go", () => world.last("uid-stuck")?.generation === 9);
});

test("a failed relist is reported once; the next one finds the missed changes", async (t) => {
  const world = await plegOn(t);
  const { containerId } = await runPod(world.client, "web");
  await world.started();
  world.fake.failpoint("ListContainers", "2*error(INTERNAL: metadata store is locked)");
  world.fake.exit(containerId, 5);
  const relisted = world.kinds("relisted");
  for (let failed = 1; failed <= 2; failed++) {
    const before = world.fake.calls.filter((call) => call.code === "INTERNAL").length;
    world.clock.step(1000);
    await until("a list failed", () => world.fake.calls.filter((call) => call.code === "INTERNAL").length > before);
    await world.nothingPending();
  }
  assert.equal(world.kinds("relisted"), relisted);
  assert.equal(world.kept.errors().length, 1);
  assert.match(world.kept.errors()[0] ?? "", /relist failed.*metadata store is locked/);
  await world.relist();
  await until("the exit is told", () => world.last("uid-web")?.containers[0]?.exitCode === 5);
});

test("the runtime stops and returns: each is reported once, and its return causes a relist at once", async (t) => {
  const world = await plegOn(t);
  const { containerId } = await runPod(world.client, "web");
  await world.started();
  assert.deepEqual(
    world.runtimes().map((state) => [state.reachable, state.name, state.message]),
    [[true, "fake", ""]],
  );
  await world.fake.stop();
  await until("the absence is published", () => {
    world.clock.step(world.runtimes().length < 2 ? 200 : 0);
    return world.runtimes().length === 2;
  });
  assert.equal(world.runtimes()[1]?.reachable, false);
  for (let i = 0; i < 10; i++) {
    world.clock.step(200);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(world.runtimes().length, 2, "an absence is reported once");
  world.fake.state.end(world.fake.state.container(containerId), 9);
  const relists = world.kinds("relisted");
  await world.fake.start();
  // The channel needs a moment to connect again; asking goes on five times a second of virtual time.
  await until("the return is told", () => {
    world.clock.step(world.runtimes().length < 3 ? 200 : 0);
    return world.runtimes().length === 3;
  });
  await until("a relist follows at once", () => {
    world.clock.step(0);
    return world.kinds("relisted") > relists;
  });
  await until("what happened meanwhile is told", () => world.last("uid-web")?.containers[0]?.exitCode === 9);
  assert.equal(world.runtimes()[2]?.reachable, true);
  assert.equal(world.kept.errors().length, 0, "main tells it, from the record");
});

test("a request while the runtime does not respond fails with that reason", async (t) => {
  const world = await plegOn(t);
  await runPod(world.client, "web");
  await world.started();
  await world.fake.stop();
  world.ask("uid-web", 3);
  await until("answered", () => world.failures().length === 1);
  assert.equal(world.failures()[0]?.code, "CriUnavailableError");
  await until("the absence is published without waiting for the next status call", () => world.runtimes().length === 2);
  assert.equal(world.kept.warnings().length, 0);
});

test("a runtime that is not ready gives the reason, and each change of it is reported", async (t) => {
  const world = await plegOn(t);
  await world.started();
  world.fake.settings.networkReady = false;
  world.clock.step(5000);
  await until("told", () => world.runtimes().length === 2);
  assert.equal(world.runtimes()[1]?.networkReady, false);
  assert.match(world.runtimes()[1]?.message ?? "", /^NetworkReady: /);
  world.fake.settings.networkReady = true;
  await world.nothingPending();
  // Asked five times a second until it is ready.
  await until("told", () => {
    world.clock.step(100);
    return world.runtimes().length === 3;
  });
  assert.deepEqual([world.runtimes()[2]?.networkReady, world.runtimes()[2]?.message], [true, ""]);
});

test("where the runtime offers its event stream, an exit is seen without any relist", async (t) => {
  const world = await plegOn(t, { events: true }, { useEvents: true });
  const { containerId } = await runPod(world.client, "web");
  await world.started();
  await until("the stream is open", () => world.fake.state.eventListeners.size === 1);
  world.clock.step(500);
  await until("the stream is told", () => world.runtimes().at(-1)?.events === true);
  const relists = world.kinds("relisted");
  world.fake.exit(containerId, 4);
  await until("the exit is told", () => world.last("uid-web")?.containers[0]?.exitCode === 4);
  assert.equal(world.kinds("relisted"), relists);
});

test("a runtime without the stream is called again only rarely, and nothing is logged", async (t) => {
  const world = await plegOn(t, { events: false }, { useEvents: true });
  await world.started();
  const asked = (): number => world.fake.calls.filter((call) => call.verb === "GetContainerEvents").length;
  await until("asked once", () => asked() === 1 && world.fake.calls.every((call) => call.endedAt !== undefined));
  assert.equal(world.runtimes().at(-1)?.events, false);
  for (let i = 0; i < 9; i++) await world.relist();
  assert.equal(asked(), 1);
  await until("asked again after 10 s", () => {
    world.clock.step(500);
    return asked() === 2;
  });
  assert.deepEqual([world.kept.warnings(), world.kept.errors()], [[], []]);
});

test("a stream that breaks is followed again", async (t) => {
  const world = await plegOn(t, { events: true }, { useEvents: true });
  const { containerId } = await runPod(world.client, "web");
  await world.started();
  await until("the stream is open", () => world.fake.state.eventListeners.size === 1);
  await world.fake.stop();
  await until("the stream is cut", () => world.fake.state.eventListeners.size === 0);
  await world.fake.start();
  await until("the stream is open again", () => {
    world.clock.step(100);
    return world.fake.state.eventListeners.size === 1;
  });
  await world.nothingPending();
  world.fake.exit(containerId, 6);
  await until("the exit is told", () => world.last("uid-web")?.containers[0]?.exitCode === 6);
  const page = renderExposition([await world.registry.exportSnapshot()]);
  const value = (name: string): number =>
    Number(new RegExp(`^kubelet_evented_pleg_connection_${name} (.*)$`, "m").exec(page)?.[1]);
  assert.equal(value("success_count"), 1);
  assert.ok(value("error_count") >= 1, page);
  assert.ok(value("latency_seconds_count") >= 1, page);
});

test("an error in the handler of the stream's events ends the stream, which is followed again", async (t) => {
  const world = await plegOn(t, { events: true }, { useEvents: true });
  const { containerId } = await runPod(world.client, "web");
  await world.started();
  await until("the stream is open", () => world.fake.state.eventListeners.size === 1);
  armFaultPoint("cri-stream");
  world.fake.exit(containerId, 5);
  await until("the stream is over", () => world.fake.state.eventListeners.size === 0);
  assert.equal(world.kept.warnings().length, 1);
  await until("the stream is open again", () => {
    world.clock.step(100);
    return world.fake.state.eventListeners.size === 1;
  });
  // The content of the lost event.
  await world.relist();
  assert.equal(world.last("uid-web")?.containers[0]?.exitCode, 5);
});

test("relists: every second while something changes or is not watched, every ten when nothing changes and all is watched", async (t) => {
  const world = await plegOn(t);
  const watchDir = await temporaryFolder(t);
  await runPod(world.client, "web");
  await world.started();
  const relistsIn = async (seconds: number): Promise<number> => {
    const before = world.kinds("relisted");
    for (let i = 0; i < seconds; i++) {
      world.clock.step(1000);
      // A relist that has begun shall end before the next second. Its call arrives within some turns of the event loop.
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
      await world.nothingPending();
    }
    return world.kinds("relisted") - before;
  };
  assert.ok((await relistsIn(15)) >= 13, "no event source covers the pod");
  world.pleg.watch({ uid: podUid("uid-web"), watchDirs: [watchDir] });
  await relistsIn(2);
  const idle = await relistsIn(20);
  assert.ok(idle >= 1 && idle <= 3, `${idle} relists in 20 quiet seconds`);
  world.ask("uid-web", 1);
  await relistsIn(10);
  const active = await relistsIn(5);
  assert.ok(active >= 1, "main changed something");

  // A pod that is over has no exits left to see, and no cgroup left to watch.
  const [sandbox] = world.fake.state.sandboxes.keys();
  assert.ok(sandbox);
  world.pleg.watch({ uid: podUid("uid-web"), watchDirs: [] });
  for (const containerId of world.fake.state.containers.keys()) world.fake.exit(containerId, 0);
  await world.client.stopPodSandbox({ podSandboxId: sandbox });
  world.ask("uid-web", 1, [{ kind: "relist", id: "" }]);
  await relistsIn(24);
  const over = await relistsIn(20);
  assert.ok(over <= 3, `${over} relists in 20 quiet seconds beside a pod that is over`);

  // Main terminates the pod; its events must not keep the relists fast.
  await world.client.removePodSandbox({ podSandboxId: sandbox });
  world.ask("uid-web", 2, [{ kind: "relist", id: "" }]);
  await until("the end is told", () => world.last("uid-web")?.generation === 2);
  world.pleg.unwatch(podUid("uid-web"));
  await relistsIn(24);
  const after = await relistsIn(20);
  assert.ok(after <= 3, `${after} relists in 20 quiet seconds after the last pod is gone`);
});

test("after its cgroup was removed a container is inspected until the runtime reports the exit", async (t) => {
  const world = await plegOn(t);
  const podDirectory = await temporaryFolder(t);
  const { containerId } = await runPod(world.client, "web");
  await mkdir(join(podDirectory, containerId));
  await world.started();
  world.pleg.setWatches([{ uid: podUid("uid-web"), watchDirs: [podDirectory] }]);
  world.fake.calls.length = 0;
  const looks = (): number => world.fake.calls.filter((call) => call.verb === "PodSandboxStatus").length;
  await rmdir(join(podDirectory, containerId));
  await until("it is looked at", () => {
    world.clock.step(1);
    return looks() >= 1;
  });
  await world.nothingPending();
  const relists = world.kinds("relisted");
  assert.equal(world.podRecords("uid-web").length, 1, "the runtime does not know yet");
  world.fake.exit(containerId, 8);
  await until("the exit is told", () => {
    world.clock.step(1);
    return world.last("uid-web")?.containers[0]?.exitCode === 8;
  });
  await world.nothingPending();
  assert.ok(world.kinds("relisted") - relists <= 2);
  const done = looks();
  await world.relist(3000);
  assert.ok(looks() - done <= 1, "what has been seen is not looked for any longer");
});

test("stop ends every timer, call and watch", async (t) => {
  const world = await plegOn(t, { events: true }, { useEvents: true });
  const { containerId } = await runPod(world.client, "web");
  await world.started();
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, "c"));
  world.pleg.watch({ uid: podUid("uid-web"), watchDirs: [folder] });
  await world.stop();
  assert.equal(world.clock.pending, 0);
  await until("the stream is closed", () => world.fake.state.eventListeners.size === 0);
  world.fake.exit(containerId, 1);
  await rmdir(join(folder, "c"));
  world.fake.calls.length = 0;
  world.clock.step(60_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(world.fake.calls, []);
});

test("an inspection that hangs while the thread drains sends no record: the queue is closed by then", async (t) => {
  const world = await plegOn(t, {}, { inspectDeadlineMs: 500 });
  await runPod(world.client, "web");
  await world.started();
  world.fake.failpoint("PodSandboxStatus", "hang");
  world.ask("uid-web", 1);
  await until("it hangs", () => world.fake.calls.some((call) => call.endedAt === undefined));
  await world.stop();
  const published = world.records.length;
  world.client.close();
  await until("the call is over", () => world.fake.calls.every((call) => call.endedAt !== undefined));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(world.records.length, published);
});
