// wipeSlices: deletes the slices of the node and driver, tries again, and ends with its signal.

import assert from "node:assert/strict";
import { test } from "node:test";
import { wipeSlices } from "../../../src/main/cluster/dra/slices.js";
import { ApiError } from "../../../src/shared/kubernetes/api/client/errors.js";
import type { ApiClient } from "../../../src/shared/kubernetes/api/client/port.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";

function build(failures: Error[]) {
  const clock = new SteppedClock();
  const calls: string[] = [];
  const client = {
    list: (_kind: unknown, { fieldSelector = "" }: { fieldSelector?: string }) => {
      calls.push(`list ${fieldSelector}`);
      const failure = failures.shift();
      if (failure !== undefined) return Promise.reject(failure);
      return Promise.resolve({ metadata: {}, items: [{ metadata: { name: "one" } }, { metadata: { name: "two" } }] });
    },
    delete: (_kind: unknown, { name }: { name: string }) => {
      calls.push(`delete ${name}`);
      return name === "one" ? Promise.reject(new ApiError(404, "NotFound", "gone")) : Promise.resolve();
    },
  } as unknown as Pick<ApiClient, "list" | "delete">;
  return { clock, calls, options: { nodeName: "n", client, clock, log: keptLog().log } };
}

test("the slices of the node's driver are deleted, including one that no longer exists", async () => {
  const { calls, options } = build([]);
  await wipeSlices(options, "gpu", new AbortController().signal);
  assert.deepEqual(calls, ["list spec.nodeName=n,spec.driver=gpu", "delete one", "delete two"]);
});

test("a failure is tried again after a while; a server without the API has none", async () => {
  const { calls, clock, options } = build([new Error("away"), new ApiError(404, "NotFound", "no such API")]);
  const wiped = wipeSlices(options, undefined, new AbortController().signal);
  await settle();
  assert.deepEqual(calls, ["list spec.nodeName=n"]);
  clock.step(1000);
  await wiped;
  assert.deepEqual(calls, ["list spec.nodeName=n", "list spec.nodeName=n"]);
});

test("it ends with its signal while it waits", async () => {
  const { calls, clock, options } = build([new Error("away"), new Error("away")]);
  const ending = new AbortController();
  const wiped = wipeSlices(options, undefined, ending.signal);
  await settle();
  ending.abort();
  await wiped;
  assert.deepEqual([calls.length, clock.pending], [1, 0]);
});
