// Admission while a pod waits for a device plugin, or for pods that end for it: the others pass, and nothing is
// promised twice.
// @promise Resources of the node: A device plugin that hangs delays the admission of pods that need its devices, and of
//   no others; what a waiting pod requests is reserved for it.
// @with test/main/resources/devices/waiting-pods.test.ts, test/integration/hung-device-plugin.test.ts

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Refusal } from "../../../../src/main/model/refusal.js";
import { AdmissionQueue } from "../../../../src/main/pods/admission/admission-queue.js";
import { NodeAdmission } from "../../../../src/main/pods/admission/node-admission.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { noEvents } from "../../../support/silent.js";
import { keptLog } from "../../../support/sources-kit.js";
import { hang, settle } from "../../../support/sync-kit.js";
import { admissionNode, requesting } from "./kit.js";

const PLUGIN_FAILED: Refusal = { reason: "UnexpectedAdmissionError", message: "the plugin failed" };

/** Pods whose names begin with "gpu" wait for a plugin that is answered by hand. */
function build() {
  const plugin = new Map<string, (refusal: Refusal | undefined) => void>();
  const ends = new Map<string, () => void>();
  const held = new Set<string>();
  const failed: string[] = [];
  const queue = new AdmissionQueue(
    new NodeAdmission({
      apiStatus: () => undefined,
      node: () => Promise.resolve(admissionNode()),
      events: noEvents,
      log: keptLog().log,
      fail: (uid) => {
        failed.push(uid);
        return new Promise((resolve) => ends.set(uid, resolve));
      },
      counters: { rejected: () => undefined, preempted: () => undefined },
      managers: {
        admit: ({ metadata }) => {
          held.add(metadata.uid);
          return Promise.resolve(undefined);
        },
        awaitsPlugin: (uid) => uid.startsWith("uid-gpu"),
        finish: ({ metadata }, signal) => {
          const answered = new Promise<Refusal | undefined>((resolve) => plugin.set(metadata.name, resolve));
          return Promise.race([answered, hang(signal)]);
        },
        refused: (uid) => void held.delete(uid),
        release: (uid) => void held.delete(uid),
      },
    }),
  );
  const verdicts = new Map<string, boolean | string>();
  const ask = async (pod: Pod, signal = new AbortController().signal): Promise<void> => {
    queue.admit(pod, signal).then(
      (verdict) => verdicts.set(pod.metadata.name, verdict.admit || verdict.reason),
      (error: unknown) => verdicts.set(pod.metadata.name, String(error)),
    );
    await settle();
  };
  const answer = async (name: string, refusal?: Refusal): Promise<void> => {
    plugin.get(name)?.(refusal);
    await settle();
  };
  const end = async (uid: string): Promise<void> => {
    ends.get(uid)?.();
    await settle();
  };
  return { queue, ask, answer, end, verdicts, held, failed };
}

const cpu = (name: string, count: string): Pod => requesting({ cpu: count }, name);

describe("a pod that waits for a plugin", () => {
  test("lets others pass, in their order, and is admitted when the plugin agrees", async () => {
    const { ask, answer, verdicts } = build();
    await ask(cpu("gpu", "500m"));
    await ask(cpu("a", "500m"));
    await ask(cpu("b", "500m"));
    assert.deepEqual(
      [...verdicts],
      [
        ["a", true],
        ["b", true],
      ],
    );
    await answer("gpu");
    assert.equal(verdicts.get("gpu"), true);
  });

  test("keeps what it requests: a pod that fits only without it waits for its verdict, and is not rejected early", async () => {
    const { ask, answer, verdicts } = build();
    await ask(cpu("gpu", "1500m"));
    await ask(cpu("large", "1"));
    await ask(cpu("small", "500m"));
    assert.deepEqual([...verdicts], [["small", true]]);
    await answer("gpu");
    assert.deepEqual([verdicts.get("gpu"), verdicts.get("large")], [true, "OutOfcpu"]);
  });

  test("leaves its room to a pod behind it when the plugin refuses", async () => {
    const { ask, answer, verdicts, held } = build();
    await ask(cpu("gpu", "2"));
    await ask(cpu("next", "2"));
    assert.equal(verdicts.size, 0);
    await answer("gpu", PLUGIN_FAILED);
    assert.deepEqual([verdicts.get("gpu"), verdicts.get("next")], ["UnexpectedAdmissionError", true]);
    assert.deepEqual([...held], ["uid-next"]);
  });

  test("does not keep a pod that could never fit from being rejected at once", async () => {
    const { ask, verdicts } = build();
    await ask(cpu("gpu", "1"));
    await ask(cpu("huge", "9"));
    assert.equal(verdicts.get("huge"), "OutOfcpu");
  });

  test("reserves nothing if it does not fit itself: the plugin is not called", async () => {
    const { ask, verdicts, held } = build();
    await ask(cpu("gpu", "9"));
    await ask(cpu("a", "2"));
    assert.deepEqual([verdicts.get("gpu"), verdicts.get("a")], ["OutOfcpu", true]);
    assert.deepEqual([...held], ["uid-a"]);
  });

  test("gives everything back when it is removed, by its caller or after a restart", async () => {
    const { queue, ask, verdicts, held } = build();
    const removed = new AbortController();
    await ask(cpu("gpu", "2"), removed.signal);
    removed.abort(new Error("removed"));
    await settle();
    assert.deepEqual([...held], []);
    queue.restore([cpu("gpu-2", "2")]);
    await settle();
    assert.deepEqual([...held], ["uid-gpu-2"]);
    queue.forget(podUid("uid-gpu-2"));
    await settle();
    assert.deepEqual([...held], []);
    await ask(cpu("next", "2"));
    assert.equal(verdicts.get("next"), true);
  });

  test("is admitted anew under its UID only after its given-up admission has given back what it held", async () => {
    const { queue, ask, answer, verdicts, held } = build();
    await ask(cpu("gpu", "2"));
    queue.forget(podUid("uid-gpu"));
    await ask(cpu("gpu", "2"));
    assert.deepEqual([...held], ["uid-gpu"]);
    await answer("gpu");
    assert.equal(verdicts.get("gpu"), true);
    assert.deepEqual([...held], ["uid-gpu"]);
  });
});

describe("a critical pod that waits until the pods before it have ended", () => {
  const critical = (name: string, count: string): Pod =>
    requesting({ cpu: count }, name, { priority: 2_000_001_000, priorityClassName: "system-node-critical" });

  test("lets others pass, and two critical pods end no pod twice", async () => {
    const { ask, end, verdicts, failed } = build();
    await ask(cpu("a", "500m"));
    await ask(cpu("b", "1"));
    await ask(critical("first", "1"));
    assert.deepEqual(failed, ["uid-a"]);
    await ask(cpu("tiny", "0"));
    assert.equal(verdicts.get("tiny"), true);
    await ask(critical("second", "1"));
    assert.equal(verdicts.get("second"), undefined);
    assert.deepEqual(failed, ["uid-a", "uid-b"]);
    await end("uid-a");
    assert.equal(verdicts.get("first"), true);
    await end("uid-b");
    assert.equal(verdicts.get("second"), true);
    assert.deepEqual(failed, ["uid-a", "uid-b"]);
  });
});
