// The YAML reader against upstream's. test/facts/yaml-reader.jsonl holds what sigs.k8s.io/yaml of Kubernetes 1.36 made
// of texts from the grammar of YAML 1.1, and of random ones: the JSON, or an error.

import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parseExactJson } from "../../../../src/shared/io/yaml/json.js";
import { readKubernetesYaml, readKubernetesYamls } from "../../../../src/shared/io/yaml/kubernetes-yaml.js";
import { offsetAt } from "../../../../src/shared/io/yaml/tree.js";
import { YamlError } from "../../../../src/shared/io/yaml/yaml-error.js";

interface Row {
  area: string;
  text?: string;
  base64?: string;
  json?: string;
  error?: true;
}

const ROWS = readFileSync(join(import.meta.dirname, "../../../../../test/facts/yaml-reader.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

function inputOf({ text, base64 }: Row): string | Uint8Array {
  return text ?? Buffer.from(base64 ?? "", "base64");
}

const valueOf = (input: string | Uint8Array): unknown => readKubernetesYaml(input).root.value;

/** With the digits of each number as JSON has them: a large number may be a bigint, or not. */
function withDigits(value: unknown): unknown {
  if (typeof value === "bigint") return { digits: String(value) };
  if (typeof value === "number") return { digits: Object.is(value, -0) ? "-0" : String(value) };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withDigits);
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withDigits(child)]));
}

/** What the reader makes of it: a value, or undefined for an error. */
function outcome(input: string | Uint8Array): { value: unknown } | undefined {
  try {
    return { value: withDigits(valueOf(input)) };
  } catch (error) {
    ok(error instanceof YamlError, String(error));
    return undefined;
  }
}

function errorOf(text: string): string {
  try {
    valueOf(text);
  } catch (error) {
    ok(error instanceof YamlError);
    return `${error.line}:${error.column}: ${error.message}`;
  }
  return "";
}

describe("every text of the table has upstream's value", () => {
  ok(ROWS.length > 3000);
  for (const area of new Set(ROWS.map((row) => row.area))) {
    test(area, () => {
      const different = ROWS.filter((row) => row.area === area).flatMap((row) => {
        const expected = row.json === undefined ? undefined : { value: withDigits(parseExactJson(row.json)?.value) };
        try {
          deepEqual(outcome(inputOf(row)), expected);
          return [];
        } catch {
          return [row];
        }
      });
      deepEqual(different, []);
    });
  }
});

describe("a problem names its line and column", () => {
  const table: [text: string, problem: string][] = [
    ["a: b: c\n", '1:5: a value (": ") cannot begin here; put a text with ": " in quotes'],
    ["a:\n\tb: 1\n", '2:1: the character "\\t" cannot begin a value; put the text in quotes'],
    ["a: 1\nb\nc: 2\n", '2:1: a line in a map must be a key followed by ":" and a space'],
    ["a: [b\nc: d\n", '2:2: expected "," or "]"'],
    ["a: *x\n", "1:4: *x refers to no anchor before it"],
    ['a: "b\n', '1:4: the text in quotes has no closing "'],
    ["a: x\u0001\n", "1:5: the character U+0001 is not allowed; write it as an escape in double quotes"],
    ["%YAML 1.2\n---\na: 1\n", "1:1: YAML 1.2 is not supported; Kubernetes reads YAML 1.1"],
    ["a: !!int x\n", '1:10: "x" is a !!str, not a !!int'],
    ["~: 1\n", "1:1: a key must be a string, a number or a boolean"],
    ["a: .inf\r\nb: 1\r\n", "1:4: .inf is not a number of JSON"],
  ];
  for (const [text, problem] of table) test(JSON.stringify(text), () => equal(errorOf(text), problem));
});

test("values and keys have a place, also behind aliases and merge keys", () => {
  const { root, lines } = readKubernetesYaml("a: &x\n  b: 1\r\nc:\r\n  <<: *x\n  d: [2, 3]\n");
  const place = (path: (string | number)[], atKey = false): string => {
    const { line, column } = lines.at(offsetAt(root, path, atKey));
    return `${line}:${column}`;
  };
  equal(place(["a", "b"]), "2:6");
  equal(place(["c", "b"]), "2:6");
  equal(place(["c", "d", 1]), "5:10");
  equal(place(["c", "d"], true), "5:3");
  equal(place(["c", "none", "x"]), "4:3");
});

test("integers keep every digit", () => {
  deepEqual(valueOf("[9007199254740991, 9007199254740993, -9223372036854775808, 18446744073709551615]"), [
    9007199254740991,
    9007199254740993n,
    -9223372036854775808n,
    18446744073709551615n,
  ]);
});

test("what is read of JSON alone is read as JSON", () => {
  deepEqual(valueOf('{"a": "x\u2028y", "b": "\\ud83d\\ude00\\/", "c": 9007199254740993}'), {
    a: "x\u2028y",
    b: "\u{1F600}/",
    c: 9007199254740993n,
  });
});

test("reports keys that are given twice, and none that a merge brought", () => {
  const { repeated } = readKubernetesYaml("a: &x {b: 1}\nc: {b: 2, <<: *x}\nd: {<<: *x, b: 2}\ne: {b: 1, b: 2}\n");
  deepEqual(
    repeated.map(({ name, offset }) => [name, offset]),
    [["b", 59]],
  );
});

test("reports the start of text after the first document, which may be broken", () => {
  equal(readKubernetesYaml("a: 1\n---\nb: 2\n").rest, 5);
  equal(readKubernetesYaml("a: 1\n---\n]\n").rest, 5);
  equal(readKubernetesYaml("{a: 1} x").rest, 7);
  equal(readKubernetesYaml("a: 1\n---\n...\n").rest, undefined);
});

test("the documents of a text are read one by one, up to one that is no YAML", () => {
  const text = "\uFEFFa: 1\n---\n\uFEFFb: 2\n---\n---\nc: 3\n...\n";
  deepEqual(
    [...readKubernetesYamls(text)].map(({ root }) => root.value),
    [{ a: 1 }, { b: 2 }, null, { c: 3 }],
  );
  const broken = readKubernetesYamls("a: 1\n---\n]\n");
  const first = broken.next();
  deepEqual(first.done === true ? undefined : first.value.root.value, { a: 1 });
  throws(() => broken.next(), YamlError);
});

test("an alias shares the value of its anchor, as often as upstream allows", () => {
  const uses = (times: number): string => `a: &a [x]\nb: [${Array(times).fill("*a").join(", ")}]\n`;
  const value = valueOf(uses(5000)) as { a: unknown; b: unknown[] };
  ok(value.b.every((item) => item === value.a));
  const levels = Array.from({ length: 9 }, (_, level) => `- &a${level + 1} [${`*a${level}, `.repeat(9)}]\n`);
  match(errorOf(`- &a0 [x]\n${levels.join("")}`), /most of the document comes from aliases/);
});

test("aliases repeat no more characters than a file may have, in scalars, lists, maps, keys and merges", () => {
  const long = "x".repeat(100_000);
  const times = (count: number, text: string): string => Array(count).fill(text).join("");
  const rows: ((count: number) => string)[] = [
    (count) => `a: &a ${long}\nb:\n${times(count, "- *a\n")}`,
    (count) => `a: &a [${long}]\nb:\n${times(count, "- *a\n")}`,
    (count) => `a: &a {k: ${long}}\nb:\n${times(count, "- *a\n")}`,
    (count) => `a: &a {k: ${long}}\nb:\n${times(count, "- <<: *a\n")}`,
    (count) => `a: &a {k: ${long}}\nb: &b [*a, *a]\nc:\n${times(count / 2, "- *b\n")}`,
  ];
  for (const text of rows) {
    match(errorOf(text(120)), /aliases repeat more than 10485760 characters/);
    ok(valueOf(text(80)));
  }
});
