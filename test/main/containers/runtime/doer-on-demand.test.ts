// A doer is made for the first step of a pod, and dropped when the pod has ended and no hook of it runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DoerOnDemand } from "../../../../src/main/containers/runtime/doer-on-demand.js";
import type { Doer } from "../../../../src/main/containers/runtime/doer.js";
import type { ObservedPod } from "../../../../src/shared/kubernetes/cri/observed-pod.js";

function build() {
  const seen: string[] = [];
  const doers: { isIdle: boolean }[] = [];
  const make = (): Doer => {
    const name = `doer ${doers.length}`;
    const state = { isIdle: true };
    doers.push(state);
    const made = {
      execute: () => Promise.resolve([]),
      onObserved: () => void seen.push(name),
      stop: () => Promise.resolve(void seen.push(`${name} stopped`)),
      get isIdle() {
        return state.isIdle;
      },
    };
    return made as unknown as Doer;
  };
  const doer = new DoerOnDemand(make, () => void seen.push("no doer"));
  const step = (): Promise<unknown> => doer.execute(undefined, { kind: "release" }, new AbortController().signal);
  return { doer, doers, seen, step };
}
const OBSERVED = {} as ObservedPod;

test("an observation makes no doer, a step makes one, and rest drops it", async () => {
  const { doer, doers, seen, step } = build();
  doer.onObserved(OBSERVED);
  await step();
  await step();
  doer.onObserved(OBSERVED);
  doer.rest();
  doer.onObserved(OBSERVED);
  await step();
  doer.onObserved(OBSERVED);
  assert.deepEqual(seen, ["no doer", "doer 0", "no doer", "doer 1"]);
  assert.equal(doers.length, 2);
});

test("a doer with a hook under way stays, and the kubelet's stop ends the hook", async () => {
  const { doer, doers, seen, step } = build();
  await step();
  for (const state of doers) state.isIdle = false;
  doer.rest();
  await doer.stop();
  assert.deepEqual(seen, ["doer 0 stopped"]);
});
