// Which ended containers and sandboxes are too many: upstream's limits as tables, and what may never be chosen.
// @promise Images and logs: Only exited containers beyond the limits are removed, never the newest of a name.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  chooseDead,
  chooseTerminated,
  type DeadContainerPolicy,
} from "../../../../src/main/pods/collection/dead-containers.js";
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
  type ObservedContainer,
} from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";

const DEFAULTS: DeadContainerPolicy = {
  minimumContainerTTLMs: 0,
  maximumDeadContainersPerContainer: 1,
  maximumDeadContainers: -1,
};
const NOW = 1_000_000;
const { CONTAINER_EXITED: EXITED, CONTAINER_RUNNING: RUNNING } = ContainerState;

/** "app2 running@50": name, state, created at that many ms. */
function pod(uid: string, containers: string[], sandboxes: string[] = []): ObservedPod {
  const states: Record<string, ContainerState> = {
    dead: EXITED,
    running: RUNNING,
    failed: EXITED,
    unknown: ContainerState.CONTAINER_UNKNOWN,
    created: ContainerState.CONTAINER_CREATED,
  };
  return {
    uid: podUid(uid),
    namespace: "default",
    name: uid,
    containers: containers.map((text) => {
      const [, name = "", state = "", at = ""] = /^(\w+) (\w+)@(\d+)$/.exec(text) ?? [];
      return observedContainer(
        ContainerStatus.fromPartial({
          id: `${uid}/${name}@${at}`,
          metadata: { name },
          state: states[state] ?? EXITED,
          reason: state === "failed" ? "StartError" : "",
          createdAt: BigInt(at) * 1_000_000n,
        }),
      );
    }),
    sandboxes: sandboxes.map((text) => {
      const [state = "", at = ""] = text.split("@");
      return observedSandbox(
        PodSandboxStatus.fromPartial({
          id: `${uid}/${text}`,
          state: state === "ready" ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
          createdAt: BigInt(at) * 1_000_000n,
        }),
      );
    }),
    generation: 0,
    observedAt: 0,
  };
}

function chosen(pods: ObservedPod[], policy: Partial<DeadContainerPolicy> = {}): string[] {
  const { containers } = chooseDead(pods, { ...DEFAULTS, ...policy }, NOW);
  return containers.map(({ id }) => id).sort();
}

describe("per container", () => {
  const history = ["app running@50", "app dead@40", "app dead@30", "app dead@20"];
  test("the newest dead one stays by default", () => {
    assert.deepEqual(chosen([pod("a", history)]), ["a/app@20", "a/app@30"]);
  });
  test("as many stay as the flag allows, including none and all", () => {
    const at = (most: number): string[] => chosen([pod("a", history)], { maximumDeadContainersPerContainer: most });
    assert.deepEqual(at(2), ["a/app@20"]);
    assert.deepEqual(at(0), ["a/app@20", "a/app@30", "a/app@40"]);
    assert.deepEqual(at(-1), []);
  });
  test("the record of the last run stays even with 0", () => {
    const pods = [pod("a", ["app dead@40", "app dead@30", "other running@10"])];
    assert.deepEqual(chosen(pods, { maximumDeadContainersPerContainer: 0 }), ["a/app@30"]);
  });
  test("a container younger than the minimum age is neither removed nor counted", () => {
    const pods = [pod("a", [`app dead@${NOW - 1}`, `app dead@${NOW - 100}`, "app dead@30", "app dead@20"])];
    assert.deepEqual(chosen(pods, { minimumContainerTTLMs: 100 }), ["a/app@20"]);
  });
  test("a failed start does not push out the container that ran before it", () => {
    assert.deepEqual(chosen([pod("a", ["app running@50", "app failed@40", "app dead@30", "app dead@20"])]), [
      "a/app@20",
    ]);
  });
  test("containers of one name in two pods, and two names in one, are counted apart", () => {
    const pods = [pod("a", ["app dead@2", "app dead@1", "log dead@1"]), pod("b", ["app dead@2"])];
    assert.deepEqual(chosen(pods), ["a/app@1"]);
  });
  test("a container that has not exited is never chosen", () => {
    const pods = [pod("a", ["app running@9", "app unknown@8", "app created@7", "app running@6"])];
    assert.deepEqual(chosen(pods, { maximumDeadContainersPerContainer: 0, maximumDeadContainers: 0 }), []);
  });
});

describe("on the node", () => {
  const three = (uid: string, from: number): ObservedPod =>
    pod(uid, [`app running@${from + 9}`, ...[3, 2, 1].map((at) => `app dead@${from + at}`)]);
  const all = { maximumDeadContainersPerContainer: -1 };

  test("everybody gets the same share first", () => {
    const pods = [three("a", 0), three("b", 100)];
    assert.deepEqual(chosen(pods, { ...all, maximumDeadContainers: 4 }), ["a/app@1", "b/app@101"]);
  });
  test("then the oldest go, whosever they are", () => {
    const pods = [three("a", 0), three("b", 100)];
    assert.deepEqual(chosen(pods, { ...all, maximumDeadContainers: 1 }), [
      "a/app@1",
      "a/app@2",
      "a/app@3",
      "b/app@101",
      "b/app@102",
    ]);
  });
  test("under the limit nothing is removed", () => {
    assert.deepEqual(chosen([three("a", 0)], { ...all, maximumDeadContainers: 3 }), []);
  });
});

describe("sandboxes", () => {
  const sandboxes = (...args: Parameters<typeof pod>): string[] =>
    chooseDead([pod(...args)], DEFAULTS, NOW).sandboxes.map(({ id }) => id);
  test("a sandbox that is not ready, empty and not the newest is removed", () => {
    assert.deepEqual(sandboxes("a", ["app running@35"], ["ready@30", "down@20", "down@10"]), [
      "a/down@20",
      "a/down@10",
    ]);
  });
  test("the newest stays though it is down, one with containers stays, one that is ready stays", () => {
    assert.deepEqual(sandboxes("a", ["app dead@25"], ["down@30", "down@20", "ready@10"]), []);
  });
});

/** Any pods: the state and age of every container are arbitrary. */
const anyPods = fc
  .array(
    fc.array(
      fc.record({
        name: fc.constantFrom("app", "log", "init"),
        state: fc.constantFrom("dead", "dead", "running", "created", "unknown"),
      }),
      { maxLength: 8 },
    ),
    { maxLength: 5 },
  )
  .map((pods) =>
    pods.map((containers, pod_) =>
      pod(
        `p${pod_}`,
        containers.map(({ name, state }, at) => `${name} ${state}@${at + 1}`),
      ),
    ),
  );
const anyPolicy = fc.record({
  minimumContainerTTLMs: fc.constantFrom(0, NOW - 4),
  maximumDeadContainersPerContainer: fc.integer({ min: -1, max: 4 }),
  maximumDeadContainers: fc.integer({ min: -1, max: 10 }),
});

test("for any pods only exited containers are removed, never the newest of a name; the limits are kept, and a second round finds nothing", () => {
  fc.assert(
    fc.property(anyPods, anyPolicy, (pods, policy) => {
      const { containers } = chooseDead(pods, policy, NOW);
      const gone = new Set(containers.map(({ id }) => id));
      assert.equal(gone.size, containers.length, "none twice");
      const left: ObservedPod[] = [];
      let dead = 0;
      let protectedOnes = 0;
      for (const observed of pods) {
        const names = new Set(observed.containers.map(({ metadata }) => metadata?.name ?? ""));
        for (const name of names) {
          const mine = observed.containers
            .filter(({ metadata }) => metadata?.name === name)
            .sort((a, b) => Number(b.createdAt - a.createdAt));
          assert.ok(mine[0] === undefined || !gone.has(mine[0].id), "the newest of a name stays");
          for (const { id, state } of mine) assert.ok(state === EXITED || !gone.has(id), "only exited ones go");
          const counted = mine.filter(
            ({ id, state, createdAt }) =>
              state === EXITED && !gone.has(id) && createdAt < BigInt(NOW - policy.minimumContainerTTLMs) * 1_000_000n,
          );
          const stays = counted.includes(mine[0] as ObservedContainer) ? 1 : 0;
          const most = policy.maximumDeadContainersPerContainer;
          if (most >= 0) assert.ok(counted.length <= Math.max(most, stays));
          dead += counted.length;
          protectedOnes += stays;
        }
        left.push({ ...observed, containers: observed.containers.filter(({ id }) => !gone.has(id)) });
      }
      const most = policy.maximumDeadContainers;
      if (most >= 0) assert.ok(dead <= Math.max(most, protectedOnes));
      assert.deepEqual(chooseDead(left, policy, NOW).containers, []);
    }),
    { numRuns: 500 },
  );
});

test("a clock that was set back keeps no container, unless there is a minimum age", () => {
  const pods = [pod("a", ["app dead@1500000", "app dead@1400000"])];
  const ids = (minimumTTLMs: number): string[] =>
    chooseTerminated(pods, minimumTTLMs, NOW).containers.map(({ id }) => id);
  assert.deepEqual(ids(0), ["a/app@1500000", "a/app@1400000"]);
  assert.deepEqual(ids(1000), []);
  assert.deepEqual(chosen(pods), ["a/app@1400000"]);
  assert.deepEqual(chosen(pods, { minimumContainerTTLMs: 1000 }), []);
});
