import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Decoded, ValueType } from "../../../src/main/command/value-types.js";
import { ACCEPTED, accumulate, fromConfig, fromText, toText } from "../../../src/main/command/values.js";

describe("text", () => {
  const table: [ValueType, string, unknown][] = [
    ["bool", "T", true],
    ["bool", "0", false],
    ["bool", "yes", undefined],
    ["int32", "-5", -5],
    ["int32", "0x10", 16],
    ["int32", "010", 8],
    ["int32", "0b11", 3],
    ["int32", "1_000", 1000],
    ["int32", "+7", 7],
    ["int32", "2147483647", 2147483647],
    ["int32", "2147483648", undefined],
    ["int32", "-2147483648", -2147483648],
    ["int32", "1.0", undefined],
    ["int32", "08", undefined],
    ["int32", "1__0", undefined],
    ["int32", "", undefined],
    ["int32", " 1", undefined],
    ["int64", "9223372036854775807", Number.MAX_SAFE_INTEGER],
    ["int64", "9223372036854775808", undefined],
    ["int64", "9".repeat(100_000), undefined],
    ["uint32", "4294967295", 4294967295],
    ["uint32", "-1", undefined],
    ["uint32", "4294967296", undefined],
    ["float64", "1e3", 1000],
    ["float64", "", undefined],
    ["float64", "0x10", undefined],
    ["duration", "1m30s", 90_000],
    ["durationOrNanos", "5s", 5000],
    ["quantity", "10Mi", "10Mi"],
    ["quantity", "10MB", undefined],
    ["strings", "", []],
    ["strings", "a,b", ["a", "b"]],
    ["strings", "a,", ["a", ""]],
    ["strings", '"a,b",c', ["a,b", "c"]],
    ["strings", '"a""b"', ['a"b']],
    ["strings", '"a', undefined],
    ["strings", 'a"b', undefined],
    ["strings", '"a"b', undefined],
    ["strings", "a,b\n", ["a", "b"]],
    ["strings", "a\r\nb", ["a"]],
    ["strings", "\n\r\na", ["a"]],
    ["strings", "\n", undefined],
    ["strings", "a\r", ["a"]],
    ["strings", '"a\nb",c\nd', ["a\nb", "c"]],
    ["strings", '"a"\n', ["a"]],
    ["strings", 'a\n"', ["a"]],
    ["strings", " a, b ", [" a", " b "]],
    ["strings", ",", ["", ""]],
    ["ints", "1,2", [1, 2]],
    ["ints", "1,x", undefined],
    ["stringMap", "a=1,b=2=3,", { a: "1", b: "2=3" }],
    ["stringMap", " a = 1 ", { a: "1" }],
    ["stringMap", "a=", { a: "" }],
    ["stringMap", "a", undefined],
    ["stringMap", "=1", undefined],
    ["boolMap", "A=true,B=f", { A: true, B: false }],
    ["boolMap", "A=maybe", undefined],
    ["quantityMap", "memory=1Gi", { memory: "1Gi" }],
    ["quantityMap", "memory=much", undefined],
    ["headerMap", "a:1:2,b:3,a:4", { a: ["1:2", "4"], b: ["3"] }],
    ["headerMap", "constructor:1", { constructor: ["1"] }],
    ["headerMap", "a", undefined],
    [
      "taints",
      "a=b:NoSchedule,a.io/c:NoExecute",
      [
        { key: "a", value: "b", effect: "NoSchedule" },
        { key: "a.io/c", value: "", effect: "NoExecute" },
      ],
    ],
    ["taints", "", []],
    ["taints", "a=b:Sometimes", undefined],
    ["taints", "a=b", undefined],
    ["taints", "a=b:NoSchedule-", []],
    [
      "taints",
      "a-,b.c/d:NoExecute-,e:NoSchedule,a:NoSchedule",
      ["e", "a"].map((key) => ({ key, value: "", effect: "NoSchedule" })),
    ],
    ["taints", "a:NoSchedule-,a:NoSchedule", [{ key: "a", value: "", effect: "NoSchedule" }]],
    ["taints", "a=b-", undefined],
    ["taints", "a:Never-", undefined],
    ["taints", "a=:NoSchedule", [{ key: "a", value: "", effect: "NoSchedule" }]],
    ["taints", "a:NoSchedule,", undefined],
    ["taints", "a:b:NoSchedule", undefined],
    ["taints", "a=b:NoSchedule,a=c:NoSchedule", undefined],
    [
      "reservedMemory",
      "0:memory=1Gi,hugepages-2Mi=64Mi;1:memory=1Gi",
      [
        { numaNode: 0, limits: { memory: "1Gi", "hugepages-2Mi": "64Mi" } },
        { numaNode: 1, limits: { memory: "1Gi" } },
      ],
    ],
    ["reservedMemory", "0:cpu=1", undefined],
    ["reservedMemory", "0:memory=0", undefined],
    ["reservedMemory", "0:memory=-1", undefined],
    ["reservedMemory", "0", undefined],
    ["reservedMemory", "x:memory=1Gi", undefined],
    ["vmodule", "sync*=4,", [{ filePattern: "sync*", verbosity: 4 }]],
    ["vmodule", "a=2147483648", undefined],
    ["vmodule", "a=-1", undefined],
    ["vmodule", "a", undefined],
  ];
  for (const [type, text, value] of table) {
    test(`${type}: ${text.slice(0, 60)}`, () => deepEqual(fromText(type, text), value));
  }
});

describe("JSON", () => {
  const table: [ValueType, unknown, unknown][] = [
    ["string", "a", "a"],
    ["string", 1, undefined],
    ["bool", true, true],
    ["bool", "true", undefined],
    ["int32", 5, 5],
    ["int32", 5.5, undefined],
    ["int32", "5", undefined],
    ["int32", 2 ** 31, undefined],
    ["int64", 2 ** 62, 2 ** 62],
    ["int64", 1e30, undefined],
    ["uint32", -1, undefined],
    ["float64", 0.5, 0.5],
    ["float64", "0.5", undefined],
    ["duration", "10s", 10_000],
    ["duration", 10, undefined],
    ["durationOrNanos", 5e9, 5000],
    ["durationOrNanos", "5s", 5000],
    ["quantity", 5, "5"],
    ["quantity", "x", undefined],
    ["strings", ["a"], ["a"]],
    ["strings", "a", undefined],
    ["strings", [1], undefined],
    ["ints", [1], [1]],
    ["ints", ["1"], undefined],
    ["stringMap", { a: "1" }, { a: "1" }],
    ["stringMap", { a: 1 }, undefined],
    ["boolMap", { a: true }, { a: true }],
    ["boolMap", { a: "true" }, undefined],
    ["quantityMap", { a: 1 }, { a: "1" }],
    ["quantityMap", ["a"], undefined],
    ["headerMap", { a: ["1"] }, { a: ["1"] }],
    ["headerMap", { a: "1" }, undefined],
    ["taints", [{ key: "a", effect: "NoSchedule" }], [{ key: "a", value: "", effect: "NoSchedule" }]],
    ["taints", [{ key: "a", efect: "NoSchedule" }], undefined],
    ["taints", ["a:NoSchedule"], undefined],
    ["reservedMemory", [{ numaNode: 1, limits: { memory: 5 } }], [{ numaNode: 1, limits: { memory: "5" } }]],
    ["reservedMemory", [{ numaNode: 1, limits: { memory: {} } }], undefined],
    ["reservedMemory", [{ numaNode: 1.5 }], undefined],
    [
      "shutdownPriorities",
      [{ priority: 5, shutdownGracePeriodSeconds: 10 }],
      [{ priority: 5, shutdownGracePeriodSeconds: 10 }],
    ],
    ["shutdownPriorities", [{ priority: "5" }], undefined],
    ["vmodule", [{ filePattern: "a", verbosity: 1 }], [{ filePattern: "a", verbosity: 1 }]],
    ["vmodule", [{ filePattern: "a", verbosity: -1 }], undefined],
    ["vmodule", [null], undefined],
  ];
  for (const [type, json, value] of table) {
    test(`${type}: ${JSON.stringify(json)}`, () => deepEqual(fromConfig(type, json), value));
  }
  test("every type names its accepted values", () => {
    for (const type of new Set(table.map(([name]) => name))) equal(typeof ACCEPTED[type], "string");
  });
});

describe("printed values parse to the same value", () => {
  const anyText = fc.string();
  const name = fc.string({ minLength: 1 }).map((text) => text.replace(/[,=:<\s"]/g, "x"));
  const item = fc.string().map((text) => text.replaceAll(",", ";").trim());
  const quantity = fc
    .tuple(fc.integer({ min: 1 }), fc.constantFrom("", "m", "k", "Mi", "Gi", "e3"))
    .map(([size, suffix]) => `${size}${suffix}`);
  const unique = <T>(one: fc.Arbitrary<T>, by: (value: T) => unknown): fc.Arbitrary<T[]> =>
    fc.uniqueArray(one, { selector: by, maxLength: 5 });
  const of: { [T in Exclude<ValueType, "shutdownPriorities">]: fc.Arbitrary<Decoded[T]> } = {
    string: anyText,
    bool: fc.boolean(),
    int32: fc.integer(),
    int64: fc.maxSafeInteger(),
    uint32: fc.nat(),
    float64: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
    duration: fc.integer({ min: -1e12, max: 1e12 }),
    durationOrNanos: fc.integer({ min: -1e12, max: 1e12 }),
    quantity,
    strings: fc.array(anyText),
    ints: fc.array(fc.integer()),
    stringMap: fc.dictionary(name, item),
    boolMap: fc.dictionary(name, fc.boolean()),
    quantityMap: fc.dictionary(name, quantity),
    headerMap: fc.dictionary(name, fc.array(item, { minLength: 1 })),
    taints: unique(
      fc.record({
        key: name,
        value: fc.constantFrom("", "v", "w"),
        effect: fc.constantFrom("NoSchedule", "PreferNoSchedule", "NoExecute"),
      }),
      ({ key, effect }) => `${key}:${effect}`,
    ),
    reservedMemory: fc.array(
      fc.record({
        numaNode: fc.nat(100),
        limits: fc.dictionary(fc.constantFrom("memory", "hugepages-2Mi"), quantity, { minKeys: 1 }),
      }),
    ),
    vmodule: fc.array(fc.record({ filePattern: name, verbosity: fc.nat() })),
  };
  for (const type of Object.keys(of) as (keyof typeof of)[]) {
    test(type, () => {
      fc.assert(
        fc.property<[Decoded[typeof type]]>(of[type], (value) => {
          // Dictionaries of fast-check have no prototype.
          deepEqual(plain(fromText(type, toText(type, value))), plain(value));
        }),
      );
    });
  }
});

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("a repeated flag adds to its list or map", () => {
  deepEqual(accumulate("strings", ["a"], ["b"]), ["a", "b"]);
  deepEqual(accumulate("stringMap", { a: "1", b: "1" }, { b: "2" }), { a: "1", b: "2" });
  deepEqual(accumulate("boolMap", { a: true }, { b: false }), { a: true, b: false });
  deepEqual(accumulate("headerMap", { a: ["1"] }, { a: ["2"], b: ["3"] }), { a: ["1", "2"], b: ["3"] });
  deepEqual(accumulate("vmodule", [1], [2]), [1, 2]);
  deepEqual(accumulate("taints", [1], [2]), [2]);
  equal(accumulate("int32", 1, 2), 2);
});
