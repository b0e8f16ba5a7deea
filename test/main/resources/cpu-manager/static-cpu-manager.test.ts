// The CPU manager over its life: its state on disk, which the next kubelet reads, and the updates of containers.

import assert from "node:assert/strict";
import { copyFile, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { AllocationError } from "../../../../src/main/resources/assignment/resource-manager.js";
import { decodeCpuState } from "../../../../src/main/resources/cpu-manager/checkpoint.js";
import { checkNoCpuPolicy } from "../../../../src/main/resources/cpu-manager/none-policy.js";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import { printCpuList } from "../../../../src/shared/kubernetes/api/cpu-list.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { criError } from "../../../../src/shared/kubernetes/cri/errors.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { until } from "../../../support/sources-kit.js";
import { container, pod } from "../pods.js";
import { allocateAll, burstable, cpuManagerKit, fixed, granted, guaranteed, observed } from "./kit.js";
import { machine } from "./machines.js";

const MACHINE = machine({ sockets: 1, numaNodes: 2, coresPerNode: 2, threads: 1 });
const stateFile = (rootDir: string): string => join(rootDir, "cpu_manager_state");
const kept = async (rootDir: string) => decodeCpuState(JSON.parse(await readFile(stateFile(rootDir), "utf8")));

describe("configuration with which containers are created", () => {
  test("a container's own CPUs without a quota; the rest for all others", async (t) => {
    const { start } = await cpuManagerKit(t, MACHINE);
    const manager = await start();
    await allocateAll(manager, guaranteed("g", 2));
    await allocateAll(manager, burstable("b"));
    assert.deepEqual(manager.grant(guaranteed("g", 2), fixed("main", 2)), { cpus: "2-3", noCpuQuota: true });
    assert.deepEqual(manager.grant(burstable("b"), fixed("main", 2)), { cpus: "0-1" });
    assert.deepEqual(
      [manager.exclusiveCpus(podUid("g"), "main"), manager.exclusiveCpus(podUid("b"), "main")],
      [[2, 3], []],
    );
    assert.deepEqual(manager.allocatableCpus(), [1, 2, 3]);
  });
  test("with the gate off the quota stays", async (t) => {
    const { start } = await cpuManagerKit(t, MACHINE, { disableCPUQuotaWithExclusiveCPUs: false });
    const manager = await start();
    await allocateAll(manager, guaranteed("g", 2));
    assert.deepEqual(manager.grant(guaranteed("g", 2), fixed("main", 2)), { cpus: "2-3" });
  });
  test("strict reservation: no container gets the reserved CPUs, until there are no others", async (t) => {
    const options = { cpuManagerPolicyOptions: { "strict-cpu-reservation": "true" } };
    const { start, open } = await cpuManagerKit(t, MACHINE, options);
    const manager = await start();
    assert.deepEqual(granted(manager, burstable("b")), { main: "1-3" });
    await allocateAll(manager, guaranteed("g", 3));
    assert.deepEqual(granted(manager, burstable("b")), { main: "0" });
    const next = await open();
    await next.start(() => [guaranteed("g", 3)]);
    assert.deepEqual(granted(next, guaranteed("g", 3)), { main: "1-3" });
    await next.stop();
  });
});

describe("the state on disk", () => {
  test("is written before the pod may run, and the next kubelet continues with it", async (t) => {
    const { rootDir, start } = await cpuManagerKit(t, MACHINE);
    const pods = [guaranteed("a", 1), guaranteed("gone", 1)];
    const manager = await start();
    for (const subject of pods) await allocateAll(manager, subject);
    const { policyName, shared, exclusive } = await kept(rootDir);
    assert.deepEqual([policyName, printCpuList(shared), [...exclusive.keys()]], ["static", "0,3", ["a", "gone"]]);
    const next = await start([guaranteed("a", 1)]);
    assert.deepEqual(granted(next, guaranteed("a", 1)), granted(manager, guaranteed("a", 1)));
    await allocateAll(next, guaranteed("a", 1));
    // What a pod that is gone had is free.
    await until(async () => (await kept(rootDir)).exclusive.size === 1);
    assert.deepEqual([...(await kept(rootDir)).exclusive.keys()], ["a"]);
  });
  test("of another policy, or of another machine: no start, and it stays as it is", async (t) => {
    const { rootDir, open, clock, kept: log } = await cpuManagerKit(t, MACHINE);
    const rows: [state: object, problem: RegExp][] = [
      [
        { policyName: "none", defaultCpuSet: "" },
        /configured policy "static" differs from state checkpoint policy "none"/,
      ],
      [{ policyName: "static", defaultCpuSet: "0-7" }, /available CPUs "0-3" doesn't match with CPUs in state "0-7"/],
    ];
    for (const [state, problem] of rows) {
      await writeFile(stateFile(rootDir), JSON.stringify(state));
      const manager = await open();
      await assert.rejects(
        manager.start(() => []),
        (error) =>
          error instanceof OperatorError &&
          problem.test(error.message) &&
          /delete the CPU manager checkpoint/.test(error.message),
      );
      assert.equal(await readFile(stateFile(rootDir), "utf8"), JSON.stringify(state));
    }
    await assert.rejects(checkNoCpuPolicy(rootDir, clock, log.log), OperatorError);
    await writeFile(stateFile(rootDir), JSON.stringify({ policyName: "none", defaultCpuSet: "" }));
    await checkNoCpuPolicy(rootDir, clock, log.log);
  });
  test("no state yet of policy static: all is shared", async (t) => {
    const { rootDir, start } = await cpuManagerKit(t, MACHINE);
    await writeFile(stateFile(rootDir), JSON.stringify({ policyName: "static", defaultCpuSet: "" }));
    await start();
    assert.equal(printCpuList((await kept(rootDir)).shared), "0-3");
  });
  test("garbage is set aside with a warning", async (t) => {
    const { rootDir, start, kept: log } = await cpuManagerKit(t, MACHINE);
    await writeFile(stateFile(rootDir), '{"policyName":"static","defaultCpuSet":"0-3","checksum":1}');
    const manager = await start();
    assert.deepEqual(granted(manager, burstable("b")), { main: "0-3" });
    assert.ok((await readdir(rootDir)).some((name) => name.startsWith("cpu_manager_state.corrupt-")));
    assert.equal(log.warnings().length, 1);
  });
  test("CPUs of pods as a whole: kept with the gate on, everybody's again with the gate off", async (t) => {
    const gate = {
      podLevelResourceManagers: true,
      topologyManagerPolicy: "best-effort",
      topologyManagerScope: "pod",
    } as const;
    const { rootDir, start } = await cpuManagerKit(t, MACHINE, gate);
    const two = { cpu: 2, memory: "1Gi" };
    const subject = pod([fixed("own", 1), container("rest")], { resources: { requests: two, limits: two } }, "w");
    const manager = await start();
    await allocateAll(manager, subject);
    assert.deepEqual(granted(manager, subject), { own: "2", rest: "3" });
    assert.deepEqual(
      [true, undefined],
      subject.spec.containers.map((one) => manager.grant(subject, one).noCpuQuota),
    );
    const next = await start([subject]);
    assert.deepEqual(granted(next, subject), { own: "2", rest: "3" });
    assert.equal((await kept(rootDir)).pods?.size, 1);
    const off = await cpuManagerKit(t, MACHINE);
    await copyFile(stateFile(rootDir), stateFile(off.rootDir));
    assert.deepEqual(granted(await off.start([subject]), subject), { own: "0-3", rest: "0-3" });
  });
  test("a running pod keeps its CPUs though no record names it; they are free when it has ended", async (t) => {
    const { clock, runtime, start } = await cpuManagerKit(t, MACHINE);
    await allocateAll(await start(), guaranteed("lost", 1));
    runtime.pods = [observed("lost", "c1")];
    const next = await start();
    await allocateAll(next, guaranteed("new", 1));
    assert.deepEqual(next.exclusiveCpus(podUid("lost"), "main"), [1]);
    assert.deepEqual(next.exclusiveCpus(podUid("new"), "main"), [2]);
    runtime.pods = [];
    clock.step(10_000);
    assert.deepEqual(next.exclusiveCpus(podUid("lost"), "main"), []);
    await allocateAll(next, guaranteed("newer", 2));
  });
  test("a pod that no record names keeps its CPUs when it is admitted first, and ended ones lose theirs", async (t) => {
    const { clock, start } = await cpuManagerKit(t, MACHINE);
    const first = await start();
    for (const uid of ["ended", "back"]) await allocateAll(first, guaranteed(uid, 1));
    const next = await start();
    await allocateAll(next, guaranteed("back", 1));
    clock.step(10_000);
    assert.deepEqual(next.exclusiveCpus(podUid("back"), "main"), [2]);
    assert.deepEqual(next.exclusiveCpus(podUid("ended"), "main"), []);
  });
  test("a removed pod is found without a notification; a pod under admission is not taken for one", async (t) => {
    const { clock, start } = await cpuManagerKit(t, MACHINE);
    let pods: Pod[] = [];
    const manager = await start(() => pods);
    await allocateAll(manager, guaranteed("a", 1));
    clock.step(10_000);
    assert.equal(manager.exclusiveCpus(podUid("a"), "main").length, 1);
    pods = [guaranteed("a", 1)];
    clock.step(10_000);
    pods = [];
    clock.step(10_000);
    assert.deepEqual(manager.exclusiveCpus(podUid("a"), "main"), []);
  });
});

describe("running containers", () => {
  const rest = { id: "sharing", uid: "b" };
  test("that share are moved at once when the pool changes, with one update", async (t) => {
    const { clock, updates, runtime, start } = await cpuManagerKit(t, MACHINE);
    const manager = await start();
    runtime.pods = [observed(rest.uid, rest.id)];
    await allocateAll(manager, guaranteed("g", 1));
    await until("the container is moved", () => updates.length > 0);
    clock.step(10_000);
    await manager.allocate(burstable("c"), fixed("main", "1m"), undefined, new AbortController().signal);
    manager.release(podUid("g"));
    await until("it is moved back", () => updates.length > 1);
    assert.deepEqual(updates, ["sharing: 0,2-3", "sharing: 0-3"]);
  });
  test("found at the start are updated once; those started since only after a change of the pool", async (t) => {
    const { clock, updates, runtime, start } = await cpuManagerKit(t, MACHINE);
    const manager = await start();
    runtime.pods = [observed(rest.uid, rest.id)];
    manager.started(burstable("new"), fixed("main", "1m"), containerIdOf("new"));
    clock.step(10_000);
    await until("the first round", () => updates.length > 0);
    await allocateAll(manager, guaranteed("g", 1));
    manager.started(guaranteed("g", 1), fixed("main", 1), containerIdOf("own"));
    await until("the second round", () => updates.length > 3);
    assert.deepEqual(updates, ["sharing: 0-3", "sharing: 0,2-3", "new: 0,2-3", "own: 1"]);
  });
  test("one whose update fails is logged once and updated later; an unavailable runtime is tried again at the next round", async (t) => {
    const { clock, updates, runtime, start, kept: log } = await cpuManagerKit(t, MACHINE);
    let asked = 0;
    const failure = (code: "UNKNOWN" | "UNAVAILABLE" | "NOT_FOUND") => (id: string) => {
      asked++;
      if (id === "bad")
        throw criError({ code, verb: "UpdateContainerResources", details: "no", endpoint: "unix:///x" });
    };
    runtime.pods = [observed("a", "bad"), observed("b", "good")];
    runtime.onUpdate = failure("UNKNOWN");
    await start();
    for (const goal of [2, 3]) {
      clock.step(10_000);
      await until("a round", () => asked === goal);
    }
    assert.deepEqual([updates, log.warnings().length], [["good: 0-3"], 1]);
    assert.match(log.warnings()[0] ?? "", /cannot move container main of pod a to CPUs 0-3/);
    runtime.onUpdate = failure("UNAVAILABLE");
    clock.step(10_000);
    await until("a round", () => asked === 4);
    runtime.onUpdate = failure("NOT_FOUND");
    clock.step(10_000);
    await until("a round", () => asked === 5);
    clock.step(10_000);
    await Promise.resolve();
    assert.equal(asked, 5, "a removed one is not requested again");
  });
  test("only one call at a time, and none after stop", async (t) => {
    const { clock, updates, runtime, start } = await cpuManagerKit(t, MACHINE);
    const manager = await start();
    let [open, most] = [0, 0];
    runtime.pods = ["a", "b", "c"].map((uid) => observed(uid, uid));
    runtime.onUpdate = async () => {
      most = Math.max(most, ++open);
      await Promise.resolve();
      open--;
    };
    clock.step(30_000);
    await until("all are told", () => updates.length === 3);
    await manager.stop();
    manager.release(podUid("a"));
    clock.step(30_000);
    assert.deepEqual([most, clock.pending], [1, 0]);
  });
});

test("metrics count allocations and misaligned ones", async (t) => {
  const { registry, start } = await cpuManagerKit(t, MACHINE, {
    cpuManagerPolicyOptions: { "full-pcpus-only": "true" },
  });
  const manager = await start();
  await allocateAll(manager, guaranteed("g", 2));
  await assert.rejects(allocateAll(manager, guaranteed("h", 2)), { reason: "SMTAlignmentError" });
  const { families } = await registry.exportSnapshot();
  const shown = families.flatMap(({ name, samples }) =>
    samples.map(({ labels, value }) => `${name} ${JSON.stringify(labels)} ${value}`),
  );
  assert.deepEqual(shown, [
    "kubelet_cpu_manager_pinning_requests_total {} 2",
    "kubelet_cpu_manager_pinning_errors_total {} 1",
    "kubelet_cpu_manager_exclusive_cpu_allocation_count {} 2",
    "kubelet_cpu_manager_shared_pool_size_millicores {} 1000",
    'kubelet_cpu_manager_allocation_per_numa {"numa_node":"0"} 0',
    'kubelet_cpu_manager_allocation_per_numa {"numa_node":"1"} 2',
    'kubelet_container_aligned_compute_resources_count {"scope":"container","boundary":"physical_cpu"} 1',
    'kubelet_container_aligned_compute_resources_failure_count {"scope":"container","boundary":"physical_cpu"} 1',
  ]);
});

describe("metrics with the gate PodLevelResourceManagers", () => {
  const gate = { podLevelResourceManagers: true, topologyManagerPolicy: "best-effort" } as const;
  const two = { cpu: 2, memory: "1Gi" };
  const resources = { requests: two, limits: two };
  const rows: [what: string, scope: "pod" | "container", subject: Pod, series: string[]][] = [
    [
      "a pod as a whole",
      "pod",
      pod([fixed("own", 1), container("rest")], { resources }, "w"),
      [
        "allocations_total cpu,pod 2",
        "container_assignments cpu,pod_exclusive 1",
        "container_assignments cpu,pod_shared 1",
      ],
    ],
    [
      "a pod without CPUs for those that share",
      "pod",
      pod([fixed("own", 2), container("rest")], { resources }, "f"),
      ["allocation_errors_total cpu,pod 1"],
    ],
    [
      "a container of such a pod",
      "container",
      pod([fixed("own", 1), container("rest")], { resources }, "c"),
      ["allocations_total cpu,node 1", "container_assignments cpu,node_exclusive 1"],
    ],
    ["more than there is", "container", guaranteed("m", 9), ["allocation_errors_total cpu,node 1"]],
  ];
  for (const [what, topologyManagerScope, subject, series] of rows) {
    test(what, async (t) => {
      const { registry, start } = await cpuManagerKit(t, MACHINE, { ...gate, topologyManagerScope });
      await allocateAll(await start(), subject).catch((error: unknown) => assert.ok(error instanceof AllocationError));
      const { families } = await registry.exportSnapshot();
      const shown = families
        .filter(({ name }) => name.startsWith("resource_manager_"))
        .flatMap(({ name, samples }) =>
          samples.map(
            ({ labels, value }) => `${name.replace("resource_manager_", "")} ${Object.values(labels).join()} ${value}`,
          ),
        );
      assert.deepEqual(shown.sort(), series);
    });
  }
});
