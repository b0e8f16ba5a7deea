// One colour per state: the command and the status page must not differ.

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { podTable } from "../../../src/cli/commands/pods.js";
import { painter } from "../../../src/cli/output/colour.js";
import { containerState, podTone } from "../../../src/cli/pods/tone.js";
import type { ContainerState } from "../../../src/shared/kubernetes/api/pod-status.js";
import { containerStatus, NOW, pod, RUNNING } from "../kit.js";

const waiting = (reason?: string): ContainerState => ({ waiting: reason === undefined ? {} : { reason } });
const exited = (exitCode: number, reason?: string): ContainerState => ({
  terminated: { exitCode, ...(reason !== undefined && { reason }) },
});

const ROWS: [ContainerState, { ready?: boolean }, word: string, tone: string][] = [
  [RUNNING, { ready: true }, "running", "good"],
  [RUNNING, {}, "running", "warn"],
  [waiting("ContainerCreating"), {}, "ContainerCreating", "warn"],
  [waiting("PodInitializing"), {}, "PodInitializing", "warn"],
  [waiting("CrashLoopBackOff"), {}, "CrashLoopBackOff", "bad"],
  [waiting("CreateContainerConfigError"), {}, "CreateContainerConfigError", "bad"],
  [waiting(), {}, "waiting", "warn"],
  [exited(0, "Completed"), {}, "exited 0 (Completed)", "good"],
  [exited(137, "OOMKilled"), {}, "exited 137 (OOMKilled)", "bad"],
];

test("a waiting, running or exited container has its word and colour", () => {
  for (const [state, fields, word, tone] of ROWS) {
    deepEqual(containerState(containerStatus(state, fields)), { word, tone });
  }
  deepEqual(containerState(undefined), { word: "waiting", tone: "warn" });
});

test("a pod has the colour of the container that holds it up", () => {
  for (const [state, fields, word, tone] of ROWS) {
    if (word === "waiting" || word.startsWith("exited")) continue;
    const one = pod({ phase: "Running", containerStatuses: [containerStatus(state, fields)] });
    equal(podTone(one), tone, word);
  }
  equal(podTone(pod({ phase: "Succeeded" })), "good");
  equal(podTone(pod({ phase: "Failed", reason: "Evicted" })), "bad");
});

test("the command prints a broken pod in red, and one on its way in yellow", () => {
  const podWith = (state: ContainerState) => pod({ phase: "Running", containerStatuses: [containerStatus(state)] });
  const table = (state: ContainerState) =>
    podTable({ paint: painter(true), format: "table", columns: 200 }, [podWith(state)], NOW);
  match(table(waiting("CrashLoopBackOff")), /\u001b\[31mCrashLoopBackOff/);
  match(table(waiting("ContainerCreating")), /\u001b\[33mContainerCreating/);
});
