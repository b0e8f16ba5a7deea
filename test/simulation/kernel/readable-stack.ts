// Stack traces by the lines of the sources. Node's own translation reads the whole map in each run.

import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

/** The text with each place in this bundle replaced by that of its source. */
export function readableStack(stack: string): string {
  const bundle = import.meta.url;
  const map = new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(bundle)}.map`, "utf8")) as never);
  return stack
    .split(bundle)
    .map((part, index) => (index === 0 ? part : inSource(map, bundle, part)))
    .join("");
}

function inSource(map: SourceMap, bundle: string, part: string): string {
  const [place = "", line, column] = /^:(\d+):(\d+)/.exec(part) ?? [];
  const origin = map.findOrigin(Number(line), Number(column));
  if (!("fileName" in origin)) return `${bundle}${part}`;
  return `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}${part.slice(place.length)}`;
}
