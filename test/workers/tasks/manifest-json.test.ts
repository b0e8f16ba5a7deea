// Manifests that are JSON. Expected is what upstream's file source does with a text that begins with a brace: it is
// decoded by sigs.k8s.io/json, into structs, and never read as YAML.

import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { violationText } from "../../../src/shared/kubernetes/api/manifest/violation.js";
import { decodeManifest } from "../../../src/workers/tasks/manifest/decode.js";
import { readManifestJson } from "../../../src/workers/tasks/manifest/manifest-json.js";

const decode = (text: string | Uint8Array): ReturnType<typeof decodeManifest> =>
  decodeManifest({ origin: { kind: "file", path: "/m/web.json" }, text, nodeName: "node-1" });

const TYPE = '"apiVersion":"v1","kind":"Pod"';
const C = '"name":"c","image":"i"';
/** A pod whose container has more members; `more` has members of the pod itself. */
const container = (members: string, more = ""): string =>
  `{${TYPE},"metadata":{"name":"web"},"spec":{"containers":[{${C}${members === "" ? "" : `,${members}`}}]}${more}}`;

describe("equal keys", () => {
  const ROWS: readonly (readonly [text: string, value: unknown])[] = [
    ['{"a":1,"a":2}', { a: 2 }],
    ['{"a":"x","a":["y"]}', { a: ["y"] }],
    ['{"a":{"b":1},"a":{"c":2}}', { a: { b: 1, c: 2 } }],
    ['{"a":{"b":1,"c":1},"a":{"c":2}}', { a: { b: 1, c: 2 } }],
    ['{"a":{"b":{"c":1}},"a":{"b":{"d":2}},"a":{"b":{"c":3}}}', { a: { b: { c: 3, d: 2 } } }],
    ['{"a":[1,2,3],"a":[4]}', { a: [4] }],
    ['{"a":[{"b":1},{"b":2}],"a":[{"c":3}]}', { a: [{ b: 1, c: 3 }] }],
    ['{"a":[{"b":1}],"a":[{"c":2},{"d":3}]}', { a: [{ b: 1, c: 2 }, { d: 3 }] }],
    ['{"a":[1],"a":[]}', { a: [] }],
    ['{"a":[[1],[2]],"a":[[],[3,4]]}', { a: [[], [3, 4]] }],
    ['{"a":{"b":1},"a":"x"}', { a: "x" }],
    ['{"a":"x","a":null}', { a: "x" }],
    ['{"a":1,"a":null}', { a: null }],
    ['{"a":{"b":1},"a":null}', { a: null }],
    ['{"a":[1],"a":null,"a":[{"b":2}]}', { a: [{ b: 2 }] }],
    ['{"spec":{"b":1},"spec":null}', { spec: { b: 1 } }],
    ['{"a":null,"a":{"b":1}}', { a: { b: 1 } }],
    ['{"a":1,"\\u0061":2}', { a: 2 }],
    ['{"a":{"__proto__":1,"__proto__":2}}', { a: JSON.parse('{"__proto__":2}') as unknown }],
    ['{"a":9223372036854775807,"a":9223372036854775806}', { a: 9223372036854775806n }],
    ['{"a":["x",{"b":[{"c":1,"c":2}]}]}', { a: ["x", { b: [{ c: 2 }] }] }],
    ['{"":1,"":2}', { "": 2 }],
  ];
  for (const [text, value] of ROWS) {
    test(text, () => {
      const read = readManifestJson(text);
      deepEqual(read?.value, value);
      equal((read?.repeated.length ?? 0) > 0, true, "the key is reported");
    });
  }

  test("they are a warning with the place of the later one", () => {
    const text = container('"env":[{"name":"A"}],\n "env":[{"value":"x"}]');
    const { pods, warnings, error } = decode(text);
    deepEqual([error, pods[0]?.spec.containers[0]?.env], [undefined, [{ name: "A", value: "x" }]]);
    deepEqual(warnings, [
      { field: "", message: "key given twice: the last value counts, and objects are merged", line: 2, column: 2 },
    ]);
  });

  test("a pod given in two parts is one pod", () => {
    const { pods, error } = decode(container("", ',"metadata":{"labels":{"a":"b"}},"spec":{"hostNetwork":true}'));
    deepEqual(error, undefined);
    deepEqual(
      [pods[0]?.metadata.name, pods[0]?.metadata.labels, pods[0]?.spec.hostNetwork, pods[0]?.spec.containers.length],
      ["web-node-1", { a: "b" }, true, 1],
    );
  });

  test("without equal keys the value is that of JSON.parse, whatever the text", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const read = readManifestJson(text);
        deepEqual(JSON.stringify(plain(read?.value)), JSON.stringify(JSON.parse(text)));
        deepEqual(read?.repeated, []);
      }),
    );
  });
});

/** JsonDecimal and bigints as JSON.parse has them. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if ("number" in value && Object.getPrototypeOf(value) !== Object.prototype) return value.number;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

describe("numbers with a fraction or an exponent", () => {
  const REFUSED: readonly (readonly [members: string, fault: RegExp])[] = [
    [
      '"ports":[{"containerPort":80.0}]',
      /^spec\.containers\[0\]\.ports\[0\]\.containerPort: wrong type 80\.0; allowed/,
    ],
    ['"ports":[{"containerPort":8e1}]', /containerPort: wrong type 8e1; allowed/],
    ['"ports":[{"containerPort":8E+1}]', /containerPort: wrong type 8E\+1; allowed/],
    ['"securityContext":{"runAsUser":1000.0}', /runAsUser: wrong type 1000\.0/],
    ['"args":[1.5]', /args\[0\]: wrong type 1\.5; allowed: a string \(write it in quotes/],
    ['"livenessProbe":{"httpGet":{"port":80.0}}', /httpGet\.port: wrong type 80\.0/],
    ['"tty":1.0', /tty: wrong type 1\.0/],
    ['"resources":{"limits":{"cpu":1e3m}}', /./],
  ];
  for (const [members, fault] of REFUSED) {
    test(`${members} is no integer`, () => {
      const { error = [] } = decode(container(members));
      match(error.map((one) => violationText(one)).join("\n"), fault);
    });
  }

  test("they are quantities, with their form", () => {
    const { pods, error } = decode(
      container('"resources":{"limits":{"cpu":0.50,"memory":1e9},"requests":{"cpu":5E-1,"memory":128.0}}'),
    );
    deepEqual(error, undefined);
    deepEqual(pods[0]?.spec.containers[0]?.resources, {
      limits: { cpu: "500m", memory: "1e9" },
      requests: { cpu: "500e-3", memory: "128" },
    });
  });

  test("in YAML they are integers, also behind a byte order mark", () => {
    for (const text of [
      `\uFEFF${container('"ports":[{"containerPort":80.0}]')}`,
      `# YAML\n${container('"ports":[{"containerPort":8e1}]')}`,
    ]) {
      deepEqual(decode(text).pods[0]?.spec.containers[0]?.ports?.[0]?.containerPort, 80);
    }
  });
});

describe("the text", () => {
  test("bytes that are no character are U+FFFD, each one", () => {
    const [before = "", after = ""] = container('"args":["a|b"]').split("|");
    const text = Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xe2, 0x82]), Buffer.from(after)]);
    deepEqual(decode(text).pods[0]?.spec.containers[0]?.args, ["a\uFFFD\uFFFD\uFFFDb"]);
  });

  test("what only YAML takes is taken, with a warning that upstream refuses it", () => {
    const flow = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}";
    for (const text of [flow, `${container("")}\n---\n${container("")}`, container("").replace("]}}", "],}}")]) {
      const { pods, warnings } = decode(text);
      deepEqual(pods.length, 1, text);
      match(warnings.map(({ message }) => message).join("\n"), /read as YAML: upstream's kubelet .* refuses this one/);
    }
  });

  test("apiVersion and kind are read in any case, as Go reads them", () => {
    for (const type of [
      '"APIVERSION":"v1","Kind":"Pod"',
      '"apiVersion":"v0","apiversion":"v1","kind":"X","kInD":"Pod"',
      '"apiVersion":"v1","kind":"Pod","kind":null',
    ]) {
      const { pods, error } = decode(container("").replace(TYPE, type));
      deepEqual([error, pods[0]?.kind, pods[0]?.apiVersion], [undefined, "Pod", "v1"], type);
    }
  });
});
