// Texts with several documents: positions in the whole text, limits for hostile ones.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeSubmitted } from "../../../src/workers/tasks/manifest/decode-submitted.js";
import { manifest } from "../../support/sources-kit.js";

const decode = (text: string, namespace = "default") =>
  decodeSubmitted({ text: Buffer.from(text), nodeName: "node", preventAPIReferences: true, namespace });

test("empty documents and comments between pods do not count", () => {
  const { pods, error } = decode(`---\n# first\n---\n${manifest("a")}---\n---\n${manifest("b")}`);
  assert.equal(error, undefined);
  assert.deepEqual(
    pods.map(({ name }) => name),
    ["a", "b"],
  );
});

test("a List, JSON and YAML make the same pods", () => {
  const list = {
    kind: "List",
    apiVersion: "v1",
    items: decode(`${manifest("a")}---\n${manifest("b")}`).pods.map(({ metadata, spec }) => ({
      ...{ metadata: JSON.parse(metadata) as unknown, spec: JSON.parse(spec) as unknown },
    })),
  };
  const uids = (text: string): string[] => decode(text).pods.map(({ pod }) => pod.metadata.uid);
  assert.deepEqual(uids(JSON.stringify(list)), uids(`${manifest("a")}---\n${manifest("b")}`));
});

test("the namespace of the path and the same one in the text make one UID", () => {
  const given = manifest("a").replace("name: a", "name: a\n  namespace: shop");
  assert.equal(decode(manifest("a"), "shop").pods[0]?.pod.metadata.uid, decode(given).pods[0]?.pod.metadata.uid);
});

test("the text that is kept decodes to the same UID", () => {
  const [one] = decode(manifest("a"), "shop").pods;
  assert.ok(one);
  const kept = `{"apiVersion":"v1","kind":"Pod","metadata":${one.metadata},"spec":${one.spec}}`;
  assert.equal(decode(kept).pods[0]?.pod.metadata.uid, one.pod.metadata.uid);
});

test("a fault in the second document has its line in the whole text", () => {
  const first = manifest("a");
  const { pods, error } = decode(`${first}---\n${manifest("b").replace("kind: Pod", "kind: Pdo")}`);
  assert.deepEqual(pods, []);
  assert.equal(error?.[0]?.line, first.split("\n").length + 2);
  assert.match(error[0].hint ?? "", /Pod/);
});

const HOSTILE: [name: string, text: string][] = [
  ["an alias bomb", `a: &a [x,x,x,x,x,x,x,x,x]\n${bomb()}`],
  ["too many documents", "---\na: 1\n".repeat(2000)],
  ["deep nesting", "[".repeat(100_000)],
  ["no text", ""],
  ["binary", "\u0000\u0001"],
];
for (const [name, text] of HOSTILE) {
  test(`${name}: refused`, () => {
    const { pods, error } = decode(text);
    assert.deepEqual(pods, []);
    assert.ok(error !== undefined && error.length > 0);
  });
}

test("any text gives pods or an error", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const { pods, error } = decode(text);
      return pods.length === 0 && error !== undefined;
    }),
  );
});

function bomb(): string {
  const names = "bcdefghi".split("");
  return names
    .map((name, index) => {
      const before = index === 0 ? "a" : (names[index - 1] ?? "a");
      return `${name}: &${name} [${Array<string>(9).fill(`*${before}`).join(",")}]`;
    })
    .join("\n");
}

test("integers of 64 bits are kept with all digits, also after a restart", () => {
  const spec = "spec:\n  terminationGracePeriodSeconds: 9223372036854775807\n";
  const [one] = decode(manifest("a").replace("spec:\n", spec)).pods;
  assert.ok(one);
  assert.match(one.spec, /"terminationGracePeriodSeconds":9223372036854775807[,}]/);
  const [again] = decode(`{"apiVersion":"v1","kind":"Pod","metadata":${one.metadata},"spec":${one.spec}}`).pods;
  assert.deepEqual(again, one);
  assert.deepEqual(one.pod.wideIntegers, [
    { path: ["spec", "terminationGracePeriodSeconds"], digits: "9223372036854775807" },
  ]);
});
