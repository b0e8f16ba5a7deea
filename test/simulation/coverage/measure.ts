// Which lines of the bundle a run has reached, if its order asks for them: V8's precise coverage of blocks. It begins
// before the agent's modules are evaluated.

import { readFileSync } from "node:fs";
import { Session, type Profiler } from "node:inspector";
import { fileURLToPath } from "node:url";
import type { RunOrder } from "../driver/order.js";

const { code = false } = JSON.parse(process.argv[2] ?? "{}") as Partial<RunOrder>;
const session = code ? begin() : undefined;

function begin(): Session {
  const made = new Session();
  made.connect();
  made.post("Profiler.enable");
  made.post("Profiler.startPreciseCoverage", { callCount: false, detailed: true });
  return made;
}

/** First line and number of lines of each part that ran, one after the other; lines count from 0. */
export function linesReached(): number[] | undefined {
  if (session === undefined) return undefined;
  let scripts: Profiler.ScriptCoverage[] = [];
  // An in-process session answers at once.
  session.post("Profiler.takePreciseCoverage", (_error, { result }) => {
    scripts = result;
  });
  const functions = scripts.find(({ url }) => url === import.meta.url)?.functions ?? [];
  return reachedLines(readFileSync(fileURLToPath(import.meta.url), "utf8"), functions);
}

export function reachedLines(text: string, functions: readonly Pick<Profiler.FunctionCoverage, "ranges">[]): number[] {
  const ran = new Uint8Array(text.length);
  const ranges = functions.flatMap((one) => one.ranges);
  // Outer ranges first: an inner one says more of its part.
  ranges.sort((one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset);
  for (const { startOffset, endOffset, count } of ranges) {
    // The bundle itself had begun before the count did.
    const isBundle = startOffset === 0 && endOffset >= text.length - 1;
    ran.fill(count > 0 || isBundle ? 1 : 0, startOffset, endOffset);
  }
  const parts: number[] = [];
  let offset = 0;
  text.split("\n").forEach((line, number) => {
    const first = offset + Math.max(0, line.search(/\S/));
    offset += line.length + 1;
    if (ran[first] !== 1) return;
    const last = parts.length - 2;
    if ((parts[last] ?? -1) + (parts[last + 1] ?? 0) === number && last >= 0)
      parts[last + 1] = (parts[last + 1] ?? 0) + 1;
    else parts.push(number, 1);
  });
  return parts;
}
