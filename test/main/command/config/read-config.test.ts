import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { readConfig } from "../../../../src/main/command/config/read-config.js";
import { isTolerated, problemText } from "../../../../src/main/command/config/report.js";
import { at, plain } from "../../../../src/main/command/config/tree.js";
import { LATER_FIELDS } from "../../../../src/main/command/fields/later-fields.js";
import { HEAD } from "../../../support/config-kit.js";

const problemsIn = (text: string): string[] => readConfig(text, "f").problems.map(problemText);
const problems = (body: string): string[] => problemsIn(HEAD + body);
function read(body: string): unknown {
  const { tree, problems } = readConfig(HEAD + body, "f");
  deepEqual(problems, []);
  return plain(tree);
}

describe("accepted texts", () => {
  const table: [string, unknown][] = [
    ["logging: {verbosity: 4}", { logging: { verbosity: 4 } }],
    ["failSwapOn: off\nenableServer: yes", { failSwapOn: false, enableServer: true }],
    ["maxPods: 0o17\nport: 0x10", { maxPods: 15, port: 16 }],
    ["staticPodURL: &p http://x\nclusterDomain: *p", { staticPodURL: "http://x", clusterDomain: "http://x" }],
    [
      "evictionHard: &e {a: '1', b: '2'}\nevictionSoft: {<<: *e, b: '3'}",
      {
        evictionHard: { a: "1", b: "2" },
        evictionSoft: { b: "3", a: "1" },
      },
    ],
    ["maxPods: null\nlogging:\n", { maxPods: null, logging: null }],
    [
      "registerWithTaints: [{key: a, value: null, effect: NoSchedule}]",
      {
        registerWithTaints: [{ key: "a", effect: "NoSchedule" }],
      },
    ],
    [
      "reservedMemory: [{numaNode: 0, limits: {memory: 1Gi, hugepages-2Mi: 4}}]",
      {
        reservedMemory: [{ numaNode: 0, limits: { memory: "1Gi", "hugepages-2Mi": 4 } }],
      },
    ],
    [
      "logging: {flushFrequency: 5000000000, vmodule: [{filePattern: a, verbosity: 3}]}",
      {
        logging: { flushFrequency: 5e9, vmodule: [{ filePattern: "a", verbosity: 3 }] },
      },
    ],
    ["evictionHard: {__proto__: '1'}", { evictionHard: Object.fromEntries([["__proto__", "1"]]) }],
  ];
  for (const [body, expected] of table) test(body, () => deepEqual(read(body), expected));

  test("integers beyond 2^53 keep their digits", () => {
    equal(JSON.stringify(read("podPidsLimit: 9223372036854775807")), '{"podPidsLimit":9223372036854775807}');
  });
  test("JSON, indented with tabs", () => {
    const json = JSON.stringify(
      { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration", maxPods: 3 },
      null,
      "\t",
    );
    const { tree, problems } = readConfig(json, "f");
    deepEqual([problems, plain(tree)], [[], { maxPods: 3 }]);
  });
  test("a number with a fraction or an exponent is an integer in YAML and in drop-ins, and in a JSON file is none", () => {
    const json = `{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", ${[
      '"maxPods": 80.0',
      '"podPidsLimit": 1e3',
      '"logging": {"flushFrequency": 5e9, "vmodule": [{"filePattern": "a", "verbosity": 3.0}]}',
      '"memoryThrottlingFactor": 5e-1',
      '"reservedMemory": [{"limits": {"memory": 1.50}}]',
    ].join(", ")}}`;
    const expected = {
      maxPods: 80,
      podPidsLimit: 1000,
      logging: { flushFrequency: 5e9, vmodule: [{ filePattern: "a", verbosity: 3 }] },
      memoryThrottlingFactor: 0.5,
      reservedMemory: [{ limits: { memory: 1.5 } }],
    };
    deepEqual(plain(readConfig(json, "f", "drop-in").tree), expected);
    deepEqual(plain(readConfig(`# YAML\n${json}`, "f").tree), expected);
    deepEqual(
      readConfig(Buffer.from(` \n${json}`), "f")
        .problems.map(problemText)
        .map((text) => text.replace(/^f:2:\d+: (.*): expected .*, found/, "$1")),
      ["maxPods 80.0", "podPidsLimit 1e3", "logging.flushFrequency 5e9", "logging.vmodule[0].verbosity 3.0"],
    );
  });
  test("a byte order mark and an empty last document do no harm", () => {
    deepEqual(readConfig(`\uFEFF---\n${HEAD}maxPods: 1\n---\n`, "f").problems, []);
  });
});

test("every node knows its place", () => {
  const { tree } = readConfig(`${HEAD}evictionHard:\n  a: "1"\nclusterDNS: [10.0.0.1,\n  10.0.0.2]\n`, "f", "drop-in");
  const place = (line: number, column: number): object => ({ kind: "drop-in", file: "f", line, column });
  const map = at(tree, "evictionHard");
  ok(map?.kind === "map");
  deepEqual([map.origin, map.entries.get("a")?.origin], [place(4, 3), place(4, 6)]);
  const list = at(tree, "clusterDNS");
  ok(list?.kind === "list");
  deepEqual(list.items[1]?.origin, place(6, 3));
});

test("relative paths are beside the file", () => {
  const path = (text: string, field: string): unknown => {
    const node = at(readConfig(`${HEAD}${field}: ${text}`, "/etc/k/c.yaml").tree, field);
    return node === undefined ? undefined : plain(node);
  };
  equal(path("m", "staticPodPath"), "/etc/k/m");
  equal(path("../m", "tlsCertFile"), "/etc/m");
  equal(path("/m", "staticPodPath"), "/m");
  equal(path('""', "resolvConf"), "");
  equal(path("m", "kubeletCgroups"), "m");
});

describe("mistakes name their line and column", () => {
  const int32 = "expected a whole number from -2147483648 to 2147483647";
  const table: [string, string[]][] = [
    ["maxPod: 3", ["f:3:1: maxPod: unknown field; did you mean maxPods?"]],
    ["constructor: 3", ["f:3:1: constructor: unknown field"]],
    ["toString: 3", ["f:3:1: toString: unknown field"]],
    ["maxpods: 3", ["f:3:1: maxpods: unknown field; did you mean maxPods?"]],
    ...Object.entries(LATER_FIELDS).map(([name, text]): [string, string[]] => [
      `${name}: {}`,
      [`f:3:1: ${name}: ${text}`],
    ]),
    ["logging: {verbosty: 3}", ["f:3:11: logging.verbosty: unknown field; did you mean verbosity?"]],
    ["maxPods: '3'", [`f:3:10: maxPods: ${int32}, found "3"`]],
    ["maxPods: 1.5", [`f:3:10: maxPods: ${int32}, found 1.5`]],
    ["maxPods: 2147483648", [`f:3:10: maxPods: ${int32}, found 2147483648`]],
    ["failSwapOn: 'no'", ['f:3:13: failSwapOn: expected true or false, found "no"']],
    ["memoryThrottlingFactor: .inf", ["f:3:25: .inf is not a number of JSON"]],
    ["maxPods: 3\nmaxPods: 4", ["f:4:1: maxPods: given twice"]],
    ["evictionHard: {a: '1', a: '2'}", ["f:3:24: evictionHard[a]: given twice"]],
    ["evictionHard: {a: 1}", ["f:3:19: evictionHard[a]: expected text, found 1: put it in quotes"]],
    ["evictionHard: {? [a] : '1'}", ["f:3:18: a key must not be a list or a map"]],
    ["enforceNodeAllocatable: [pods, null]", ["f:3:32: enforceNodeAllocatable[1]: expected text, found null"]],
    ["logging: 3", ["f:3:10: logging: expected a map of fields, found 3"]],
    ["registerWithTaints: {}", ["f:3:21: registerWithTaints: expected a list, found a map"]],
    ["registerWithTaints: [3]", ["f:3:22: registerWithTaints[0]: expected a map of fields, found 3"]],
    [
      "registerWithTaints: [{key: 1, efect: x}]",
      [
        "f:3:28: registerWithTaints[0].key: expected text, found 1: put it in quotes",
        "f:3:31: registerWithTaints[0].efect: unknown field; did you mean effect?",
      ],
    ],
    [
      "maxPods: x\nmaxPod: 1",
      [`f:3:10: maxPods: ${int32}, found "x"`, "f:4:1: maxPod: unknown field; did you mean maxPods?"],
    ],
    ["clusterDomain: *none", ["f:3:16: *none refers to no anchor before it"]],
    ["evictionHard: {<<: 3}", ['f:3:20: the value of "<<" must be a map, or a list of maps']],
    [
      "maxPods: 3\n---\nmaxPods: 4",
      ["f:4:1: a second document, which is not read; a file must contain one KubeletConfiguration"],
    ],
  ];
  for (const [body, expected] of table) test(body, () => deepEqual(problems(body), expected));

  test("a secret is not shown", () => {
    for (const body of [
      "staticPodURLHeader: hunter2",
      "staticPodURLHeader: {a: hunter2}",
      "staticPodURLHeader: {a: [7]}",
    ]) {
      const [problem = ""] = problems(body);
      match(problem, /found a value \(masked\)/);
      ok(!/hunter2|found 7/.test(problem), problem);
    }
  });

  test("a text without apiVersion or kind is refused", () => {
    deepEqual(problemsIn("kind: Pod\n"), [
      "f:1:1: apiVersion: is missing; must be kubelet.config.k8s.io/v1beta1",
      'f:1:7: kind: is "Pod"; must be KubeletConfiguration',
    ]);
    for (const empty of ["", "# nothing\n", "null\n", "---\n"]) {
      match(problemsIn(empty).join("\n"), /^f:1:1: the file is empty; it must contain apiVersion: .*$/);
    }
    deepEqual(problemsIn("[]"), ["f:1:1: expected a map of fields, found a list"]);
  });

  test("apiVersion and kind of a file are read in any case, of a drop-in as they are written", () => {
    const text =
      "APIVERSION: kubelet.config.k8s.io/v1beta1\nKind: Pod\nKIND: KubeletConfiguration\nkind: null\nmaxPods: 3\n";
    const file = readConfig(text, "f");
    deepEqual(plain(file.tree), { maxPods: 3 });
    ok(file.problems.every(isTolerated));
    deepEqual(
      file.problems.map(({ path }) => path),
      ["APIVERSION", "Kind", "KIND"],
    );
    deepEqual(
      readConfig(text, "f", "drop-in")
        .problems.filter((problem) => !isTolerated(problem))
        .map(problemText),
      [
        "f:1:1: apiVersion: is missing; must be kubelet.config.k8s.io/v1beta1",
        "f:4:7: kind: is null; must be KubeletConfiguration",
      ],
    );
  });

  test("broken YAML is reported with its place, and nothing else is", () => {
    const found = problems("maxPods: [1\nfoo: bar\n");
    ok(found.length > 0);
    for (const problem of found) match(problem, /^f:\d+:\d+: /);
  });
});

describe("hostile texts", () => {
  test("nesting beyond the limit is reported, not walked", () => {
    for (const deep of ["[".repeat(100_000), "- ".repeat(20_000), "{a: ".repeat(20_000)]) {
      match(problems(`clusterDNS:\n  ${deep}`)[0] ?? "", /^f:4:\d+: nested more than 10000 levels deep/);
    }
  });
  test("aliases are followed as far as upstream follows them", () => {
    const merges = (times: number): string =>
      `evictionHard: &a {k: ${"v".repeat(10)}}\nevictionSoft:\n${"  <<: *a\n".repeat(times)}`;
    deepEqual(problems(merges(1000)), []);
    const levels = Array.from({ length: 9 }, (_, level) => `  - &a${level + 1} [${`*a${level}, `.repeat(9)}]\n`);
    const bomb = `clusterDNS:\n  - &a0 [x]\n${levels.join("")}`;
    match(problems(bomb).join("\n"), /most of the document comes from aliases/);
  });
  test("a circle of aliases ends", () => {
    match(problems("evictionHard: &a {<<: *a}").join("\n"), /an alias is within the value that it refers to/);
  });
  test("a text above 10 MiB is refused", () =>
    match(problems("#".repeat(11 * 1024 * 1024))[0] ?? "", /larger than 10 MiB/));
});
