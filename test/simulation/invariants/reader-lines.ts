// What a reader of a log has got, compared with what the container has written.

import type { Reading } from "../world/log-readers.js";
import type { Line, LogRun } from "../world/log-run.js";

/** The lines that a reader has got so far. */
export interface Got {
  run: LogRun;
  /** Numbers of the first and of the last whole line; 0: there is none. */
  first: number;
  last: number;
  /** Whole lines, and parts of lines. */
  count: number;
}

/**
 * The lines of a reader's text, or the fault of the text; undefined: no line shows its run.
 * `isSlow`: the client, the port or the machine stood still at times.
 */
export function gotBy(reading: Reading, runs: readonly LogRun[], isSlow: boolean): Got | string | undefined {
  const { text, query } = reading;
  const lines = text.split("\n");
  const rest = lines.pop() ?? "";
  const plain = query.timestamps === true ? lines.map((line) => line.slice(line.indexOf(" ") + 1)) : lines;
  const run = runs.findLast((one) => plain.some((line) => one.numberOf(line) !== undefined));
  if (run === undefined)
    return lines.length > 1 ? `no run has written ${JSON.stringify(text.slice(0, 80))}` : undefined;
  const got: Got = { run, first: 0, last: 0, count: lines.length + (rest === "" ? 0 : 1) };
  let end = 0;
  for (const [index, line] of plain.entries()) {
    end += (lines[index]?.length ?? 0) + 1;
    const number = run.numberOf(line);
    // The rest of a line whose beginning was removed, or is older than asked for.
    if (number === undefined && index === 0) continue;
    const problem = number === undefined ? `no line` : wrongAfter(reading, got, { number, line, end, isSlow });
    if (problem !== undefined) return `${problem}: ${JSON.stringify(line.slice(0, 80))} after line ${got.last}`;
    if (query.timestamps === true && !hasTime(run.lines[(number ?? 0) - 1], lines[index] ?? ""))
      return `another time than its own has ${JSON.stringify(lines[index]?.slice(0, 80))}`;
    if (got.first === 0) got.first = number ?? 0;
    got.last = number ?? 0;
  }
  return got;
}

/** A line of the text that has a number. */
interface Numbered {
  number: number;
  line: string;
  /** Where it ends in the text. */
  end: number;
  isSlow: boolean;
}

function wrongAfter(reading: Reading, { run, first, last }: Got, came: Numbered): string | undefined {
  const { number, line, end, isSlow } = came;
  if (run.textOf(number) !== line) return "a changed line";
  if (first === 0) return undefined;
  if (number <= last) return "a line that comes twice";
  const removed = isSlow ? removedBefore(reading, run, end) : 0;
  const missing = run.lines.slice(Math.max(last, removed), number - 1);
  return missing.every((one) => mayMiss(reading, one)) ? undefined : "a gap";
}

/** Number of the last line that rotation had removed when this part of a follower's text came. */
function removedBefore({ pieces }: Reading, run: LogRun, end: number): number {
  const piece = pieces.find((one) => one.end >= end);
  return (piece?.kept.get(run) ?? 1) - 1;
}

/** Older than asked for by its time, or not in its file before the reader. A follower waits for the end of a file. */
function mayMiss({ sinceNanos, query, beganAt }: Reading, line: Line): boolean {
  if (sinceNanos !== undefined && line.first < sinceNanos) return true;
  return query.follow !== true && line.atMs >= beganAt;
}

function hasTime(line: Line | undefined, shown: string): boolean {
  const [time = ""] = shown.split(" ", 1);
  if (line === undefined) return false;
  const ms = Date.parse(time);
  return [line.first, line.last].some((nanos) => Math.abs(Number(nanos / 1_000_000n) - ms) <= 1);
}
