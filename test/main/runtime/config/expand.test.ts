import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { expand, expandStrict } from "../../../../src/main/runtime/config/expand.js";

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
