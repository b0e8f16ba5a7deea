// The imports of src/ as a graph, types and import() included: rooms of src/main stand on floors (eslint.floors.js),
// and no files form a circle.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { globSync } from "../../harness/glob.js";

const ROOT = join(import.meta.dirname, "../../../..");
const { FLOORS } = (await import(join(ROOT, "eslint.floors.js"))) as { FLOORS: string[][] };

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

test("every room of src/main is on one floor", () => {
  const rooms = readdirSync(join(ROOT, "src/main"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  assert.deepEqual(FLOORS.flat().sort(), rooms.sort());
});

test("a room of src/main imports only rooms below its own floor", () => {
  const floorOf = (file: string): number => {
    const [side, room = ""] = file.split("/");
    return side === "main" ? FLOORS.findIndex((rooms) => rooms.includes(room)) : FLOORS.length;
  };
  const upwards = [...importsOf()].flatMap(([file, targets]) =>
    targets
      .filter((to) => file.split("/")[1] !== to.split("/")[1] && floorOf(file) !== -1 && floorOf(to) <= floorOf(file))
      .filter(() => file.startsWith("main/"))
      .map((to) => `${file} → ${to}`),
  );
  assert.deepEqual(upwards, []);
});

test("no files import each other in a circle, types and import() included", () => {
  assert.equal(circleOf(importsOf())?.join(" → "), undefined);
});

test("a circle of three files is found, a diamond is none", () => {
  const graph = (edges: Record<string, string[]>): Imports => new Map(Object.entries(edges));
  assert.deepEqual(circleOf(graph({ a: ["b"], b: ["c"], c: ["b"] })), ["b", "c", "b"]);
  assert.equal(circleOf(graph({ a: ["b", "c"], b: ["d"], c: ["d"], d: [] })), undefined);
});
