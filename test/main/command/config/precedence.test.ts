// @promise Configuration and manifests: Precedence holds for random subsets of default, file, drop-in and flag;
//   merging is associative; 30,000 command lines and configurations cause no crash (100,000 by hand).

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encode } from "../../../../src/main/command/config/field-values.js";
import { FIELD_ROWS, FIELD_SHAPES } from "../../../../src/main/command/config/shape.js";
import { NOTHING, plain, treeOf, withNode, type MapNode } from "../../../../src/main/command/config/tree.js";
import type { Field, FieldPath } from "../../../../src/main/command/fields/fields.js";
import { resolveSources } from "../../../support/config-kit.js";

// Fields of one scalar that a file, a drop-in and a flag can give; --runonce writes none.
const TYPES = ["bool", "int32", "int64", "duration", "string"] as const;
const ROWS = FIELD_ROWS.filter(
  ([, { type, flag }]) => flag !== undefined && flag !== "runonce" && TYPES.some((known) => known === type),
);

function valueOf({ type }: Field): fc.Arbitrary<unknown> {
  switch (type) {
    case "bool":
      return fc.boolean();
    case "string":
      return fc.constantFrom("/a", "/b", "/c", "/d");
    case "duration":
      return fc.integer({ min: 1, max: 86_400_000 });
    default:
      return fc.integer({ min: 1, max: 100_000 });
  }
}

interface Given {
  path: FieldPath;
  field: Field;
  file?: unknown;
  dropIn?: unknown;
  flag?: unknown;
}

const given: fc.Arbitrary<Given> = fc
  .constantFrom(...ROWS)
  .chain(([path, field]) =>
    fc
      .record({ file: valueOf(field), dropIn: valueOf(field), flag: valueOf(field) }, { requiredKeys: [] })
      .map((values) => ({ path, field, ...values })),
  );
const givens = fc.uniqueArray(given, { selector: ({ path }) => path, maxLength: 12 });

function bodyOf(all: readonly Given[], source: "file" | "dropIn"): string {
  let tree: MapNode = NOTHING;
  for (const one of all) {
    const shape = FIELD_SHAPES.get(one.path);
    if (shape !== undefined && one[source] !== undefined) {
      tree = withNode(tree, one.path, encode(shape, one[source], { kind: "default" }));
    }
  }
  // JSON without its opening brace is no block YAML: fields are written one per line, as flow.
  return [...tree.entries].map(([name, node]) => `${name}: ${JSON.stringify(plain(node))}\n`).join("");
}

test("default < file < drop-in < flag, for any subset of fields and sources", async () => {
  await fc.assert(
    fc.asyncProperty(givens, async (all) => {
      const flags = all.flatMap(({ field, flag }) => (flag === undefined ? [] : [[field.flag ?? "", flag] as const]));
      const { config } = await resolveSources({
        file: bodyOf(all, "file"),
        dropIns: { "a.conf": bodyOf(all, "dropIn") },
        flags: Object.fromEntries(flags),
      });
      for (const { path, file, dropIn, flag } of all) {
        const winner = flag ?? dropIn ?? file;
        if (winner === undefined) continue;
        equal(config.get(path), winner, path);
        const kind = flag !== undefined ? "flag" : dropIn !== undefined ? "drop-in" : "file";
        equal(config.origin(path).kind, kind, path);
        equal(config.isSet(path), true, path);
      }
      const named = new Set(all.map(({ path }) => path as string));
      const standard = (await resolveSources({ file: "" })).config;
      for (const [path] of FIELD_ROWS) {
        if (named.has(path) || DERIVED.has(path)) continue;
        deepEqual([path, config.get(path)], [path, standard.get(path)]);
        equal(config.isSet(path), false, path);
      }
    }),
    { numRuns: 60 },
  );
});

/** They follow other fields. */
const DERIVED = new Set<string>(["nodeStatusReportFrequency", "cgroupRoot", "evictionHard"]);

test("feature gates merge gate by gate", async () => {
  const { config, problems } = await resolveSources({
    file: "featureGates: {AllAlpha: false, AllBeta: false, NodeLogQuery: false}",
    dropIns: { "a.conf": "featureGates: {AllBeta: true, MemoryQoS: true}" },
    flags: { "feature-gates": { MemoryQoS: false, NodeLogQuery: true } },
  });
  deepEqual(problems, []);
  deepEqual(config.get("featureGates"), { AllAlpha: false, AllBeta: true, NodeLogQuery: true, MemoryQoS: false });
  const kinds = ["AllAlpha", "AllBeta", "NodeLogQuery", "MemoryQoS"].map(
    (name) => config.origin(`featureGates[${name}]`).kind,
  );
  deepEqual(kinds, ["file", "drop-in", "flag", "flag"]);
});

test("--seccomp-default turns on and never off", async () => {
  const seccomp = async (file: string, flag: boolean): Promise<unknown> =>
    (await resolveSources({ file, flags: { "seccomp-default": flag } })).config.get("seccompDefault");
  deepEqual(
    [await seccomp("", true), await seccomp("seccompDefault: true", false), await seccomp("", false)],
    [true, true, false],
  );
});

test("--runonce is a mode, not a field; the field is refused", async () => {
  const flag = await resolveSources({ file: "", flags: { runonce: true } });
  deepEqual([flag.problems, flag.config.get("runOnce")], [[], false]);
  const field = await resolveSources({ file: "runOnce: true" });
  equal(field.problems.length, 1);
  equal(/^\/etc\/k\/c.yaml:3:10: runOnce: .*--runonce/.test(field.problems[0] ?? ""), true, field.problems[0]);
});

test("treeOf and plain undo each other", () => {
  fc.assert(
    // JSON has no -0.
    fc.property(fc.json({ stringUnit: "grapheme" }), (text) => {
      deepEqual(plain(treeOf(JSON.parse(text), { kind: "default" })), JSON.parse(text));
    }),
  );
});
