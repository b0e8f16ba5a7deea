// The generated part of the documentation. Committed files equal what the tables in the code give, and no metric is
// missing.
// @promise Packages and documents: The reference of flags, fields, gates, metrics, events and endpoints equals the
//   code; an event has no reason outside of its table.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { EVENT_REASONS } from "../../../src/shared/kubernetes/api/event-reasons.js";
import { generate } from "../../../tools/docs/generate.js";
import { metricRegistries } from "../../../tools/docs/metric-rows.js";
import { globSync } from "../../harness/glob.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
const DIST = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
/** Calls of a registry that make a metric. Pods have a summary of their usage, too. */
const MAKES = /\.(?:counter|gauge|histogram)\(|\bregistry\.summary\(/g;
/** It declares these methods. */
const REGISTRY = "src/shared/telemetry/metrics/thread-registry.js";

test("the generated pages and pictures are up to date: run npm run docs after a change of flags, fields, gates, metrics, events or routes", async () => {
  for (const [path, text] of await generate(ROOT)) {
    const committed = await readFile(join(ROOT, path), "utf8").catch(() => "");
    assert.ok(committed === text, `${path} is out of date: run npm run docs`);
  }
});

test("every call in the sources that makes a metric is in the reference: tools/docs/metric-rows.ts calls its function", async () => {
  const registries = Object.values(await metricRegistries());
  const called = new Map<string, Set<string>>();
  for (const place of registries.flatMap(({ callers }) => [...callers])) {
    const [, file = "", at = ""] = /^(.*\.js):(\d+:\d+)$/.exec(place) ?? [];
    called.set(file, (called.get(file) ?? new Set()).add(at));
  }
  const missing: string[] = [];
  for (const name of globSync(join(DIST, "src"), ".js")) {
    const file = `src/${name}`;
    const calls = (await readFile(join(DIST, file), "utf8")).match(MAKES)?.length ?? 0;
    const seen = called.get(file)?.size ?? 0;
    if (calls !== seen && file !== REGISTRY) missing.push(`${file}: ${seen} of ${calls} calls`);
  }
  assert.deepEqual(missing, []);
});

test("every reason of the table of events is emitted somewhere, with a type that the table names", async () => {
  const sources = globSync(join(ROOT, "src"), ".ts").filter((name) => !name.endsWith("event-reasons.ts"));
  const texts = await Promise.all(sources.map((name) => readFile(join(ROOT, "src", name), "utf8")));
  const all = texts.join("\n");
  // Conditions of the Node make their events of a word: "Node" and "HasDiskPressure".
  const unused = Object.keys(EVENT_REASONS).filter(
    (reason) => !all.includes(`"${reason}"`) && !all.includes(`"${reason.replace(/^Node/, "")}"`),
  );
  assert.deepEqual(unused, []);
  const typed = all.matchAll(/type: "(Normal|Warning)",\s*reason: "(\w+)"/g);
  const table: Readonly<Record<string, { types: readonly string[] } | undefined>> = EVENT_REASONS;
  const wrong = Array.from(typed, ([, type = "", reason = ""]) => ({ type, reason })).filter(
    ({ type, reason }) => table[reason]?.types.includes(type) === false,
  );
  assert.deepEqual(wrong, []);
});
