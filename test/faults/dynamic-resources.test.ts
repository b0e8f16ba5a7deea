// kill -9 between any two steps of a pod with a ResourceClaim: the next kubelet completes the started work.
// Invariant: no container of the pod is created without its device, and no device is unprepared under a running
// container. At the end the driver has no prepared device and the checkpoint is empty.
// @promise Resources of the node: A DRA driver whose service is unreachable for 30 s loses its ResourceSlices, though
//   its registration stays; a connected plugin is called before one that is not.
// @with test/main/resources/dra/drivers.test.ts, test/shared/kubernetes/plugins/connection.test.ts

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { decodeClaims } from "../../src/main/resources/dra/checkpoint.js";
import { ContainerState } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { CriVerb } from "../../src/shared/kubernetes/cri/verbs.js";
import { DraCluster } from "../support/dra/cluster.js";
import { settled, still, unready } from "../support/faulty-cluster.js";

type When = "before" | "after";
type Step = readonly [call: "prepare" | "unprepare" | CriVerb, when: When];

const START: readonly Step[] = [
  ["prepare", "before"],
  ["prepare", "after"],
  ["RunPodSandbox", "before"],
  ["RunPodSandbox", "after"],
  ["CreateContainer", "before"],
  ["CreateContainer", "after"],
  ["StartContainer", "after"],
];
const END: readonly Step[] = [
  ["StopContainer", "before"],
  ["StopContainer", "after"],
  ["StopPodSandbox", "before"],
  ["unprepare", "before"],
  ["unprepare", "after"],
];

describe("kill -9 around a ResourceClaim", () => {
  let dra: DraCluster;
  let violations: string[];

  before(async () => {
    dra = await DraCluster.start();
    violations = [];
    dra.driver.onUnprepare = (claim) => {
      const running = runningOf(podOf(claim));
      if (running > 0) violations.push(`${claim} was unprepared under ${running} running containers`);
    };
  });
  after(() => dra.stop());

  for (const step of START) {
    const [call, when] = step;
    const name = podName("start", step);
    test(`${when} ${call} of a start`, async () => {
      const reached = await reach(step, name, () => create(name));
      await kill(reached);
      await settled("the pod", () => unready(dra.cluster.fixture, [name]));
      assert.ok(dra.driver.prepared.has(claimOf(name)));
      await endOf(name, () => dra.cluster.api.delete("pods", "default", name, { gracePeriodSeconds: 1 }));
    });
  }

  for (const step of END) {
    const [call, when] = step;
    const name = podName("end", step);
    test(`${when} ${call} of an end`, async () => {
      create(name);
      await settled("the pod", () => unready(dra.cluster.fixture, [name]));
      const reached = await reach(step, name, async () => {
        await dra.cluster.api.delete("pods", "default", name, { gracePeriodSeconds: 1 });
      });
      await endOf(name, () => kill(reached));
    });
  }

  for (const step of START.slice(0, 4)) {
    const [call, when] = step;
    const name = podName("removed", step);
    test(`${when} ${call} of a start, and the pod is removed while no kubelet runs`, async () => {
      const reached = await reach(step, name, () => create(name));
      await dra.cluster.node.kill9();
      await dra.cluster.api.delete("pods", "default", name, { gracePeriodSeconds: 0 });
      reached();
      await endOf(name, () => dra.cluster.node.restart());
    });
  }

  test("a running pod is removed while no kubelet runs", async () => {
    const name = "removed";
    create(name);
    await settled("the pod", () => unready(dra.cluster.fixture, [name]));
    await dra.cluster.node.kill9();
    await dra.cluster.api.delete("pods", "default", name, { gracePeriodSeconds: 0 });
    await endOf(name, () => dra.cluster.node.restart());
  });

  function create(name: string): void {
    dra.put(name, claimOf(name));
    dra.claim(claimOf(name), name);
  }

  /** Resolves when the call has come, which is not answered; the result lets later calls go on. */
  async function reach([call, when]: Step, name: string, act: () => unknown): Promise<() => void> {
    if (call === "prepare" || call === "unprepare") {
      const reached = dra.driver.holdNext(call, when);
      await act();
      await reached;
      return () => undefined;
    }
    const { fake } = dra;
    fake.failpoint(call, "hang", { pod: name, when });
    const known = fake.calls.length;
    await act();
    await settled(call, () => (fake.calls.slice(known).some(({ verb }) => verb === call) ? "" : "it was not called"));
    return () => fake.failpoint(call, "off", { pod: name, when });
  }

  async function kill(goOn: () => void): Promise<void> {
    await dra.cluster.node.kill9();
    goOn();
    await dra.cluster.node.restart();
  }

  async function endOf(name: string, end: () => Promise<unknown>): Promise<void> {
    await end();
    await settled("its end", () => still(dra.cluster.fixture, [name]));
    await settled("the claim to be unprepared", () => [...dra.driver.prepared].join());
    await settled("the checkpoint to be empty", claimsInCheckpoint);
    assert.deepEqual([violations, devicesOtherThan(name)], [[], []]);
    assert.equal(runningOf(name), 0);
  }

  async function claimsInCheckpoint(): Promise<string> {
    const text = await readFile(join(dra.cluster.node.kubelet.rootDir, "dra_manager_state"), "utf8");
    return decodeClaims(JSON.parse(text))
      .map(({ name }) => name)
      .join();
  }

  /** CDI devices of each container of the pod that has others than its own. */
  function devicesOtherThan(name: string): string[][] {
    const own = JSON.stringify([dra.driver.cdiDevice(claimOf(name))]);
    return dra.allDevices(name).filter((devices) => JSON.stringify(devices) !== own);
  }

  function runningOf(name: string): number {
    const { state } = dra.fake;
    const sandboxes = [...state.sandboxes.values()].filter(({ config }) => config.metadata?.name === name);
    const containers = sandboxes.flatMap((sandbox) => [...sandbox.containers].map((id) => state.container(id)));
    return containers.filter((container) => container.status.state === ContainerState.CONTAINER_RUNNING).length;
  }
});

function podName(part: string, [call, when]: Step): string {
  return `${part}-${call}-${when}`.toLowerCase();
}

const claimOf = (pod: string): string => `claim-of-${pod}`;
const podOf = (claim: string): string => claim.slice("claim-of-".length);

describe("a plugin whose service goes away while its registration stays", () => {
  let dra: DraCluster;

  before(async () => {
    dra = await DraCluster.start();
  });
  after(() => dra.stop());

  const shown = (name: string): string =>
    dra.cluster.fixture.store.get("resourceslices", "", name) === undefined ? "" : `slice ${name} is there`;

  test("loses its ResourceSlices after the grace; back, it keeps them, and pods get their devices", async () => {
    const { driver } = dra;
    dra.slice("lost");
    await driver.loseService();
    await settled("the slices to be deleted", () => shown("lost"));
    await driver.startService();
    dra.put("back", "claim-back");
    dra.claim("claim-back", "back");
    await settled("the pod", () => unready(dra.cluster.fixture, ["back"]));
    dra.slice("kept");
    await driver.loseService();
    await driver.startService();
    dra.put("again", "claim-again");
    dra.claim("claim-again", "again");
    await settled("the pod", () => unready(dra.cluster.fixture, ["again"]));
    assert.equal(shown("kept"), "slice kept is there");
  });
});
