// The rules of `nodelet why` about containers that ended, and may run again: probes that stopped them, crashes, the
// kubelet's own stops.

import { deepEqual, doesNotMatch, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { whyText } from "../../../src/cli/commands/why.js";
import { explain } from "../../../src/cli/why/explain.js";
import type { WhyInput } from "../../../src/cli/why/input.js";
import type { PodFacts, ProbeKillFacts } from "../../../src/shared/contracts/nodelet.js";
import type { ApiContainerStatus, PodStatus } from "../../../src/shared/kubernetes/api/pod-status.js";
import type { Container, PodSpec } from "../../../src/shared/kubernetes/api/pod.js";
import { containerIdOf } from "../../../src/shared/kubernetes/identifiers.js";
import { ago, containerStatus, event, facts, input, node, NOW, PLAIN, pod, timeline } from "../kit.js";

const MINUTE = 60;
const id = (name: string): string => `containerd://${name}`;
const ended = (exitCode: number, at: number, fields: object = {}) => ({
  terminated: {
    exitCode,
    reason: "Error",
    startedAt: ago(at + 20),
    finishedAt: ago(at),
    containerID: id("old"),
    ...fields,
  },
});
const runs = (since: number, fields: Partial<ApiContainerStatus> = {}) =>
  containerStatus(
    { running: { startedAt: ago(since) } },
    { ready: true, started: true, restartCount: 3, containerID: id("new"), ...fields },
  );
const loops = (fields: Partial<ApiContainerStatus>) =>
  containerStatus(
    { waiting: { reason: "CrashLoopBackOff", message: "back-off 40s restarting failed container=app" } },
    { restartCount: 3, ...fields },
  );
const kill = (fields: Partial<ProbeKillFacts> = {}): PodFacts =>
  facts({
    probeKills: [
      {
        ...{
          container: "app",
          probe: "liveness",
          containerId: containerIdOf("old"),
          kills: 3,
          lastAt: NOW - 12_000,
          inARow: 3,
        },
        answers: [{ text: "HTTP probe failed with statuscode: 404", count: 3 }],
        ...fields,
      },
    ],
  });
const LIVENESS = { livenessProbe: { httpGet: { path: "/healthz", port: 8080 } } };
const APP = { name: "app", image: "i", ...LIVENESS };

interface Row {
  status: ApiContainerStatus;
  facts?: PodFacts;
  container?: Partial<Container>;
  phase?: PodStatus["phase"];
  spec?: Partial<PodSpec>;
  rest?: Partial<WhyInput>;
  fine?: boolean;
  words: readonly RegExp[];
  never?: readonly RegExp[];
}

const ROWS: Record<string, Row> = {
  "a container that a probe killed and that runs again": {
    status: runs(10, { lastState: ended(137, 12) }),
    facts: kill(),
    words: [
      /is restarting: running and ready now, after 3 restarts/,
      /its liveness probe GET \/healthz on port 8080 answered 404, 3 times in a row; killed 3 times, last 12s ago\. It runs again/,
    ],
    never: [/another program/, /code 137/],
  },
  "a container that a probe is killing": {
    status: runs(60, { containerID: id("old") }),
    facts: kill({ kills: 1, lastAt: NOW - 1000 }),
    words: [/killed 1 time, last 1s ago\. The kubelet is stopping it/],
  },
  "a container in back-off that a probe killed, and that did not stop by itself": {
    status: loops({ lastState: ended(137, 12) }),
    facts: kill(),
    words: [
      /killed 3 times, last 12s ago\. The kubelet waits longer before each restart/,
      /tries again in 28s/,
      /did not stop within its grace period/,
    ],
    never: [/another program/, /it exited with code/],
  },
  "a container that a probe killed ten minutes ago is no finding any more": {
    status: runs(10 * MINUTE + 1, { lastState: ended(137, 10 * MINUTE + 5) }),
    facts: kill({ lastAt: NOW - 605_000 }),
    fine: true,
    words: [/is running and ready, after 3 restarts/, /its last run ended 10m ago: it exited with code 137/],
    never: [/probe/],
  },
  "a container that a long back-off kept waiting counts from its start": {
    status: runs(MINUTE, { lastState: ended(143, 12 * MINUTE) }),
    facts: kill({ lastAt: NOW - 12 * MINUTE * 1000 }),
    words: [/killed 3 times, last 12m ago/],
  },
  "a stop by a probe before another crash: both are named": {
    status: runs(5, { lastState: ended(9, 8, { containerID: id("later") }) }),
    facts: kill(),
    words: [/liveness probe GET/, /it runs again after its last run ended 8s ago: it exited with code 9/],
  },
  "different answers of a probe": {
    status: runs(5, { lastState: ended(0, 12) }),
    facts: kill({
      answers: [
        { text: "HTTP probe failed with statuscode: 500", count: 1 },
        { text: 'Get "http://10.0.0.1": connection refused', count: 2 },
      ],
    }),
    words: [
      /answered 500, then was refused \(connection refused\), 3 times in a row/,
      /no program listens on this port/,
    ],
  },
  "a gRPC service that is not serving": {
    status: runs(5, { lastState: ended(0, 12) }),
    container: { livenessProbe: { grpc: { port: 9, service: "db" } } },
    facts: kill({ answers: [{ text: 'service unhealthy (responded with "NOT_SERVING")', count: 3 }] }),
    words: [/liveness probe gRPC port 9 \(service db\) answered NOT_SERVING, 3 times in a row/],
  },
  "a gRPC server that is not there": {
    status: runs(5, { lastState: ended(0, 12) }),
    container: { livenessProbe: { grpc: { port: 9 } } },
    facts: kill({
      answers: [
        {
          text: 'timeout: failed to connect service "10.0.0.9:9" within 1s: context deadline exceeded',
          count: 3,
        },
      ],
    }),
    words: [/found no gRPC server within 1 s, 3 times in a row/, /no program listens on this port/],
  },
  "a slow HTTP server": {
    status: runs(5, { lastState: ended(0, 12) }),
    facts: kill({ answers: [{ text: 'Get "http://x": context deadline exceeded', count: 3 }] }),
    words: [/had no answer within 1 s/, /raise it, or make the response faster/],
  },
  "a pod that a probe ended long ago, with exit code 0": {
    status: containerStatus(ended(0, 3600), { containerID: id("old") }),
    facts: kill({ kills: 1, lastAt: NOW - 3_600_000 }),
    phase: "Succeeded",
    fine: true,
    words: [/has completed/, /killed 1 time, last 60m ago\. The restart policy does not start it again/],
  },
  "a stop by a probe that only events tell, because main does not respond": {
    status: runs(5, { lastState: ended(137, 8) }),
    rest: {
      facts: undefined,
      events: [
        event("Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 503", { count: 6 }),
        event("Killing", "Container app failed liveness probe, will be restarted", { count: 2, lastTimestamp: ago(9) }),
      ],
    },
    words: [/liveness probe GET \/healthz on port 8080 answered 503, 3 times in a row; killed 2 times, last 9s ago/],
    never: [/another program/],
  },
  "a crash that is over for ten minutes is history": {
    status: runs(3600, { lastState: ended(1, 3700) }),
    fine: true,
    words: [/its last run ended 61m ago: it exited with code 1/],
  },
  "a container that runs again after an OOM kill": {
    status: runs(30, { lastState: ended(137, 40, { reason: "OOMKilled" }) }),
    words: [/is restarting: running and ready now/, /the kernel killed it \(OOMKilled\)/],
  },
  "an OOM kill that is over for ten minutes is history": {
    status: runs(3600, { lastState: ended(137, 3700, { reason: "OOMKilled" }) }),
    fine: true,
    words: [/it exited with code 137, killed by SIGKILL \(OOMKilled\)/],
  },
  "a container that runs again after success": {
    status: runs(30, { lastState: ended(0, 40, { reason: "Completed" }) }),
    words: [/it exited with code 0/, /must keep running/],
  },
  "a restart by the kubelet for another definition is no problem": {
    status: runs(30, { lastState: ended(143, 40) }),
    facts: facts({
      stops: [{ containerId: containerIdOf("old"), reason: "Container app definition changed, will be restarted" }],
    }),
    fine: true,
    words: [/the kubelet restarted it \(Container app definition changed/],
  },
  "a restart with a new sandbox is no problem": {
    status: runs(30, { lastState: ended(255, 90) }),
    facts: facts({ sandboxAt: NOW - 35_000 }),
    fine: true,
    words: [/the kubelet restarted it \(the pod's sandbox was created anew\)/],
  },
  "a crash in the present sandbox is one": {
    status: runs(30, { lastState: ended(255, 40) }),
    facts: facts({ sandboxAt: NOW - 90_000 }),
    words: [/it runs again after its last run ended 40s ago: it exited with code 255/],
  },
  "a liveness probe that fails, and has not killed": {
    status: runs(60, { restartCount: 0 }),
    facts: facts({
      probesFailing: [
        {
          container: "app",
          probe: "liveness",
          containerId: containerIdOf("new"),
          lastAt: NOW - 2000,
          inARow: 2,
          answers: [{ text: "HTTP probe failed with statuscode: 500", count: 2 }],
        },
      ],
    }),
    words: [
      /its liveness probe \(GET \/healthz on port 8080\) has failed 2 times in a row; the kubelet restarts/,
      /statuscode: 500/,
    ],
  },
  "failures of an earlier run do not count for this one": {
    status: runs(5, { restartCount: 0, ready: false }),
    container: { readinessProbe: { exec: { command: ["ok"] } } },
    rest: { events: [event("Unhealthy", "Readiness probe failed: cold", { count: 9, lastTimestamp: ago(20) })] },
    words: [/its readiness probe \(exec ok\) has not succeeded yet/],
    fine: false,
  },
  "events that the kubelet combined": {
    status: runs(30, { restartCount: 0, ready: false }),
    container: { readinessProbe: { exec: { command: ["ok"] } } },
    rest: {
      events: [event("Unhealthy", "(combined from similar events): Readiness probe failed: at 12:01", { count: 4 })],
    },
    words: [/has failed 4 times, .*Its last output: at 12:01/, /nodelet exec web -c app -- ok/],
  },
  "a postStart hook that only events tell": {
    status: loops({ lastState: ended(0, 12) }),
    container: { livenessProbe: { exec: {} }, lifecycle: { postStart: { exec: { command: ["x"] } } } },
    rest: { events: [event("FailedPostStartHook", "PostStartHook failed")] },
    words: [/the kubelet stopped it because its postStart hook failed/],
    never: [/exited by itself with success/],
  },
  "a postStart hook that failed before the last run": {
    status: loops({ lastState: ended(3, 12) }),
    container: { livenessProbe: { exec: {} }, lifecycle: { postStart: { exec: { command: ["x"] } } } },
    rest: { events: [event("FailedPostStartHook", "PostStart failed", { lastTimestamp: ago(90) })] },
    words: [/it exited with code 3/],
    never: [/its postStart hook failed/],
  },
  "a pod on its way out": {
    status: runs(10, { lastState: ended(137, 12) }),
    facts: { ...kill(), worker: "terminating", termination: { reason: "deleted", deadline: NOW + 9000 } },
    words: [/it is terminating \(deleted\)/],
    never: [/is restarting/, /liveness probe/],
  },
  "a program for another processor": {
    status: loops({
      lastState: ended(128, 12, { reason: "StartError", message: "exec /app: exec format error: unknown" }),
    }),
    words: [/it cannot be started \(StartError\).*: exec \/app: exec format error /, /another processor architecture/],
    never: [/unknown/, /last output/],
  },
  "a docker container that cannot run": {
    status: containerStatus(
      ended(127, 12, { reason: "ContainerCannotRun", message: 'exec: "nope": executable file not found in $PATH' }),
    ),
    phase: "Failed",
    words: [
      /it could not be started \(ContainerCannotRun\): .*; the restart policy does not start it again/,
      /the command is not in the image/,
    ],
  },
  "a forbidden system call": {
    status: loops({ lastState: ended(159, 12) }),
    words: [/killed by SIGSYS/, /a seccomp profile forbade/],
  },
  "a SIGTERM of another program": {
    status: loops({ lastState: ended(143, 12) }),
    words: [/killed by SIGTERM/, /another program stopped it/],
  },
};

describe("why about containers that ended", () => {
  for (const [name, row] of Object.entries(ROWS)) {
    test(name, () => {
      const spec = { containers: [{ ...APP, ...row.container }], ...row.spec };
      const phase = row.phase ?? "Running";
      const given = input({
        pod: pod({ phase, containerStatuses: [row.status] }, spec),
        facts: row.facts ?? facts(),
        ...row.rest,
      });
      const explanation = explain(given, undefined);
      const text = whyText(PLAIN, explanation, NOW).replace(/\s+/g, " ");
      for (const word of row.words) match(text, word);
      for (const word of [...(row.never ?? []), /<pod>/]) doesNotMatch(text, word);
      equal(explanation.fine, row.fine ?? false, text);
    });
  }

  test("the output of the run that failed is asked for, the one before when the container waits or runs", () => {
    const output = (status: ApiContainerStatus) =>
      explain(input({ pod: pod({ phase: "Running", containerStatuses: [status] }, { containers: [APP] }) }), undefined)
        .findings[0]?.output;
    deepEqual(output(loops({ lastState: ended(1, 9) })), { container: "app", previous: true });
    deepEqual(output(runs(5, { lastState: ended(1, 9) })), { container: "app", previous: true });
    deepEqual(output(containerStatus(ended(1, 9))), { container: "app", previous: false });
    equal(output(loops({ lastState: ended(128, 9, { reason: "StartError" }) })), undefined);
  });

  test("repeated failures are one decision with a count, and an event stands for its steps", () => {
    const step = (stage: string, at: number, error: string) => ({
      stage,
      container: "app",
      startedAt: at,
      endedAt: at,
      error,
    });
    const observed = timeline({
      seenAt: NOW - 20_000,
      stages: [
        step(
          "start",
          NOW - 9000,
          "CRI StartContainer of container 3f failed at unix:///c.sock: UNKNOWN: no such image: 2 UNKNOWN: no such image",
        ),
        step("start-container", NOW - 9000, "no such image"),
        step("pull", NOW - 8000, "slow"),
        step("pull", NOW - 4000, "slow"),
      ],
    });
    const events = [
      event("Failed", "Error: no such image", { count: 2, firstTimestamp: ago(7), lastTimestamp: ago(3) }),
    ];
    const { decisions } = explain(input({ pod: pod({}), events, node: node() }), observed);
    deepEqual(
      decisions.map(({ what, count }) => `${what} ${count ?? 1}`),
      ["the kubelet received the pod 1", "step pull of app failed: slow 2", "Failed: Error: no such image 2"],
    );
  });
});
