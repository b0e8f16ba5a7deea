// Each row of docs/reference/optional-features.md names settings, code, a decision and a page that exist.

import assert from "node:assert/strict";
import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { FIELDS } from "../../../src/main/command/fields/fields.js";
import { FLAGS_BY_GROUP } from "../../../src/main/command/flags/table.js";
import { GATES } from "../../../src/main/command/gates/table.js";
import { OPTIONAL_FEATURES, optionalFeaturesPage, type Switch } from "../../../tools/docs/optional-features.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const FLAGS = new Set(Object.values(FLAGS_BY_GROUP).flatMap((flags) => Object.keys(flags)));

function isKnown(one: Switch): boolean {
  if ("flag" in one) return FLAGS.has(one.flag);
  if ("field" in one) return one.field in FIELDS;
  if ("gate" in one) return one.gate in GATES && !GATES[one.gate].default;
  return one.by.startsWith("a pod");
}

test("every optional feature names settings that exist, and gates that are off by default", () => {
  for (const { name, on } of OPTIONAL_FEATURES) {
    assert.ok(on.length > 0, name);
    for (const one of on) assert.ok(isKnown(one), `${name}: ${JSON.stringify(one)}`);
  }
});

test("every optional feature names code, a decision and a page that exist", async () => {
  const decisions = await readdir(join(ROOT, "docs/adr"));
  for (const { name, code, adr, page } of OPTIONAL_FEATURES) {
    assert.ok(code.length > 0, name);
    for (const place of code) await access(join(ROOT, place));
    if (adr !== undefined)
      assert.ok(
        decisions.some((file) => file.startsWith(`${adr}-`)),
        `${name}: ${adr}`,
      );
    if (page !== undefined) await access(join(ROOT, "docs", page));
  }
  assert.match(optionalFeaturesPage(decisions), /^\| Docker Engine \| `--container-runtime=docker`, /m);
});
