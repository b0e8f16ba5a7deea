// Texts that the nodelet command reads: every fault of every document at once, and the pods without a fault.

import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { readDocuments } from "../../../src/workers/tasks/manifest/read-documents.js";
import { manifest } from "../../support/sources-kit.js";

const read = (text: string) =>
  readDocuments({ text: Buffer.from(text), nodeName: "node", preventAPIReferences: true, namespace: "default" });
const names = (text: string): string[] => read(text).documents.flatMap(({ pods }) => pods.map(({ name }) => name));
const places = (text: string): string[] =>
  read(text).documents.flatMap(({ violations }) =>
    violations.map(({ line, field, reason }) => `${line} ${field} ${reason}`),
  );

describe("documents of one text", () => {
  test("a broken document hides neither the pods nor the faults of the others", () => {
    const text = `${manifest("a")}---\na: [b\n---\n${manifest("b").replace("image:", "imag:")}---\n${manifest("c")}`;
    const { documents } = read(text);
    deepEqual(names(text), ["a", "c"]);
    deepEqual(
      documents.map(({ violations }) => violations.length),
      [0, 1, 1, 0],
    );
    const [first, second, third] = documents;
    equal(first?.line, 1);
    equal(second?.violations[0]?.reason, "syntax");
    equal(third?.violations[0]?.field, "spec.containers[0].image");
    match(third.warnings[0]?.message ?? "", /did you mean "image"/);
  });

  test("a valid pod under a wrong apiVersion is no pod", () => {
    const text = manifest("a").replace("apiVersion: v1", "apiVersion: v2");
    deepEqual(names(text), []);
    deepEqual(places(text), ["1 apiVersion unsupported value"]);
  });

  test("an item of a List that is no pod leaves the other items", () => {
    const list = { kind: "List", apiVersion: "v1", items: [jsonPod("a"), { kind: "Service", apiVersion: "v1" }] };
    deepEqual(names(JSON.stringify(list)), ["a"]);
    deepEqual(places(JSON.stringify(list)), ["1 items[1].kind unsupported value"]);
  });

  test("empty documents do not count, and a text of them only is refused", () => {
    equal(read(`---\n---\n${manifest("a")}---\n`).documents.length, 1);
    match(read("---\n# nothing\n").documents[0]?.violations[0]?.allowed ?? "", /empty/);
  });

  test("a text with thousands of faults keeps some hundreds of them and counts the others", () => {
    const fields = Array.from({ length: 90 }, (_, index) => `    f${index}: 1`).join("\n");
    const text = Array.from({ length: 20 }, () => `${manifest("a").trimEnd()}\n${fields}\n`).join("---\n");
    const { documents, omitted } = read(text);
    equal(documents.flatMap(({ warnings }) => warnings).length, 500);
    equal(omitted, 20 * 90 - 500);
  });
});

const HOSTILE: readonly (readonly [name: string, text: string])[] = [
  ["an alias bomb", `a: &a [x,x,x]\nb: &b [${"*a,".repeat(200)}*a]\n`],
  ["too many documents", "---\na: 1\n".repeat(2000)],
  ["deep nesting", "[".repeat(100_000)],
  ["binary", "\u0000\u0001"],
];
for (const [name, text] of HOSTILE) {
  test(`${name} is refused`, () => {
    deepEqual(names(text), []);
    equal(read(text).documents.flatMap(({ violations }) => violations).length > 0, true);
  });
}

function jsonPod(name: string): object {
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers: [{ name: "app", image: "i" }] } };
}
