// The pleg queues' records survive their binary form whole, whatever is in them.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeSandboxes, inspectRequestCodec, plegRecordCodec } from "../../../src/shared/contracts/pleg-codec.js";
import type { InspectHint, InspectRequest, PlegWireRecord } from "../../../src/shared/contracts/pleg.js";
import {
  ContainerState,
  ContainerStatus,
  NamespaceMode,
  PodSandboxState,
  PodSandboxStatus,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import {
  type ObservedPod,
  observedContainer,
  observedSandbox,
  type ObservedContainer,
  type ObservedSandbox,
} from "../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid, containerIdOf, sandboxIdOf } from "../../../src/shared/kubernetes/identifiers.js";

/** Objects as the code makes them, not without a prototype. */
function fields<T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true });
}

// Whole characters: half a surrogate pair has no UTF-8 form and never comes from a runtime.
const text = fc.string({ unit: "grapheme", maxLength: 20 });
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const nanos = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
const labels = fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true });

const sandbox: fc.Arbitrary<ObservedSandbox> = fields({
  id: text,
  metadata: fields({ name: text, namespace: text, uid: text, attempt: uint32 }),
  state: fc.constantFrom(PodSandboxState.SANDBOX_READY, PodSandboxState.SANDBOX_NOTREADY),
  createdAt: nanos,
  network: fields({ ip: text, additionalIps: fc.array(fields({ ip: text }), { maxLength: 2 }) }),
  linux: fields({
    namespaces: fields({ options: fields({ network: fc.constantFrom(NamespaceMode.POD, NamespaceMode.NODE) }) }),
  }),
  labels,
  annotations: labels,
}).map((partial) => observedSandbox(PodSandboxStatus.fromPartial(partial)));

const container: fc.Arbitrary<ObservedContainer> = fields({
  id: text,
  metadata: fields({ name: text, attempt: uint32 }),
  state: fc.constantFrom(
    ContainerState.CONTAINER_CREATED,
    ContainerState.CONTAINER_RUNNING,
    ContainerState.CONTAINER_EXITED,
    ContainerState.CONTAINER_UNKNOWN,
  ),
  createdAt: nanos,
  startedAt: nanos,
  finishedAt: nanos,
  exitCode: fc.integer({ min: -1, max: 255 }),
  imageRef: text,
  reason: text,
  message: fc.string({ unit: "grapheme", maxLength: 300 }),
  labels,
  annotations: labels,
  mounts: fc.array(fields({ containerPath: text, hostPath: text, readonly: fc.boolean() }), { maxLength: 3 }),
  logPath: text,
}).map((partial) => observedContainer(ContainerStatus.fromPartial(partial)));

const observed: fc.Arbitrary<Omit<ObservedPod, "containers">> = fields({
  uid: text.map(podUid),
  namespace: text,
  name: text,
  sandboxes: fc.array(sandbox, { maxLength: 3 }),
  generation: uint32,
  observedAt: fc.double({ noNaN: true, noDefaultInfinity: true }),
});

const record: fc.Arbitrary<PlegWireRecord> = fc.oneof(
  fields({ kind: fc.constant("pod-head" as const), fresh: fc.boolean(), total: uint32, observed }),
  fields({
    kind: fc.constant("pod-part" as const),
    uid: text.map(podUid),
    fresh: fc.boolean(),
    changed: fc.array(container, { maxLength: 4 }),
    removed: fc.array(text.map(containerIdOf), { maxLength: 4 }),
  }),
  fields({
    kind: fc.constant("relisted" as const),
    uids: fc.array(text.map(podUid), { maxLength: 200 }),
    durationMs: fc.double({ noNaN: true, noDefaultInfinity: true }),
  }),
  fields({
    kind: fc.constant("runtime" as const),
    state: fields({
      reachable: fc.boolean(),
      runtimeReady: fc.boolean(),
      networkReady: fc.boolean(),
      events: fc.boolean(),
      name: text,
      version: text,
      message: text,
    }),
  }),
  fields({
    kind: fc.constant("inspect-failed" as const),
    uid: text.map(podUid),
    generation: uint32,
    code: text,
    message: text,
  }),
);

const hint: fc.Arbitrary<InspectHint> = fc.oneof(
  fields({ kind: fc.constantFrom("sandbox", "sandbox-removed"), id: text.map(sandboxIdOf) }),
  fields({ kind: fc.constantFrom("container", "container-removed"), id: text.map(containerIdOf) }),
  fields({ kind: fc.constantFrom("recheck", "relist"), id: fc.constant("" as const) }),
);
const request: fc.Arbitrary<InspectRequest> = fields({
  uid: text.map(podUid),
  generation: uint32,
  hints: fc.array(hint, { maxLength: 20 }),
});

test("every record is decoded as it was encoded", () => {
  fc.assert(
    fc.property(record, (before) => {
      assert.deepEqual(plegRecordCodec.decode(plegRecordCodec.encode(before)), before);
    }),
    { numRuns: 300 },
  );
});

test("every inspect request is decoded as it was encoded", () => {
  fc.assert(
    fc.property(request, (before) => {
      assert.deepEqual(inspectRequestCodec.decode(inspectRequestCodec.encode(before)), before);
    }),
    { numRuns: 300 },
  );
});

test("the state of sandboxes is equal bytes exactly when the runtime reports the same", () => {
  fc.assert(
    fc.property(observed, observed, uint32, (a, b, generation) => {
      const again = { ...structuredClone(a), generation, observedAt: a.observedAt + 1 };
      assert.deepEqual(encodeSandboxes(again), encodeSandboxes(a), "generation and time do not count");
      const same = contentOf(a) === contentOf(b);
      assert.equal(Buffer.compare(encodeSandboxes(a), encodeSandboxes(b)) === 0, same);
    }),
  );
});

test("a record that is cut short or of another kind is refused, not misread", () => {
  const pod = plegRecordCodec.encode({
    kind: "inspect-failed",
    uid: podUid("u"),
    generation: 7,
    code: "X",
    message: "why",
  });
  for (let length = 0; length < pod.length; length++) {
    assert.throws(() => plegRecordCodec.decode(pod.subarray(0, length)), `${length} bytes`);
  }
  assert.throws(() => plegRecordCodec.decode(new Uint8Array([99])), { name: "RecordError" });
  const odd = inspectRequestCodec.encode({ uid: podUid("u"), generation: 1, hints: [{ kind: "relist", id: "" }] });
  odd[odd.length - 2] = 77;
  assert.throws(() => inspectRequestCodec.decode(odd), { name: "RecordError" });
});

function contentOf({ uid, namespace, name, sandboxes }: Omit<ObservedPod, "containers">): string {
  return JSON.stringify({ uid, namespace, name, sandboxes }, bigints);
}

function bigints(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
