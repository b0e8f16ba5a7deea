// The state of a pod in lists: `nodelet status`, `pods` and the page never call a pod well that `nodelet why` calls
// broken.

import { deepEqual, doesNotMatch, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Client } from "../../../src/cli/client.js";
import { statusCommand } from "../../../src/cli/commands/status.js";
import { explain } from "../../../src/cli/why/explain.js";
import type { WhyInput } from "../../../src/cli/why/input.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import type { PodFacts } from "../../../src/shared/contracts/nodelet.js";
import { containerIdOf } from "../../../src/shared/kubernetes/identifiers.js";
import { ago, containerStatus, facts, input, node, NOW, PLAIN, pod, RUNTIME, seen } from "../kit.js";

const ended = (exitCode: number) => ({
  ...{ exitCode, reason: exitCode === 0 ? "Completed" : "Error", startedAt: ago(40), finishedAt: ago(20) },
  containerID: "containerd://old",
});
const app = { name: "app", livenessProbe: { tcpSocket: { port: 80 } } };
const runs = (lastState: object = {}) =>
  pod(
    {
      phase: "Running",
      containerStatuses: [
        containerStatus(
          { running: { startedAt: ago(10) } },
          { ready: true, started: true, lastState, restartCount: 1, containerID: "containerd://new" },
        ),
      ],
    },
    { containers: [app] },
  );
const completed = pod(
  { phase: "Succeeded", containerStatuses: [containerStatus({ terminated: ended(0) })] },
  { containers: [app] },
);
const answers = [{ text: "dial tcp: connection refused", count: 3 }];
const probe = { container: "app", probe: "liveness", lastAt: NOW - 1000, inARow: 3, answers } as const;
const killed = facts({ probeKills: [{ ...probe, containerId: containerIdOf("old"), kills: 1 }] });
const failing = facts({ probesFailing: [{ ...probe, containerId: containerIdOf("new") }] });
const volume = { name: "data", plugin: "config-map", mounted: true, lastError: "cannot refresh" };
const down = node({ runtime: { ...RUNTIME, reachable: false } });

const ROWS: Record<string, { input: Partial<WhyInput> & Pick<WhyInput, "pod">; word: string; well: boolean }> = {
  "a pod that runs and is ready": { input: { pod: runs() }, word: "Running", well: true },
  "a pod whose container crashed and runs again": {
    input: { pod: runs({ terminated: ended(1) }) },
    word: "Restarting",
    well: false,
  },
  "a pod that a probe stopped and that runs again": {
    input: { pod: runs({ terminated: ended(0) }), facts: killed },
    word: "Restarting",
    well: false,
  },
  "a pod with a failing liveness probe": { input: { pod: runs(), facts: failing }, word: "Unhealthy", well: false },
  "a pod with a volume that fails": {
    input: { pod: runs(), facts: facts({ volumes: [volume] }) },
    word: "Unhealthy",
    well: false,
  },
  "a pod that terminates": {
    input: { pod: runs(), facts: facts({ worker: "terminating" }) },
    word: "Terminating",
    well: false,
  },
  "a pod that a probe ended": { input: { pod: completed, facts: killed }, word: "Stopped", well: false },
  "a pod that has completed": { input: { pod: completed }, word: "Completed", well: true },
  "a pod above a runtime that does not respond": { input: { pod: runs(), node: down }, word: "Running", well: true },
};

describe("the lists show", () => {
  for (const [name, row] of Object.entries(ROWS)) {
    test(name, () => {
      const one = seen(row.input.pod, row.input);
      equal(one.state.word, row.word);
      equal(one.state.fine, row.well);
      equal(one.explainedAsFine, explain(input(row.input), undefined).fine);
      if (row.well) equal(one.finding, undefined);
    });
  }
});

/** Answers as a kubelet with one pod. */
function kubelet(known: PodFacts): Client {
  const one = runs({ terminated: ended(0) });
  const bodies: Record<string, unknown> = {
    "/nodelet/status": node(),
    "/pods": { items: [one] },
    "/nodelet/pod-facts": { [one.metadata.uid]: known },
    "/nodelet/events": { items: [] },
  };
  return { json: (path: string) => Promise.resolve(bodies[path]) } as unknown as Client;
}

async function statusOf(known: PodFacts): Promise<{ code: number; text: string }> {
  let text = "";
  const context = {
    ...PLAIN,
    client: kubelet(known),
    clock: systemClock,
    write: (part: string) => void (text += part),
  };
  return { code: await statusCommand(context), text };
}

test("status names a pod that runs again after a stop by its probe, with the cause, and exits with 1", async () => {
  const { code, text } = await statusOf(killed);
  equal(code, 1);
  doesNotMatch(text, /nothing is wrong/);
  match(
    text,
    /^pod: default\/web is Restarting: nodelet why default\/web\n +container app: its liveness probe TCP port 80 /m,
  );
  match(text, /^pods +1: 1 Restarting$/m);
});

test("status is quiet about a container that the kubelet itself restarted", async () => {
  const { code, text } = await statusOf(
    facts({ stops: [{ containerId: containerIdOf("old"), reason: "its definition changed" }] }),
  );
  deepEqual([code, /^nothing is wrong$/m.test(text)], [0, true]);
});
