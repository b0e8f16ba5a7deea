// What a Node assigns, as a table: forms of the annotation, spec.configSource of old API servers, wrong values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG_SOURCE_ANNOTATION } from "../../../../src/shared/kubernetes/api/config-source.js";
import type { Node } from "../../../../src/shared/kubernetes/api/node.js";
import { assignmentOf } from "../../../../src/workers/node-status/config-source/assignment.js";

const nodeWith = (annotation?: unknown, configSource?: unknown): Node => ({
  metadata: {
    name: "n1",
    ...(annotation !== undefined && { annotations: { [CONFIG_SOURCE_ANNOTATION]: annotation as string } }),
  },
  spec: { ...(configSource !== undefined && { configSource }) },
});
const reference = { namespace: "kube-system", name: "workers", kubeletConfigKey: "kubelet" };
const json = (configMap: object): string => JSON.stringify({ configMap });

const GOOD: [name: string, node: Node, want: object | undefined][] = [
  ["no annotation", nodeWith(), undefined],
  ["spec.configSource null", nodeWith(undefined, null), undefined],
  ["namespace and name", nodeWith("kube-system/workers"), reference],
  ["with spaces around", nodeWith(" kube-system/workers\n"), reference],
  ["with a key", nodeWith("kube-system/workers/a.b_c"), { ...reference, kubeletConfigKey: "a.b_c" }],
  ["JSON", nodeWith(json({ namespace: "kube-system", name: "workers" })), reference],
  [
    "JSON with everything",
    nodeWith(json({ ...reference, uid: "u1", resourceVersion: "7" })),
    { ...reference, uid: "u1", resourceVersion: "7" },
  ],
  ["spec.configSource", nodeWith(undefined, { configMap: reference }), reference],
  ["empty UID and resourceVersion", nodeWith(json({ ...reference, uid: "", resourceVersion: "" })), reference],
  [
    "the annotation has precedence over spec",
    nodeWith("kube-system/workers", { configMap: { ...reference, name: "x" } }),
    reference,
  ],
];
for (const [name, node, want] of GOOD) {
  test(name, () => assert.deepEqual(assignmentOf(node), want === undefined ? undefined : { reference: want }));
}

const BAD: [name: string, node: Node, problem: RegExp][] = [
  ["a name alone", nodeWith("workers"), /config-source of the Node is invalid: "workers"; write "<namespace>\/<name>"/],
  ["empty", nodeWith(""), /is invalid: ""/],
  ["four parts", nodeWith("a/b/c/d"), /"a\/b\/c\/d"/],
  ["a path out of the namespace", nodeWith("../secrets/x"), /namespace: "\.\." is not the name of a namespace/],
  ["a name that is none", nodeWith("kube-system/../x"), /name: "\.\." is not the name of a ConfigMap/],
  ["a key that is none", nodeWith("kube-system/workers/a b"), /kubeletConfigKey: "a b" is not a key of a ConfigMap/],
  ["broken JSON", nodeWith("{"), /no valid JSON/],
  ["no object", nodeWith(undefined, "x"), /spec.configSource of the Node is invalid: expected an object/],
  ["an empty source", nodeWith("{}"), /exactly one member must be set, but none was/],
  ["another source", nodeWith('{"file": {}}'), /unknown member "file"/],
  ["configMap is a list", nodeWith('{"configMap": []}'), /configMap: expected an object/],
  [
    "an unknown member",
    nodeWith(json({ ...reference, key: "x" })),
    /unknown member "key"; known: namespace, name, kubeletConfigKey, uid/,
  ],
  ["a number as name", nodeWith(json({ ...reference, name: 5 })), /name: 5 is not the name of a ConfigMap/],
  ["no namespace", nodeWith(json({ name: "workers" })), /namespace: missing is not the name/],
  ["an object as UID", nodeWith(json({ ...reference, uid: {} })), /uid: \{\} is not a text/],
  ["a number as annotation", nodeWith(5), /not a text/],
  ["a megabyte", nodeWith("x".repeat(1024 * 1024)), /longer than 4096 characters/],
];
for (const [name, node, problem] of BAD) {
  test(`refused: ${name}`, () => {
    const found = assignmentOf(node);
    assert.ok(found !== undefined && "problem" in found);
    assert.match(found.problem, problem);
    assert.ok(found.problem.length < 1000);
  });
}
