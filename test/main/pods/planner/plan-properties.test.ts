// Properties of every pod: random pods of all kinds of containers, random exits, probe verdicts, sandbox deaths, edits
// and restarts of the kubelet. Each step is checked as it is taken, and the pod when it has settled.
// @headline Pods | Plans converge, and no container runs twice. | any history
// @promise Pods: The plan converges, and a second plan is empty. No container runs twice; no two sandboxes are ready;
//   init containers run before apps, sidecars as long as apps. This holds for any sequence of exits, probe results,
//   edits and restarts of the kubelet.
// @with test/main/pods/planner/plan.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isAlive, newestIn } from "../../../../src/main/model/observed-containers.js";
import type { Step } from "../../../../src/main/model/step.js";
import { RestartMemory } from "../../../../src/main/pods/planner/restart-memory.js";
import {
  isSidecar,
  type Container,
  type ContainerRestartRule,
  type Pod,
  type Probe,
  type RestartPolicy,
} from "../../../../src/shared/kubernetes/api/pod.js";
import {
  ContainerState,
  PodSandboxState,
  type ContainerStatus,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { Pilot } from "../../../support/pilot.js";
import { container, pod } from "../../../support/pods.js";

const probe: Probe = { tcpSocket: { port: 1 } };
const exitCodes = fc.constantFrom(0, 1, 42, 88, 137);
const policies = fc.constantFrom<RestartPolicy>("Always", "OnFailure", "Never");

const rule: fc.Arbitrary<ContainerRestartRule> = fc.record({
  action: fc.constantFrom("Restart" as const, "RestartAllContainers" as const),
  exitCodes: fc.record({ operator: fc.constant("In" as const), values: fc.constantFrom([42], [88]) }),
});
const own: fc.Arbitrary<Partial<Container>> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  policies.map((restartPolicy) => ({ restartPolicy })),
  fc.tuple(policies, rule).map(([restartPolicy, one]) => ({ restartPolicy, restartPolicyRules: [one] })),
);
const probes: fc.Arbitrary<Partial<Container>> = fc.record(
  { startupProbe: fc.constant(probe), livenessProbe: fc.constant(probe) },
  { requiredKeys: [] },
);
const sidecarFields = probes.map((fields) => ({ ...fields, restartPolicy: "Always" as const }));
const inits = fc.array(fc.oneof(sidecarFields, fc.constant({})), { maxLength: 3 });
const apps = fc.array(fc.tuple(own, probes), { minLength: 1, maxLength: 3 });

const anyPod: fc.Arbitrary<Pod> = fc.record({ policy: policies, inits, apps }).map((drawn) =>
  pod({
    restartPolicy: drawn.policy,
    initContainers: drawn.inits.map((fields, index) => container(`init-${index}`, fields)),
    containers: drawn.apps.map(([mine, probed], index) => container(`app-${index}`, { ...mine, ...probed })),
  }),
);

const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("exit" as const), index: fc.nat(5), code: exitCodes }) },
  fc.record({ kind: fc.constantFrom("created" as const, "unknown" as const), index: fc.nat(5) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("liveness" as const, "startup" as const),
      index: fc.nat(5),
      result: fc.constantFrom("Success" as const, "Failure" as const),
    }),
  },
  fc.record({ kind: fc.constantFrom("sandbox" as const, "address" as const, "agent" as const, "debug" as const) }),
  fc.record({ kind: fc.constant("edit" as const), index: fc.nat(5) }),
  fc.record({ kind: fc.constant("time" as const), ms: fc.nat(700_000) }),
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

const nameOf = (status: ContainerStatus): string => status.metadata?.name ?? "";

/** @param ran names of ephemeral containers that have run */
function happen(pilot: Pilot, one: Event, serial: number, ran: Set<string>): void {
  const { runtime, verdicts } = pilot;
  const { observed } = runtime;
  const running = observed.containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  const chosen = "index" in one ? running[one.index % Math.max(running.length, 1)] : undefined;
  switch (one.kind) {
    case "exit":
      if (chosen !== undefined) runtime.exit("", one.code, chosen.id);
      return;
    case "created":
      if (chosen === undefined) return;
      chosen.state = ContainerState.CONTAINER_CREATED;
      // As if it had never started: a later sandbox may start it.
      ran.delete(nameOf(chosen));
      return;
    case "unknown":
      if (chosen !== undefined) chosen.state = ContainerState.CONTAINER_UNKNOWN;
      return;
    case "liveness":
    case "startup":
      if (chosen !== undefined) verdicts[one.kind].set(chosen.id, one.result);
      return;
    case "sandbox":
      for (const sandbox of observed.sandboxes) sandbox.state = PodSandboxState.SANDBOX_NOTREADY;
      return;
    case "address":
      if (observed.sandboxes[0]?.network !== undefined) observed.sandboxes[0].network.ip = "";
      return;
    case "agent":
      Object.assign(pilot, { memory: new RestartMemory() });
      return;
    case "debug":
      pilot.wanted = withDebug(pilot.wanted, serial);
      return;
    case "edit":
      pilot.wanted = edited(pilot.wanted, one.index, serial);
      return;
    case "time":
      runtime.now += one.ms;
  }
}

function withDebug(wanted: Pod, serial: number): Pod {
  const ephemeralContainers = [...(wanted.spec.ephemeralContainers ?? []), container(`debug-${serial}`)];
  return { ...wanted, spec: { ...wanted.spec, ephemeralContainers } };
}

function edited(wanted: Pod, index: number, serial: number): Pod {
  const containers = wanted.spec.containers.map((one, at) =>
    at === index % wanted.spec.containers.length ? { ...one, image: `edited:${serial}` } : one,
  );
  return { ...wanted, spec: { ...wanted.spec, containers } };
}

/** Forbids steps that are wrong in every state. Returns the names of the ephemeral containers that have run. */
function watch(pilot: Pilot): Set<string> {
  const ran = new Set<string>();
  pilot.onStep = (step: Step) => {
    const { spec } = pilot.wanted;
    const { observed } = pilot.runtime;
    const [sandbox] = observed.sandboxes;
    const alive = observed.containers.filter(isAlive);
    const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
    if (step.kind === "kill-container" && sidecars.has(step.name) && step.restart !== true) {
      const others = alive.filter((status) => !sidecars.has(nameOf(status)));
      assert.deepEqual(others.map(nameOf), [], `sidecar ${step.name} stops before them`);
    }
    if (step.kind === "create-sandbox") {
      assert.deepEqual(alive.map(nameOf), [], "still run in the sandbox before");
      assert.ok(observed.sandboxes.every(({ state }) => state === PodSandboxState.SANDBOX_NOTREADY));
    }
    if (step.kind !== "start-container") return;
    const { name } = step.container;
    assert.ok(sandbox?.id === step.sandboxId && sandbox.state === PodSandboxState.SANDBOX_READY, "starts where it can");
    assert.ok(!alive.some((status) => nameOf(status) === name), `${name} runs already`);
    const made = (one: Container): ContainerStatus | undefined => newestIn(sandbox, observed, one.name);
    if (step.containerKind === "init" && !isSidecar(step.container)) {
      assert.ok(!spec.containers.some(made), `init container ${name} starts after an app container`);
    }
    if (step.containerKind === "app" && !spec.containers.some(made)) {
      for (const init of spec.initContainers ?? []) {
        const status = made(init);
        // An ordinary one may be gone behind a later one; the last one must have been seen through.
        if (isSidecar(init)) assert.ok(status !== undefined, `${name} starts before sidecar ${init.name}`);
        else if (init === spec.initContainers?.at(-1)) assert.equal(status?.exitCode, 0, `${name} starts too early`);
      }
    }
    const before = (spec.initContainers ?? []).findLast((init, index, { length }) => {
      const own = (spec.initContainers ?? []).findIndex((one) => one.name === name);
      return made(init) !== undefined && index < (own < 0 ? length : own);
    });
    const first =
      !spec.containers.some(made) && step.containerKind !== "ephemeral" && made(step.container) === undefined;
    if (first && before?.startupProbe !== undefined) {
      const id = containerIdOf(made(before)?.id ?? "");
      assert.equal(pilot.probes.startup(id), "Success", `${name} starts though ${before.name} has not started up`);
    }
    if (step.containerKind === "ephemeral") {
      const status = observed.containers.find((one) => nameOf(one) === name);
      assert.ok(!ran.has(name) || status?.state === ContainerState.CONTAINER_CREATED, `${name} starts again`);
      ran.add(name);
    }
  };
  return ran;
}

function settled(pilot: Pilot): void {
  const plan = pilot.plan();
  assert.deepEqual(plan.steps, [], "planning again yields nothing");
  const { observed } = pilot.runtime;
  const { spec } = pilot.wanted;
  const names = pilot.runtime.running();
  assert.equal(new Set(names).size, names.length, `a container runs twice: ${names.join(" ")}`);
  assert.ok(observed.sandboxes.filter(({ state }) => state === PodSandboxState.SANDBOX_READY).length <= 1);
  if (plan.finished) assert.deepEqual(names, [], "nothing of a finished pod runs");
  if (spec.containers.some(({ name }) => names.includes(name))) {
    for (const { name } of (spec.initContainers ?? []).filter(isSidecar)) {
      assert.ok(names.includes(name) || plan.waiting.has(name), `sidecar ${name} is down while an app runs`);
    }
  }
  const all = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
  const dead = observed.containers.filter(({ state }) => state === ContainerState.CONTAINER_EXITED);
  assert.ok(dead.length <= all.length, "dead containers pile up");
  assert.ok(observed.sandboxes.length <= all.length + 1, "dead sandboxes pile up");
}

test("pods of all kinds keep the rules and converge after any events", () => {
  fc.assert(
    fc.property(anyPod, fc.array(event, { maxLength: 25 }), (wanted, events) => {
      const pilot = new Pilot(wanted);
      const ran = watch(pilot);
      pilot.settle();
      settled(pilot);
      for (const [serial, one] of events.entries()) {
        happen(pilot, one, serial, ran);
        pilot.settle();
        settled(pilot);
      }
    }),
    { numRuns: 1000 },
  );
});

test("events that come between two steps of a plan change nothing about the rules", () => {
  fc.assert(
    fc.property(anyPod, fc.array(fc.tuple(event, fc.nat(6)), { maxLength: 20 }), (wanted, events) => {
      const pilot = new Pilot(wanted);
      const ran = watch(pilot);
      for (const [serial, [one, passes]] of events.entries()) {
        happen(pilot, one, serial, ran);
        for (let pass = 0; pass < passes; pass++) {
          const [step] = pilot.plan().steps;
          if (step !== undefined) pilot.do(step);
        }
      }
      pilot.settle();
      settled(pilot);
    }),
    { numRuns: 1000 },
  );
});
