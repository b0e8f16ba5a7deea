// Which probes run, and what they are resolved to: tables over a pod's definition and its picture.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProbedPodState } from "../../../../src/main/model/probe-port.js";
import type { ProbeResult } from "../../../../src/main/model/probe-results.js";
import { resolveAction } from "../../../../src/main/pods/probes/resolve-action.js";
import { wantedProbes } from "../../../../src/main/pods/probes/wanted-probes.js";
import type { ProbeAction } from "../../../../src/shared/contracts/prober.js";
import type { Container, Probe } from "../../../../src/shared/kubernetes/api/pod.js";
import { ContainerState } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { c, criContainer, criSandbox, makePod, observedPod } from "../status/fixtures.js";

const tcp: Probe = { tcpSocket: { port: 80 } };
const all = { startupProbe: tcp, livenessProbe: tcp, readinessProbe: tcp };
const ends = { livenessProbe: tcp, readinessProbe: tcp };

describe("which run", () => {
  interface Row {
    probes?: Partial<Container>;
    state?: ProbedPodState;
    container?: ContainerState;
    startup?: ProbeResult;
    liveness?: ProbeResult;
    expected: string[];
  }
  const table: Record<string, Row> = {
    "before it has started: startup only": { probes: all, expected: ["startup"] },
    "after it has started": { probes: all, startup: "Success", expected: ["liveness", "readiness"] },
    "startup gave it up: nothing until the container is another one": { probes: all, startup: "Failure", expected: [] },
    "without a startup probe": { probes: ends, expected: ["liveness", "readiness"] },
    "liveness gave it up": { probes: ends, liveness: "Failure", expected: ["readiness"] },
    "liveness is fine": { probes: ends, liveness: "Success", expected: ["liveness", "readiness"] },
    "while it is terminated: readiness only": { probes: ends, state: "terminating", expected: ["readiness"] },
    "while it is terminated before it has started: nothing": { probes: all, state: "terminating", expected: [] },
    "a container that has ended": { probes: ends, container: ContainerState.CONTAINER_EXITED, expected: [] },
    "a container that was made and not started": {
      probes: ends,
      container: ContainerState.CONTAINER_CREATED,
      expected: [],
    },
    "no probes": { expected: [] },
  };
  for (const [name, row] of Object.entries(table)) {
    test(name, () => {
      const wanted = wantedProbes({
        pod: makePod({ containers: [c("a", row.probes)] }),
        observed: observedPod([criContainer("a", { state: row.container ?? ContainerState.CONTAINER_RUNNING })]),
        state: row.state ?? "syncing",
        results: { startup: () => row.startup, liveness: () => row.liveness, readiness: () => undefined },
        nodeIPs: ["192.0.2.1"],
      });
      assert.deepEqual(
        wanted.map(({ kind }) => kind),
        row.expected,
      );
    });
  }
});

const unknown = { startup: () => undefined, liveness: () => undefined, readiness: () => undefined };

test("the newest container of a name, sidecars too, ordinary init containers not", () => {
  const pod = makePod({
    containers: [c("a", { readinessProbe: tcp })],
    initContainers: [c("side", { restartPolicy: "Always", readinessProbe: tcp }), c("init", { readinessProbe: tcp })],
  });
  const containers = [
    criContainer("a", { id: "new" }),
    criContainer("a", { id: "old" }),
    criContainer("side"),
    criContainer("init"),
  ];
  const observed = observedPod(containers);
  const wanted = wantedProbes({ pod, observed, state: "syncing", results: unknown, nodeIPs: [] });
  assert.deepEqual(
    wanted.map(({ container, containerId }) => [container, containerId]),
    [
      ["a", "new"],
      ["side", "side-id"],
    ],
  );
});

test("numbers and times, in milliseconds; defaults where there are none", () => {
  const readinessProbe: Probe = { ...tcp, initialDelaySeconds: 7, periodSeconds: 2, timeoutSeconds: 3 };
  const pod = makePod({ containers: [c("a", { livenessProbe: tcp, readinessProbe })] });
  const observed = observedPod([criContainer("a")]);
  const [liveness, readiness] = wantedProbes({ pod, observed, state: "syncing", results: unknown, nodeIPs: [] });
  const common = { containerId: "a-id", container: "a", action: { type: "tcp", host: "10.0.0.5", port: 80 } } as const;
  const counts = { startedAt: 1_001_000, successThreshold: 1, failureThreshold: 3 };
  assert.deepEqual(liveness, {
    ...common,
    ...counts,
    kind: "liveness",
    initialDelayMs: 0,
    periodMs: 10_000,
    timeoutMs: 1000,
  });
  assert.deepEqual(readiness, {
    ...common,
    ...counts,
    kind: "readiness",
    initialDelayMs: 7000,
    periodMs: 2000,
    timeoutMs: 3000,
  });
});

test("a pod on the node's network is probed at the node's address; one without an address is not probed yet", () => {
  const probes = { livenessProbe: tcp, readinessProbe: { exec: { command: ["true"] } } };
  const hosts = (hostNetwork: boolean, ip: string): string[] =>
    wantedProbes({
      pod: makePod({ hostNetwork, containers: [c("a", probes)] }),
      observed: observedPod([criContainer("a")], [criSandbox({ network: { ip } })]),
      state: "syncing",
      results: unknown,
      nodeIPs: ["192.0.2.1"],
    }).map(({ action }) => ("host" in action ? action.host : action.type));
  assert.deepEqual(hosts(true, ""), ["192.0.2.1", "exec"]);
  assert.deepEqual(hosts(false, ""), ["exec"]);
});

describe("actions", () => {
  const container = c("a", {
    ports: [{ name: "web", containerPort: 8080 }],
    env: [
      { name: "DIR", value: "/data" },
      { name: "FROM", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    ],
  });
  const http: ProbeAction = { type: "http", scheme: "http", host: "10.0.0.5", port: 8080, path: "/", headers: [] };
  const headers = [{ name: "X", value: "1" }];
  const table: [name: string, probe: Probe, expected: ProbeAction][] = [
    ["a port by name", { httpGet: { port: "web" } }, http],
    ["a port as text", { httpGet: { port: "8080" } }, http],
    [
      "all of HTTP",
      { httpGet: { port: 443, host: "example", path: "/x", scheme: "HTTPS", httpHeaders: headers } },
      { type: "http", scheme: "https", host: "example", port: 443, path: "/x", headers },
    ],
    [
      "a port without a container",
      { tcpSocket: { port: "admin" } },
      { type: "impossible", reason: 'strconv.Atoi: parsing "admin": invalid syntax' },
    ],
    [
      "a port out of range",
      { tcpSocket: { port: "70000" } },
      { type: "impossible", reason: "invalid port number: 70000" },
    ],
    ["a number that is no port", { tcpSocket: { port: 0 } }, { type: "impossible", reason: "invalid port number: 0" }],
    ["another host", { tcpSocket: { port: 1, host: "db" } }, { type: "tcp", host: "db", port: 1 }],
    ["gRPC", { grpc: { port: 9 } }, { type: "grpc", host: "10.0.0.5", port: 9, service: "" }],
    [
      "a command: plain variables only",
      { exec: { command: ["cat", "$(DIR)/$(FROM)x", "$(NONE)", "$$(DIR)"] } },
      { type: "exec", command: ["cat", "/data/x", "$(NONE)", "$(DIR)"] },
    ],
    ["nothing to do", {}, { type: "impossible", reason: "missing probe handler for a" }],
  ];
  for (const [name, probe, expected] of table) {
    test(name, () => assert.deepEqual(resolveAction(probe, container, "10.0.0.5"), expected));
  }

  test("a command that cannot start a process becomes an impossible action with the reason", () => {
    const long = c("a", { env: [{ name: "BIG", value: "x".repeat(1_000_000) }] });
    const action = resolveAction({ exec: { command: ["echo", "$(BIG)".repeat(20)] } }, long, undefined);
    assert.equal(action?.type, "impossible");
  });
});
