// @promise Resources of the node: Preemption is minimal: the selected pods are sufficient, and none of them can be
//   left out.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { findShortages } from "../../../../src/main/pods/admission/free-resources.js";
import { NodeAdmission } from "../../../../src/main/pods/admission/node-admission.js";
import { choosePreempted } from "../../../../src/main/pods/admission/preemption.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container } from "../../../support/pods.js";
import { noEvents } from "../../../support/silent.js";
import { keptLog } from "../../../support/sources-kit.js";
import { admissionNode, alone, apiPod, context, requesting } from "./kit.js";

const critical = { priority: 2_000_000_000 };
const names = (pods: readonly Pod[]): string[] => pods.map((pod) => pod.metadata.name).sort();

function guaranteed(cpu: string, name: string): Pod {
  const list = { cpu, memory: "1Mi" };
  return apiPod({ containers: [container("app", { resources: { requests: list, limits: list } })] }, name);
}

function chosen(preemptor: Pod, running: readonly Pod[]): string[] {
  const missing = findShortages(context(preemptor, {}, running));
  assert.ok(missing.length > 0);
  return names(choosePreempted(preemptor, running, missing));
}

describe("choice of the preempted pods", () => {
  const wants = requesting({ cpu: "1" }, "new", critical);
  test("the pod that fits the need best", () => {
    const running = [requesting({ cpu: "1500m" }, "large"), requesting({ cpu: "500m" }, "small")];
    assert.deepEqual(chosen(requesting({ cpu: "500m" }, "new", critical), running), ["small"]);
    assert.deepEqual(chosen(wants, running), ["large"]);
  });
  test("burstable pods before guaranteed ones", () => {
    assert.deepEqual(chosen(wants, [guaranteed("1", "guaranteed"), requesting({ cpu: "1" }, "burstable")]), [
      "burstable",
    ]);
  });
  test("a best-effort pod when pods are too many", () => {
    const running = [apiPod({}, "idle"), ...["a", "b", "c", "d"].map((name) => requesting({ cpu: "1m" }, name))];
    assert.deepEqual(chosen(apiPod(critical, "new"), running), ["idle"]);
  });
  test("a smaller pod, if two free as much of the missing amount", () => {
    const running = [requesting({ cpu: "1", memory: "2Gi" }, "fat"), requesting({ cpu: "1", memory: "1Gi" }, "lean")];
    assert.deepEqual(chosen(wants, running), ["lean"]);
  });
  test("never a critical or static pod, never one of the same priority", () => {
    const running = [requesting({ cpu: "2" }, "critical", critical)];
    const missing = findShortages(context(wants, {}, running));
    assert.throws(() => choosePreempted(wants, running, missing), {
      name: "OperatorError",
      message: /no set of running pods found to reclaim resources: \[\(res: cpu, q: 1000\), \]$/,
    });
  });
  test("a critical pod of lower priority gives way to a higher one", () => {
    const node = requesting({ cpu: "1" }, "new", { priority: 2_000_001_000 });
    assert.deepEqual(chosen(node, [requesting({ cpu: "2" }, "cluster", critical)]), ["cluster"]);
  });
});

test("the chosen pods are enough, and none of them can be left out", () => {
  const anyPod = fc.record({
    cpu: fc.nat(900),
    memory: fc.nat(2000),
    whole: fc.boolean(),
    priority: fc.constantFrom(0, 5, 2_000_000_000),
  });
  fc.assert(
    fc.property(fc.array(anyPod, { maxLength: 5 }), fc.nat(2000), fc.nat(4000), (given, cpu, memory) => {
      const running = given.map((fields, index) => {
        const list = { cpu: `${fields.cpu}m`, memory: `${fields.memory}Mi` };
        const resources = { requests: list, ...(fields.whole && { limits: list }) };
        return apiPod({ containers: [container("app", { resources })], priority: fields.priority }, `p${index}`);
      });
      const preemptor = requesting({ cpu: `${cpu}m`, memory: `${memory}Mi` }, "new", critical);
      const missing = findShortages(context(preemptor, {}, running));
      if (missing.length === 0) return;
      let victims: Pod[];
      try {
        victims = choosePreempted(preemptor, running, missing);
      } catch (error) {
        assert.ok(error instanceof Error && error.name === "OperatorError");
        const staying = running.filter((pod) => pod.spec.priority === critical.priority);
        assert.ok(findShortages(context(preemptor, {}, staying)).length > 0, "all that may go would have been enough");
        return;
      }
      const left = (gone: readonly Pod[]): Pod[] => running.filter((pod) => !gone.includes(pod));
      assert.ok(victims.every((pod) => pod.spec.priority !== critical.priority));
      assert.deepEqual(findShortages(context(preemptor, {}, left(victims))), []);
      for (const spared of victims) {
        const fewer = victims.filter((pod) => pod !== spared);
        assert.ok(
          findShortages(context(preemptor, {}, left(fewer))).length > 0,
          `${spared.metadata.name} died for nothing`,
        );
      }
    }),
    { numRuns: 500 },
  );
});

describe("the node's admission", () => {
  function build(fail: (uid: string) => Promise<void> = () => Promise.resolve()) {
    const failed: string[] = [];
    const counted: string[] = [];
    const admission = new NodeAdmission({
      apiStatus: () => undefined,
      node: () => Promise.resolve(admissionNode()),
      events: noEvents,
      log: keptLog().log,
      fail: async (uid, { reason }) => {
        failed.push(`${uid} ${reason}`);
        await fail(uid);
      },
      counters: {
        rejected: (reason) => counted.push(`rejected ${reason}`),
        preempted: (resource) => counted.push(`preempted ${resource}`),
      },
    });
    const admit = (pod: Pod) => admission.admit(pod, new AbortController().signal, alone);
    return { admission, admit, failed, counted };
  }

  test("counts admitted pods until they terminate", async () => {
    const { admission, admit, counted } = build();
    assert.deepEqual(await admit(requesting({ cpu: "2" }, "first")), { admit: true });
    const second = requesting({ cpu: "1" }, "second");
    const refused = await admit(second);
    assert.ok(!refused.admit);
    assert.equal(refused.reason, "OutOfcpu");
    assert.deepEqual(counted, ["rejected OutOfcpu"]);
    admission.release(podUid("uid-first"));
    assert.deepEqual(await admit(second), { admit: true });
  });

  test("makes room for a critical pod, and waits until it is there", async () => {
    let gone = (): void => undefined;
    const { admit, failed, counted } = build(
      () =>
        new Promise((resolve) => {
          gone = resolve;
        }),
    );
    await admit(requesting({ cpu: "2" }, "low"));
    let admitted = false;
    const answer = admit(requesting({ cpu: "1" }, "new", critical)).then((verdict) => {
      admitted = true;
      return verdict;
    });
    await new Promise(setImmediate);
    assert.deepEqual([failed, admitted], [["uid-low Preempting"], false]);
    gone();
    assert.deepEqual(await answer, { admit: true });
    assert.deepEqual(counted, ["preempted cpu"]);
  });

  test("a critical pod that finds no room is refused with the reason", async () => {
    const { admit } = build();
    await admit(requesting({ cpu: "2" }, "first", critical));
    assert.deepEqual(await admit(requesting({ cpu: "1" }, "new", critical)), {
      admit: false,
      reason: "UnexpectedAdmissionError",
      message:
        "Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods " +
        "to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]; " +
        "Node didn't have enough resource: cpu, requested: 1000, used: 2000, capacity: 2000",
    });
  });

  test("no pod is preempted for a pod that does not belong here", async () => {
    const { admit, failed } = build();
    await admit(requesting({ cpu: "2" }, "low"));
    const refused = await admit(requesting({ cpu: "1" }, "new", { ...critical, nodeSelector: { zone: "b" } }));
    assert.ok(!refused.admit);
    assert.deepEqual([refused.reason, failed], ["NodeAffinity", []]);
  });

  test("a victim that can't be ended keeps the critical pod out", async () => {
    const { admit } = build(() => Promise.reject(new Error("the runtime is away")));
    await admit(requesting({ cpu: "2" }, "low"));
    const refused = await admit(requesting({ cpu: "1" }, "new", critical));
    assert.ok(!refused.admit);
    assert.equal(refused.reason, "OutOfcpu");
  });
});
