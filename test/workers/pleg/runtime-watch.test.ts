// Which runtime states count as the same, and how soon the next question is asked.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RuntimeState } from "../../../src/shared/contracts/pleg.js";
import { StatusResponse, VersionResponse } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { askRuntime, nextAskMs, sameRuntimeState } from "../../../src/workers/pleg/runtime-watch.js";

const up: RuntimeState = {
  reachable: true,
  runtimeReady: true,
  networkReady: true,
  name: "fake",
  version: "1",
  events: false,
  message: "",
};
const down: RuntimeState = { ...up, reachable: false, runtimeReady: false, networkReady: false, message: "attempt 1" };

const rows: [string, RuntimeState, RuntimeState, boolean][] = [
  ["nothing changed", up, { ...up }, true],
  ["an absence told in other words", down, { ...down, message: "attempt 2" }, true],
  ["another reason of a runtime that answers", up, { ...up, message: "NetworkReady: no CNI" }, false],
  ["gone", up, { ...up, reachable: false }, false],
  ["not ready", up, { ...up, runtimeReady: false }, false],
  ["without network", up, { ...up, networkReady: false }, false],
  ["another version after a restart", up, { ...up, version: "2" }, false],
  ["with events", up, { ...up, events: true }, false],
];
for (const [what, a, b, same] of rows) {
  test(`${what}: ${same ? "the same" : "reported"}`, () => {
    assert.equal(sameRuntimeState(a, b), same);
  });
}

test("a runtime that is unreachable or not ready is called five times a second, a ready one at its period", () => {
  assert.equal(nextAskMs(up, 5000), 5000);
  assert.equal(nextAskMs(down, 5000), 200);
  assert.equal(nextAskMs({ ...up, networkReady: false }, 5000), 200);
  assert.equal(nextAskMs(down, 100), 100);
});

test("names, conditions and handlers of a runtime without measure are bounded before they leave the thread", async () => {
  const long = "x".repeat(8 * 1024 * 1024);
  const handlers = Array.from({ length: 100_000 }, (_, index) => ({ name: `h${index}` }));
  const state = await askRuntime(
    {
      version: () =>
        Promise.resolve(VersionResponse.fromPartial({ runtimeName: `${long}containerd`, runtimeVersion: long })),
      status: () =>
        Promise.resolve(
          StatusResponse.fromPartial({
            status: { conditions: [{ type: "RuntimeReady", status: false, reason: long, message: long }] },
            runtimeHandlers: [{ name: long }, ...handlers],
          }),
        ),
    },
    1000,
    false,
  );
  assert.ok(state.reachable);
  assert.deepEqual([state.name.length, state.version.length, state.message.length], [256, 256, 4096]);
  assert.deepEqual([state.details?.handlers.length, state.details?.handlers[0]?.name], [256, "h0"]);
  const { reason, message } = state.details?.runtimeReady ?? {};
  assert.deepEqual([reason?.length, message?.length], [256, 4096]);
});
