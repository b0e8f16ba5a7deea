// Every row of config-validation.tsv: refused and accepted examples, one violation where one thing is wrong.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { facts } from "../../../support/facts.js";
import { violationsOf, type Claims } from "./example.js";
import { IMAGES } from "./examples/images.js";
import { NODE } from "./examples/node.js";
import { PODS } from "./examples/pods.js";
import { RESOURCES } from "./examples/resources.js";

const TABLES: readonly Claims[] = [NODE, IMAGES, RESOURCES, PODS];
const CLAIMS: Claims = Object.assign({}, ...TABLES) as Claims;
const rows = facts("config-validation").map((row) => `${row["fields"] ?? ""} | ${row["error_when"] ?? ""}`);

test("each row is claimed, and each claim is of a row", () => {
  ok(rows.length > 100);
  deepEqual(Object.keys(CLAIMS).sort(), [...new Set(rows)].sort());
  equal(
    TABLES.reduce((sum, table) => sum + Object.keys(table).length, 0),
    Object.keys(CLAIMS).length,
    "no row is claimed twice",
  );
});

test("the defaults violate nothing, on either kind of known and on an unknown machine", () => {
  deepEqual(violationsOf({}), []);
  deepEqual(violationsOf({ host: { cgroupVersion: 2, onlineCpus: [0] } }), []);
});

for (const row of rows) {
  const claim = CLAIMS[row];
  if (claim === undefined || typeof claim === "string") continue;
  describe(row, () => {
    ok(claim.bad.length > 0 && claim.good.length > 0);
    for (const [given, at, message] of claim.bad) {
      test(`refuses ${JSON.stringify(given)}`, () => {
        const violations = violationsOf(given);
        deepEqual(
          violations.map(({ path }) => path),
          typeof at === "string" ? [at] : at,
        );
        ok(violations[0]?.message.includes(message), violations[0]?.message);
        for (const { message } of violations) match(message, /^[^\n]+[^.\n]$/);
      });
    }
    for (const given of claim.good) {
      test(`accepts ${JSON.stringify(given)}`, () => deepEqual(violationsOf(given), []));
    }
  });
}
