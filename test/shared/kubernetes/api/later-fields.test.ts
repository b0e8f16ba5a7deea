// Fields of a Pod that a later Kubernetes has: where they are found, and the pod without them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LATER_FIELDS, laterFields, withoutLaterFields } from "../../../../src/shared/kubernetes/api/later-fields.js";
import { laterPodSpec } from "../../../support/later-pod.js";

const pod = (spec: object): { spec: object } => ({ spec });
const paths = (spec: object): string[] => laterFields(pod(spec)).map(({ path }) => path.join("."));

const full = laterPodSpec({ image: "a", httpPort: 1, grpcPort: 2, withReferences: true });

test("the pod of all fields has each field of the table, but those of ephemeral containers", () => {
  const found = new Set(laterFields(pod(full)).map(({ path, gate }) => `${pathPattern(path)} ${gate}`));
  const listed = LATER_FIELDS.filter(({ path, isForOthers }) => isForOthers !== true && !path.includes("ephemeral"));
  assert.deepEqual([...found].sort(), listed.map(({ path, gate }) => `${path} ${gate}`).sort());
});

const pathPattern = (path: readonly (string | number)[]): string =>
  path.map((step, index) => (typeof step === "number" ? "[]" : `${index === 0 ? "" : "."}${step}`)).join("");

test("a value that asks for what the kubelet does anyway is not reported", () => {
  const probe = (more: object) => ({ containers: [{ livenessProbe: more }] });
  assert.deepEqual(paths(probe({ httpGet: { port: 1, protocol: "HTTP1" } })), []);
  assert.deepEqual(paths(probe({ grpc: { port: 1, mode: "Plaintext" } })), []);
  assert.deepEqual(paths(probe({ grpc: { port: 1, mode: "TLS" } })), ["spec.containers.0.livenessProbe.grpc.mode"]);
});

test("fields that only other components read are not reported", () => {
  assert.deepEqual(paths({ evictionResponders: [{ name: "a.example/b", priority: 1 }] }), []);
});

test("absent and null fields, other types and holes in lists are passed over", () => {
  assert.deepEqual(paths({ volumes: [undefined, { emptyDir: { mode: null } }, { emptyDir: 7 }, { secret: {} }] }), []);
  assert.deepEqual(paths({ volumes: { emptyDir: { mode: 1 } }, containers: "x" }), []);
  assert.deepEqual(laterFields({}), []);
});

test("a pod is found without the fields, whatever their values; the original keeps them", () => {
  const before = structuredClone(full);
  const without = withoutLaterFields(pod(full));
  assert.deepEqual(full, before);
  assert.deepEqual(laterFields(without), []);
  assert.doesNotMatch(JSON.stringify(without), /"(protocol|bindMountOptions|defaultUser|user|evictionResponders)"/);
  assert.match(JSON.stringify(without), /"mountPath":"\/scratch"/);
});

test("a pod without such fields is the same object", () => {
  const plain = pod({ containers: [{ name: "a", livenessProbe: { httpGet: { port: 1 } } }] });
  assert.equal(withoutLaterFields(plain), plain);
});
