// The memory manager and pods with pod-level resources: by the gate PodLevelResourceManagers and the topology manager's
// scope.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodLevelSettings } from "../../../../src/main/resources/assignment/pod-level.js";
import { AllocationError } from "../../../../src/main/resources/assignment/resource-manager.js";
import type { Container, Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid, type PodUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { asking, guaranteed, manager } from "./kit.js";

const WHOLE: PodLevelSettings = {
  podLevelResourceManagers: true,
  topologyManagerPolicy: "restricted",
  topologyManagerScope: "pod",
};
const CONTAINERS: PodLevelSettings = { ...WHOLE, topologyManagerScope: "container" };
const two = [{ id: 0 }, { id: 1 }];
const nobody = new Set<PodUid>();

function whole(name: string, memory: string, containers: Container[], initContainers: Container[] = []): Pod {
  const list = { cpu: "3", memory };
  return pod({ containers, initContainers, resources: { requests: list, limits: list } }, name);
}
const mixed = whole("mixed", "2Gi", [asking("own", "512Mi"), container("rest")], [container("first")]);
const sizes = (blocks: readonly { size: bigint }[]): number[] => blocks.map(({ size }) => Number(size >> 20n));

test("without the gate such a pod lies anywhere, and has no preference", async (t) => {
  const { made, admit, podLevelSeries } = await manager(t, two);
  assert.deepEqual(await admit(mixed), ["first any", "own any", "rest any"]);
  assert.equal(made.podHints(mixed).size, 0);
  assert.deepEqual(made.memoryBlocks(podUid("uid-mixed"), "own"), []);
  assert.deepEqual(await podLevelSeries(), []);
});

test("scope pod: the pod has its memory as a whole, on one node; its containers have parts of it", async (t) => {
  const { made, root, admit, counted, podLevelSeries } = await manager(t, two, undefined, [], nobody, WHOLE);
  assert.deepEqual(made.podHints(mixed).get("memory"), [
    { nodes: [0], preferred: true },
    { nodes: [1], preferred: true },
    { nodes: [0, 1], preferred: false },
  ]);
  assert.deepEqual(await admit(mixed), ["first 0", "own 0", "rest 0"]);
  const parts = ["first", "own", "rest"].flatMap((name) => sizes(made.memoryBlocks(podUid("uid-mixed"), name)));
  assert.deepEqual(parts, [2048, 512, 1536]);
  // 3 GiB a node: 2 are the pod's, and not the 4 that its containers have one after the other.
  assert.deepEqual(await admit(guaranteed("other", "1Gi")), ["app 0"]);
  assert.deepEqual(await admit(guaranteed("third", "1Gi")), ["app 1"]);
  assert.deepEqual(await podLevelSeries(), [
    "resource_manager_allocations_total memory,node 2",
    "resource_manager_allocations_total memory,pod 3",
    "resource_manager_container_assignments memory,node_exclusive 2",
    "resource_manager_container_assignments memory,pod_exclusive 1",
    "resource_manager_container_assignments memory,pod_shared 2",
  ]);
  // The pod, its init container, the container with memory of its own, and two other pods.
  assert.equal((await counted())[0], 5);
  await made.stop();

  const next = await manager(t, two, root, [mixed], nobody, WHOLE);
  assert.deepEqual(await next.admit(mixed), ["first 0", "own 0", "rest 0"]);
  assert.deepEqual(next.made.podHints(mixed).get("memory"), [{ nodes: [0], preferred: true }]);
  next.made.release(podUid("uid-mixed"));
  assert.deepEqual(await next.admit(guaranteed("late", "2Gi")), ["app 0"]);
  await next.made.stop();

  const off = await manager(t, two, root, [mixed]);
  assert.deepEqual(await off.admit(mixed), ["first any", "own any", "rest any"]);
});

test("a gate that is turned off frees the memory of pods as a whole", async (t) => {
  const on = await manager(t, two, undefined, [], nobody, WHOLE);
  await on.admit(mixed);
  await on.made.stop();
  const off = await manager(t, two, on.root, [mixed], new Set([podUid("uid-mixed")]));
  assert.deepEqual(off.made.memoryBlocks(podUid("uid-mixed"), "own"), []);
  assert.deepEqual(await off.admit(guaranteed("all", "3Gi")), ["app 0"]);
});

test("scope pod: without memory for those that share there is no place, and the allocation names the reason", async (t) => {
  const { made, admit, podLevelSeries } = await manager(t, two, undefined, [], nobody, WHOLE);
  const full = whole("full", "1Gi", [asking("own", "1Gi"), container("rest")]);
  assert.deepEqual([...made.podHints(full)], [["memory", []]]);
  await assert.rejects(
    admit(full),
    (error) =>
      error instanceof AllocationError &&
      error.reason === "EmptyPodSharedPoolError" &&
      /sum of exclusive container memory requests equals pod budget/.test(error.message),
  );
  assert.deepEqual(await podLevelSeries(), ["resource_manager_allocation_errors_total memory,pod 1"]);
  const tooLarge = whole("large", "7Gi", [container("rest")]);
  await assert.rejects(admit(tooLarge), /no NUMA nodes with enough memory/);
  assert.deepEqual(await admit(guaranteed("fits", "3Gi")), ["app 0"], "nothing is held for them");
});

test("scope container: its Guaranteed containers have memory, the others lie anywhere", async (t) => {
  const { made, admit, podLevelSeries } = await manager(t, two, undefined, [], nobody, CONTAINERS);
  const [own, rest] = mixed.spec.containers;
  assert.ok(own !== undefined && rest !== undefined);
  assert.deepEqual([...made.hints(mixed, own).keys()], ["memory"]);
  assert.equal(made.hints(mixed, rest).size, 0);
  assert.deepEqual(await admit(mixed), ["first any", "own 0", "rest any"]);
  assert.deepEqual(await admit(whole("full", "1Gi", [asking("own", "1Gi"), container("rest")])), ["own 0", "rest any"]);
  assert.deepEqual(await podLevelSeries(), [
    "resource_manager_allocations_total memory,node 2",
    "resource_manager_container_assignments memory,node_exclusive 5",
  ]);
});

test("a pod that is not Guaranteed has nothing exclusive, in either scope", async (t) => {
  for (const settings of [WHOLE, CONTAINERS]) {
    const { made, admit } = await manager(t, two, undefined, [], nobody, settings);
    const resources = { requests: { cpu: "3", memory: "1Gi" }, limits: { cpu: "3", memory: "2Gi" } };
    const burstable = pod({ containers: [asking("own", "512Mi"), container("rest")], resources }, "burstable");
    assert.equal(made.podHints(burstable).size, 0);
    assert.deepEqual(await admit(burstable), ["own any", "rest any"]);
  }
});
