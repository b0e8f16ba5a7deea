// Positions of a small script that esbuild made with short names, as the bundle's build makes them.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { Positions } from "../../../src/cli/stacks/positions.js";

const TOOL = fileURLToPath(new URL("../../../../tools/bundle/positions.mjs", import.meta.url));
export const SCRIPT = "packs/main-a-0123abcd.js";
/** The text of each module begins behind this. */
const HEAD = "(function(){";

interface Part {
  line: number;
  column: number;
  code: string;
  map: unknown;
}
interface Writer {
  add(script: string, parts: readonly Part[]): void;
  write(folder: string): Promise<void>;
}

export interface Made {
  /** The whole script, and the path of its positions. */
  script: string;
  file: string;
  positions: Positions;
}

/** A pack of modules: names of their sources, and their texts. */
export async function pack(context: TestContext, modules: Readonly<Record<string, string>>): Promise<Made> {
  const folder = await mkdtemp(join(tmpdir(), "nodelet-positions-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const { Positions: Tool } = (await import(TOOL)) as { Positions: new () => Writer };
  const writer = new Tool();
  const parts: Part[] = [];
  let script = "";
  for (const [sourcefile, text] of Object.entries(modules)) {
    const options = { loader: "ts", minify: true, sourcemap: true, format: "cjs", sourcefile } as const;
    const { code, map } = await transform(text, options);
    script += `"${sourcefile}":\n`;
    parts.push({ line: script.split("\n").length - 1, column: HEAD.length, code, map: JSON.parse(map) });
    script += `${HEAD}${code}}),\n`;
  }
  writer.add(SCRIPT, parts);
  await writer.write(folder);
  const file = join(folder, "positions.json.gz");
  return { script, file, positions: await Positions.read(file) };
}

/** Line and column, from 1, where `text` stands in the script. */
export function placeOf(script: string, text: string): [line: number, column: number] {
  const before = script.slice(0, script.indexOf(text)).split("\n");
  return [before.length, (before.at(-1) ?? "").length + 1];
}
