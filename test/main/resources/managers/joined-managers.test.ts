// The joined managers on managers made up of a table: what a pod gets, keeps and gives back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AllocationError, type ResourceManager } from "../../../../src/main/resources/assignment/resource-manager.js";
import {
  JoinedManagers,
  type ManagerSource,
  joinGrants,
} from "../../../../src/main/resources/managers/joined-managers.js";
import { topologyMetrics } from "../../../../src/main/resources/topology/metrics.js";
import type { TopologyPolicy } from "../../../../src/main/resources/topology/policy.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { container, pod } from "../../../support/pods.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const never = new AbortController().signal;
const web = pod({
  initContainers: [container("first"), container("side", { restartPolicy: "Always" })],
  containers: [container("main")],
});

const SHARE = { type: "memory", size: 1n, nodes: [0] };

/** `fails`: container to what its allocation ends with. */
function made(kind: string, calls: string[], fails: Record<string, Error> = {}): ResourceManager {
  return {
    kind,
    start: (pods) => Promise.resolve(void calls.push(`${kind} start ${[...pods()].length}`)),
    hints: (_, { name }) => new Map([[kind, [{ nodes: [name.length], preferred: true }]]]),
    podHints: () => new Map([[kind, [{ nodes: [0], preferred: true }]]]),
    allocate: (_, { name }, affinity) => {
      const error = fails[name];
      calls.push(`${kind} ${name}${affinity === undefined ? "" : ` on ${affinity.nodes.join()}`}`);
      return error === undefined ? Promise.resolve() : Promise.reject(error);
    },
    grant: (_, { name }) => (name === "main" && kind === "cpu" ? { cpus: "1", noCpuQuota: true } : {}),
    ...(kind === "cpu"
      ? { exclusiveCpus: () => [1], allocatableCpus: () => [0, 1] }
      : { memoryBlocks: () => [SHARE], allocatableMemory: () => [SHARE] }),
    release: (uid) => void calls.push(`${kind} release ${uid}`),
    stop: () => Promise.resolve(void calls.push(`${kind} stop`)),
  };
}

function join(sources: readonly ManagerSource[], topology?: TopologyPolicy, podLevelResourceManagers = false) {
  const registry = new ThreadRegistry("main");
  const managers = new JoinedManagers({
    podLevelResourceManagers,
    sources,
    metrics: topologyMetrics(registry),
    clock: new SteppedClock(),
    ...(topology !== undefined && { topology: () => Promise.resolve(topology) }),
  });
  const counted = async (name: string): Promise<number | undefined> => {
    const { families } = await registry.exportSnapshot();
    return families.find((family) => family.name === name)?.samples[0]?.value;
  };
  return { managers, counted };
}
const source = (manager: ResourceManager): ManagerSource => ({
  kind: manager.kind,
  make: () => Promise.resolve(manager),
});

test("a node without managers lets every pod in, and gives nothing", async () => {
  const { managers, counted } = join([]);
  await managers.start(() => []);
  assert.equal(await managers.admit(web, never), undefined);
  assert.deepEqual(managers.grant(web, container("main")), {});
  assert.equal(managers.noCpuQuota(web), false);
  assert.deepEqual([managers.exclusiveCpus(podUid("uid-web"), "main"), managers.allocatableMemory()], [[], []]);
  assert.equal(await counted("kubelet_topology_manager_admission_requests_total"), 1);
  assert.equal(await counted("kubelet_topology_manager_admission_errors_total"), 0);
});

test("init containers come first; each is allocated by all managers in their order", async () => {
  const calls: string[] = [];
  const { managers } = join([source(made("cpu", calls)), source(made("memory", calls))]);
  await managers.start(() => [web]);
  assert.equal(await managers.admit(web, never), undefined);
  assert.deepEqual(calls, [
    ...["cpu start 1", "memory start 1", "cpu first", "memory first"],
    ...["cpu side", "memory side", "cpu main", "memory main"],
  ]);
  assert.equal(managers.noCpuQuota(web), true);
  assert.deepEqual([managers.exclusiveCpus(podUid("uid-web"), "main"), managers.allocatableCpus()], [[1], [0, 1]]);
  assert.deepEqual(
    [managers.memoryBlocks(podUid("uid-web"), "main"), managers.allocatableMemory()],
    [[SHARE], [SHARE]],
  );
});

const refusals: [string, Error, { reason: string; message: string }][] = [
  [
    "an unexpected error",
    new AllocationError("UnexpectedAdmissionError", "not enough cpus"),
    { reason: "UnexpectedAdmissionError", message: "Allocate failed due to not enough cpus, which is unexpected" },
  ],
  [
    "an error of no known class",
    new Error("broken"),
    { reason: "UnexpectedAdmissionError", message: "Allocate failed due to broken, which is unexpected" },
  ],
  [
    "a reason of its own",
    new AllocationError("SMTAlignmentError", "SMT Alignment Error: x"),
    { reason: "SMTAlignmentError", message: "SMT Alignment Error: x" },
  ],
];
for (const [name, error, refusal] of refusals) {
  test(`${name} rejects the pod, and the resources granted before are released`, async () => {
    const calls: string[] = [];
    const { managers } = join([source(made("cpu", calls)), source(made("memory", calls, { side: error }))]);
    await managers.start(() => []);
    assert.deepEqual(await managers.admit(web, never), refusal);
    assert.deepEqual(calls.slice(-3), ["memory side", "cpu release uid-web", "memory release uid-web"]);
  });
}

test("a rejected pod of an earlier kubelet keeps its resources until it has terminated", async () => {
  const calls: string[] = [];
  const { managers } = join([source(made("cpu", calls, { main: new Error("no") }))]);
  await managers.start(() => [web]);
  assert.notEqual(await managers.admit(web, never), undefined);
  managers.refused(podUid("uid-web"));
  assert.ok(!calls.includes("cpu release uid-web"), "it may run");
  managers.release(podUid("uid-web"));
  assert.equal(calls.filter((line) => line === "cpu release uid-web").length, 1);
  // Its UID may come back as another pod.
  await managers.admit(web, never);
  assert.equal(calls.filter((line) => line === "cpu release uid-web").length, 2);
});

test("an aborted admission releases its resources, and rejects", async () => {
  const calls: string[] = [];
  const calling = new AbortController();
  const slow = made("cpu", calls);
  slow.allocate = (_, { name }) => {
    if (name === "side") calling.abort(new Error("gone"));
    return name === "side" ? Promise.reject(new Error("gone")) : Promise.resolve();
  };
  const { managers } = join([source(slow)]);
  await managers.start(() => []);
  await assert.rejects(managers.admit(web, calling.signal), /gone/);
  assert.equal(calls.at(-1), "cpu release uid-web");
});

test("a manager that waits for a pod is made with the first that wants it, or with all", async () => {
  const calls: string[] = [];
  let tries = 0;
  const late: ManagerSource = {
    kind: "devices",
    wanted: ({ metadata }) => metadata.name === "gpu",
    make: () => (++tries === 1 ? Promise.reject(new Error("no directory")) : Promise.resolve(made("devices", calls))),
  };
  const { managers } = join([late, source(made("cpu", calls))]);
  await managers.start(() => []);
  await managers.admit(web, never);
  assert.equal(tries, 0);
  const gpu = pod({}, "gpu");
  await assert.rejects(managers.admit(gpu, never), /no directory/);
  calls.length = 0;
  assert.equal(await managers.admit(gpu, never), undefined);
  assert.deepEqual(calls.slice(0, 3), ["devices start 0", "devices app", "cpu app"], "devices come before CPUs");
  await managers.loadAll();
  assert.equal(tries, 2);
  await managers.stop();
  assert.deepEqual(calls.slice(-2), ["devices stop", "cpu stop"]);
});

test("when one can't start, those that did are stopped", async () => {
  const calls: string[] = [];
  const { managers } = join([
    source(made("cpu", calls)),
    { kind: "memory", make: () => Promise.reject(new Error("reservations do not add up")) },
  ]);
  await assert.rejects(
    managers.start(() => []),
    /do not add up/,
  );
  assert.deepEqual(calls, ["cpu start 0", "cpu stop"]);
});

for (const scope of ["container", "pod"] as const) {
  test(`scope ${scope}: the policy sees its hints, and its refusal is the pod's`, async () => {
    const calls: string[] = [];
    let admit = true;
    const seen: unknown[] = [];
    const policy: TopologyPolicy = {
      scope,
      aligns: true,
      choose: (hints) => {
        const affinity = hints[0]?.get("cpu")?.[0];
        seen.push(affinity?.nodes[0]);
        return { affinity, admit };
      },
    };
    const { managers, counted } = join([source(made("cpu", calls))], policy);
    await managers.start(() => []);
    assert.equal(await managers.admit(web, never), undefined);
    assert.deepEqual(seen, scope === "pod" ? [0] : [5, 4, 4]);
    assert.deepEqual(
      calls.slice(1),
      scope === "pod"
        ? ["cpu first on 0", "cpu side on 0", "cpu main on 0"]
        : ["cpu first on 5", "cpu side on 4", "cpu main on 4"],
    );
    assert.equal(await counted("kubelet_container_aligned_compute_resources_count"), scope === "pod" ? 1 : 3);
    admit = false;
    assert.deepEqual(await managers.admit(web, never), {
      reason: "TopologyAffinityError",
      message: "Resources cannot be allocated with Topology locality",
    });
    assert.equal(await counted("kubelet_topology_manager_admission_errors_total"), 1);
    assert.equal(await counted("kubelet_container_aligned_compute_resources_failure_count"), 1);
  });
}

test("the rejection of a pod with pod-level resources names the scope, with the gate PodLevelResourceManagers", async () => {
  const list = { cpu: "1", memory: "1Gi" };
  const whole = pod({ ...web.spec, resources: { requests: list, limits: list } });
  const rows: [scope: "pod" | "container", gate: boolean, subject: Pod, message: string][] = [
    ["pod", true, whole, "Pod Scope pod with pod-level resources failed admission under pod-scope topology manager"],
    [
      "container",
      true,
      whole,
      "Pod Scope pod with pod-level resources failed admission with a container-level topology manager",
    ],
    ["pod", false, whole, "Resources cannot be allocated with Topology locality"],
    ["pod", true, web, "Resources cannot be allocated with Topology locality"],
  ];
  for (const [scope, gate, subject, message] of rows) {
    const policy: TopologyPolicy = { scope, aligns: true, choose: () => ({ admit: false, affinity: undefined }) };
    const { managers } = join([source(made("cpu", []))], policy, gate);
    await managers.start(() => []);
    assert.deepEqual(await managers.admit(subject, never), { reason: "TopologyAffinityError", message });
  }
});

const mount = (containerPath: string) => ({
  ...{ containerPath, hostPath: "/x", readonly: true, selinuxRelabel: false, propagation: 0, uidMappings: [] },
  ...{ gidMappings: [], recursiveReadOnly: false, image: undefined, imageSubPath: "", mountOptions: [] },
});
const device = { containerPath: "/dev/a", hostPath: "/dev/a", permissions: "rw" };

test("joined grants of one manager are its own", () => {
  assert.deepEqual(joinGrants([]), {});
  assert.deepEqual(joinGrants([{ cpus: "0" }]), { cpus: "0" });
  assert.deepEqual(joinGrants([{}, {}]), {});
});

test("each brings its part; if two name the same key, the first wins", () => {
  const devices = {
    env: [{ name: "A", value: "1" }],
    mounts: [mount("/lib")],
    devices: [device],
    annotations: { k: "devices" },
    cdiDevices: ["v.com/c=a"],
  };
  const other = {
    env: [
      { name: "A", value: "2" },
      { name: "B", value: "3" },
    ],
    annotations: { k: "x", l: "y" },
  };
  assert.deepEqual(joinGrants([devices, { cpus: "1-2", noCpuQuota: true }, { memoryNodes: "0", ...other }]), {
    cpus: "1-2",
    memoryNodes: "0",
    noCpuQuota: true,
    env: [
      { name: "A", value: "1" },
      { name: "B", value: "3" },
    ],
    mounts: [mount("/lib")],
    devices: [device],
    annotations: { k: "devices", l: "y" },
    cdiDevices: ["v.com/c=a"],
  });
});

test("the containers of a large pod are allocated in several rounds of the event loop", async () => {
  const clock = new SteppedClock();
  let round = 0;
  const rounds = new Set<number>();
  const slow: ResourceManager = {
    ...made("cpu", []),
    allocate: () => {
      rounds.add(round);
      clock.step(1);
      return Promise.resolve();
    },
  };
  const managers = new JoinedManagers({
    ...{ podLevelResourceManagers: false, sources: [source(slow)], clock },
    metrics: topologyMetrics(new ThreadRegistry("main")),
  });
  await managers.start(() => []);
  const count = (): void => {
    round++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const containers = Array.from({ length: 1000 }, (_, at) => container(`c${at}`));
  assert.equal(await managers.admit(pod({ containers }), never), undefined);
  clearImmediate(next);
  assert.ok(rounds.size >= 10, `${rounds.size} rounds`);
});
