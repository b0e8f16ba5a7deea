// The place of the resource managers among the admit handlers, and the release of a pod's resources when another
// handler rejects it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Refusal } from "../../../../src/main/model/refusal.js";
import { NodeAdmission } from "../../../../src/main/pods/admission/node-admission.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { noEvents } from "../../../support/silent.js";
import { keptLog } from "../../../support/sources-kit.js";
import { admissionNode, alone, apiPod, requesting } from "./kit.js";

function build(answer?: Refusal | Error) {
  const calls: string[] = [];
  const admission = new NodeAdmission({
    apiStatus: () => undefined,
    node: () => Promise.resolve(admissionNode()),
    events: noEvents,
    log: keptLog().log,
    fail: () => Promise.resolve(),
    counters: { rejected: (reason) => void calls.push(`rejected ${reason}`), preempted: () => undefined },
    managers: {
      admit: ({ metadata }) => {
        calls.push(`admit ${metadata.name}`);
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      awaitsPlugin: () => false,
      finish: () => Promise.reject(new Error("no plugin is awaited")),
      refused: (uid) => void calls.push(`refused ${uid}`),
      release: (uid) => void calls.push(`release ${uid}`),
    },
  });
  const admit = (pod: Pod) => admission.admit(pod, new AbortController().signal, alone);
  return { admission, admit, calls };
}

test("before the managers come pressure and sysctls, after them the fit", async () => {
  const { admit, calls } = build();
  const unsafe = { securityContext: { sysctls: [{ name: "kernel.sem", value: "1" }] } };
  assert.equal((await admit(apiPod(unsafe))).admit, false);
  assert.deepEqual(calls, ["rejected SysctlForbidden"]);
  calls.length = 0;
  assert.equal((await admit(requesting({ cpu: "9" }))).admit, false);
  assert.deepEqual(calls, ["admit web", "refused uid-web", "rejected OutOfcpu"]);
});

test("their refusal rejects the pod, and no further manager is called", async () => {
  const { admit, calls } = build({ reason: "TopologyAffinityError", message: "no place" });
  assert.deepEqual(await admit(requesting({ cpu: "9" })), {
    admit: false,
    reason: "TopologyAffinityError",
    message: "no place",
  });
  assert.deepEqual(calls, ["admit web", "rejected TopologyAffinityError"]);
});

test("an allocation stays until the pod is terminated; an error is no refusal", async () => {
  const { admission, admit, calls } = build();
  assert.deepEqual(await admit(apiPod()), { admit: true });
  admission.release(podUid("uid-web"));
  assert.deepEqual(calls, ["admit web", "release uid-web"]);
  await assert.rejects(build(new Error("called off")).admit(apiPod()), /called off/);
});
