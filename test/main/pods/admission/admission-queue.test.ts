// The order in which pods are asked for, and what becomes of those that give up.
// @promise Resources of the node: Pods are admitted in the order of arrival, those of the previous process first; no
//   running pod waits for a new one.
// @with test/main/pods/sync/pod-workers.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { AdmissionQueue } from "../../../../src/main/pods/admission/admission-queue.js";
import type { AdmissionVerdict } from "../../../../src/main/pods/admission/verdict.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { hang, settle } from "../../../support/sync-kit.js";

const never = (): AbortSignal => new AbortController().signal;
const [a, b, c] = [pod({}, "a"), pod({}, "b"), pod({}, "c")];

/** Admission that is answered by hand. */
function build() {
  const asked: string[] = [];
  const answers = new Map<string, (verdict: AdmissionVerdict | Error) => void>();
  const holders = new Set<string>();
  const queue = new AdmissionQueue({
    release: (uid) => void holders.delete(uid.replace("uid-", "")),
    admit: (one: Pod, signal) => {
      const { name } = one.metadata;
      asked.push(name);
      const answered = new Promise<AdmissionVerdict>((resolve, reject) => {
        answers.set(name, (verdict) => (verdict instanceof Error ? reject(verdict) : resolve(verdict)));
      });
      return Promise.race([answered, hang(signal)]).then((verdict) => {
        if (verdict.admit) holders.add(name);
        return verdict;
      });
    },
  });
  const answer = async (name: string, verdict: AdmissionVerdict | Error = { admit: true }): Promise<void> => {
    answers.get(name)?.(verdict);
    await settle();
  };
  const names = (): string[] => [...holders];
  return { queue, asked, answer, names };
}

test("one after the other, in the order in which they came", async () => {
  const { queue, asked, answer, names } = build();
  const verdicts = [a, b, c].map((one) => queue.admit(one, never()));
  await settle();
  assert.deepEqual(asked, ["a"]);
  await answer("a");
  assert.deepEqual(asked, ["a", "b"]);
  await answer("b", { admit: false, reason: "OutOfpods", message: "full" });
  await answer("c");
  assert.deepEqual(
    (await Promise.all(verdicts)).map(({ admit }) => admit),
    [true, false, true],
  );
  assert.deepEqual(names(), ["a", "c"]);
  queue.forget(podUid("uid-a"));
  assert.deepEqual(names(), ["c"]);
});

test("pods of an earlier kubelet are admitted first, in their old order, and once", async () => {
  const { queue, asked, answer, names } = build();
  queue.restore([b, a]);
  const late = queue.admit(c, never());
  await settle();
  for (const name of ["b", "a", "c"]) await answer(name);
  assert.deepEqual(asked, ["b", "a", "c"]);
  assert.deepEqual(names(), ["b", "a", "c"], "they keep their allocations before their sources report them");
  assert.deepEqual(await queue.admit(a, never()), { admit: true });
  assert.deepEqual(await late, { admit: true });
  assert.equal(asked.length, 3);
});

test("a caller that gives up gets its result at once, its pod is not admitted, and no other pod waits", async () => {
  const { queue, asked, answer, names } = build();
  const [first, second] = [new AbortController(), new AbortController()];
  const given = [queue.admit(a, first.signal), queue.admit(b, second.signal)].map((verdict) =>
    assert.rejects(verdict, /removed/),
  );
  const last = queue.admit(c, never());
  await settle();
  second.abort(new Error("removed"));
  first.abort(new Error("removed"));
  await Promise.all(given);
  await settle();
  await answer("c");
  assert.deepEqual(await last, { admit: true });
  assert.deepEqual(asked, ["a", "c"]);
  assert.deepEqual(names(), ["c"]);
});

test("an error rejects only its own pod, which may be admitted again", async () => {
  const { queue, asked, answer } = build();
  queue.restore([a]);
  await settle();
  await answer("a", new Error("no node"));
  await assert.rejects(queue.admit(a, never()), /no node/);
  const again = queue.admit(a, never());
  await settle();
  await answer("a");
  assert.deepEqual(await again, { admit: true });
  assert.deepEqual(asked, ["a", "a"]);
});

test("stop aborts admissions that were requested ahead", async () => {
  const { queue, asked, names } = build();
  queue.restore([a, b]);
  await settle();
  queue.stop();
  await settle();
  assert.deepEqual(asked, ["a"]);
  assert.deepEqual(names(), []);
});

test("resources granted to a pod that has given up are released", async () => {
  const released: string[] = [];
  let give: (verdict: AdmissionVerdict) => void = () => undefined;
  const queue = new AdmissionQueue({
    admit: () => new Promise((resolve) => (give = resolve)),
    release: (uid) => released.push(uid),
  });
  const removed = new AbortController();
  const verdict = assert.rejects(queue.admit(a, removed.signal), /removed/);
  await settle();
  removed.abort(new Error("removed"));
  await verdict;
  give({ admit: true });
  await settle();
  assert.deepEqual(released, ["uid-a"]);
});

test("a stop of the kubelet during an admission takes nothing from the pod: the next kubelet finds it", async () => {
  const { queue, answer, names } = build();
  queue.restore([a]);
  await settle();
  const answered = answer("a");
  queue.stop();
  await answered;
  assert.deepEqual(names(), ["a"]);
});
