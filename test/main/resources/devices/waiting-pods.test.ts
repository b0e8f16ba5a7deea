// Devices that are held while plugins are called: no device is allocated twice, and pods without the plugin wait for
// nothing.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { ContainerAllocateResponse } from "../../../../src/main/resources/devices/plugin-port.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { settle } from "../../../support/sync-kit.js";
import { devices, FakePlugin, GPU, idsOf, kit, never, podOf, response, wanting } from "./kit.js";

const NIC = "example.com/nic";

/** Answers Allocate and GetPreferredAllocation by hand, in any order. */
class SlowPlugin extends FakePlugin {
  readonly open: (() => void)[] = [];

  override async allocate(ids: readonly string[]): Promise<ContainerAllocateResponse | undefined> {
    this.allocated.push([...ids]);
    await new Promise<void>((resolve) => this.open.push(resolve));
    return response();
  }

  override async preferred(request: FakePlugin["asked"][number]): Promise<readonly string[]> {
    await new Promise<void>((resolve) => this.open.push(resolve));
    return super.preferred(request);
  }

  async answer(): Promise<boolean> {
    const next = this.open.shift();
    next?.();
    await settle();
    return next !== undefined;
  }
}

const four = devices({ a: {}, b: {}, c: {}, d: {} });

describe("while a plugin is called", () => {
  test("its devices are held, and devices of another plugin are allocated", async (t) => {
    const { manager, plug } = await kit(t);
    const gpu = new SlowPlugin(four);
    await plug(GPU, gpu);
    await plug(NIC, new FakePlugin(devices({ n: {} })));
    const first = podOf("first", wanting("c", 3));
    await manager.allocate(first, wanting("c", 3), undefined, never);
    assert.equal(manager.awaitsPlugin(podUid("first")), true);
    const finished = manager.finish(first, never);
    const nic = podOf("nic", wanting("c", 1, NIC));
    await manager.allocate(nic, wanting("c", 1, NIC), undefined, never);
    await manager.finish(nic, never);
    assert.deepEqual(idsOf(manager, nic, "c", NIC), ["n"]);
    await assert.rejects(
      manager.allocate(podOf("second"), wanting("c", 2), undefined, never),
      /Requested: 2, Available: 1/,
    );
    await gpu.answer();
    await finished;
    assert.deepEqual(idsOf(manager, first, "c"), ["a", "b", "c"]);
    assert.equal(manager.awaitsPlugin(podUid("first")), false);
  });

  test("a preference of the plugin takes no device that was held for another pod meanwhile", async (t) => {
    const { manager, plug } = await kit(t);
    const gpu = new SlowPlugin(four, { getPreferredAllocationAvailable: true });
    gpu.preferredIds = ["b", "c"];
    await plug(GPU, gpu);
    const [first, second] = [podOf("first", wanting("c", 1)), podOf("second", wanting("c", 2))];
    await manager.allocate(first, wanting("c", 1), undefined, never);
    const finished = [manager.finish(first, never)];
    await settle();
    await manager.allocate(second, wanting("c", 2), undefined, never);
    finished.push(manager.finish(second, never));
    while (await gpu.answer());
    await Promise.all(finished);
    assert.deepEqual([idsOf(manager, first, "c"), idsOf(manager, second, "c")], [["a"], ["b", "c"]]);
  });

  test("a pod that is given up holds nothing, and its late answer allocates nothing", async (t) => {
    const { manager, plug } = await kit(t);
    const gpu = new SlowPlugin(four);
    await plug(GPU, gpu);
    const first = podOf("first", wanting("c", 4));
    await manager.allocate(first, wanting("c", 4), undefined, never);
    const finished = assert.rejects(manager.finish(first, never), /no longer needs devices/);
    await settle();
    manager.cancel(podUid("first"));
    const second = podOf("second", wanting("c", 4));
    await manager.allocate(second, wanting("c", 4), undefined, never);
    const next = manager.finish(second, never);
    while (await gpu.answer());
    await Promise.all([finished, next]);
    assert.equal(idsOf(manager, first, "c"), undefined);
    assert.deepEqual(idsOf(manager, second, "c"), ["a", "b", "c", "d"]);
  });
});

test("no device is allocated to two pods, in whatever order pods come and go and plugins answer", async (t) => {
  const step = fc.record({ pod: fc.nat(5), what: fc.constantFrom("hold", "finish", "answer", "cancel", "release") });
  const shape = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 2 })), {
    minLength: 6,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(shape, fc.array(step, { maxLength: 40 }), async (shapes, steps) => {
      const { manager, plug } = await kit(t);
      const gpu = new SlowPlugin(four, { getPreferredAllocationAvailable: true });
      gpu.preferredIds = ["d", "c", "b", "a"];
      await plug(GPU, gpu);
      const pods = shapes.map(([init, main], at): Pod => {
        const app = podOf(`p${at}`, wanting("main", main));
        return init === 0 ? app : { ...app, spec: { ...app.spec, initContainers: [wanting("init", init)] } };
      });
      const running: Promise<unknown>[] = [];
      for (const { pod: at, what } of steps) {
        const pod = pods[at];
        if (pod === undefined) continue;
        const { uid } = pod.metadata;
        if (what === "hold" && !manager.awaitsPlugin(uid) && !manager.granted.has(uid)) {
          const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
          for (const one of all) {
            const held = await manager.allocate(pod, one, undefined, never).then(
              () => true,
              () => false,
            );
            if (!held) manager.cancel(uid);
            if (!held) break;
          }
        } else if (what === "finish") running.push(manager.finish(pod, never).catch(() => manager.release(uid)));
        else if (what === "answer") await gpu.answer();
        else if (what === "cancel") manager.cancel(uid);
        else if (what === "release") manager.release(uid);
        await settle();
        const owners = pods.flatMap(({ metadata }) => [...manager.granted.podIds(metadata.uid, GPU)]);
        assert.equal(new Set(owners).size, owners.length, `${owners.join()} twice`);
      }
      while (await gpu.answer());
      await Promise.all(running);
    }),
    { numRuns: 100 },
  );
});
