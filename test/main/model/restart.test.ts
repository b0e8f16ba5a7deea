import assert from "node:assert/strict";
import { test } from "node:test";
import { containerHash } from "../../../src/main/model/container-hash.js";
import { mayStart, restartsAfterProbeKill } from "../../../src/main/model/restart.js";
import { needsNewSandbox } from "../../../src/main/model/sandbox-need.js";
import type { Container, PodSpec } from "../../../src/shared/kubernetes/api/pod.js";
import {
  ContainerState as S,
  NamespaceMode,
  PodSandboxState,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { c, criContainer, criSandbox, makePod } from "../pods/status/fixtures.js";

test("container hash equals upstream's check value", () => {
  assert.equal(containerHash({ name: "test_container", image: "foo/image:v1" }), "8e45cbd0");
});

test("container hash depends on name and image only", () => {
  const base = containerHash({ name: "a", image: "b" });
  assert.notEqual(base, containerHash({ name: "a", image: "c" }));
  assert.notEqual(base, containerHash({ name: "b", image: "b" }));
  assert.equal(base, containerHash(c("a", { image: "b", args: ["x"] })));
});

const rule = (action: "Restart" | "RestartAllContainers", operator: "In" | "NotIn", ...values: number[]) => ({
  restartPolicyRules: [{ action, exitCodes: { operator, values } }],
});
type Row = [string, Partial<PodSpec>, Partial<Container>, S | undefined, number, boolean];
const off = { containerRestartRules: false, restartAllContainers: false };
const rows: Row[] = [
  ["never ran", { restartPolicy: "Never" }, {}, undefined, 0, true],
  ["running", {}, {}, S.CONTAINER_RUNNING, 0, false],
  ["created", { restartPolicy: "Never" }, {}, S.CONTAINER_CREATED, 0, true],
  ["unknown", { restartPolicy: "Never" }, {}, S.CONTAINER_UNKNOWN, 0, true],
  ["Always, exit 0", { restartPolicy: "Always" }, {}, S.CONTAINER_EXITED, 0, true],
  ["default is Always", {}, {}, S.CONTAINER_EXITED, 0, true],
  ["OnFailure, exit 0", { restartPolicy: "OnFailure" }, {}, S.CONTAINER_EXITED, 0, false],
  ["OnFailure, exit 3", { restartPolicy: "OnFailure" }, {}, S.CONTAINER_EXITED, 3, true],
  ["Never, exit 3", { restartPolicy: "Never" }, {}, S.CONTAINER_EXITED, 3, false],
  ["own Never beats Always", {}, { restartPolicy: "Never" }, S.CONTAINER_EXITED, 3, false],
  [
    "own OnFailure beats Never",
    { restartPolicy: "Never" },
    { restartPolicy: "OnFailure" },
    S.CONTAINER_EXITED,
    3,
    true,
  ],
  ["own Always beats Never", { restartPolicy: "Never" }, { restartPolicy: "Always" }, S.CONTAINER_EXITED, 0, true],
  ["rule In matches", {}, { restartPolicy: "Never", ...rule("Restart", "In", 42) }, S.CONTAINER_EXITED, 42, true],
  ["rule In misses", {}, { restartPolicy: "Never", ...rule("Restart", "In", 42) }, S.CONTAINER_EXITED, 41, false],
  ["rule NotIn", {}, { restartPolicy: "Never", ...rule("Restart", "NotIn", 42) }, S.CONTAINER_EXITED, 41, true],
  ["rule needs own policy", { restartPolicy: "Never" }, rule("Restart", "In", 42), S.CONTAINER_EXITED, 42, false],
  [
    "restart all",
    {},
    { restartPolicy: "Never", ...rule("RestartAllContainers", "In", 7) },
    S.CONTAINER_EXITED,
    7,
    true,
  ],
];
for (const [name, spec, own, state, exitCode, expected] of rows) {
  test(`may start: ${name}`, () => {
    const observed = state === undefined ? undefined : criContainer("a", { state, exitCode });
    assert.equal(mayStart(makePod(spec), c("a", own), observed), expected);
    const deleted = makePod(spec, { deletionTimestamp: "2026-11-21T06:00:00Z" });
    assert.equal(mayStart(deleted, c("a", own), observed), false, "a deleted pod starts nothing");
  });
}

test("may start: container rules need their gates", () => {
  const exit42 = criContainer("a", { state: S.CONTAINER_EXITED, exitCode: 42 });
  const own = c("a", { restartPolicy: "OnFailure", ...rule("Restart", "In", 42) });
  assert.equal(mayStart(makePod({ restartPolicy: "Never" }), own, exit42, off), false);
  const all = c("a", { restartPolicy: "Never", ...rule("RestartAllContainers", "In", 42) });
  const gates = { containerRestartRules: true, restartAllContainers: false };
  assert.equal(mayStart(makePod(), all, exit42, gates), false);
});

test("a probe kill restarts unless the policy is Never", () => {
  assert.equal(restartsAfterProbeKill({ restartPolicy: "OnFailure" }, c("a")), true);
  assert.equal(restartsAfterProbeKill({ restartPolicy: "Never" }, c("a")), false);
  assert.equal(restartsAfterProbeKill({ restartPolicy: "Never" }, c("a", { restartPolicy: "Always" })), true);
});

const network = (mode: NamespaceMode) => ({ linux: { namespaces: { options: { network: mode } } } });
const NOT_READY = PodSandboxState.SANDBOX_NOTREADY;
const at = (attempt: number) => ({ metadata: { name: "web", namespace: "ns", uid: "u1", attempt } });
test("new sandbox: every row of the table, in order", () => {
  const pod = makePod();
  const host = makePod({ hostNetwork: true });
  const need = needsNewSandbox;
  assert.deepEqual(need(pod, { sandboxes: [] }), { create: true, attempt: 0, reason: "NoSandbox" });
  const two = [criSandbox({ id: "s1", ...at(4) }), criSandbox()];
  assert.deepEqual(need(pod, { sandboxes: two }), {
    create: true,
    attempt: 5,
    sandboxId: "s1",
    reason: "SeveralReady",
  });
  const dead = [criSandbox({ state: NOT_READY, ...at(2) }), criSandbox()];
  assert.deepEqual(need(pod, { sandboxes: dead }), {
    create: true,
    attempt: 3,
    sandboxId: "s0",
    reason: "NewestNotReady",
  });
  assert.equal(need(host, { sandboxes: [criSandbox()] }).reason, "NetworkNamespaceChanged");
  assert.equal(need(pod, { sandboxes: [criSandbox(network(NamespaceMode.NODE))] }).reason, "NetworkNamespaceChanged");
  assert.equal(need(pod, { sandboxes: [criSandbox({ network: { ip: "" } })] }).reason, "NoAddress");
  const hostSandbox = criSandbox({ network: { ip: "" }, ...network(NamespaceMode.NODE) });
  assert.equal(need(host, { sandboxes: [hostSandbox] }).create, false);
  const unknown = { ...criSandbox(), network: undefined };
  assert.equal(need(pod, { sandboxes: [unknown] }).create, false);
  const old = [criSandbox({ id: "s1", ...at(1) }), criSandbox({ state: NOT_READY })];
  assert.deepEqual(need(pod, { sandboxes: old }), { create: false, attempt: 1, sandboxId: "s1", reason: "Current" });
  const lost = { create: true, attempt: 2, sandboxId: "s1", reason: "CgroupLost" };
  assert.deepEqual(need(pod, { sandboxes: old }, true), lost);
});
