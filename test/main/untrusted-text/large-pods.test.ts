// A manifest of a megabyte has tens of thousands of ports, mounts and volumes. What main does with them grows with
// their number, not with its square.
// @promise Hostile tenants and clients: Host ports, mounts, nested mounts and statuses of a pod with tens of thousands
//   of them take linear time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { containerMounts } from "../../../src/main/containers/runtime/config/mounts.js";
import { newestOf } from "../../../src/main/model/observed-containers.js";
import { nodePortsHandler } from "../../../src/main/pods/admission/predicates/host-ports.js";
import { computePodStatus } from "../../../src/main/pods/status/compute-pod-status.js";
import { podConditions } from "../../../src/main/pods/status/conditions.js";
import { observedStatus } from "../../../src/main/pods/status/container-state.js";
import { claimNamed, claimsOf, madeFor } from "../../../src/main/resources/dra/pod-claims.js";
import { nestedMountPoints } from "../../../src/main/volumes/object-volume/nested-mount-points.js";
import type { ContainerPort, Pod, VolumeMount } from "../../../src/shared/kubernetes/api/pod.js";
import { container, pod } from "../../support/pods.js";
import { assertCpuBelow } from "../../support/thread-cpu.js";
import { criContainer, observedPod, st } from "../pods/status/fixtures.js";

const COUNT = 40_000;
/** Quadratic work takes seconds. */
const BOUND_MS = 600;

const each = <T>(make: (index: number) => T): T[] => Array.from({ length: COUNT }, (_, index) => make(index));
const mounts = each((index): VolumeMount => ({ name: `v${index}`, mountPath: `/m/${index}`, readOnly: true }));
const seen = each((index) => ({ containerPath: `/m/${index}`, recursiveReadOnly: index % 2 === 0 }));

const withPorts = (first: number): Pod => {
  const ports = each((index): ContainerPort => ({ containerPort: 1, hostPort: first + index }));
  return pod({ containers: [container("app", { ports })] });
};

const assertQuick = (work: () => unknown): number => assertCpuBelow(BOUND_MS, work);

test("host ports of a pod are compared with those of others", () => {
  const [one, other] = [withPorts(1), withPorts(COUNT + 1)];
  const verdict = (wanted: Pod): unknown => nodePortsHandler({ pod: wanted, others: [other] } as never);
  assert.equal(verdict(one), undefined);
  assert.notEqual(verdict(withPorts(COUNT)), undefined);
  assertQuick(() => verdict(one));
});

test("statuses of read-only mounts are computed", () => {
  const input = {
    container: container("app", { volumeMounts: mounts }),
    observed: { mounts: seen, annotations: {}, labels: {}, id: "c", imageRef: "", state: 1, startedAt: 0n },
    previous: undefined,
    runtimeName: "containerd",
    terminationMessages: new Map(),
    podLevelResources: false,
    stopSignals: false,
    imageVolumeDigests: false,
    changesOnRestart: false,
  } as never;
  const statuses = observedStatus(input).volumeMounts ?? [];
  assert.deepEqual(
    [statuses[0], statuses[1]].map((status) => status?.recursiveReadOnly),
    ["Enabled", "Disabled"],
  );
  assertQuick(() => observedStatus(input));
});

test("statuses of mounts that did not change are the same list: to compare them costs nothing", () => {
  const app = container("app", { volumeMounts: mounts });
  const input = {
    container: app,
    observed: { mounts: seen, annotations: {}, labels: {}, id: "c", imageRef: "", state: 1, startedAt: 0n },
    terminationMessages: new Map(),
  };
  const again = { ...input, observed: structuredClone(input.observed) };
  const statuses = (from: unknown) => observedStatus(from as never).volumeMounts;
  const first = statuses(input);
  assert.equal(statuses(again), first);
  const [changed, ...rest] = seen;
  const other = { ...input.observed, mounts: [{ ...changed, recursiveReadOnly: false }, ...rest] };
  assert.equal(statuses({ ...input, observed: other })?.[0]?.recursiveReadOnly, "Disabled");
});

test("mounts inside each other are found for all volumes", () => {
  const make = (): Pod => pod({ containers: [container("app", { volumeMounts: mounts })] });
  assertQuick(() => {
    const large = make();
    for (const { name } of mounts) assert.deepEqual(nestedMountPoints(large, name), []);
  });
});

test("mounts of a container are made", () => {
  const volumes = new Map(mounts.map(({ name }) => [name, { hostPath: `/host/${name}` }]));
  const app = container("app", { volumeMounts: mounts });
  assertQuick(() => containerMounts({ pod: pod(), container: app, volumes, seLinux: true }));
});

test("statuses of thousands of containers are computed", () => {
  const count = 10_000;
  const names = Array.from({ length: count }, (_, index) => `c${index}`);
  const spec = { containers: names.map((name) => ({ name, image: "i" })), initContainers: [{ name: "i", image: "i" }] };
  const observed = observedPod(names.map((name) => criContainer(name)));
  const previous = {
    phase: "Running" as const,
    containerStatuses: names.map((name) => st(name)),
    initContainerStatuses: [],
    conditions: [],
  };
  const input = {
    pod: pod(spec),
    observed,
    previous,
    runtimeName: "containerd",
    nodeIPs: [],
    now: 0,
    podLevelResources: false,
    stopSignals: false,
    imageVolumeDigests: false,
    changesOnRestart: false,
    resourceHealth: () => [],
  };
  assert.equal(computePodStatus(input).containerStatuses?.length, count);
  assertQuick(() => computePodStatus(input));
  assert.equal(newestOf(observed, "c9999")?.id, "c9999-id");
  assertQuick(() => names.map((name) => newestOf(observed, name)));
});

test("readiness gates are compared with conditions that others own", () => {
  const gates = Array.from({ length: COUNT }, (_, index) => ({ conditionType: `example.com/g${index}` }));
  const previous = gates.map(({ conditionType: type }) => ({ type, status: "True" as const }));
  const input = {
    pod: pod({ containers: [container("app")], readinessGates: gates }),
    ...{ phase: "Running" as const, initStatuses: [], statuses: [st("app", { ready: true })] },
    ...{ readyToStart: true, previous, now: 0 },
  };
  const ready = podConditions(input).find(({ type }) => type === "Ready");
  assert.equal(ready?.status, "True");
  assertQuick(() => podConditions(input));
});

test("claims of devices are found by the names that a container has for them", () => {
  const names = Array.from({ length: COUNT }, (_, index) => `r${index}`);
  const spec = pod({ resourceClaims: names.map((name) => ({ name, resourceClaimTemplateName: "t" })) }).spec;
  const status = { resourceClaimStatuses: names.map((name) => ({ name, resourceClaimName: `made-${name}` })) };
  const make = (): Pod => pod({ ...spec });
  assertQuick(() => {
    assert.equal(claimsOf(make(), { ...status }).length, COUNT);
    for (const name of names) assert.equal(claimNamed(spec, name)?.name, name);
    for (const name of names) assert.equal(madeFor(status, name), `made-${name}`);
  });
});
