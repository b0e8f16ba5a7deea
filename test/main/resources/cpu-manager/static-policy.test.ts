// Exclusive CPUs of containers; no container gets another's.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { AllocationError } from "../../../../src/main/resources/assignment/resource-manager.js";
import { common, sameCpus, union, without, type CpuSet } from "../../../../src/main/resources/cpu-manager/cpu-set.js";
import { CpuTopology } from "../../../../src/main/resources/cpu-manager/cpu-topology.js";
import { staticOptions } from "../../../../src/main/resources/cpu-manager/options.js";
import { reservedCpus } from "../../../../src/main/resources/cpu-manager/reserved-cpus.js";
import { CpuState, stateProblem } from "../../../../src/main/resources/cpu-manager/state.js";
import { StaticPolicy } from "../../../../src/main/resources/cpu-manager/static-policy.js";
import { parseCpuList, printCpuList } from "../../../../src/shared/kubernetes/api/cpu-list.js";
import type { Container, Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod, sidecar } from "../pods.js";
import { fixed, guaranteed } from "./kit.js";
import { anyShape, machine, type MachineShape } from "./machines.js";

/** One socket, one node, four cores; second threads 4–7. */
const FOUR_CORES: MachineShape = { sockets: 1, numaNodes: 1, coresPerNode: 4, threads: 2 };
/** Two nodes of four CPUs. */
const TWO_NODES: MachineShape = { sockets: 2, numaNodes: 1, coresPerNode: 4, threads: 1 };

function policyOn(shape: MachineShape, reserved = "0", ...options: string[]): StaticPolicy {
  const topology = new CpuTopology(machine(shape));
  const chosen = staticOptions(Object.fromEntries(options.map((name) => [name, "true"])));
  const cpus = new Set(parseCpuList(reserved));
  const shared = chosen.strictReservation ? without(topology.all, cpus) : topology.all;
  return new StaticPolicy(topology, cpus, chosen, new CpuState(shared));
}

/** Container to its own CPUs; "": it shares. */
function allocateAll(policy: StaticPolicy, subject: Pod): Record<string, string> {
  const all: Container[] = [...(subject.spec.initContainers ?? []), ...subject.spec.containers];
  return Object.fromEntries(all.map((one) => [one.name, printCpuList(policy.allocate(subject, one, undefined) ?? [])]));
}

test("any pods that come and go: no CPU twice, none of the reserved, none lost", () => {
  const run = fc.record({
    shape: anyShape,
    option: fc.constantFrom(
      "",
      "full-pcpus-only",
      "distribute-cpus-across-numa",
      "distribute-cpus-across-cores",
      "strict-cpu-reservation",
      "prefer-align-cpus-by-uncorecache",
    ),
    steps: fc.array(
      fc.record({
        uid: fc.constantFrom(...["a", "b", "c", "d"].map(podUid)),
        init: fc.nat(3),
        cpus: fc.nat(4),
        leave: fc.boolean(),
      }),
      { maxLength: 12 },
    ),
  });
  const property = fc.property(run, ({ shape, option, steps }) => {
    const policy = policyOn(shape, "0", option);
    const { state, reserved } = policy;
    const usable = state.shared;
    for (const { uid, init, cpus, leave } of steps) {
      if (leave) state.release(uid);
      else {
        try {
          allocateAll(policy, pod([fixed("app", cpus)], { initContainers: [fixed("init", init)] }, uid));
        } catch (error) {
          assert.ok(error instanceof AllocationError, String(error));
          state.release(uid);
        }
      }
      const own: CpuSet[] = [...state.exclusive.keys()].map((id) => state.ofPod(id));
      assert.equal(
        own.reduce((sum, set) => sum + set.size, 0),
        state.taken.size,
        "no CPU is in two pods",
      );
      assert.equal(common(state.taken, reserved).size, 0);
      assert.ok(sameCpus(union(state.shared, state.taken), usable));
      assert.equal(common(state.shared, state.taken).size, 0);
      const strict = option === "strict-cpu-reservation";
      assert.equal(stateProblem(state, { usable, reserved, strict }), undefined);
    }
  });
  fc.assert(property, { numRuns: 150 });
});

const rows: [name: string, subject: Pod, expected: Record<string, string>][] = [
  ["a whole CPU", guaranteed("a", 2), { main: "1,5" }],
  ["another spelling of it", guaranteed("a", "2000m"), { main: "1,5" }],
  ["no whole number shares", guaranteed("a", "1500m"), { main: "" }],
  ["Burstable shares", pod([container("main", { cpu: 2, memory: "1Mi" }, { cpu: 3, memory: "1Mi" })]), { main: "" }],
  [
    "resources of the pod as a whole share",
    guaranteed("a", 2, { resources: { limits: { cpu: 4, memory: "1Gi" }, requests: { cpu: 4, memory: "1Gi" } } }),
    { main: "" },
  ],
  [
    "an ordinary init container's CPUs are the app's after it",
    guaranteed("a", 2, { initContainers: [fixed("i", 2)] }),
    { i: "1,5", main: "1,5" },
  ],
  [
    "and more are added when they are too few",
    guaranteed("a", 4, { initContainers: [fixed("i", 2)] }),
    { i: "1,5", main: "1-2,5-6" },
  ],
  [
    "some are left when they are more",
    guaranteed("a", 2, { initContainers: [fixed("i", 4)] }),
    { i: "1-2,5-6", main: "1,5" },
  ],
  [
    "a sidecar keeps its own",
    guaranteed("a", 2, { initContainers: [fixed("s", 2, { restartPolicy: "Always" })] }),
    { s: "1,5", main: "2,6" },
  ],
  [
    "a sidecar after an init container has its CPUs, the app has others",
    guaranteed("a", 2, { initContainers: [fixed("i", 2), fixed("s", 2, { restartPolicy: "Always" })] }),
    { i: "1,5", s: "1,5", main: "2,6" },
  ],
  [
    "sharing containers beside",
    pod([fixed("main", 1), fixed("half", "500m")], {
      initContainers: [{ ...sidecar("s"), resources: fixed("s", "100m").resources ?? {} }],
    }),
    { s: "", main: "4", half: "" },
  ],
];
describe("on four cores with two threads, CPU 0 reserved", () => {
  for (const [name, subject, expected] of rows) {
    test(name, () => assert.deepEqual(allocateAll(policyOn(FOUR_CORES), subject), expected));
  }
  test("a second request has the same result", () => {
    const policy = policyOn(FOUR_CORES);
    const subject = guaranteed("a", 2, { initContainers: [fixed("i", 4)] });
    assert.deepEqual(allocateAll(policy, subject), allocateAll(policy, subject));
    assert.equal(policy.state.taken.size, 4);
  });
  test("more than is free", () => {
    const policy = policyOn(FOUR_CORES);
    allocateAll(policy, guaranteed("a", 4));
    assert.throws(() => allocateAll(policy, guaranteed("b", 4)), {
      reason: "UnexpectedAdmissionError",
      message: "not enough cpus available to satisfy request: requested=4, available=3",
    });
  });
});

describe("full-pcpus-only", () => {
  test("no whole number of cores", () => {
    assert.throws(() => allocateAll(policyOn(FOUR_CORES, "0", "full-pcpus-only"), guaranteed("a", 3)), {
      reason: "SMTAlignmentError",
      message: "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
    });
  });
  test("the other thread of a reserved one is no free core", () => {
    const policy = policyOn(FOUR_CORES, "0", "full-pcpus-only");
    allocateAll(policy, guaranteed("a", 4));
    assert.throws(() => allocateAll(policy, guaranteed("b", 4)), {
      reason: "SMTAlignmentError",
      message:
        "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 2, requested CPUs = 4, CPUs per core = 2",
    });
    // The one that has its CPUs is not asked whether there are others.
    assert.deepEqual(allocateAll(policy, guaranteed("a", 4)), { main: "1-2,5-6" });
  });
});

describe("the topology manager's place", () => {
  const place = (nodes: number[]) => ({ nodes, preferred: true });
  test("CPUs of the node it names", () => {
    const policy = policyOn(TWO_NODES);
    const subject = guaranteed("a", 2);
    assert.deepEqual(policy.allocate(subject, fixed("main", 2), place([1])), new Set([4, 5]));
  });
  test("CPUs that do not fit there are taken elsewhere", () => {
    const policy = policyOn(TWO_NODES);
    assert.deepEqual(policy.allocate(guaranteed("a", 5), fixed("main", 5), place([1])), new Set([4, 5, 6, 7, 1]));
  });
  test("hints of a container that has its CPUs name where they are; of another number: nowhere", () => {
    const policy = policyOn(TWO_NODES);
    const subject = guaranteed("a", 2);
    policy.allocate(subject, fixed("main", 2), place([1]));
    assert.deepEqual(policy.hints(subject, fixed("main", 2)), [
      { nodes: [1], preferred: true },
      { nodes: [0, 1], preferred: false },
    ]);
    assert.deepEqual(policy.hints(subject, fixed("main", 3)), []);
    assert.deepEqual(policy.podHints(guaranteed("a", 3)), []);
    assert.equal(policy.hints(subject, fixed("main", "500m")), undefined);
  });
  test("for a pod as a whole: the CPUs that its containers need at one time", () => {
    const policy = policyOn(TWO_NODES);
    const narrow = pod([fixed("a", 2), fixed("b", 2)], { initContainers: [fixed("i", 4)] }, "n");
    const preferred = (subject: Pod): (readonly number[])[] =>
      (policy.podHints(subject) ?? []).filter((hint) => hint.preferred).map(({ nodes }) => nodes);
    assert.deepEqual(preferred(narrow), [[1]]);
    const wide = pod(
      [fixed("a", 2), fixed("b", 2)],
      { initContainers: [fixed("s", 1, { restartPolicy: "Always" })] },
      "w",
    );
    assert.deepEqual(preferred(wide), [[0, 1]]);
    policy.allocate(narrow, fixed("i", 4), place([1]));
    assert.deepEqual(preferred(narrow), [[1]]);
  });
});

describe("pods with resources as a whole (gate PodLevelResourceManagers)", () => {
  const four = { cpu: 4, memory: "1Gi" };
  const whole = (containers: Container[], initContainers: Container[] = []): Pod =>
    pod(containers, { initContainers, resources: { requests: four, limits: four } }, "w");
  const free = container("free");
  const always: Partial<Container> = { restartPolicy: "Always" };
  const on = (podLevel: "containers" | "whole"): StaticPolicy => {
    const { state, reserved } = policyOn(FOUR_CORES);
    return new StaticPolicy(new CpuTopology(machine(FOUR_CORES)), reserved, staticOptions({}, podLevel), state);
  };
  const shared: [name: string, subject: Pod, expected: Record<string, string>][] = [
    ["its own CPU and what is left of the pod's", whole([fixed("a", 2), free]), { a: "1,5", free: "2,6" }],
    ["nobody has any of its own", whole([free]), { free: "1-2,5-6" }],
    [
      "init containers run before: they may have all that sidecars leave",
      whole([fixed("a", 2), free], [fixed("s", 1, always), fixed("i", 3), container("j")]),
      { s: "1", i: "2,5-6", j: "2,5-6", a: "2,6", free: "5" },
    ],
    [
      "a container that is not Guaranteed by itself shares",
      whole([container("a", { cpu: 1 }, { cpu: 2 })]),
      { a: "1-2,5-6" },
    ],
  ];
  for (const [name, subject, expected] of shared) {
    test(`scope pod: ${name}`, () => {
      const policy = on("whole");
      assert.deepEqual(allocateAll(policy, subject), expected);
      assert.deepEqual(allocateAll(policy, subject), expected);
      assert.equal(printCpuList(policy.state.pods.get(podUid("w")) ?? []), "1-2,5-6");
      assert.ok(policy.state.release(podUid("w")));
      assert.equal(policy.state.shared.size, 8);
    });
  }
  const refused: [subject: Pod, message: string][] = [
    [
      whole([fixed("a", 4), free]),
      "pod rejected, sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers",
    ],
    [
      whole([fixed("a", 1)], [fixed("s", 2, always), fixed("i", 3)]),
      "pod rejected, largest exclusive init container requests 3 cpus, but only 2 available",
    ],
    [
      whole([fixed("a", 1)], [fixed("s", 4, always), container("i")]),
      "pod rejected, pod has shared init containers but no cpus available for them",
    ],
  ];
  for (const [subject, message] of refused) {
    test(message, () => {
      const policy = on("whole");
      assert.deepEqual(policy.podHints(subject), []);
      assert.throws(() => allocateAll(policy, subject), { reason: "EmptyPodSharedPoolError", message });
      assert.equal(policy.state.taken.size, 0);
    });
  }
  test("scope container: containers request CPUs as in any other pod", () => {
    assert.deepEqual(allocateAll(on("containers"), whole([fixed("a", 2), free])), { a: "1,5", free: "" });
  });
  test("no whole number of CPUs: all share", () => {
    const odd = { cpu: "2500m", memory: "1Gi" };
    const subject = pod([fixed("a", 2)], { resources: { requests: odd, limits: odd } });
    assert.deepEqual(allocateAll(on("whole"), subject), { a: "" });
  });
});

describe("the reserved CPUs", () => {
  const topology = new CpuTopology(machine(FOUR_CORES));
  const table: [name: string, cpus: number[], milliCpu: bigint, expected: string][] = [
    ["those named", [1, 2], 500n, "1-2"],
    ["as many as are reserved, from the first core on, a part counts whole", [], 1500n, "0,4"],
  ];
  for (const [name, cpus, milliCpu, expected] of table) {
    test(name, () => assert.equal(printCpuList(reservedCpus(topology, { cpus, milliCpu })), expected));
  }
  test("none, absent ones and too many are refused", () => {
    const refusal = (cpus: number[], milliCpu: bigint) => () => reservedCpus(topology, { cpus, milliCpu });
    assert.throws(refusal([], 0n), /requires systemreserved.cpu \+ kubereserved.cpu to be greater than zero/);
    assert.throws(refusal([7, 8], 0n), /names CPUs that are not online: 8 of 7-8, online are 0-7/);
    assert.throws(refusal([], 9000n), /are 9 CPUs together and the machine has 8/);
  });
});

const BROKEN: [problem: RegExp, shared: string, own: Record<string, string>][] = [
  [/default cpuset cannot be empty/, "", { a: "0-7" }],
  [/not all reserved cpus: "0" are present in defaultCpuSet: "2-7"/, "2-7", { a: "0-1" }],
  [/pod: a, container: main cpuset: "1-2" overlaps with default cpuset "0,2-7"/, "0,2-7", { a: "1-2" }],
  [/pod: b has CPUs of other pods: "2"/, "0,3-7", { a: "1-2", b: "2" }],
  [/current set of available CPUs "0-7" doesn't match with CPUs in state "0-3"/, "0,2-3", { a: "1" }],
];
for (const [problem, shared, own] of BROKEN) {
  test(`a state that the kubelet cannot use: ${problem.source}`, () => {
    const exclusive = Object.entries(own).map(
      ([uid, list]) => [podUid(uid), new Map([["main", new Set(parseCpuList(list))]])] as const,
    );
    const state = CpuState.of({ shared: new Set(parseCpuList(shared)), exclusive: new Map(exclusive) });
    const usable = new CpuTopology(machine(FOUR_CORES)).all;
    assert.match(stateProblem(state, { usable, reserved: new Set([0]), strict: false }) ?? "", problem);
  });
}
