// @promise Hostile tenants and clients: References and docker credentials are parsed in linear time over a megabyte of
//   worst-case input; the growth by references is bounded.
// @with test/main/containers/images/keyring.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CreateContainerConfigError } from "../../../src/main/model/container-config-error.js";
import { expand, expandStrict, ExpansionBudget } from "../../../src/main/model/expand.js";
import { assertCpuBelow } from "../../support/thread-cpu.js";

const vars = new Map([
  ["A", "one"],
  ["B", "$(A)"],
  ["EMPTY", ""],
]);
const lookup = (name: string) => vars.get(name);

const rows: [string, string][] = [
  ["$(A)", "one"],
  ["x$(A)y$(A)z", "xoneyonez"],
  ["$(EMPTY)", ""],
  ["$(B)", "$(A)"],
  ["$$(A)", "$(A)"],
  ["$$$(A)", "$one"],
  ["$$$$(A)", "$$(A)"],
  ["$(NONE)", "$(NONE)"],
  ["$(A", "$(A"],
  ["$(A$(A)", "$(A$(A)"],
  ["$A ${A} $", "$A ${A} $"],
  ["$()", "$()"],
  ["a$$b", "a$b"],
  ["$(A)$(", "one$("],
];
for (const [input, expected] of rows) {
  test(`expand ${input}`, () => assert.equal(expand(input, lookup), expected));
}

test("text without a dollar is untouched; escaping every dollar gives any text back", () => {
  fc.assert(fc.property(fc.string(), (text) => expand(text.replaceAll("$", "$$$$"), () => "never") === text));
  fc.assert(
    fc.property(fc.string(), (text) => {
      const plain = text.replaceAll("$", "");
      return expand(plain, () => "never") === plain;
    }),
  );
});

test("strict takes an empty value for a missing one, as upstream's subPathExpr", () => {
  const values = new Map([
    ["EMPTY", ""],
    ["A", "x"],
  ]);
  assert.deepEqual(
    expandStrict("$(A)/$(EMPTY)/$(NONE)", (name) => values.get(name)),
    { text: "x//$(NONE)", missing: ["EMPTY", "NONE"] },
  );
});

test("unknown references are the only thing an empty environment leaves, and strict names them", () => {
  const name = fc.stringMatching(/^[A-Z_]{1,8}$/);
  fc.assert(
    fc.property(fc.array(name), (names) => {
      const text = names.map((each) => `<$(${each})>`).join("");
      assert.deepEqual(
        expandStrict(text, () => undefined),
        { text, missing: names },
      );
    }),
  );
  fc.assert(
    fc.property(
      name,
      fc.string(),
      (key, value) => expand(`a$(${key})b`, (n) => (n === key ? value : undefined)) === `a${value}b`,
    ),
  );
});

/** As upstream reads a text: at each "$", forward to the next ")". */
function model(text: string): string {
  if (!text.includes("$")) return text;
  const at = text.indexOf("$");
  const [before, rest] = [text.slice(0, at), text.slice(at + 1)];
  if (rest.startsWith("$")) return `${before}$${model(rest.slice(1))}`;
  const close = rest.indexOf(")");
  if (!rest.startsWith("(") || close < 0) return `${before}$${model(rest)}`;
  const name = rest.slice(1, close);
  return `${before}${lookup(name) ?? `$(${name})`}${model(rest.slice(close + 1))}`;
}

test("any text expands as the model of upstream's expansion does", () => {
  const pieces = fc.constantFrom("$", "(", ")", "$(", "$$", "A", "B", "EMPTY", "$(A)", "x", "é");
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (words) => {
      const text = words.join("");
      assert.equal(expand(text, lookup), model(text));
    }),
    { numRuns: 2000 },
  );
});

// The smaller size comes first: quadratic work shows there within seconds.
for (const size of [64 * 1024, 1024 * 1024]) {
  test(`${size / 1024} KiB of references expand in linear time`, () => {
    for (const piece of ["$(", "$", "$$(", "$(A)", "$(NONE)", "$(A$", ")", "$()"]) {
      const text = piece.repeat(size / piece.length);
      assertCpuBelow(50, () => expand(text, lookup), piece);
      assertCpuBelow(50, () => expandStrict(`${text})`, lookup), piece);
    }
  });
}

test("values that double at each step end with an error instead of the memory", () => {
  const budget = new ExpansionBudget();
  const doubled = (value: string) => expand("$(V)$(V)", () => value, budget);
  const double = () => {
    let value = "x";
    for (let step = 0; step < 64; step++) value = doubled(value);
  };
  assert.throws(double, CreateContainerConfigError);
  assert.throws(() => expand("$(V)".repeat(1000), () => "x".repeat(10_000)), CreateContainerConfigError);
});
