import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  addQuantities,
  compareQuantities,
  InvalidQuantityError,
  milliValue,
  parseQuantity,
  printQuantity,
  value,
  type ExactQuantity,
} from "../../../../src/shared/kubernetes/api/quantity.js";

const readings: [input: string | number, nanos: bigint, canonical: string][] = [
  ["0", 0n, "0"],
  ["1", 1_000_000_000n, "1"],
  ["100m", 100_000_000n, "100m"],
  ["0.1", 100_000_000n, "100m"],
  [0.1, 100_000_000n, "100m"],
  [2, 2_000_000_000n, "2"],
  ["1.5", 1_500_000_000n, "1500m"],
  ["1.5Gi", 1_610_612_736_000_000_000n, "1536Mi"],
  ["128Mi", 134_217_728_000_000_000n, "128Mi"],
  ["1024", 1_024_000_000_000n, "1024"],
  ["1023Ki", 1_047_552_000_000_000n, "1023Ki"],
  ["0.5Ki", 512_000_000_000n, "512"],
  ["1500k", 1_500_000_000_000_000n, "1500k"],
  ["2000k", 2_000_000_000_000_000n, "2M"],
  ["1E", 10n ** 27n, "1E"],
  ["1E3", 10n ** 12n, "1e3"],
  ["12e6", 12n * 10n ** 15n, "12e6"],
  ["1e-3", 1_000_000n, "1e-3"],
  ["3n", 3n, "3n"],
  ["5u", 5_000n, "5u"],
  ["-1.5", -1_500_000_000n, "-1500m"],
  ["+1", 1_000_000_000n, "1"],
  [".5", 500_000_000n, "500m"],
  ["5.", 5_000_000_000n, "5"],
  ["0.0000000001", 1n, "1n"],
  ["1e-9999999999", 1n, "1e-9"],
  ["0e9999999999", 0n, "0"],
  ["1e9999999999", (2n ** 63n - 1n) * 10n ** 9n, "9223372036854775807"],
  ["8Ei", (2n ** 63n - 1n) * 10n ** 9n, "9223372036854775807"],
  ["2Ti", 2n * 2n ** 40n * 10n ** 9n, "2Ti"],
  ["3Pi", 3n * 2n ** 50n * 10n ** 9n, "3Pi"],
  ["1T", 10n ** 21n, "1T"],
  ["1P", 10n ** 24n, "1P"],
  ["1G", 10n ** 18n, "1G"],
];

for (const [input, nanos, canonical] of readings) {
  test(`${JSON.stringify(input)} is ${canonical}`, () => {
    assert.equal(parseQuantity(input).nanos, nanos);
    assert.equal(printQuantity(input), canonical);
  });
}

for (const text of [
  "",
  " 1",
  "1 ",
  "x",
  "1Q",
  "1K",
  "1mi",
  "1e",
  "1e3i",
  "--1",
  "1.2.3",
  "Pi",
  "-Ei",
  "e-10",
  "1Ki2",
  "0x10",
  "NaN",
]) {
  test(`${JSON.stringify(text)} is refused by name`, () => {
    assert.throws(
      () => parseQuantity(text),
      (error) =>
        error instanceof InvalidQuantityError && error.text === text && error.message.includes(JSON.stringify(text)),
    );
  });
}

test("a suffix or a sign without a number is zero, as Go reads it", () => {
  for (const text of ["Mi", "k", "m", "E", "Ti", ".", "-", "+", "-.", ".Gi", "e3", "E-9", "e30"]) {
    assert.equal(parseQuantity(text).nanos, 0n, text);
  }
});

test("a number that is not finite, a list and an endless text are refused", () => {
  for (const bad of [Number.NaN, Infinity, "1".repeat(2000)])
    assert.throws(() => parseQuantity(bad), InvalidQuantityError);
  assert.throws(() => parseQuantity(true as unknown as string), InvalidQuantityError);
});

test("values round up, away from zero", () => {
  assert.equal(value("1m"), 1n);
  assert.equal(value("1001m"), 2n);
  assert.equal(value("-1001m"), -2n);
  assert.equal(milliValue("1u"), 1n);
  assert.equal(milliValue("1500u"), 2n);
  assert.equal(milliValue("2"), 2000n);
});

const LIMIT = (2n ** 63n - 1n) * 10n ** 9n;
const quantities: fc.Arbitrary<ExactQuantity> = fc.record({
  nanos: fc.oneof(
    fc.bigInt(-LIMIT, LIMIT),
    fc.bigInt(-(10n ** 12n), 10n ** 12n),
    fc.bigInt(-(2n ** 33n), 2n ** 33n).map((n) => n * 10n ** 9n),
    fc.bigInt(-(2n ** 20n), 2n ** 20n).map((n) => n * 2n ** 30n * 10n ** 9n),
  ),
  format: fc.constantFrom("DecimalSI" as const, "BinarySI" as const, "DecimalExponent" as const),
});

test("a printed quantity parses to the same value, and its text is stable if it shows the format", () => {
  const properties = fc.property(quantities, (quantity) => {
    const text = printQuantity(quantity);
    const parsed = parseQuantity(text);
    assert.equal(parsed.nanos, quantity.nanos);
    if (parsed.format === quantity.format) assert.equal(printQuantity(text), text);
    // A text that does not show its format, such as "845073000" of BinarySI, reads as DecimalSI.
    else assert.equal(parsed.format, "DecimalSI");
  });
  fc.assert(properties);
  fc.assert(properties, { seed: 1787226221, path: "95:1:0" });
});

test("comparison agrees with addition: a < a + b for b > 0, and is antisymmetric", () => {
  fc.assert(
    fc.property(quantities, quantities, (a, b) => {
      assert.equal(compareQuantities(a, b), 0 - compareQuantities(b, a));
      const sum = a.nanos + b.nanos;
      if (sum > LIMIT || sum < -LIMIT) return;
      assert.equal(addQuantities(a, b).nanos, sum);
      assert.equal(compareQuantities(addQuantities(a, b), a), b.nanos > 0n ? 1 : b.nanos < 0n ? -1 : 0);
    }),
  );
});

test("rounded values are never below the exact value and less than one unit above it", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, LIMIT), (nanos) => {
      const quantity: ExactQuantity = { nanos, format: "DecimalSI" };
      const over = value(quantity) * 10n ** 9n - nanos;
      assert.ok(over >= 0n && over < 10n ** 9n);
      const milliOver = milliValue(quantity) * 10n ** 6n - nanos;
      assert.ok(milliOver >= 0n && milliOver < 10n ** 6n);
    }),
  );
});

test("text of any kind parses or is refused with the typed error", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        parseQuantity(text);
      } catch (error) {
        assert.ok(error instanceof InvalidQuantityError);
      }
    }),
  );
});
