// Positions of the bundle in the sources: which function, which line, and what is unknown.

import { deepEqual, doesNotMatch, equal, rejects } from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Positions } from "../../../src/cli/stacks/positions.js";
import { pack, placeOf, SCRIPT } from "./kit.js";

const FIRST = `
export class PodWorker {
  private readonly onEnd = (): void => { throw new Error("of a field"); };
  constructor(readonly pod: string) {
    if (pod === "") throw new Error("of a constructor");
  }
  async syncPass(): Promise<void> {
    const inner = (): never => { throw new Error("of an inner function"); };
    [1].forEach(() => { throw new Error("of a callback"); });
    inner();
    throw new Error("of a method");
  }
  [Symbol.dispose](): void { throw new Error("of a disposal"); }
  run = { later(): void { throw new Error("of an object"); } };
}
throw new Error("of no function");
`;
const SECOND = `
export function decodePod(text: string): never {
  throw new Error("of a function", { cause: text });
}
const later = function (): never { throw new Error("of an expression"); };
export { later as other };
`;

test("a position has the line, the column and the function of its source", async (t) => {
  const { script, positions } = await pack(t, { "../../src/a.ts": FIRST, "../../src/b/c.ts": SECOND });
  doesNotMatch(script, /PodWorker\b.*decodePod\(/s, "names are short");
  const at = (text: string): unknown => {
    const [line, column] = placeOf(script, `new Error("${text}"`);
    const place = positions.find(SCRIPT, line, column);
    return [place?.name, place?.source, place?.line];
  };
  deepEqual(at("of a field"), ["PodWorker.onEnd", "src/a.ts", 3]);
  deepEqual(at("of a constructor"), ["PodWorker", "src/a.ts", 5]);
  deepEqual(at("of an inner function"), ["inner", "src/a.ts", 8]);
  deepEqual(at("of a callback"), ["", "src/a.ts", 9]);
  deepEqual(at("of a method"), ["PodWorker.syncPass", "src/a.ts", 11]);
  deepEqual(at("of a disposal"), ["PodWorker.[Symbol.dispose]", "src/a.ts", 13]);
  deepEqual(at("of an object"), ["later", "src/a.ts", 14]);
  deepEqual(at("of no function"), ["", "src/a.ts", 16]);
  deepEqual(at("of a function"), ["decodePod", "src/b/c.ts", 3]);
  deepEqual(at("of an expression"), ["later", "src/b/c.ts", 5]);
  const [line, column] = placeOf(script, 'new Error("of a function"');
  equal(positions.find(SCRIPT, line, column)?.column, 9);
});

test("positions of other scripts, and those before any module, are unknown", async (t) => {
  const { positions } = await pack(t, { "../../src/b.ts": SECOND });
  for (const script of ["packs/main-a-89abcdef.js", "__proto__", "constructor"]) {
    equal(positions.find(script, 2, 40), undefined, script);
  }
  for (const [line, column] of [
    [1, 1],
    [2, 3],
    [0, 0],
  ] as const)
    equal(positions.find(SCRIPT, line, column), undefined);
});

test("a file that the build did not write is refused", async (t) => {
  const { file } = await pack(t, { "../../src/b.ts": SECOND });
  await writeFile(file, gzipSync(JSON.stringify({ version: 2 })));
  await rejects(Positions.read(file), /no positions of a form that this version reads/);
  await writeFile(file, "text");
  await rejects(Positions.read(file), /incorrect header check/);
  await writeFile(file, gzipSync(Buffer.alloc(65 * 1024 * 1024, " ")));
  await rejects(Positions.read(file), /larger than/);
});
