// The pod CIDR of a stand-alone node on its way to the runtime.

import assert from "node:assert/strict";
import { test } from "node:test";
import { startPodCidr } from "../../../../src/main/containers/runtime/pod-cidr.js";
import { keptLog, until } from "../../../support/sources-kit.js";

type Update = Parameters<typeof startPodCidr>[1]["cri"]["updateRuntimeConfig"];

function world(answers: readonly (Error | undefined)[]) {
  const asked: (string | undefined)[] = [];
  const waits: number[] = [];
  const updateRuntimeConfig: Update = (request) => {
    const answer = answers[asked.length];
    asked.push(request.runtimeConfig?.networkConfig?.podCidr);
    return answer === undefined ? Promise.resolve({}) : Promise.reject(answer);
  };
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  const parts = { cri: { updateRuntimeConfig }, clock: { sleep }, log: keptLog().log };
  return { asked, waits, parts };
}

test("the runtime gets the CIDR once; a failed call is repeated with growing pauses", async () => {
  const { asked, waits, parts } = world([new Error("no runtime"), new Error("no runtime"), undefined]);
  const cidr = startPodCidr("10.9.0.0/16", parts);
  await until("three calls", () => asked.length === 3);
  await cidr.stop();
  assert.deepEqual(asked, ["10.9.0.0/16", "10.9.0.0/16", "10.9.0.0/16"]);
  assert.deepEqual(waits, [500, 1000]);
});

test("without a CIDR the runtime is not called", async () => {
  const { asked, parts } = world([]);
  await startPodCidr("", parts).stop();
  assert.deepEqual(asked, []);
});
