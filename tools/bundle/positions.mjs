// Writes positions.json.gz: where each position of the packs and chunks is in the sources. `nodelet resolve` and
// `nodelet support-bundle` read it (src/cli/stacks); the kubelet never does (docs/adr/0132).
//   { version: 1,
//     scripts: { "packs/x.js": [[line, column, module], …], … }     where the text of a module begins
//     modules: [{ sources, names, mappings }, …] }                  as in a source map, relative to that place
// A module is in several packs, and here once. Of the names only those of functions are kept: a segment with a name
// begins a piece of that function; "" is no function.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { functionsOf } from "./functions.mjs";
import { decodeMappings, encodeMappings } from "./mappings.mjs";

export const POSITIONS = "positions.json.gz";

/** Collects what the scripts consist of. */
export class Positions {
  #scripts = {};
  #modules = [];
  #numbers = new Map();

  /** @param parts the module's code, its map, and where its text begins */
  add(script, parts) {
    this.#scripts[script] = parts.map(({ line, column, code, map }) => [line, column, this.#numberOf(code, map)]);
  }

  async write(folder) {
    const text = JSON.stringify({ version: 1, scripts: this.#scripts, modules: this.#modules });
    await writeFile(join(folder, POSITIONS), gzipSync(text, { level: 9 }));
  }

  #numberOf(code, map) {
    let number = this.#numbers.get(code);
    if (number === undefined) {
      number = this.#modules.push(compact(code, map)) - 1;
      this.#numbers.set(code, number);
    }
    return number;
  }
}

/** Sources are named from the root of the repository. */
export function sourceName(source) {
  const [, name] = /(node_modules\/.*)/.exec(source) ?? /(src\/.*)/.exec(source) ?? [undefined, source];
  return name;
}

function compact(code, map) {
  const segments = decodeMappings(map.mappings);
  const known = new Map(
    segments.filter(([, , , , , name]) => name !== undefined).map((one) => [`${one[0]} ${one[1]}`, map.names[one[5]]]),
  );
  const changes = functionsOf(code, (line, column) => known.get(`${line} ${column}`));
  const names = [...new Set(changes.map(([, , name]) => name))];
  const numbers = new Map(names.map((name, index) => [name, index]));
  const merged = merge(segments, changes, numbers);
  return { sources: map.sources.map(sourceName), names, mappings: encodeMappings(merged) };
}

/** A change between two segments is at the source position of the one before it. */
function merge(segments, changes, numbers) {
  const merged = [];
  let next = 0;
  let last;
  const isBefore = ([line, column], [atLine, atColumn]) => line < atLine || (line === atLine && column < atColumn);
  const change = ([line, column, name]) => {
    if (last === undefined) return;
    const same = last[0] === line && last[1] === column;
    if (same) merged.pop();
    last = [line, column, ...last.slice(2, 5), numbers.get(name)];
    merged.push(last);
  };
  for (const segment of segments) {
    while (next < changes.length && isBefore(changes[next], segment)) change(changes[next++]);
    last = segment.slice(0, 5);
    merged.push(last);
  }
  while (next < changes.length) change(changes[next++]);
  return merged;
}
