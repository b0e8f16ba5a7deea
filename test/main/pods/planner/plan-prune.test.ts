// Which dead containers a living pod gives up: what tells how the last run of a container ended stays.
// @promise Pods: A failed start does not replace the container with the record of the last run.
// @with test/main/pods/collection/dead-containers.test.ts

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pruneSteps } from "../../../../src/main/pods/planner/prune-steps.js";
import { ContainerState, ContainerStatus } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { observedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";

const { CONTAINER_CREATED: CREATED, CONTAINER_EXITED: EXITED, CONTAINER_RUNNING: RUNNING } = ContainerState;

/** `exited 45` and the like, newest first, all of one name; the id is the text. */
function removed(...texts: string[]): string[] {
  const containers = texts.map((text, index) => {
    const state = { running: RUNNING, created: CREATED }[text.split(" ")[0] ?? ""] ?? EXITED;
    const reason = text === "failed start" ? "StartError" : "";
    return observedContainer(
      ContainerStatus.fromPartial({
        ...{ id: text, metadata: { name: "app" }, state, reason },
        createdAt: BigInt(texts.length - index),
      }),
    );
  });
  const steps = pruneSteps({
    ...{ uid: podUid("u"), namespace: "default", name: "p", sandboxes: [], generation: 1, observedAt: 0 },
    containers,
  });
  return steps.flatMap((step) => (step.kind === "remove-container" ? [step.containerId] : []));
}

/** The restart counts of the runs whose logs go; each number is an exited container, newest first. */
function logsGone(...counts: number[]): (number | undefined)[] {
  const containers = counts.map((count, index) =>
    observedContainer(
      ContainerStatus.fromPartial({
        ...{ id: `c${index}`, metadata: { name: "app", attempt: count }, state: EXITED },
        createdAt: BigInt(counts.length - index),
      }),
    ),
  );
  const steps = pruneSteps({
    ...{ uid: podUid("u"), namespace: "default", name: "p", sandboxes: [], generation: 1, observedAt: 0 },
    containers,
  });
  return steps.flatMap((step) => (step.kind === "remove-container" ? [step.logsOfRun] : []));
}

describe("logs of dead containers", () => {
  test("the logs of a removed run go with its container", () => assert.deepEqual(logsGone(7, 6, 5), [6, 5]));

  test("a log file that a kept run shares stays", () => assert.deepEqual(logsGone(7, 7, 5), [undefined, 5]));
});

describe("dead containers of a name", () => {
  const table: [what: string, seen: string[], goes: string[]][] = [
    ["the newest stays", ["running", "exited 2", "exited 1"], ["exited 1"]],
    ["one that was never started goes", ["running", "created", "exited 1"], ["created"]],
    ["one that was never started stays until the next one is there", ["created"], []],
    ["of those that were never started the newest stays", ["created 2", "created 1"], ["created 1"]],
    ["one that was never started goes beside what ran", ["created", "exited 1"], ["created"]],
    ["a failed start goes before what ran", ["running", "failed start", "exited 45"], ["failed start"]],
    ["a failed start stays when nothing ran", ["running", "failed start"], []],
    ["a failed start that is the newest stays beside what ran", ["failed start", "exited 45"], []],
  ];
  for (const [what, seen, goes] of table) test(what, () => assert.deepEqual(removed(...seen), goes));
});
