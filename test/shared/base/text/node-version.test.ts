import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { nodeVersionProblem } from "../../../../src/shared/base/text/node-version.js";

const ROWS: [version: string, isFit: boolean][] = [
  ["v24.21.0", true],
  ["v24.14.1", true],
  ["v24.14.0", false],
  ["v22.22.2", true],
  ["v22.23.0", true],
  ["v22.22.1", false],
  ["v20.20.2", false],
  ["v23.11.0", false],
  ["v26.0.0", true],
  ["v25.0.0", true],
];
for (const [version, isFit] of ROWS) {
  test(`${version} is ${isFit ? "supported" : "named as unfit"}`, () =>
    assert.equal(nodeVersionProblem(version) === undefined, isFit));
}

test("package.json names the same versions", async () => {
  const text = await readFile(new URL("../../../../../package.json", import.meta.url), "utf8");
  const { engines } = JSON.parse(text) as { engines: { node: string } };
  assert.equal(engines.node, "^22.22.2 || >=24.14.1");
});
