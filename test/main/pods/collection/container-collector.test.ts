// Rounds of container collection: the removed containers, the size of a batch, log lines of failures; and the log
// directories of pods.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { EventInput } from "../../../../src/main/model/event-recorder.js";
import { ContainerCollector } from "../../../../src/main/pods/collection/container-collector.js";
import { podsWithLogs } from "../../../../src/main/pods/collection/pods-with-logs.js";
import { criError } from "../../../../src/shared/kubernetes/cri/errors.js";
import {
  ContainerState,
  ContainerStatus,
  PodSandboxState,
  PodSandboxStatus,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import {
  type ObservedPod,
  observedContainer,
  observedSandbox,
} from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { emptyObservation, settle } from "../../../support/sync-kit.js";

/** A pod with `dead` ended containers and an old empty sandbox. */
function pod(uid: string, dead: number): ObservedPod {
  const containers = Array.from({ length: dead }, (_, index) =>
    observedContainer(
      ContainerStatus.fromPartial({
        id: `${uid}-${dead - index}`,
        metadata: { name: "app" },
        state: ContainerState.CONTAINER_EXITED,
        createdAt: BigInt(100 + dead - index),
      }),
    ),
  );
  const sandboxes = [100n, 1n].map((createdAt) =>
    observedSandbox(
      PodSandboxStatus.fromPartial({ id: `${uid}-s${createdAt}`, createdAt, state: PodSandboxState.SANDBOX_NOTREADY }),
    ),
  );
  return { ...emptyObservation(uid, 1), containers, sandboxes };
}

function build() {
  const clock = new SteppedClock();
  clock.step(1_000_000);
  const kept = keptLog();
  const world = {
    pods: undefined as ObservedPod[] | undefined,
    over: new Set<string>(),
    removed: [] as string[],
    changed: [] as string[],
    events: [] as Omit<EventInput, "container">[],
    sweeps: 0,
    folders: { podLogsDir: "/nonexistent/pods", containerLogsDir: "/nonexistent/containers" },
    atOnce: 0,
    most: 0,
    fail: (() => undefined) as (id: string) => Error | undefined,
    /** Removals that wait, when held. */
    held: undefined as (() => void)[] | undefined,
  };
  const remove = async (id: string, signal: AbortSignal | undefined): Promise<object> => {
    world.most = Math.max(world.most, ++world.atOnce);
    try {
      if (world.held !== undefined) {
        await new Promise<void>((resolve) => {
          world.held?.push(resolve);
          signal?.addEventListener("abort", () => resolve());
        });
      }
      signal?.throwIfAborted();
      const error = world.fail(id);
      if (error !== undefined) throw error;
      world.removed.push(id);
      return {};
    } finally {
      world.atOnce--;
    }
  };
  const collector = new ContainerCollector({
    cri: {
      removeContainer: ({ containerId = "" }, options) => remove(containerId, options?.signal),
      removePodSandbox: ({ podSandboxId = "" }, options) => remove(podSandboxId, options?.signal),
    },
    policy: { minimumContainerTTLMs: 0, maximumDeadContainersPerContainer: 1, maximumDeadContainers: -1 },
    logFolders: world.folders,
    livingPods: () => world.pods,
    isTerminated: (uid) => world.over.has(uid),
    changed: (uid, hints) => world.changed.push(`${uid} ${hints.map(({ kind, id }) => `${kind} ${id}`).join()}`),
    sweepLeftovers: () => {
      world.sweeps++;
      return Promise.resolve();
    },
    events: { node: (event) => world.events.push(event) },
    clock,
    log: kept.log,
  });
  const step = async (ms: number): Promise<void> => {
    clock.step(ms);
    await settle();
  };
  return { collector, world, clock, kept, step };
}

const failure = (code: "UNKNOWN" | "UNAVAILABLE" | "NOT_FOUND", details: string) =>
  criError({ verb: "RemoveContainer", code, details, endpoint: "unix:///fake" });

test("nothing is touched until all is known; then at once, and every minute", async () => {
  const { collector, world, step } = build();
  collector.start();
  for (let second = 0; second < 5; second++) await step(1000);
  assert.deepEqual([world.removed, world.sweeps], [[], 0]);
  world.pods = [pod("a", 3), pod("b", 1)];
  await step(1000);
  assert.deepEqual(world.removed.sort(), ["a-1", "a-2", "a-s1", "b-s1"]);
  assert.deepEqual(world.changed.sort(), [
    "a container-removed a-1",
    "a container-removed a-2",
    "a sandbox-removed a-s1,recheck ",
    "b sandbox-removed b-s1,recheck ",
  ]);
  assert.equal(world.sweeps, 1);
  world.pods = [pod("c", 2)];
  await step(59_999);
  assert.equal(world.sweeps, 1);
  await step(1);
  assert.ok(world.removed.includes("c-1"));
  assert.equal(world.sweeps, 2);
  await collector.stop();
});

test("two removals at once, no more", async () => {
  const { collector, world, step } = build();
  world.held = [];
  world.pods = [pod("a", 9)];
  collector.start();
  await step(1000);
  assert.deepEqual([world.most, world.held.length], [2, 2]);
  while (world.removed.length < 9) {
    world.held.splice(0).forEach((go) => go());
    await settle();
  }
  assert.equal(world.most, 2);
  await collector.stop();
});

test("a removal that fails is an event and an inspection of the pod; the others continue, and NotFound is no failure", async () => {
  const { collector, world, step } = build();
  world.pods = [pod("a", 4)];
  world.fail = (id) =>
    id === "a-3" ? failure("UNKNOWN", "device busy") : id === "a-2" ? failure("NOT_FOUND", "gone") : undefined;
  collector.start();
  await step(1000);
  assert.deepEqual(world.removed.sort(), ["a-1", "a-s1"]);
  assert.equal(world.changed.length, 4);
  assert.deepEqual(
    world.events.map(({ type, reason }) => [type, reason]),
    [["Warning", "ContainerGCFailed"]],
  );
  assert.match(world.events[0]?.message ?? "", /device busy/);
  assert.equal(world.sweeps, 1, "leftovers are none of that");
  await collector.stop();
});

test("a runtime that is away is no event", async () => {
  const { collector, world, step } = build();
  world.pods = [pod("a", 2)];
  world.fail = () => failure("UNAVAILABLE", "no socket");
  collector.start();
  await step(1000);
  assert.deepEqual([world.events, world.removed], [[], []]);
  await collector.stop();
});

test("stop aborts pending calls and leaves no timer", async () => {
  const { collector, world, clock, step } = build();
  world.held = [];
  world.pods = [pod("a", 6)];
  collector.start();
  await step(1000);
  await collector.stop();
  assert.deepEqual([world.removed, world.events, clock.pending], [[], [], 0]);
});

test("pods with logs are read from the names of directories; other names are not ours", async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of [
    "default_web_uid-1",
    "kube-system_a.b-c_0a1b",
    "lost+found",
    "x_y",
    "a_b_c_d",
    "A_b_c",
    "default_web_..",
  ]) {
    await mkdir(join(folder, name));
  }
  await writeFile(join(folder, "default_file_uid-2"), "");
  assert.deepEqual((await podsWithLogs(folder)).sort(), ["0a1b", "uid-1"]);
  assert.equal((await podsWithLogs(folder, 1)).length, 1, "a pass is bounded");
  assert.deepEqual(await podsWithLogs(join(folder, "none")), []);
});

test("when the disk is short all exited containers of terminated pods are removed; other pods keep their newest", async () => {
  const { collector, world } = build();
  await collector.removeDead();
  assert.deepEqual(world.removed, [], "nothing before everybody wanted is known");
  const running = observedContainer(
    ContainerStatus.fromPartial({
      ...{ id: "half-up", state: ContainerState.CONTAINER_RUNNING, createdAt: 200n },
      metadata: { name: "side" },
    }),
  );
  const half = pod("half", 1);
  world.pods = [pod("over", 2), pod("lives", 2), { ...half, containers: [...half.containers, running] }];
  world.over = new Set(["over", "half"]);
  await collector.removeDead();
  const sandboxes = ["half-s1", "lives-s1", "over-s1", "over-s100"].filter((id) => id !== "half-s1");
  assert.deepEqual(world.removed.sort(), ["half-1", "lives-1", "over-1", "over-2", ...sandboxes].sort());
  await collector.stop();
});

test("one failed removal is reported after all others were tried", async () => {
  const { collector, world } = build();
  world.pods = [pod("over", 2)];
  world.over = new Set(["over"]);
  world.fail = (id) => (id === "over-1" ? failure("UNKNOWN", "busy") : undefined);
  await assert.rejects(collector.removeDead(), /busy/);
  assert.deepEqual(world.removed.sort(), ["over-2", "over-s1", "over-s100"]);
});

test("a round that fails before it begins is reported, and the next one follows", async () => {
  const { collector, world, step } = build();
  let broken = true;
  Object.defineProperty(world, "pods", {
    get: () => {
      if (broken) throw new Error("a defect");
      return [pod("a", 3)];
    },
  });
  collector.start();
  await step(1000);
  assert.equal(world.events.length, 1);
  broken = false;
  await step(60_000);
  assert.ok(world.removed.includes("a-1"));
  await collector.stop();
});
