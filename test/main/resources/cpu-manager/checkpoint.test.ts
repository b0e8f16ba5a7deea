// The state's form is upstream's: what either kubelet wrote the other reads.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decodeCpuState, encodeCpuState } from "../../../../src/main/resources/cpu-manager/checkpoint.js";
import { printCpuList } from "../../../../src/shared/kubernetes/api/cpu-list.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";

const pod = { container1: "4-6", container2: "1-3" };
/** Sums as kubelets of other makes wrote them, the last one under the struct's newer name. */
const UPSTREAM = [
  { policyName: "none", defaultCpuSet: "4-6", checksum: 354655845 },
  { policyName: "none", defaultCpuSet: "1-3", entries: { pod }, checksum: 3610638499 },
  { policyName: "other", defaultCpuSet: "1-3", checksum: 1394507217 },
];

describe("upstream's state", () => {
  for (const state of UPSTREAM) {
    test(`${state.policyName} ${state.defaultCpuSet}: read, and written as it was`, () => {
      const decoded = decodeCpuState(state);
      assert.equal(printCpuList(decoded.shared), state.defaultCpuSet);
      assert.equal(encodeCpuState(decoded), JSON.stringify(state));
    });
  }
  test("the newer name of the struct is taken too", () => {
    const decoded = decodeCpuState({
      policyName: "static",
      defaultCpuSet: "7-9",
      entries: { pod },
      checksum: 1692845551,
    });
    assert.equal(printCpuList(decoded.exclusive.get(podUid("pod"))?.get("container1") ?? []), "4-6");
  });
  test("with pods that have CPUs as a whole, under either name of that struct", () => {
    const entries = { pod1: { container1: "5-6", container2: "3-4" } };
    const state = { policyName: "static", defaultCpuSet: "1-2", entries, podEntries: { pod2: { cpuSet: "7-9" } } };
    for (const checksum of [766259872, 2284712151]) {
      const { pods } = decodeCpuState({ ...state, checksum });
      assert.equal(printCpuList(pods?.get(podUid("pod2")) ?? []), "7-9");
    }
    const decoded = decodeCpuState(state);
    assert.equal(encodeCpuState(decoded), JSON.stringify({ ...state, checksum: 766259872 }));
    assert.throws(() => decodeCpuState({ ...state, podEntries: {}, checksum: 766259872 }));
  });
  test("a form that knows pods, without one of them, has another sum and is taken too", () => {
    const state = { policyName: "static", defaultCpuSet: "7-9", entries: { pod }, checksum: 1942532442 };
    assert.equal(decodeCpuState(state).exclusive.size, 1);
    const empty = { ...decodeCpuState(state), pods: new Map() };
    assert.equal(decodeCpuState(JSON.parse(encodeCpuState(empty))).exclusive.size, 1);
  });
  test("order of pods and containers does not matter to the sum", () => {
    const cpus = { a: new Set([1]), b: new Set([2]) };
    const [ab, ba] = [new Map(Object.entries(cpus)), new Map(Object.entries(cpus).reverse())];
    const state = { policyName: "static", shared: new Set([0]) };
    const one = {
      ...state,
      exclusive: new Map([
        [podUid("u"), ab],
        [podUid("t"), new Map()],
      ]),
    };
    const other = {
      ...state,
      exclusive: new Map([
        [podUid("t"), new Map()],
        [podUid("u"), ba],
      ]),
    };
    const sum = (text: string): unknown => (JSON.parse(text) as { checksum: unknown }).checksum;
    assert.equal(sum(encodeCpuState(one)), sum(encodeCpuState(other)));
  });
  test("a state without a sum is taken as it is", () => {
    assert.equal(decodeCpuState({ policyName: "static", defaultCpuSet: "0-1" }).shared.size, 2);
  });
});

const garbage: [name: string, value: unknown][] = [
  ["no object", []],
  ["no policy", { defaultCpuSet: "0" }],
  ["another sum", { ...UPSTREAM[1], checksum: 1 }],
  ["a list that is none", { policyName: "static", defaultCpuSet: "1.3" }],
  ["containers by id, as before 1.18", { policyName: "static", defaultCpuSet: "0", entries: { id: "1-2" } }],
  ["a container's list that is none", { policyName: "static", defaultCpuSet: "0", entries: { pod: { a: "asd" } } }],
];
for (const [name, value] of garbage) {
  test(`no state: ${name}`, () => {
    assert.throws(() => decodeCpuState(value));
  });
}
