// Integers that JavaScript's numbers cannot hold, in the text of a pod.

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { findWideIntegers, mayHaveWideIntegers } from "../../../../src/shared/kubernetes/api/find-wide-integers.js";
import {
  digitsBelow,
  digitsOf,
  exactInteger,
  keepDigits,
  nearestSafe,
  textWithDigits,
  withDigits,
} from "../../../../src/shared/kubernetes/api/wide-integers.js";

const SAFE = Number.MAX_SAFE_INTEGER;
const MAX = "9223372036854775807";

test("a number beyond 2^53 is kept as the nearest one that JSON writes exactly", () => {
  deepEqual([2 ** 63, -(2 ** 63), SAFE, -5].map(nearestSafe), [SAFE, -SAFE, SAFE, -5]);
});

describe("the text of an object", () => {
  test("it has the digits at their paths", () => {
    const value = { spec: { grace: SAFE, list: [{ seconds: -SAFE }, { seconds: SAFE }] } };
    const text = textWithDigits(value, [
      { path: ["spec", "grace"], digits: MAX },
      { path: ["spec", "list", 0, "seconds"], digits: "-9223372036854775808" },
    ]);
    equal(text, `{"spec":{"grace":${MAX},"list":[{"seconds":-9223372036854775808},{"seconds":${SAFE}}]}}`);
    equal(value.spec.grace, SAFE, "the object itself is not changed");
  });

  test("it is that of JSON.stringify where no digits were kept", () => {
    equal(textWithDigits({ a: SAFE, b: undefined }, undefined), `{"a":${SAFE}}`);
  });

  test("a value that a default replaced, and a path that is gone, change nothing", () => {
    const wide = [["grace"], ["gone", 0], ["list", 7], ["list", "length"], ["grace", "x"], []].map((path) => ({
      path,
      digits: MAX,
    }));
    equal(textWithDigits({ grace: 1, list: [] }, wide), '{"grace":1,"list":[]}');
  });
});

describe("integers beyond 2^53 in a text of JSON", () => {
  const ROWS: readonly (readonly [text: string, found: readonly (readonly [path: string, digits: string])[]])[] = [
    [`{"a":${MAX}}`, [["a", MAX]]],
    [`{"a":-9223372036854775808}`, [["a", "-9223372036854775808"]]],
    [`{"a":9007199254740991,"b":9007199254740992}`, [["b", "9007199254740992"]]],
    [`[${MAX}]`, [["0", MAX]]],
    [`{"a":[1,{"b":[2,[3,${MAX}]]}],"c":${MAX}}`, [["a/1/b/1/1", MAX], ["c", MAX]]], // oxfmt-ignore
    [` { "a" :\n[ 1 ,\t{ "b" : ${MAX} } ] } `, [["a/1/b", MAX]]],
    [`{"a":"${MAX}"}`, []],
    [`{"${MAX}":1}`, []],
    [`{"a":"x\\"${MAX}","b":${MAX}}`, [["b", MAX]]],
    [`{"a":"x\\\\","b":${MAX}}`, [["b", MAX]]],
    [`{"a\\"\\u0062":${MAX}}`, [['a"b', MAX]]],
    [`{"a":{},"b":[],"c":[[],{}],"d":${MAX}}`, [["d", MAX]]],
    [`{"a":1${"0".repeat(15)}.5,"b":1e20,"c":${MAX}.0,"d":${MAX}e0}`, []],
    [`{"a":1000000000000000}`, []],
    [`{"a":${MAX}0}`, []],
    [MAX, []],
    [`{"":${MAX}}`, [["", MAX]]],
    [`{"a":true,"b":null,"c":[false,${MAX}]}`, [["c/1", MAX]]],
  ];
  for (const [text, found] of ROWS) {
    test(text, () => {
      JSON.parse(text);
      deepEqual(
        findWideIntegers(text).map(({ path, digits }) => [path.join("/"), digits]),
        found,
      );
    });
  }

  test("integers are found down to 64 levels, and behind what is deeper", () => {
    const nested = (depth: number): string => `${"[".repeat(depth)}${MAX}${"]".repeat(depth)}`;
    deepEqual(findWideIntegers(nested(64)), [{ path: Array.from({ length: 64 }, () => 0), digits: MAX }]);
    deepEqual(findWideIntegers(nested(65)), []);
    deepEqual(findWideIntegers(`[1,${nested(100)},{"a":[${nested(70)},${MAX}]}]`), [
      { path: [2, "a", 1], digits: MAX },
    ]);
  });

  test("a text without a long row of digits needs no search", () => {
    deepEqual(['{"a":123456789012345}', `{"a":"${MAX}"}`].map(mayHaveWideIntegers), [false, true]);
    for (let before = 0; before < 40; before++) {
      for (const [digits, isLong] of [
        ["1".repeat(15), false],
        ["1".repeat(16), true],
        ["1".repeat(40), true],
        [`${"1".repeat(15)}.${"1".repeat(15)}`, false],
      ] as const) {
        equal(mayHaveWideIntegers(`${"x".repeat(before)}${digits}`), isLong, `${before} ${digits}`);
        equal(mayHaveWideIntegers(`${"x".repeat(before)}${digits}yy`), isLong, `${before} ${digits}`);
      }
    }
  });

  test("a random object has the digits where JSON.parse's own access to them finds them", () => {
    const leaf = fc.oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.string(), fc.boolean(), fc.constant(null));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie("tree"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom(undefined, 1), (value, indent) => {
        const text = JSON.stringify({ value }, exactly, indent);
        const expected: string[] = [];
        // A reviver of JSON.parse comes from the leaves to the root: the places are compared by value.
        JSON.parse(text, (_key: string, read: unknown, context?: { source?: string }) => {
          if (typeof read === "number" && !Number.isSafeInteger(read)) expected.push(context?.source ?? "");
          return read;
        });
        const found = findWideIntegers(text);
        deepEqual(found.map(({ digits }) => digits).sort(), expected.sort());
        const parsed: unknown = JSON.parse(text);
        equal(keepDigits(parsed, found).length, found.length, "each place has the number");
        equal(textWithDigits(parsed, found), JSON.stringify({ value }, exactly));
      }),
    );
  });
});

const exactly = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? exactInteger(value) : value);

describe("digits beside an object", () => {
  test("they follow a copy by spreading, and are no part of its JSON", () => {
    const wide = [{ path: ["spec", "grace"], digits: MAX }];
    const copy = { ...withDigits({ spec: { grace: SAFE } }, wide), kind: "Pod" };
    deepEqual(digitsOf(copy), wide);
    equal(JSON.stringify(copy), `{"spec":{"grace":${SAFE}},"kind":"Pod"}`);
    equal(digitsOf(withDigits({}, [])), undefined);
    deepEqual([undefined, null, 1, "a"].map(digitsOf), [undefined, undefined, undefined, undefined]);
  });

  test("those of a field have their paths from there", () => {
    const wide = [
      { path: ["spec", "grace"], digits: MAX },
      { path: ["metadata", "generation"], digits: "-1" },
      { path: ["spec"], digits: "1" },
    ];
    deepEqual(digitsBelow(wide, "spec"), [{ path: ["grace"], digits: MAX }]);
    equal(digitsBelow(undefined, "spec"), undefined);
  });

  test("of two equal keys the one that JSON.parse keeps counts", () => {
    for (const [text, kept] of [
      [`{"a":${MAX},"a":5}`, []],
      [`{"a":5,"a":${MAX}}`, [MAX]],
      [`{"a":{"b":${MAX}},"a":{}}`, []],
    ] as const) {
      const value: unknown = JSON.parse(text);
      const digits = keepDigits(value, findWideIntegers(text)).map((one) => one.digits);
      deepEqual(digits, kept);
    }
  });

  test("an integer beyond 64 bits has the nearest safe number and no digits", () => {
    const value = { a: 2 ** 63, b: -(2 ** 63) };
    deepEqual(keepDigits(value, [{ path: ["a"], digits: "9223372036854775808" }]), []);
    deepEqual(keepDigits(value, [{ path: ["b"], digits: "-9223372036854775808" }]).length, 1);
    deepEqual(value, { a: SAFE, b: -SAFE });
  });
});
