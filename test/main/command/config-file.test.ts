import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { CONFIG_FIELDS } from "../../../src/main/command/config-fields.js";
import { readConfig } from "../../../src/main/command/config-file.js";
import { fromConfig } from "../../../src/main/command/values.js";

const HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
const problems = (body: string): string[] => readConfig(HEAD + body, "f").problems;
const value = (body: string, path: string): unknown => readConfig(HEAD + body, "f").given.get(path)?.value;

test("every default of the table is of its own type", () => {
  for (const field of CONFIG_FIELDS) {
    if (field.default !== undefined) equal(fromConfig(field.type, field.default) === undefined, false, field.path);
  }
});

describe("values", () => {
  test("durations are milliseconds", () => equal(value("syncFrequency: 1m30s", "syncFrequency"), 90_000));
  test("nested fields", () => equal(value("logging: {verbosity: 4}", "logging.verbosity"), 4));
  test("nanoseconds where upstream takes them", () =>
    equal(value("logging: {flushFrequency: 5000000000}", "logging.flushFrequency"), 5000));
  test("yes and off are booleans when bare", () => {
    equal(value("failSwapOn: off", "failSwapOn"), false);
    equal(value("failSwapOn: yes", "failSwapOn"), true);
    equal(problems('failSwapOn: "yes"').length, 1);
  });
  test("null is as good as not given", () => deepEqual(problems("maxPods: null\nlogging:\n"), []));
  test("aliases", () => equal(value("staticPodPath: &p /x\nvolumePluginDir: *p", "volumePluginDir"), "/x"));
  test("JSON, with tabs", () => {
    const json = JSON.stringify({ kind: "KubeletConfiguration", maxPods: 3 }, null, "\t").replace(
      "{",
      '{"apiVersion":"kubelet.config.k8s.io/v1beta1",',
    );
    const read = readConfig(json, "f");
    deepEqual(read.problems, []);
    equal(read.given.get("maxPods")?.value, 3);
  });
});

describe("mistakes say where they stand", () => {
  const table: [string, string[]][] = [
    ["maxPod: 3", ["f:3:1: maxPod: unknown field; did you mean maxPods?"]],
    ["maxpods: 3", ["f:3:1: maxpods: unknown field; did you mean maxPods?"]],
    ["logging: {verbosty: 3}", ["f:3:11: logging.verbosty: unknown field; did you mean verbosity?"]],
    ["maxPods: '3'", ['f:3:10: maxPods: "3" is not a whole number from -2147483648 to 2147483647']],
    ["maxPods: 3\nmaxPods: 4", ["f:4:1: maxPods: given twice"]],
    ["evictionHard: {a: '1', a: '2'}", ["f:3:24: evictionHard.a: given twice"]],
    ["logging: 3", ["f:3:10: logging: must be a map of fields"]],
    ["registerWithTaints: {}", ["f:3:21: registerWithTaints: must be a list"]],
    ["registerWithTaints: [3]", ["f:3:22: registerWithTaints[0]: must be a map of fields"]],
    [
      "maxPods: x\nmaxPod: 1",
      [
        'f:3:10: maxPods: "x" is not a whole number from -2147483648 to 2147483647',
        "f:4:1: maxPod: unknown field; did you mean maxPods?",
      ],
    ],
    [
      "staticPodURLHeader: secret",
      ["f:3:21: staticPodURLHeader: the value is not a map of header names to lists of values"],
    ],
  ];
  for (const [body, expected] of table) test(body, () => deepEqual(problems(body), expected));

  test("apiVersion and kind", () => {
    deepEqual(readConfig("kind: Pod\n", "f").problems, [
      "f:1:1: apiVersion: is missing; must be kubelet.config.k8s.io/v1beta1",
      'f:1:1: kind: is "Pod"; must be KubeletConfiguration',
    ]);
    deepEqual(readConfig("", "f").problems, ["f:1:1: the file is empty"]);
  });

  test("broken YAML is one problem with its place", () => {
    const found = problems("maxPods: [1\n");
    equal(found.length > 0, true);
    equal(
      found.every((problem) => problem.startsWith("f:")),
      true,
    );
  });
});

test("no text makes the reader throw", () => {
  fc.assert(fc.property(fc.string(), (text) => Array.isArray(readConfig(text, "f").problems)));
  const piece = fc.constantFrom(
    "maxPods",
    ":",
    " ",
    "\n",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "&a",
    "*a",
    "<<",
    "!!x",
    "1",
    '"',
    "logging",
    ",",
    "\t",
    "|",
    "? ",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (parts) =>
      Array.isArray(readConfig(HEAD + parts.join(""), "f").problems),
    ),
  );
});
