// The rule about the length of functions, as eslint.config.js has it for src.

import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { configuredReports } from "./lint-kit.js";

/** `count` lines: the first opens a block, the last closes it, and the others are blank, comments and code. */
function lines(count: number, first: string, last: string): string {
  const between = Array.from({ length: count - 2 }, (_, i) => ["", "  // a comment", "  work();"][i % 3] ?? "");
  return [first, ...between, last, ""].join("\n");
}

const FORMS: Readonly<Record<string, readonly [first: string, last: string]>> = {
  "a function": ["function a() {", "}"],
  "an arrow function": ["const a = () => {", "};"],
  "a function that is called at once": ["(function () {", "})();"],
  "a method": ["class A { a() {", "} }"],
  "a method of a literal": ["const a = { async a() {", "} };"],
  "an accessor": ["class A { get a() {", "} }"],
};

const lengths = (text: string, file = "src/main/a.ts"): Promise<string[]> =>
  configuredReports("max-lines-per-function", text, file);

for (const [form, [first, last]] of Object.entries(FORMS)) {
  test(`${form} of 70 lines is accepted, one of 71 is reported`, async () => {
    deepEqual(await lengths(lines(70, first, last)), []);
    const [report = "", ...others] = await lengths(lines(71, first, last));
    match(report, /^1: .*too many lines \(71\)\. Maximum allowed is 70\.$/);
    deepEqual(others, []);
  });
}

test("a comment in src cannot switch the rule off, and is reported itself", async () => {
  const long = lines(71, "function a() {", "}");
  for (const comment of ["/* eslint-disable */", "/* eslint max-lines-per-function: off */"]) {
    const [first = "", second = ""] = await lengths(`${comment}\n${long}`);
    match(first, /^1: .*has no effect because you have 'noInlineConfig' setting/);
    match(second, /^2: .*too many lines \(71\)/);
  }
});

test("tests, benchmarks and tools may have longer functions", async () => {
  for (const file of ["test/a.ts", "bench/a.ts", "tools/a.ts"]) {
    deepEqual(await lengths(lines(71, "function a() {", "}"), file), [], file);
  }
});
