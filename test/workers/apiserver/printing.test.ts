// The rows that the API server of the tests makes for kubectl: as the real one prints pods and ages.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiObject, Fields } from "../../../src/workers/apiserver/objects/object.js";
import { ageOf } from "../../../src/workers/apiserver/printing/age.js";
import { podSummary } from "../../../src/workers/apiserver/printing/pod-summary.js";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

for (const [seconds, text] of [
  [0, "0s"],
  [119, "119s"],
  [120, "2m"],
  [125, "2m5s"],
  [599, "9m59s"],
  [600, "10m"],
  [3 * 3600 - 1, "179m"],
  [3 * 3600, "3h"],
  [3 * 3600 + 300, "3h5m"],
  [8 * 3600 + 300, "8h"],
  [47 * 3600, "47h"],
  [48 * 3600 + 3600, "2d1h"],
  [8 * 86_400 + 3600, "8d"],
  [2 * 365 * 86_400 + 86_400, "2y1d"],
  [9 * 365 * 86_400, "9y"],
] as const) {
  test(`an age of ${seconds} s is printed as ${text}`, () => assert.equal(ageOf(ago(seconds), NOW), text));
}

test("an age that is missing or lies in the future is said to be so", () => {
  assert.equal(ageOf(undefined, NOW), "<unknown>");
  assert.equal(ageOf(ago(-60), NOW), "<invalid>");
});

const running = { running: { startedAt: ago(60) } };
const waiting = (reason: string): Fields => ({ waiting: { reason } });
const ended = (exitCode: number, reason?: string): Fields => ({ terminated: { exitCode, ...(reason && { reason }) } });
const container = (name: string, state: Fields, more: Fields = {}): Fields => ({
  ...{ name, state, ready: "running" in state, restartCount: 0 },
  ...more,
});

function pod(status: Fields, { spec = {}, metadata = {} }: { spec?: Fields; metadata?: Fields } = {}): ApiObject {
  return {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p", ...metadata } },
    ...{ spec: { containers: [{ name: "a" }, { name: "b" }], ...spec }, status: { phase: "Running", ...status } },
  };
}

const both = (one: Fields, other: Fields): Fields => ({
  containerStatuses: [container("a", one), container("b", other)],
});
const inits = { initContainers: [{ name: "i" }, { name: "s", restartPolicy: "Always" }] };

for (const [what, shown, ready, reason] of [
  ["runs", pod(both(running, running)), "2/2", "Running"],
  ["pulls an image", pod(both(running, waiting("ImagePullBackOff"))), "1/2", "ImagePullBackOff"],
  ["has completed in part", pod(both(running, ended(0, "Completed"))), "1/2", "NotReady"],
  ["has two reasons, the first counts", pod(both(waiting("One"), waiting("Two"))), "0/2", "One"],
  ["ended without a reason", pod(both(ended(3), ended(3))), "0/2", "ExitCode:3"],
  ["was evicted", pod({ phase: "Failed", reason: "Evicted" }), "0/2", "Evicted"],
  ["is being deleted", pod(both(running, running), { metadata: { deletionTimestamp: ago(1) } }), "2/2", "Terminating"],
  [
    "has ended and is being deleted",
    pod(
      { phase: "Succeeded", ...both(ended(0, "Completed"), ended(0, "Completed")) },
      { metadata: { deletionTimestamp: ago(1) } },
    ),
    ...["0/2", "Completed"],
  ],
  [
    "waits for a gate",
    pod({ phase: "Pending", conditions: [{ type: "PodScheduled", reason: "SchedulingGated" }] }),
    "0/2",
    "SchedulingGated",
  ],
  [
    "initialises",
    pod({ phase: "Pending", initContainerStatuses: [container("i", running)] }, { spec: inits }),
    "0/3",
    "Init:0/2",
  ],
  [
    "has a failed init container",
    pod({ phase: "Pending", initContainerStatuses: [container("i", ended(1, "Error"))] }, { spec: inits }),
    ...["0/3", "Init:Error"],
  ],
  [
    "has a sidecar",
    pod(
      {
        initContainerStatuses: [container("i", ended(0, "Completed")), container("s", running, { started: true })],
        ...both(running, running),
      },
      { spec: inits },
    ),
    ...["3/3", "Running"],
  ],
] as [string, ApiObject, string, string][]) {
  test(`a pod that ${what} is ${ready} and ${reason}`, () => {
    const { ready: count, reason: why } = podSummary(shown, NOW);
    assert.deepEqual([count, why], [ready, reason]);
  });
}

test("restarts have the time of the last one", () => {
  const lastState = { terminated: { finishedAt: ago(30) } };
  const crashed = container("a", waiting("CrashLoopBackOff"), { restartCount: 4, lastState });
  assert.equal(podSummary(pod({ containerStatuses: [crashed] }), NOW).restarts, "4 (30s ago)");
  assert.equal(podSummary(pod(both(running, running)), NOW).restarts, "0");
});
