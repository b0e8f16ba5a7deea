// The memory manager as a whole: what pods get, keep over a restart of the kubelet, and give back.

import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { AllocationError } from "../../../../src/main/resources/assignment/resource-manager.js";
import { checkNoMemoryPolicy } from "../../../../src/main/resources/memory-manager/none-policy.js";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import { podRequests, sumOf } from "../../../../src/shared/kubernetes/api/pod-requests.js";
import { value } from "../../../../src/shared/kubernetes/api/quantity.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { asking, guaranteed, manager } from "./kit.js";

const two = [{ id: 0 }, { id: 1 }];
const because = (message: RegExp) => (error: unknown) =>
  error instanceof AllocationError && error.reason === "UnexpectedAdmissionError" && message.test(error.message);

test("a Guaranteed pod's memory lies on one node while one has enough, others lie anywhere", async (t) => {
  const { admit, counted } = await manager(t, two);
  assert.deepEqual(await admit(guaranteed("a", "2Gi")), ["app 0"]);
  assert.deepEqual(await admit(guaranteed("b", "2Gi")), ["app 1"]);
  assert.deepEqual(await admit(guaranteed("c", "1Gi")), ["app 0"]);
  assert.deepEqual(await admit(pod({}, "loose")), ["app any"]);
  await assert.rejects(admit(guaranteed("d", "2Gi")), because(/no NUMA nodes with enough memory/));
  assert.deepEqual(await counted(), [4, 1]);
});

test("more than a node has lies on a group of nodes, which then serves nothing by itself", async (t) => {
  const { admit, made } = await manager(t, [{ id: 0 }, { id: 1 }, { id: 4 }]);
  assert.deepEqual(await admit(guaranteed("wide", "4Gi")), ["app 0-1"]);
  assert.deepEqual(await admit(guaranteed("narrow", "1Gi")), ["app 4"]);
  assert.deepEqual(await admit(guaranteed("wide2", "2Gi")), ["app 4"]);
  // Two GiB are free on the group, none on node 4. A small request gets the group too, though no policy would prefer
  // it.
  assert.deepEqual(await admit(guaranteed("late", "1Gi")), ["app 0-1"]);
  for (const name of ["wide", "late"]) made.release(podUid(`uid-${name}`));
  assert.deepEqual(await admit(guaranteed("last", "1Gi")), ["app 0"]);
});

test("huge pages lie with the memory", async (t) => {
  const hugePages = new Map([[2n << 20n, 512n << 20n]]);
  const { admit, made } = await manager(t, [{ id: 0 }, { id: 1, hugePages }]);
  assert.deepEqual(await admit(guaranteed("pages", "1Gi", { "hugepages-2Mi": "512Mi" })), ["app 1"]);
  await assert.rejects(admit(guaranteed("more", "1Gi", { "hugepages-2Mi": "2Mi" })), because(/enough memory/));
  assert.deepEqual(
    made.allocatableMemory().map(({ nodes, type, size }) => `${nodes.join()} ${type} ${size >> 20n}`),
    ["0 memory 3072", "1 hugepages-2Mi 512", "1 memory 2560"],
  );
});

test("memory of ordinary init containers is reused, a sidecar keeps its own", async (t) => {
  const { admit, made } = await manager(t, [{ id: 0 }]);
  const shaped = pod({
    initContainers: [
      asking("first", "2Gi"),
      asking("side", "1Gi", {}, { restartPolicy: "Always" }),
      asking("second", "1Gi"),
    ],
    containers: [asking("one", "1Gi"), asking("two", "512Mi")],
  });
  await assert.doesNotReject(admit(shaped));
  const sizes = ["first", "side", "second", "one", "two"].map(
    (name) => made.memoryBlocks(podUid("uid-web"), name)[0]?.size ?? 0n,
  );
  assert.deepEqual(
    sizes.map((size) => Number(size >> 20n)),
    [0, 1024, 0, 1024, 512],
  );
});

test("a pod holds at most the memory that its containers need at the same time", async (t) => {
  const { admit, made } = await manager(t, [{ id: 0, memoryBytes: 64n << 30n }]);
  const init = fc.record({ mib: fc.integer({ min: 1, max: 9 }), sidecar: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.array(init, { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
      async (inits, apps) => {
        const shaped = pod({
          initContainers: inits.map(({ mib, sidecar }, index) =>
            asking(`i${index}`, `${mib}Mi`, {}, sidecar ? { restartPolicy: "Always" } : {}),
          ),
          containers: apps.map((mib, index) => asking(`a${index}`, `${mib}Mi`)),
        });
        made.release(podUid("uid-web"));
        const names = (await admit(shaped)).map((line) => line.split(" ")[0] ?? "");
        const held = names
          .flatMap((name) => made.memoryBlocks(podUid("uid-web"), name))
          .reduce((sum, { size }) => sum + size, 0n);
        assert.equal(held, value(sumOf(podRequests(shaped), "memory")));
      },
    ),
    { numRuns: 30 },
  );
});

test("an affinity that is too small is widened, one that others preferred is not given up", async (t) => {
  const { made, admit } = await manager(t, two);
  await admit(guaranteed("small", "2Gi"));
  const big = guaranteed("big", "2Gi");
  const [app] = big.spec.containers;
  assert.ok(app);
  await assert.rejects(
    made.allocate(big, app, { nodes: [0], preferred: true }),
    because(/failed to find NUMA nodes to extend the current topology hint/),
  );
  await made.allocate(big, app, { nodes: [1], preferred: true });
  assert.deepEqual(made.grant(big, app), { memoryNodes: "1" });
});

test("one node of a group is widened to the group; a place across others is refused", async (t) => {
  const { made, admit } = await manager(t, [...two, { id: 2 }]);
  await admit(guaranteed("wide", "4Gi"));
  const small = guaranteed("small", "1Gi");
  const [app] = small.spec.containers;
  assert.ok(app);
  await made.allocate(small, app, { nodes: [1], preferred: false });
  assert.deepEqual(made.grant(small, app), { memoryNodes: "0-1" });
  const across = guaranteed("across", "1Gi");
  await assert.rejects(
    made.allocate(across, app, { nodes: [1, 2], preferred: false }),
    because(/preferred hint violates NUMA node allocation/),
  );
});

test("hints: places that fit now, preferred as narrow as on an empty machine; a container keeps its memory", async (t) => {
  const { made, admit } = await manager(t, two);
  const [a, b] = [guaranteed("a", "2Gi"), guaranteed("b", "3Gi")];
  const [app] = b.spec.containers;
  assert.ok(app);
  await admit(a);
  assert.deepEqual([...made.hints(b, app)], [["memory", [{ nodes: [1], preferred: true }]]]);
  assert.deepEqual([...made.podHints(b)], [["memory", [{ nodes: [1], preferred: true }]]]);
  assert.deepEqual([...made.podHints(a)], [["memory", [{ nodes: [0], preferred: true }]]]);
  assert.equal(made.hints(pod(), app).size, 0);
  assert.equal(made.podHints(guaranteed("c", "9Gi")).size, 0, "the allocation will say so");
});

test("a restarted kubelet finds the memory of pods that are still known", async (t) => {
  const { admit, root, made } = await manager(t, two);
  const [a, b] = [guaranteed("a", "2Gi"), guaranteed("b", "3Gi")];
  await admit(a);
  await admit(b);
  await made.stop();
  const next = await manager(t, two, root, [b]);
  assert.deepEqual(await next.admit(b), ["app 1"], "requested again");
  assert.deepEqual(await next.admit(guaranteed("c", "3Gi")), ["app 0"], "what the other had is free");
  const state = JSON.parse(await readFile(join(root, "memory_manager_state"), "utf8")) as {
    policyName: string;
    entries: Record<string, unknown>;
  };
  assert.equal(state.policyName, "Static");
  assert.deepEqual(Object.keys(state.entries), ["uid-b", "uid-c"]);
});

test("another policy's promises keep the kubelet from starting, an empty state is anybody's", async (t) => {
  const { admit, root, made, kept } = await manager(t, two);
  const none = () => checkNoMemoryPolicy(root, new SteppedClock(), kept.log);
  await none();
  await admit(guaranteed("a", "2Gi"));
  await assert.rejects(none(), (error: unknown) => {
    assert.ok(error instanceof OperatorError);
    assert.match(
      error.message,
      /configured policy "None" differs from state checkpoint policy "Static", please drain this/,
    );
    return true;
  });
  made.release(podUid("uid-a"));
  await made.stop();
  await none();
});

test("garbage is set aside; a machine that lost allocated memory keeps the kubelet from starting, one that grew does not", async (t) => {
  const { admit, root } = await manager(t, two);
  const wide = guaranteed("wide", "5Gi");
  await admit(wide);
  await assert.rejects(manager(t, [{ id: 0 }], root, [wide]), (error: unknown) => {
    assert.ok(error instanceof OperatorError);
    assert.match(
      error.message,
      /expected machine state is different.*NUMA node 1.*delete the memory manager checkpoint/,
    );
    return true;
  });
  await assert.doesNotReject(manager(t, [{ id: 0 }], root, []), "a pod that is gone holds nothing");
  await admit(wide);
  const grown = await manager(t, [...two, { id: 2 }], root, [wide]);
  assert.deepEqual(await grown.admit(wide), ["app 0-1"]);
  await writeFile(join(root, "memory_manager_state"), "{");
  const { kept } = await manager(t, two, root, [wide]);
  assert.equal(kept.warnings().length, 1);
  assert.ok((await readdir(root)).some((name) => name.startsWith("memory_manager_state.corrupt-")));
});
