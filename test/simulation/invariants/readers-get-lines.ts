// A reader of a container's log gets lines that the container has written, whole, in their order, none twice, and none
// left out in the range that it has asked for. A rotation changes nothing of that, but for lines that it removes
// before a slow follower reads them.

import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { Reading } from "../world/log-readers.js";
import type { LogRun } from "../world/log-run.js";
import type { World } from "../world/world.js";
import { isCalm } from "./calm.js";
import type { Broken, Invariant } from "./invariant.js";
import { gotBy, type Got } from "./reader-lines.js";

/** Containers are known to the port's thread, and faults are over, after so long. */
const CALM_MS = 60_000;
const KNOWN_MS = 10_000;
/** Without a slow client. */
const ANSWERED_MS = 10_000;

export const readersGetLines: Invariant = {
  name: "readers of logs get the lines that they ask for",
  promisedBy: "docs/adr/0018-container-logs.md",
  watch(world, broken) {
    const { readers } = world;
    readers?.onEnd.add((reading) => {
      const { run, status, query } = reading;
      const runs = readers.runsOf(run);
      if (runs.some(({ isTorn }) => isTorn)) return;
      if (status !== 200) {
        if (isQuiet(world, reading)) checkRefusal(reading, runs, broken);
        return;
      }
      const isSlow = reading.paceMs !== undefined || world.facts.lastFaultAt > reading.beganAt;
      const got = gotBy(reading, runs, isSlow);
      const about = `a reader of ${run.container} with ${JSON.stringify(query)}`;
      if (typeof got === "string") broken(`${about} gets ${got}`, run.pod);
      else checkRange(world, reading, got, (what) => broken(`${about} ${what}`, run.pod));
    });
    return undefined;
  },
};

/** Nothing happened to the container and its node while it was read. */
function isQuiet(world: World, { run, beganAt }: Reading): boolean {
  const tookMs = kernel.monotonic - beganAt;
  const pod = world.facts.pods.get(run.pod);
  if (pod === undefined || pod.deletedAt !== undefined || !isCalm(world, CALM_MS + tookMs)) return false;
  const changedAt = world.readers?.runsOf(run).flatMap(({ startedAt, endedAt = 0 }) => [startedAt, endedAt]) ?? [];
  return Math.max(...changedAt) < beganAt - KNOWN_MS;
}

function checkRefusal(reading: Reading, runs: readonly LogRun[], broken: Broken): void {
  const { run, query, status, text, endedAt = Infinity, beganAt } = reading;
  if (status === 0 && endedAt - beganAt < ANSWERED_MS)
    broken(`a reader of ${run.container} finds no open port`, run.pod);
  // The log of an earlier run goes with its container.
  const hasNone =
    query.previous === true && !runs.some((one) => one.attempt < run.attempt && disk.tree.exists(one.path));
  if (status !== 0 && !hasNone) broken(`a reader of ${run.container} gets ${status}: ${text}`, run.pod);
}

function checkRange(world: World, reading: Reading, got: Got | undefined, wrong: (what: string) => void): void {
  const { query, text, beganAt, endedAt = 0, paceMs } = reading;
  const isQuietly = isQuiet(world, reading);
  if (query.limitBytes !== undefined && text.length > query.limitBytes) wrong(`gets ${text.length} bytes`);
  if (query.tailLines !== undefined && query.follow !== true && (got?.count ?? 0) > query.tailLines)
    wrong(`gets ${got?.count} lines`);
  if (isQuietly && query.follow !== true && paceMs === undefined && endedAt - beganAt > ANSWERED_MS)
    wrong(`waits for ${endedAt - beganAt} ms`);
  if (isQuietly && !reading.isWhole && query.follow !== true && paceMs === undefined) wrong("gets a part only");
  if (got === undefined) return;
  if (isQuietly) checkRun(reading, got, wrong);
  checkBegin(reading, got, wrong);
  const isLimited = query.limitBytes !== undefined && text.length >= query.limitBytes;
  const newest = got.run.lastAt(beganAt);
  if (reading.isWhole && query.follow !== true && !isLimited && got.last < newest)
    wrong(`gets lines up to ${got.last} of ${newest}`);
}

function checkRun({ query, run }: Reading, got: Got, wrong: (what: string) => void): void {
  // While it waits for its restart, the newest one is the previous one, too.
  const most = run.endedAt === undefined ? run.attempt - 1 : run.attempt;
  if (query.previous === true ? got.run.attempt > most : got.run !== run)
    wrong(`gets attempt ${got.run.attempt}, and the newest one is ${run.attempt}`);
}

/** No line before the first one is missing, unless it is older than asked for or was removed. */
function checkBegin(reading: Reading, { run, first, count }: Got, wrong: (what: string) => void): void {
  const { query, kept, sinceNanos, beganAt, isWhole } = reading;
  const oldest = kept.get(run) ?? run.lines.length + 1;
  if (first === 0 || first <= oldest) return;
  if (query.tailLines !== undefined) {
    const wanted = query.follow === true ? run.lastAt(beganAt) + 1 - query.tailLines : 0;
    const isShort = isWhole && query.follow !== true && count < query.tailLines;
    if (isShort || (query.follow === true && first > wanted + LINES_BETWEEN)) wrong(`gets lines from ${first} on`);
    return;
  }
  const missing = run.lines
    .slice(oldest - 1, first - 1)
    .findLast(({ first: time }) => sinceNanos === undefined || time >= sinceNanos);
  if (missing !== undefined) wrong(`gets lines from ${first} on, and ${oldest} is there`);
}

/** Lines that come between a request and the look at the files. */
const LINES_BETWEEN = 20;
