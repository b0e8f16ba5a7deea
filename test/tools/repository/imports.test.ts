// The imports of src/ as a graph, types and import() included: no files form a circle. DEPS.list holds the folders.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { globSync } from "../../harness/glob.js";

const ROOT = join(import.meta.dirname, "../../../..");

type Imports = ReadonlyMap<string, readonly string[]>;

/** Each file below src/ with the files it imports; types and `import()` count, too. */
function importsOf(): Imports {
  const specifier = /(?:\bfrom|\bimport\(|\bimport)\s*"(\.[^"]+)"/g;
  const files = globSync(join(ROOT, "src"), ".ts").filter((file) => !file.includes("/gen/"));
  return new Map(
    files.map((file) => {
      const found = readFileSync(join(ROOT, "src", file), "utf8").matchAll(specifier);
      return [file, [...found].map(([, to = ""]) => join(file, "..", to).replace(/\.js$/, ".ts"))];
    }),
  );
}

/** One circle of files, as the way around it; undefined: there is none. */
function circleOf(imports: Imports): string[] | undefined {
  const finished = new Set<string>();
  const visit = (file: string, way: readonly string[]): string[] | undefined => {
    if (finished.has(file)) return undefined;
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    for (const next of imports.get(file) ?? []) {
      const circle = visit(next, [...way, file]);
      if (circle !== undefined) return circle;
    }
    finished.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const circle = visit(file, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

test("no files import each other in a circle, types and import() included", () => {
  assert.equal(circleOf(importsOf())?.join(" → "), undefined);
});

test("a circle of three files is found, a diamond is none", () => {
  const graph = (edges: Record<string, string[]>): Imports => new Map(Object.entries(edges));
  assert.deepEqual(circleOf(graph({ a: ["b"], b: ["c"], c: ["b"] })), ["b", "c", "b"]);
  assert.equal(circleOf(graph({ a: ["b", "c"], b: ["d"], c: ["d"], d: [] })), undefined);
});
