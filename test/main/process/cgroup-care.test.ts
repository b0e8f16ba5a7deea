// Start of the maintenance of the node's cgroups, and its first steps. Time is virtual, and the manager only records.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deferredCgroupMaintenance } from "../../../src/main/kubelet/cgroup-maintenance.js";
import type { CgroupMaintenanceDeps } from "../../../src/main/kubelet/node-cgroups.js";
import type { NodeSettings } from "../../../src/main/kubelet/node-settings.js";
import { nodeCapacity } from "../../../src/main/resources/node-capacity.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import type { CgroupMounts } from "../../../src/shared/node/cgroup/mounts.js";
import { keptLog, until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { container, pod } from "../resources/pods.js";

const v1: CgroupMounts = { version: 1, hierarchies: [{ controllers: ["memory"], mountPoint: "/nowhere", root: "/" }] };

interface Change {
  cgroups?: Partial<NodeSettings["cgroups"]>;
  resources?: Partial<NodeSettings["resources"]>;
}

function build(change: Change = {}, mounts: CgroupMounts = v1) {
  const clock = new SteppedClock();
  const done: string[] = [];
  const events: string[] = [];
  const cgroups = {
    limitPods: ({ memoryBytes }: { memoryBytes?: bigint }) => Promise.resolve(void done.push(`pods ${memoryBytes}`)),
    limitExisting: (cgroup: string) => Promise.reject(new Error(`no ${cgroup}`)),
    updateQos: (pods: readonly unknown[]) => Promise.resolve(void done.push(`qos ${pods.length}`)),
  };
  const parts: Partial<CgroupMaintenanceDeps> = {
    cgroups: cgroups as unknown as CgroupMaintenanceDeps["cgroups"],
    mounts,
    capacity: nodeCapacity({ cpuCount: 2, memoryBytes: 1000n, storageBytes: 0n, maxPods: 9, hugePages: new Map() }),
    pods: () => [pod([container("a")])],
    events: { pod: () => undefined, node: ({ reason }) => void events.push(reason) },
    clock,
    log: keptLog().log,
  };
  const settings = {
    cgroups: {
      cgroupRoot: "/",
      cgroupDriver: "cgroupfs",
      cgroupsPerQOS: true,
      kubeletCgroups: "",
      systemCgroups: "",
      // Nothing of this machine is changed.
      protectKernelDefaults: true,
      memoryQos: undefined,
      ...change.cgroups,
    },
    resources: {
      kubeReserved: { memory: "100" },
      systemReserved: {},
      reservedSystemCPUs: "",
      enforceNodeAllocatable: ["pods"],
      systemReservedCgroup: "",
      kubeReservedCgroup: "",
      ...change.resources,
    },
    runtime: { kubeletInUserNamespace: false },
  };
  const care = deferredCgroupMaintenance({
    ...parts,
    settings: settings as unknown as NodeSettings,
  } as CgroupMaintenanceDeps);
  const podsChanged = (): void => care.subscriber.terminated?.({ uid: podUid("uid-1") });
  return {
    clock,
    done,
    events,
    care,
    podsChanged,
  };
}

test("nothing is done while the first pods start; then limits, and the tiers some moments after each change", async () => {
  const { clock, done, events, care, podsChanged } = build();
  await care.start();
  podsChanged();
  assert.deepEqual([done, events], [[], []]);
  clock.step(1000);
  await until("the limits, and the tiers' timers", () => done.length === 1 && clock.pending === 2);
  assert.deepEqual(done, ["pods 900"]);
  assert.deepEqual(events, ["CgroupV1", "NodeAllocatableEnforced"]);
  clock.step(200);
  await until("the tiers", () => done.length === 2);
  podsChanged();
  clock.step(200);
  await until("the tiers again", () => done.length === 3);
  assert.deepEqual(done.slice(1), ["qos 1", "qos 1"]);
  await care.stop();
  assert.equal(clock.pending, 0);
});

test("v2 is no event, and without QoS cgroups there are no tiers", async () => {
  const { clock, done, events, care } = build(
    { cgroups: { cgroupsPerQOS: false, cgroupRoot: "/x" }, resources: { enforceNodeAllocatable: ["none"] } },
    { version: 2, mountPoint: "/nowhere" },
  );
  await care.start();
  clock.step(1000);
  await until("the root's limits", () => events.length === 1);
  assert.deepEqual([done, events], [["pods 1000"], ["NodeAllocatableEnforced"]]);
  await care.stop();
  assert.equal(clock.pending, 0);
});

test("a kubelet that stops within the first second has begun nothing", async () => {
  const { clock, done, care } = build();
  await care.start();
  await care.stop();
  assert.equal(clock.pending, 0);
  assert.deepEqual(done, []);
});

test("a start that depends on it fails with it, and leaves nothing behind", async () => {
  const reserved = build({
    resources: { enforceNodeAllocatable: ["pods", "kube-reserved"], kubeReservedCgroup: "/kube" },
  });
  await assert.rejects(Promise.resolve(reserved.care.start()), { name: "OperatorError" });
  await reserved.care.stop();
  assert.equal(reserved.clock.pending, 0);
  const root = build({ cgroups: { systemCgroups: "/" } });
  await assert.rejects(Promise.resolve(root.care.start()), { name: "OperatorError" });
  await root.care.stop();
  assert.equal(root.clock.pending, 0);
});
