// Generated fields and rules by hand make one type: forms of Go decide what zero values mean, rules decide the values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { any, int, text } from "../../../src/workers/tasks/manifest/field-types.js";
import { Structs } from "../../../src/workers/tasks/manifest/struct.js";

const never = (): string => "nothing";

test("a field has the meaning of its zero value from Go, whatever the rule", () => {
  const { fields, zeros } = new Structs({}).object("ContainerPort");
  assert.deepEqual(fields.get("hostPort"), { kind: "int", min: -2147483648, max: 2147483647, isPlain: true });
  assert.deepEqual(fields.get("containerPort"), { kind: "int", min: -2147483648, max: 2147483647 });
  assert.deepEqual(zeros, { containerPort: 0 });
  const ruled = new Structs({ ContainerPort: { fields: { hostPort: int(1) }, required: ["containerPort"] } });
  assert.deepEqual(ruled.object("ContainerPort").fields.get("hostPort"), { ...int(1), isPlain: true });
  assert.deepEqual(ruled.object("ContainerPort").zeros, {});
});

test("a rule holds below lists and maps, and at its place only", () => {
  const structs = new Structs({
    KeyToPath: { fields: { key: text(never) } },
    SecretProjection: { fields: { items: any } },
  });
  assert.deepEqual(structs.object("ConfigMapProjection").fields.get("items"), {
    kind: "list",
    of: structs.object("KeyToPath"),
  });
  assert.deepEqual(structs.object("SecretProjection").fields.get("items"), { kind: "list", of: any });
});

test("a field of a later Kubernetes is marked with its version", () => {
  const { fields } = new Structs({}).object("EmptyDirVolumeSource");
  const { kind } = fields.get("mode") ?? {};
  assert.equal(kind, "later");
  assert.equal(fields.get("medium")?.kind, "string");
});

test("fields are left out where a rule says so", () => {
  const structs = new Structs({ PodOS: any, PodSpec: { without: ["os"], dropped: ["workloadRef", "hostIPC"] } });
  const { fields, dropped } = structs.object("PodSpec");
  assert.deepEqual([fields.has("os"), fields.has("hostIPC"), fields.has("hostPID")], [false, false, true]);
  assert.deepEqual(dropped, ["workloadRef", "hostIPC"]);
  const { fields: chosen } = new Structs({ ObjectMeta: { only: ["labels"] } }).object("ObjectMeta");
  assert.deepEqual([...chosen.keys()], ["labels"]);
});
